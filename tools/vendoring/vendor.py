"""Copies the client into another project as one package of any name, or updates such a copy in place.

Run as `python -m tools.vendoring.vendor DEST NAME [--overwrite]`: DEST is the folder that the package goes into, NAME
what it is called there. A file that was edited in the copy is not overwritten unless `--overwrite` says so: all such
files are named, and nothing is changed.
"""

import argparse
import keyword
import subprocess
from pathlib import Path

from tools.vendoring.vendored_copy import RECORD, digests, edits, record, source

PROJECT = Path(__file__).resolve().parents[2]


def vendor(*, project: Path, destination: Path, name: str, overwrite: bool, command: str) -> list[str]:
    """Copies, and returns the lines that tell what was done.

    Raises:
        SystemExit: the name cannot be imported, something else has it, or files of the copy were edited.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise SystemExit(f"NAME={name} cannot be imported: give a name of letters, digits and underscores")
    package = destination.expanduser() / name
    known = package / RECORD
    if package.exists() and not known.exists() and any(package.iterdir()):
        raise SystemExit(f"{package} is there and has no {RECORD}, so it is not a vendored copy: give another NAME")
    copied = source(project, revision=revision(project))
    recorded = digests(known.read_text(encoding="utf-8")) if known.exists() else {}
    present = {path: (package / path).read_bytes() for path in {*recorded, *copied.files} if (package / path).exists()}
    found = edits(recorded=recorded, present=present, wanted=copied.files)
    if found and not overwrite:
        refused = [f"{package} was edited, nothing was changed:", *(f"  {line}" for line in found)]
        raise SystemExit("\n".join([*refused, "Take the edits elsewhere, or give them up with OVERWRITE=yes"]))
    lines = [f"overwritten, as asked: {line}" for line in found]
    outer = destination.expanduser() / "__init__.py"
    if not outer.exists() and (destination.expanduser().parent / "__init__.py").exists():
        outer.parent.mkdir(parents=True, exist_ok=True)
        outer.write_text("")
        lines.append(f"made {outer}, so that the folder is a package")
    for path, content in copied.files.items():
        if present.get(path) != content:
            (package / path).parent.mkdir(parents=True, exist_ok=True)
            (package / path).write_bytes(content)
    for path in set(recorded) - set(copied.files):
        (package / path).unlink(missing_ok=True)
    known.write_text(record(copied, name=name, command=command), encoding="utf-8")
    changed = sum(present.get(path) != content for path, content in copied.files.items())
    gone = len(set(recorded) - set(copied.files))
    counted = f"{changed} of {len(copied.files)} files written, {gone} removed"
    return [
        *lines,
        f"{name} is itwin-platform {copied.version}: {counted}",
        f"import it with: from {dotted(package)} import PlatformClient",
    ]


def revision(project: Path) -> str:
    """The git revision of a checkout, and whether the packages have changes beyond it."""
    git = ["git", "-C", str(project)]
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if head.returncode != 0:
        return "unknown: not a git checkout"
    status = [*git, "status", "--porcelain", "--", "wrapper", "generated"]
    dirty = subprocess.run(status, capture_output=True, text=True, check=False).stdout.strip()
    return f"{head.stdout.strip()}{', with changes that were not committed' if dirty else ''}"


def dotted(package: Path) -> str:
    """The name that a package is imported by, from the folder that holds the outermost one."""
    parts, folder = [package.name], package.resolve().parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


def main() -> None:
    """Reads the command line and copies."""
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
    )
    print("\n".join(lines))


if __name__ == "__main__":
    main()
