"""Print how our templates differ from those of the pinned generator, and whether the generator's have changed.

Run as `python -m tools.generation.templates_diff [--since VERSION | --record]`. `stock_templates.sha256` records
the generator's templates of the last review. `--since VERSION` fetches that version of the generator with pip and
prints how the templates that ours replace or import have changed. After a review, `--record` updates the record.
"""

import argparse
import difflib
import subprocess
import sys
import tempfile
import zipfile
from importlib.metadata import version
from pathlib import Path

from tools.generation.document import SPECIFICATION, load_document
from tools.generation.generator_contract import GENERATOR, OURS, RECORD, STOCK, conflicts, record, watched


def difference(before: Path, after: Path, *, before_name: str, after_name: str) -> str:
    """Return the unified difference of two templates; one that does not exist counts as empty."""
    old, new = (path.read_text(encoding="utf-8").splitlines() if path.exists() else [] for path in (before, after))
    lines = difflib.unified_diff(old, new, fromfile=before_name, tofile=after_name, lineterm="")
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
    return folder / "openapi_python_client" / "templates"


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
            before = fetched(arguments.since, Path(folder))
            for name in watched():
                names = {"before_name": f"{arguments.since}/{name}", "after_name": f"{version(GENERATOR)}/{name}"}
                print(difference(before / name, STOCK / name, **names), end="")
        return
    for path in sorted(OURS.glob("*.jinja")):
        names = {"before_name": f"{pinned}/{path.name}", "after_name": f"templates/{path.name}"}
        print(difference(STOCK / path.name, path, **names), end="")
    found = conflicts()
    if text := "\n".join(filter(None, [found.text, "" if found.broken else unmet()])):
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
