"""The content of a vendored copy, its record, and which of its files were edited.

The wrapper, the transport and the generated package become one package. Of the wrapper, only the absolute imports of
the other two change, to relative imports of the subpackages `transport` and `generated`.
"""

import ast
import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

RECORD = "VENDORED.md"
IDENTITY = "vendored.py"
#: What a copy can be made without: the files, and the name that `__init__.py` exports of them.
OPTIONAL = {"redis": (("transport/gates/redis.py", "transport/gates/exchange.lua"), "RedisGate")}
#: The packages below the wrapper, by the names of the subpackages that they become.
BELOW = {"transport": "itwin_platform_transport", "generated": "itwin_platform_api"}
_IDENTITY = """\"\"\"Where this copy comes from, for programs; VENDORED.md says it for people.\"\"\"

#: The git revision of the checkout.
REVISION = "{revision}"
#: The SHA-256 digest of the specification in it.
SPECIFICATION_SHA256 = "{specification}"
#: Whether the generated modules were what that specification gives.
GENERATED_IS_CURRENT = {current}
"""
#: For ruff, the rules of which are those of the project that has the copy: it finds this file beside the modules.
_RUFF = b'# The modules beside this file pass the rules of itwin-platform, and no others.\nexclude = ["*"]\n'
OLD_NAMES = frozenset({"itwin_platform", "itwin_platform_sandbox", *BELOW.values()})
_DIGEST = re.compile(r"^([0-9a-f]{64})  (\S.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A checkout to copy from: its files by path within the copy, its version, dependencies and revision."""

    files: Mapping[str, bytes]
    version: str
    requirements: tuple[str, ...]
    revision: str
    specification: str
    stale: bool
    without: tuple[str, ...]


def source(project: Path, *, revision: str, stale: bool = False, without: tuple[str, ...] = ()) -> Source:
    """Read a checkout; `stale` means that its `generated/` differs from what its `openapi.yaml` generates.

    Raises:
        SystemExit: A file imports the packages by their old names in another way, or imports what is omitted.
    """
    files = _files(project / "wrapper" / "itwin_platform")
    for folder, package in BELOW.items():
        files |= {f"{folder}/{name}": content for name, content in _files(project / folder / package).items()}
    omitted: dict[str, str] = {}
    for part in without:
        paths, name = OPTIONAL[part]
        for path in paths:
            del files[path]
            omitted[path.removesuffix(".py").replace("/", ".")] = name
        for exporting in ("__init__.py", "transport/__init__.py"):
            files[exporting] = re.sub(rb"(?m)^.*\b" + name.encode() + rb"\b.*\n", b"", files[exporting])
    files["LICENSE"], files["ruff.toml"] = (project / "LICENSE").read_bytes(), _RUFF
    for name in files:
        dots = b"." * (1 + name.count("/"))
        for folder, package in BELOW.items():
            pattern = rb"(?m)^( *)from " + package.encode() + rb"\b"
            files[name] = re.sub(pattern, rb"\1from " + dots + folder.encode(), files[name])
    if wrong := [*_wrong_imports(files, omitted)]:
        raise SystemExit("\n".join(wrong))
    declared = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (version,) = re.findall(rb'__version__ = "(.+)"', files["_version.py"])
    specification = hashlib.sha256((project / "openapi.yaml").read_bytes()).hexdigest()
    files[IDENTITY] = _IDENTITY.format(revision=revision, specification=specification, current=not stale).encode()
    return Source(
        files=files,
        version=version.decode(),
        requirements=tuple(declared["dependencies"]),
        revision=revision,
        specification=specification,
        stale=stale,
        without=without,
    )


def _wrong_imports(files: Mapping[str, bytes], omitted: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each import of a package by its old name, and of a module that is omitted."""
    for path in sorted(name for name in files if name.endswith(".py")):
        for node in ast.walk(ast.parse(files[path])):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                folders = path.split("/")[: -node.level] if node.level else []
                modules = [".".join([*folders, node.module or ""])]
            else:
                continue
            for module in modules:
                if module.partition(".")[0] in OLD_NAMES:
                    yield f"{path}:{node.lineno} imports {module}: write it as `from <package>... import ...`"
                if module in omitted:
                    yield f"{path}:{node.lineno} imports {module}, so {omitted[module]} cannot be omitted"


def record(copied: Source, *, name: str, command: str) -> str:
    """Return the text of VENDORED.md: for people, with a line for each file that the next run reads."""
    lines = "\n".join(f"{digest(content)}  {path}" for path, content in sorted(copied.files.items()))
    without = "".join(f"| without | {part}: no `{OPTIONAL[part][1]}` |\n" for part in copied.without)
    requirements = "\n".join(f"- `{requirement}`" for requirement in copied.requirements)
    return f"""# {name}: a vendored copy of itwin-platform {copied.version}

| | |
|---|---|
| version | {copied.version} |
| source revision | {copied.revision} |
| SHA-256 of openapi.yaml | {copied.specification} |
| generated modules | {"**stale**: not what openapi.yaml gives" if copied.stale else "what openapi.yaml gives"} |
{without}| command, in a checkout of itwin-platform | `{command}` |

It needs, besides Python 3.11 or newer:

{requirements}

pip installs what these need in turn, such as tzdata, which python-dateutil needs from version 4 on. List it too where
every distribution is listed: in a lock file, an image or an offline index.

Do not edit these files: the same command, run in a newer checkout, updates them in place and never overwrites what
was edited here. Files of your own beside them are left alone.

mypy --strict, pyright and ty accept the copy, and `ruff.toml` keeps the rules of ruff from it. Under pyright's strict
mode, list this folder under `ignore`: generated code uses `Any`, and a package of yours cannot make that stricter.

```
{lines}
```
"""


def digests(text: str) -> dict[str, str]:
    """Return the digest of each file in VENDORED.md; paths that leave the copy are ignored."""
    return {path: known for known, path in _DIGEST.findall(text) if not {"", ".."} & set(path.split("/"))}


def left_out(text: str) -> tuple[str, ...]:
    """Return what a copy was made without, as VENDORED.md says."""
    return tuple(part for part in re.findall(r"(?m)^\| without \| (\w+)", text) if part in OPTIONAL)


def digest(content: bytes) -> str:
    """Return the digest of a file, which does not depend on its line endings."""
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()


def edits(*, recorded: Mapping[str, str], present: Mapping[str, bytes], wanted: Mapping[str, bytes]) -> list[str]:
    """Return a line for each file that was edited or removed, or that is in the way of a new file.

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


def _files(package: Path) -> dict[str, bytes]:
    return {
        path.relative_to(package).as_posix(): path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.suffix in (".py", ".lua") or path.name == "py.typed"
    }
