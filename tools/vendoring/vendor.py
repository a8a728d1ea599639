"""Copy the client into another project as one package of any name, or update such a copy in place.

Run as `python -m tools.vendoring.vendor DEST NAME [--overwrite]`: DEST is the folder of the package, NAME its name. The
wrapper, the transport and the generated package become one package: the absolute imports of the latter two become
relative imports of the subpackages `transport` and `generated`. If files of the copy were edited, the command names
them and changes nothing, except with `--overwrite`.
"""

import argparse
import ast
import hashlib
import keyword
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
#: Files in the root folder of a project.
PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
RECORD, IDENTITY = "VENDORED.md", "vendored.py"
#: The packages that become subpackages of the copy, by the names of the subpackages.
BELOW = {"transport": "itwin_platform_transport", "generated": "itwin_platform_api"}
OLD_NAMES = frozenset({"itwin_platform", "itwin_platform_sandbox", *BELOW.values()})
_IDENTITY = '''"""The origin of this copy, for programs; VENDORED.md describes it for people."""

#: The git revision of the checkout.
REVISION = "{revision}"
#: The SHA-256 digest of the specification in it.
SPECIFICATION_SHA256 = "{specification}"
'''
#: The configuration of ruff for the copy, which would otherwise be checked by the rules of the surrounding project.
_RUFF = b'# The modules beside this file pass the rules of itwin-platform, and no others.\nexclude = ["*"]\n'
_RECORD = """# {name}: a vendored copy of itwin-platform {version}

| | |
|---|---|
| version | {version} |
| source revision | {revision} |
| SHA-256 of openapi.yaml | {specification} |
| command, in a checkout of itwin-platform | `{command}` |

It needs, besides Python 3.11 or newer:

{requirements}

pip installs their dependencies too, such as tzdata, which python-dateutil needs from version 4 on. List these in a lock
file, an image or an offline index, which name every distribution.

Do not edit these files: the same command, run in a newer checkout, updates them in place and stops if a file was edited
here. Files of your own beside them are left alone.

mypy --strict, pyright and ty accept the copy, and `ruff.toml` keeps the rules of ruff from it. Under pyright's strict
mode, list this folder under `ignore`: generated code uses `Any`, and a package of yours cannot make that stricter.

```
{digests}
```
"""
_DIGEST = re.compile(r"^([0-9a-f]{64})  (\S.*)$", re.MULTILINE)


def vendor(*, project: Path, destination: Path, name: str, overwrite: bool, command: str) -> list[str]:
    """Copy the client, and return the report in lines.

    Raises:
        SystemExit: The name cannot be imported, another package has it, or files of the copy were edited.
    """
    shown_as, package = destination.expanduser() / name, destination.expanduser().resolve() / name
    _check_name(name, package, shown_as)
    record_file = package / RECORD
    recorded = digests(record_file.read_text(encoding="utf-8")) if record_file.exists() else {}
    files, text = copied(project, name=name, command=command)
    present = {path: (package / path).read_bytes() for path in {*recorded, *files} if (package / path).exists()}
    edited = edits(recorded=recorded, present=present, wanted=files)
    if edited and not overwrite:
        message = [f"{shown_as} was edited, nothing was changed:", *(f"  {line}" for line in edited)]
        message += [
            "Move the edits elsewhere: `git log -p` in your repository shows them. Or drop them with OVERWRITE=yes"
        ]
        raise SystemExit("\n".join(message))
    lines = [f"overwritten, as requested: {line}" for line in edited]
    init = shown_as.parent / "__init__.py"
    if (package.parent.parent / "__init__.py").exists() and not init.exists():
        package.parent.mkdir(exist_ok=True)
        init.touch()
        lines.append(f"made {init}, so that the folder is a package")
    changed = [path for path, content in files.items() if present.get(path) != content]
    removed = set(recorded) - set(files)
    for path in changed:
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_bytes(files[path])
    for path in removed:
        (package / path).unlink(missing_ok=True)
        _remove_empty((package / path).parent)
    record_file.write_text(text, encoding="utf-8")
    count = "all files" if len(changed) == len(files) else f"{len(changed)} of {len(files)} files"
    return [
        *lines,
        f"{text.splitlines()[0].removeprefix('# ')} ({count} written, {len(removed)} removed)",
        f"import it with: from {dotted(package)} import PlatformClient",
    ]


def _check_name(name: str, package: Path, shown_as: Path) -> None:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise SystemExit(f"NAME={name} cannot be imported: use letters, digits and underscores")
    if package.exists() and not (package / RECORD).exists() and any(package.iterdir()):
        raise SystemExit(f"{shown_as} exists and has no {RECORD}, so it is not a vendored copy: choose another NAME")


