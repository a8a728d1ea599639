"""Copy the client into another project as one package of any name, or update such a copy in place.

Run as `python -m tools.vendoring.vendor DEST NAME [--overwrite]`: DEST is the folder that the package goes into, NAME
what it is called there. A file that was edited in the copy is not overwritten unless `--overwrite` says so: all such
files are named, and nothing is changed.
"""

import argparse
import difflib
import keyword
import re
import subprocess
import tarfile
import tempfile
from pathlib import Path

from tools.vendoring.vendored_copy import RECORD, digest, digests, edits, record, source

PROJECT = Path(__file__).resolve().parents[2]
#: Files that stand in a project's own folder.
PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg", ".git")


def vendor(
    *, project: Path, destination: Path, name: str, overwrite: bool, command: str, stale: bool = False
) -> list[str]:
    """Copy, and return the lines that tell what was done.

    Raises:
        SystemExit: the name cannot be imported, something else has it, or files of the copy were edited.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise SystemExit(f"NAME={name} cannot be imported: give a name of letters, digits and underscores")
    shown_as, destination = destination.expanduser(), destination.expanduser().resolve()
    package = destination / name
    known = package / RECORD
    if package.exists() and not known.exists() and any(package.iterdir()):
        raise SystemExit(
            f"{shown_as / name} is there and has no {RECORD}, so it is not a vendored copy: give another NAME"
        )
    copied = source(project, revision=revision(project), stale=stale)
    recorded = digests(known.read_text(encoding="utf-8")) if known.exists() else {}
    present = {path: (package / path).read_bytes() for path in {*recorded, *copied.files} if (package / path).exists()}
    found = edits(recorded=recorded, present=present, wanted=copied.files)
    if found and not overwrite:
        rejected = [f"{shown_as / name} was edited, nothing was changed:", *(f"  {line}" for line in found)]
        edited = [line.removeprefix("edited: ") for line in found if line.startswith("edited: ")]
        text = known.read_text(encoding="utf-8") if known.exists() else ""
        shown = _edits_shown(project, package, edited, text=text) if edited else []
        advice = "Take the edits elsewhere, or give them up with OVERWRITE=yes"
        raise SystemExit("\n".join([*rejected, *shown, advice]))
    lines = [f"overwritten, as asked: {line}" for line in found]
    outer = destination / "__init__.py"
    if not outer.exists() and (destination.parent / "__init__.py").exists():
        outer.parent.mkdir(parents=True, exist_ok=True)
        outer.write_text("")
        lines.append(f"made {shown_as / outer.name}, so that the folder is a package")
    for path, content in copied.files.items():
        if present.get(path) != content:
            (package / path).parent.mkdir(parents=True, exist_ok=True)
            (package / path).write_bytes(content)
    for path in set(recorded) - set(copied.files):
        (package / path).unlink(missing_ok=True)
    known.write_text(record(copied, name=name, command=command), encoding="utf-8")
    changed = sum(present.get(path) != content for path, content in copied.files.items())
    gone = len(set(recorded) - set(copied.files))
    files = "all files" if changed == len(copied.files) else f"{changed} of {len(copied.files)} files"
    counted = f"{files} written, {gone} removed"
    if copied.stale:
        lines.append("generated/ is not what openapi.yaml gives: run `make generate`, and this command again")
    return [
        *lines,
        f"{name} is itwin-platform {copied.version}: {counted}",
        f"import it with: from {dotted(package)} import PlatformClient",
    ]


def revision(project: Path) -> str:
    """Return the git revision of a checkout, and whether the packages have changes beyond it."""
    git = ["git", "-C", str(project)]
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if head.returncode != 0:
        return "unknown: not a git checkout"
    status = [*git, "status", "--porcelain", "--", "wrapper", "generated"]
    dirty = subprocess.run(status, capture_output=True, text=True, check=False).stdout.strip()
    return f"{head.stdout.strip()}{', with changes that were not committed' if dirty else ''}"


def _edits_shown(project: Path, package: Path, edited: list[str], *, text: str) -> list[str]:
    """Return the difference between what was copied and what is there, if the recorded revision has it."""
    match = re.search(r"^\| source revision \| ([0-9a-f]{40})", text, re.MULTILINE)
    if match is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "archive.tar"
        git = ["git", "-C", str(project), "archive", "--output", str(archive), match[1]]
        if subprocess.run(git, capture_output=True, check=False).returncode != 0:
            return [f"the revision {match[1]} is not in this checkout, so the edits cannot be shown"]
        with tarfile.open(archive) as tar:
            tar.extractall(Path(folder) / "checkout", filter="data")
        before = source(Path(folder) / "checkout", revision=match[1]).files
    lines: list[str] = []
    recorded = digests(text)
    for path in edited:
        content = before.get(path, b"")
        if digest(content) != recorded[path]:
            lines.append(f"{path} was copied before it was committed, so its edits cannot be shown")
            continue
        old, new = (part.decode(errors="replace").splitlines() for part in (content, (package / path).read_bytes()))
        lines += difflib.unified_diff(old, new, f"copied/{path}", f"edited/{path}", lineterm="")
    return lines


def dotted(package: Path) -> str:
    """Return the name that a package is imported by.

    The outermost folder is below `src` or a project's own folder, if there is one: a namespace package has no
    `__init__.py`. Otherwise it is the outermost folder that has one.
    """
    folders = [package.resolve(), *package.resolve().parents]
    for number, folder in enumerate(folders[1:], start=1):
        is_root = folder.name == "src" or any((folder / name).exists() for name in PROJECT_FILES)
        if is_root and all(each.name.isidentifier() for each in folders[:number]):
            return ".".join(each.name for each in reversed(folders[:number]))
    parts, folder = [package.name], package.resolve().parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


def is_stale(project: Path) -> bool:
    """Say whether `generated/` is not what `openapi.yaml` gives."""
    from tools.generation.generate import PACKAGE, differences
    from tools.generation.generator import write_package
    from tools.spec.reading import load_document

    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / PACKAGE
        write_package(load_document(str(project / "openapi.yaml")), made, name="openapi.yaml")
        return bool(differences(committed=project / "generated" / PACKAGE, made=made))


def main() -> None:
    """Read the command line and copy."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("destination", metavar="DEST", help="the folder that the package goes into")
    parser.add_argument("name", metavar="NAME", help="what the package is called")
    parser.add_argument("--overwrite", action="store_true", help="give up what was edited in the copy")
    arguments = parser.parse_args()
    lines = vendor(
        project=PROJECT,
        destination=Path(arguments.destination),
        name=arguments.name,
        overwrite=arguments.overwrite,
        command=f"make vendor DEST={arguments.destination} NAME={arguments.name}",
        stale=is_stale(PROJECT),
    )
    print("\n".join(lines))


if __name__ == "__main__":
    main()
