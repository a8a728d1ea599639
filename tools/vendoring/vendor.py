"""Copy the client into another project as one package of any name, or update such a copy in place.

Run as `python -m tools.vendoring.vendor DEST NAME [--overwrite] [--without redis]`: DEST is the folder of the package,
NAME its name. If files of the copy were edited, the command names them and changes nothing, except with `--overwrite`.
What a copy was made without stays out when it is updated, until `--without nothing` brings it back.
"""

import argparse
import difflib
import io
import keyword
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tools.vendoring.vendored_copy import BELOW, OPTIONAL, RECORD, digest, digests, edits, left_out, record, source

PROJECT = Path(__file__).resolve().parents[2]
#: Files in the root folder of a project.
PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg", ".git")


def vendor(
    *,
    project: Path,
    destination: Path,
    name: str,
    overwrite: bool,
    command: str,
    stale: bool = False,
    without: tuple[str, ...] | None = None,
) -> list[str]:
    """Copy, and return the lines that say what was done; by default, without what the copy was made without before.

    Raises:
        SystemExit: The name cannot be imported, another package has it, or files of the copy were edited.
    """
    shown_as, package = destination.expanduser() / name, destination.expanduser().resolve() / name
    _check_name(name, package, shown_as)
    record_file = package / RECORD
    text = record_file.read_text(encoding="utf-8") if record_file.exists() else ""
    without = left_out(text) if without is None else without
    copied = source(project, revision=revision(project), stale=stale, without=without)
    recorded = digests(text)
    command += f" WITHOUT={','.join(without)}" if without else ""
    present = {path: (package / path).read_bytes() for path in {*recorded, *copied.files} if (package / path).exists()}
    edited = edits(recorded=recorded, present=present, wanted=copied.files)
    if edited and not overwrite:
        said = [f"{shown_as} was edited, nothing was changed:", *(f"  {line}" for line in edited)]
        said += _edits_shown(project, package, edited, text=text)
        raise SystemExit("\n".join([*said, "Move the edits elsewhere, or drop them with OVERWRITE=yes"]))
    lines = [f"overwritten, as requested: {line}" for line in edited]
    init = shown_as.parent / "__init__.py"
    if (package.parent.parent / "__init__.py").exists() and not init.exists():
        package.parent.mkdir(exist_ok=True)
        init.touch()
        lines.append(f"made {init}, so that the folder is a package")
    changed = [path for path, content in copied.files.items() if present.get(path) != content]
    removed = set(recorded) - set(copied.files)
    for path in changed:
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_bytes(copied.files[path])
    for path in removed:
        (package / path).unlink(missing_ok=True)
        _remove_empty((package / path).parent)
    record_file.write_text(record(copied, name=name, command=command), encoding="utf-8")
    if copied.stale:
        lines.append("generated/ differs from what openapi.yaml generates: run `make generate`, and this command again")
    files = "all files" if len(changed) == len(copied.files) else f"{len(changed)} of {len(copied.files)} files"
    return [
        *lines,
        f"{name} is itwin-platform {copied.version}: {files} written, {len(removed)} removed",
        f"import it with: from {dotted(package)} import PlatformClient",
    ]


def _remove_empty(folder: Path) -> None:
    """Remove a folder that holds nothing but compiled modules, and those that it leaves as empty."""
    while folder.is_dir() and all(each.name == "__pycache__" for each in folder.iterdir()):
        shutil.rmtree(folder)
        folder = folder.parent


def _check_name(name: str, package: Path, shown_as: Path) -> None:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise SystemExit(f"NAME={name} cannot be imported: use letters, digits and underscores")
    if package.exists() and not (package / RECORD).exists() and any(package.iterdir()):
        raise SystemExit(f"{shown_as} exists and has no {RECORD}, so it is not a vendored copy: choose another NAME")


def revision(project: Path) -> str:
    """Return the git revision of a checkout, and whether the packages have uncommitted changes."""
    command = ["git", "-C", str(project), "status", "--porcelain=v2", "--branch", "--", "wrapper", *BELOW]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    if (head := re.search(r"^# branch\.oid ([0-9a-f]+)$", said, re.MULTILINE)) is None:
        return "unknown: not a git checkout"
    is_dirty = any(not line.startswith("#") for line in said.splitlines())
    return f"{head[1]}{', with changes that were not committed' * is_dirty}"


def _edits_shown(project: Path, package: Path, edited: list[str], *, text: str) -> list[str]:
    """Return the edits as differences from the recorded revision, if the checkout has it."""
    match = re.search(r"^\| source revision \| ([0-9a-f]{40})", text, re.MULTILINE)
    paths = [line.removeprefix("edited: ") for line in edited if line.startswith("edited: ")]
    if match is None or not paths:
        return []
    git = ["git", "-C", str(project), "archive", match[1]]
    archive = subprocess.run(git, capture_output=True, check=False)
    if archive.returncode != 0:
        return [f"the revision {match[1]} is not in this checkout, so the edits cannot be shown"]
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
        tar.extractall(folder, filter="data")
        # Made by the tool of that revision, because what changes in a copy has changed.
        make = runpy.run_path(f"{folder}/tools/vendoring/vendored_copy.py")["source"]
        options = {"without": without} if (without := left_out(text)) else {}
        before = make(Path(folder), revision=match[1], **options).files
    lines, recorded = list[str](), digests(text)
    for path in paths:
        content = before.get(path, b"")
        if digest(content) != recorded[path]:
            lines.append(f"{path} was copied before it was committed, so its edits cannot be shown")
            continue
        old, new = (part.decode(errors="replace").splitlines() for part in (content, (package / path).read_bytes()))
        lines += difflib.unified_diff(old, new, f"copied/{path}", f"edited/{path}", lineterm="")
    return lines


def dotted(package: Path) -> str:
    """Return the name to import a package by.

    It starts below `src` or the root folder of a project, if there is one, because a namespace package has no
    `__init__.py`. Otherwise it starts with the outermost folder that has an `__init__.py`.
    """
    folders = [package.resolve(), *package.resolve().parents]
    roots = [
        at for at, each in enumerate(folders) if each.name == "src" or any((each / n).exists() for n in PROJECT_FILES)
    ]
    named = [at for at in roots if at and all(each.name.isidentifier() for each in folders[:at])]
    outside = [at for at, each in enumerate(folders) if at and not (each / "__init__.py").exists()]
    return ".".join(each.name for each in reversed(folders[: [*named, *outside][0]]))


def is_stale() -> bool:
    """Return whether `generated/` differs from what `openapi.yaml` generates."""
    check = [sys.executable, "-m", "tools.generation.generate", "--check"]
    return bool(subprocess.run(check, cwd=PROJECT, capture_output=True, check=False).returncode)


def main() -> None:
    """Read the command line and copy."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("destination", metavar="DEST", help="the folder of the package")
    parser.add_argument("name", metavar="NAME", help="the name of the package")
    parser.add_argument("--overwrite", action="store_true", help="drop the edits in the copy")
    parser.add_argument("--without", choices=[*OPTIONAL, "nothing"], help="what to leave out; default: as before")
    arguments = parser.parse_args()
    chosen = {None: None, "nothing": ()}.get(arguments.without, (arguments.without,))
    lines = vendor(
        project=PROJECT,
        destination=Path(arguments.destination),
        name=arguments.name,
        overwrite=arguments.overwrite,
        command=f"make vendor DEST={arguments.destination} NAME={arguments.name}",
        stale=is_stale(),
        without=chosen,
    )
    print("\n".join(lines))


if __name__ == "__main__":
    main()
