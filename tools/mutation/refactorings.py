"""Refactor copies of the wrapper in five harmless ways, and count the test cases that break: `make refactorings`.

Each way changes private names of the wrapper and all its own uses of them, and nothing that it does. So no test has to
break, but those that read the source. Exits with status 1 if more than `MOST` cases break in all.
"""

import ast
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
#: So many cases may break in all.
MOST = 5


def main() -> None:
    """Apply each refactoring to a copy of its own, run the tests there, and print the table."""
    chosen = sys.argv[1:] or list(REFACTORINGS)
    total = 0
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            copied = copy_of_project(Path(folder))
            REFACTORINGS[name](copied / "wrapper" / "itwin_platform")
            broken = broken_cases(copied)
        total += len(broken)
        print(f"{name}: {len(broken)} broken", *broken, sep="\n  ", flush=True)
    print(f"all: {total} broken, and {MOST} may be")
    raise SystemExit(total > MOST)


def copy_of_project(folder: Path) -> Path:
    """Copy every file of the project that git knows, as it is now."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, check=True)  # noqa: S607  # of the PATH
    for name in listed.stdout.decode().split("\0"):
        if name and (PROJECT / name).is_file():
            copied = folder / name
            copied.parent.mkdir(parents=True, exist_ok=True)
            copied.write_bytes((PROJECT / name).read_bytes())
    return folder


def broken_cases(project: Path) -> Sequence[str]:
    """Run the tests, except tests/slow, and return those that fail."""
    paths = os.pathsep.join(str(project / name) for name in ("wrapper", "generated", "sandbox"))
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "-n", "auto", "--dist", "worksteal"]
    ended = subprocess.run(
        [*command, "--ignore", "tests/slow", "-p", "no:cacheprovider"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    if " passed" not in ended.stdout:
        raise SystemExit(f"the tests did not run:\n{ended.stdout[-2_000:]}{ended.stderr[-2_000:]}")
    return re.findall(r"^(?:FAILED|ERROR) (\S+)", ended.stdout, re.MULTILINE)


def sources(package: Path) -> Sequence[Path]:
    """Return the modules of the package."""
    return sorted(package.rglob("*.py"))


def replace(package: Path, pattern: str, text: str) -> None:
    """Replace what matches in all modules.

    Raises:
        SystemExit: nothing does.
    """
    counts = []
    for path in sources(package):
        changed, count = re.subn(pattern, text, path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        path.write_text(changed, encoding="utf-8")
        counts.append(count)
    if not sum(counts):
        raise SystemExit(f"nothing in the wrapper matches {pattern}: choose another refactoring")


def where(package: Path, name: str) -> tuple[Path, ast.stmt]:
    """Return the module that defines a class or a function, and its definition.

    Raises:
        SystemExit: no module does.
    """
    for path in sources(package):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
                return path, node
    raise SystemExit(f"no module of the wrapper defines {name}: choose another refactoring")


def rename_module(package: Path) -> None:
    """Rename the module of the tokens."""
    path, _ = where(package, "TokenAuth")
    path.rename(path.with_name(f"renamed_{path.name}"))
    rename_imports(package, path.stem, f"renamed_{path.stem}")


def rename_imports(package: Path, stem: str, to: str) -> None:
    """Let imports name a module differently."""
    replace(package, rf"(^\s*from \.[\w.]*?){stem}( import )|(\"[\w.]*?\.){stem}(\")", rf"\g<1>\g<3>{to}\g<2>\g<4>")


def merge_modules(package: Path) -> None:
    """Merge the module of the positions of a listing into the one that runs through it."""
    merged, _ = where(package, "next_query")
    into, _ = where(package, "Run")
    text, imports = split(merged)
    text_of_other, imports_of_other = split(into)
    kept = [line for line in imports + imports_of_other if f"from .{merged.stem} " not in line]
    both = "\n".join([*sorted(set(kept)), text.replace(f"from .{into.stem} ", ""), text_of_other])
    into.write_text(f'"""A listing, and a run through it."""\n\n{both}\n', encoding="utf-8")
    merged.unlink()
    rename_imports(package, merged.stem, into.stem)


def split(path: Path) -> tuple[str, list[str]]:
    """Return a module without its docstring and imports, and the imports."""
    text = path.read_text(encoding="utf-8")
    first, *others = ast.parse(text).body
    imports = [node for node in others if isinstance(node, ast.Import | ast.ImportFrom)]
    lines = text.splitlines()
    for node in reversed([first, *imports]):
        del lines[node.lineno - 1 : node.end_lineno]
    return "\n".join(lines), [ast.unparse(node) for node in imports]


def change_signature(package: Path) -> None:
    """Rename a keyword of the function that tells which limit a delay exceeds."""
    path, node = where(package, "exceeded_limit")
    text = path.read_text(encoding="utf-8")
    inside = ast.get_source_segment(text, node) or ""
    path.write_text(text.replace(inside, re.sub(r"\belapsed\b", "spent", inside)), encoding="utf-8")
    replace(package, r"(\bexceeded_limit\([^()]*\b)elapsed=", r"\g<1>spent=")


def rename_class(package: Path) -> None:
    """Rename the class that sends the requests of all operations."""
    replace(package, r"\bPlatformSender\b", "RequestSender")


def move_function(package: Path) -> None:
    """Move the function that adds a delay to a moment into another module of the same room."""
    path, node = where(package, "moment_after")
    other, _ = where(package, "AttemptEnded")
    text = path.read_text(encoding="utf-8")
    moved = ast.get_source_segment(text, node) or ""
    path.write_text(text.replace(moved, ""), encoding="utf-8")
    needed = "from datetime import datetime, timedelta\n"
    start = other.read_text(encoding="utf-8").replace("import logging\n", f"import logging\n{needed}", 1)
    other.write_text(f"{start}\n\n{moved}\n", encoding="utf-8")
    for user in sources(package):
        changed = re.sub(
            rf"^from (\S*?){path.stem} import (.*)\bmoment_after\b,? ?(.*)$",
            rf"from \g<1>{path.stem} import \g<2>\g<3>\nfrom \g<1>{other.stem} import moment_after",
            user.read_text(encoding="utf-8"),
            flags=re.MULTILINE,
        )
        user.write_text(changed.replace(", \nfrom", "\nfrom"), encoding="utf-8")


REFACTORINGS: dict[str, Callable[[Path], None]] = {
    "a module renamed": rename_module,
    "two modules merged": merge_modules,
    "a signature changed": change_signature,
    "a class renamed": rename_class,
    "a function moved": move_function,
}

if __name__ == "__main__":
    main()
