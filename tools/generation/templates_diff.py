"""Print how our templates differ from those of the pinned generator, and whether the generator's have changed.

Run as `python -m tools.generation.templates_diff [--since VERSION | --record]`. `stock_templates.sha256` records
the generator's templates of the last review of ours, which replace or import some of them; mypy checks the Python names
of the generator that our modules use. `--since VERSION` fetches that version of the generator with pip and
prints how the templates that ours replace or import have changed. After a review, `--record` updates the record.
"""

import argparse
import difflib
import hashlib
import re
import subprocess
import sys
import tempfile
import zipfile
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from tools.generation.document import PROJECT, SPECIFICATION, load_document

GENERATOR, PACKAGE = "openapi-python-client", "openapi_python_client"
STOCK = Path(str(files(PACKAGE))) / "templates"
OURS = PROJECT / "templates"
RECORD = Path(__file__).with_name("stock_templates.sha256")
IMPORTED = re.compile(r"""{%-?\s*(?:from|import|include|extends)\s+["']([^"']+)["']""")


def conflicts(record: Path = RECORD, ours: Path = OURS, stock: Path = STOCK) -> tuple[str, bool]:
    """Return how the templates of the installed generator differ from the record, and whether none can be generated.

    Templates that changed are to be reviewed. Of those that are gone or new, ours would be ignored.
    """
    recorded = record.read_text(encoding="utf-8")
    if not (lines := sorted(moved(recorded, ours, stock), key=lambda line: line.startswith("changed"))):
        return "", False
    reviewed = recorded.splitlines()[0].rpartition(" ")[2]
    said = [f"{GENERATOR} {version(GENERATOR)} is installed, templates/ and tools/ were made for {reviewed}:"]
    said += [f"  {line}" for line in lines]
    said += [f"To see what the generator changed: make templates-diff SINCE={reviewed}"]
    return "\n".join(said), not lines[0].startswith("changed")


def watched(ours: Path = OURS, stock: Path = STOCK) -> dict[str, str]:
    """Return the templates of the generator that ours replace or import, and those that these include, with reasons."""
    found = {path.name: f"templates/{path.name} replaces it" for path in ours.glob("*.jinja")}
    waiting = [(path, f"templates/{path.name}") for path in sorted(ours.glob("*.jinja"))]
    for path, place in waiting:
        for part in IMPORTED.findall(path.read_text(encoding="utf-8")) if path.is_file() else ():
            # Of a name that is computed, the folder is known.
            for each in [*(stock / part).glob("*.jinja")] or [stock / part]:
                name = each.relative_to(stock).as_posix()
                if name not in found:
                    found[name] = f"{place} imports it"
                    waiting.append((each, name))
    return dict(sorted(found.items()))


def record(stock: Path = STOCK) -> str:
    """Return the text of the record, in the form of `sha256sum`."""
    names = sorted(path.relative_to(stock).as_posix() for path in stock.rglob("*.jinja"))
    lines = [f"{hashlib.sha256((stock / name).read_bytes()).hexdigest()}  {name}" for name in names]
    return "\n".join([f"# {GENERATOR} {version(GENERATOR)}", *lines, ""])


def moved(recorded: str, ours: Path = OURS, stock: Path = STOCK) -> list[str]:
    """Return a line for each watched template of the generator that differs from the record."""
    before, after = _digests(recorded), _digests(record(stock))
    lines: list[str] = []
    for name, why in watched(ours, stock).items():
        if before.get(name) != after.get(name):
            state = "changed" if name in before and name in after else "new" if name in after else "gone"
            lines.append(f"{state}: {name} ({why})")
    return lines


def _digests(text: str) -> dict[str, str]:
    pairs = [line.split("  ") for line in text.splitlines() if not line.startswith("#")]
    return {name: digest for digest, name in pairs}


def difference(name: str, before: tuple[str, Path], after: tuple[str, Path]) -> str:
    """Return the unified difference of a template in two folders with labels; one that is not there counts as empty."""
    paths = [folder / name for _, folder in (before, after)]
    old, new = (path.read_text(encoding="utf-8").splitlines() if path.exists() else [] for path in paths)
    lines = difflib.unified_diff(old, new, fromfile=f"{before[0]}/{name}", tofile=f"{after[0]}/{name}", lineterm="")
    return "".join(f"{line}\n" for line in lines)


def fetched(wanted: str, folder: Path) -> Path:
    """Return the templates of another version of the generator, which pip downloads into a folder.

    Raises:
        SystemExit: The download failed.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    completed = subprocess.run([*command, "--dest", str(folder), f"{GENERATOR}=={wanted}"], check=False)
    if completed.returncode != 0:
        raise SystemExit(f"pip cannot download {GENERATOR} {wanted}")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder)
    return folder / PACKAGE / "templates"


def main() -> None:
    """Read the command line; exit with status 1 if the generator's templates have changed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--since", metavar="VERSION", help="show what changed in the generator since this version")
    choice.add_argument("--record", action="store_true", help="record the generator's templates after a review of ours")
    arguments = parser.parse_args()
    pinned = f"{GENERATOR} {version(GENERATOR)}"
    if arguments.record:
        RECORD.write_text(record(), encoding="utf-8")
        print(f"recorded the templates of {pinned}")
        return
    if arguments.since:
        with tempfile.TemporaryDirectory() as folder:
            before = arguments.since, fetched(arguments.since, Path(folder))
            print(*(difference(name, before, (version(GENERATOR), STOCK)) for name in watched()), sep="", end="")
        return
    for path in sorted(OURS.glob("*.jinja")):
        print(difference(path.name, (pinned, STOCK), ("templates", OURS)), end="")
    said, is_broken = conflicts()
    if text := "\n".join(filter(None, [said, "" if is_broken else unmet()])):
        raise SystemExit(f'{text}\nWhat to do: docs/regenerating.md, "Upgrade the generator"')


def unmet() -> str:
    """Generate with our templates, and return what they use and the generator no longer has, if anything."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            from tools.generation.generator import write_package

            write_package(load_document(str(SPECIFICATION)), Path(folder) / "itwin_platform_api", name="openapi.yaml")
        except SystemExit as error:
            return str(error)
        except (AttributeError, ImportError, TypeError) as error:
            return f"the generator's Python is not what tools/generation expects: {error}"
    return ""


if __name__ == "__main__":
    main()