def _remove_empty(folder: Path) -> None:
    """Remove a folder with compiled modules only, and each parent folder that is then empty."""
    while folder.is_dir() and all(each.name == "__pycache__" for each in folder.iterdir()):
        shutil.rmtree(folder)
        folder = folder.parent


def copied(project: Path, *, name: str, command: str) -> tuple[dict[str, bytes], str]:
    """Return the files of a copy by path within it, and the text of VENDORED.md.

    Raises:
        SystemExit: A file imports a package by its old name in a form that is not rewritten.
    """
    files = _files(project / "wrapper" / "itwin_platform")
    for folder, package in BELOW.items():
        files |= {f"{folder}/{path}": content for path, content in _files(project / folder / package).items()}
    for path in files:
        dots = b"." * (1 + path.count("/"))
        for folder, package in BELOW.items():
            pattern = rb"(?m)^( *)from " + package.encode() + rb"\b"
            files[path] = re.sub(pattern, rb"\1from " + dots + folder.encode(), files[path])
    if wrong := [*_wrong_imports(files)]:
        raise SystemExit("\n".join(wrong))
    facts = {
        "revision": revision(project),
        "specification": hashlib.sha256((project / "openapi.yaml").read_bytes()).hexdigest(),
    }
    files["LICENSE"], files["ruff.toml"] = (project / "LICENSE").read_bytes(), _RUFF
    files[IDENTITY] = _IDENTITY.format(**facts).encode()
    declared = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    (version,) = re.findall(rb'__version__ = "(.+)"', files["_version.py"])
    text = _RECORD.format(
        **facts,
        name=name,
        version=version.decode(),
        command=command,
        requirements="\n".join(f"- `{requirement}`" for requirement in declared),
        digests="\n".join(f"{digest(content)}  {path}" for path, content in sorted(files.items())),
    )
    return files, text


def _files(package: Path) -> dict[str, bytes]:
    return {
        path.relative_to(package).as_posix(): path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.suffix in (".py", ".lua") or path.name == "py.typed"
    }


def _wrong_imports(files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield a line for each import of a package by its old name."""
    for path in sorted(path for path in files if path.endswith(".py")):
        for node in ast.walk(ast.parse(files[path])):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                modules = [str(node.module)]
            else:
                continue
            for module in modules:
                if module.partition(".")[0] in OLD_NAMES:
                    yield f"{path}:{node.lineno} imports {module}: write it as `from <package>... import ...`"


def revision(project: Path) -> str:
    """Return the git revision of a checkout, and whether the packages have uncommitted changes."""
    command = ["git", "-C", str(project), "status", "--porcelain=v2", "--branch", "--", "wrapper", *BELOW]
    status = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    if (head := re.search(r"^# branch\.oid ([0-9a-f]+)$", status, re.MULTILINE)) is None:
        return "unknown: not a git checkout"
    is_dirty = any(not line.startswith("#") for line in status.splitlines())
    return f"{head[1]}{', with changes that were not committed' * is_dirty}"


def digests(text: str) -> dict[str, str]:
    """Return the digest of each file in VENDORED.md; paths that leave the copy are ignored."""
    return {path: known for known, path in _DIGEST.findall(text) if not {"", ".."} & set(path.split("/"))}


def digest(content: bytes) -> str:
    """Return the digest of a file, which does not depend on its line endings."""
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()


def edits(*, recorded: Mapping[str, str], present: Mapping[str, bytes], wanted: Mapping[str, bytes]) -> list[str]:
    """Return a line for each file that was edited or removed, or that a new file would overwrite.

    A file that already has the new content is not reported, so an interrupted run can be repeated.
    """
    lines: list[str] = []
    for path in sorted({*recorded, *wanted}):
        if path in present:
            if digest(present[path]) not in (recorded.get(path), digest(wanted.get(path, b"\0"))):
                lines.append(f"edited: {path}" if path in recorded else f"in the way: {path}")
        elif path in recorded and path in wanted:
            lines.append(f"removed: {path}")
    return lines


def dotted(package: Path) -> str:
    """Return the import name of a package.

    It starts below `src` or the root folder of a project, because a namespace package has no `__init__.py`. Without
    such a folder, it starts with the outermost folder that has an `__init__.py`. A folder such as `third-party` cannot
    be a package, so the name starts below it.
    """
    folders = [*package.parents]
    roots = [each for each in folders if each.name == "src" or any((each / file).exists() for file in PROJECT_FILES)]
    outside = next(each for each in folders if not (each / "__init__.py").exists())
    parts = package.relative_to([*roots, outside][0]).parts
    return ".".join([*takewhile(str.isidentifier, reversed(parts))][::-1])


def main() -> None:
    """Read the command line and copy."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("destination", metavar="DEST", help="the folder of the package")
    parser.add_argument("name", metavar="NAME", help="the name of the package")
    parser.add_argument("--overwrite", action="store_true", help="drop the edits in the copy")
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
