"""Generate the client package from `openapi.yaml`, or check that the committed package is up to date.

Run as `python -m tools.generation.generate [--check] [--spec FILE] [--into FOLDER]`. The package is generated in a
temporary folder, imported and type-checked there, and compared with the wrapper; only then does it replace the old one.
With `--check` it compares instead, names every file that differs, and exits with status 1. After generating it prints
the modules that changed, each line of the wrapper that no longer fits, and the operations without a method.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from tools.generation.docstring_limits import stale
from tools.generation.document import PACKAGE, PROJECT, SPECIFICATION, Node, parse, text_of
from tools.generation.generator import write_package
from tools.generation.sandbox_document import FILE, sandbox_document
from tools.generation.wrapper_fit import misfits, type_errors, without_method

OPERATIONS = Path("wrapper") / "itwin_platform" / "_operations"
ADVICE = """renamed: put the new name there
removed: remove it there, with the public argument or method and the tests
either way: say so in CHANGELOG.md, under Service"""


def differences(*, committed: Path, made: Path) -> list[str]:
    """Compare two folders byte by byte and return a sorted list with a line for each difference."""
    old, new = _contents(committed), _contents(made)
    changed = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    return [f"{'new' if name not in old else 'differs' if name in new else 'gone'}: {name}" for name in changed]


def _contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def beside_package(document: Node, root: Path) -> dict[Path, bytes]:
    """Return the files of the sandbox and the wrapper to update, if the folder `root` has these packages."""
    files = {path: source.encode() for path, source in stale(root / OPERATIONS).items()}
    if (root / FILE).parent.exists():
        files[root / FILE] = sandbox_document(document)
    return {path: content for path, content in files.items() if not path.exists() or path.read_bytes() != content}


def next_steps(document: Node, *, generated: Path, errors: list[str], changed: list[str]) -> list[str]:
    """Return the report: the changed modules and the next steps; `errors` are the errors of mypy in the wrapper."""
    count = "1 module" if len(changed) == 1 else f"{len(changed)} modules"
    lines = [f"{count} changed" if changed else "The generated package is as it was."]
    lines += [f"  {line}" for line in changed]
    if found := misfits(document, generated=generated, errors=errors):
        return [*lines, "", "The wrapper does not fit any more:", "", *found, "", ADVICE]
    if names := without_method(document):
        lines += ["", f"Without a method, to be called through `platform.generated`: {', '.join(names)}"]
    lines += ["", "The wrapper fits. To see the effect on users: make spec-diff BASE=HEAD"]
    return [*lines, "Before you commit: make check"]


def main() -> None:
    """Read the command line and generate or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the committed package, write nothing")
    parser.add_argument("--spec", type=Path, default=SPECIFICATION, help="the specification to read")
    parser.add_argument("--into", type=Path, default=PROJECT / "generated", help="the folder that holds the package")
    arguments = parser.parse_args()
    root, target, name = arguments.into.parent, arguments.into / PACKAGE, arguments.spec.name
    text = text_of(str(arguments.spec))
    document = parse(text, name=name)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / PACKAGE
        write_package(document, made, name=name, text=text)
        sys.path.insert(0, folder)  # import the new package, not an installed one
        beside = beside_package(document, root)
        changed = differences(committed=target, made=made)
        changed += [f"differs: {path.relative_to(root).as_posix()}" for path in beside]
        if arguments.check:
            if changed:
                print(*changed, sep="\n", file=sys.stderr)
                raise SystemExit("generated/ is out of date: run `make generate` and commit the result")
            return
        wrong, errors = type_errors(made.parent)
        if wrong:
            raise SystemExit("\n".join([f"{name} gives modules with wrong types:", *wrong]))
        lines = next_steps(document, generated=made.parent, errors=errors, changed=changed)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(made, target, ignore=shutil.ignore_patterns("__pycache__"))
        for path, content in beside.items():
            path.write_bytes(content)
    print(*lines, sep="\n")


if __name__ == "__main__":
    main()
