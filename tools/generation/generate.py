"""Generate the client package from `openapi.yaml`, or check that the committed package is up to date.

Run as `python -m tools.generation.generate [--check] [--spec FILE] [--into FOLDER]`. The package is generated in a
temporary folder, imported and type-checked there, and compared with the wrapper; only then does it replace the old one.
With `--check` it compares instead, names every file that differs, and exits with status 1. After generating it prints
the modules that changed, each line of the wrapper that no longer fits, and what is generated and not wrapped.
"""

import argparse
import filecmp
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.generation import not_wrapped
from tools.generation.docstring_limits import stale
from tools.generation.document import parse, text_of
from tools.generation.generator_contract import conflicts
from tools.generation.wrapper_fit import GENERATED, misfits, type_errors

PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = "itwin_platform_api"
OPERATIONS = Path("wrapper") / "itwin_platform" / "_operations"
ADVICE = """renamed: put the new name there
removed: remove it there, with what offered it to users and its tests
either way: say so in CHANGELOG.md, under Service"""

Document = Mapping[str, Any]


def differences(*, committed: Path, made: Path) -> list[str]:
    """Compare two folders byte by byte and return a line for each file of `made` that differs, sorted."""
    names = {
        path.relative_to(root).as_posix()
        for root in (committed, made)
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    lines: list[str] = []
    for name in sorted(names):
        if not (committed / name).exists():
            lines.append(f"new: {name}")
        elif not (made / name).exists():
            lines.append(f"gone: {name}")
        elif not filecmp.cmp(committed / name, made / name, shallow=False):
            lines.append(f"differs: {name}")
    return lines


def what_follows(document: Document, *, made: Path, changed: list[str]) -> list[str]:
    """Return the lines that say what changed and what to do next."""
    count = "1 module" if len(changed) == 1 else f"{len(changed)} modules"
    lines = [f"{count} changed" if changed else "The generated package is as it was."]
    lines += [f"  {line}" for line in changed]
    if found := misfits(document, generated=made.parent):
        return [*lines, "", "The wrapper does not fit any more:", "", *found, "", ADVICE]
    lines += not_wrapped.report()
    lines += ["", "The wrapper fits. What the change means to users: make spec-diff BASE=HEAD"]
    return [*lines, "What must hold before it is committed: make check"]


def main() -> None:
    """Read the command line and generate or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with what is committed, write nothing")
    parser.add_argument("--spec", type=Path, default=PROJECT / "openapi.yaml", help="the specification to read")
    parser.add_argument("--into", type=Path, default=PROJECT / "generated", help="the folder that holds the package")
    arguments = parser.parse_args()
    found = conflicts()
    if found.broken:
        raise SystemExit(found.text)
    if found.changed:
        print(found.text, file=sys.stderr)
    try:
        from tools.generation.generator import write_package
    except ImportError as error:
        raise SystemExit(f"{found.text}\n  {error}\nTo see what else is gone: make types") from error
    from tools.generation.sandbox_document import FILE, sandbox_document

    target, name = arguments.into / PACKAGE, arguments.spec.name
    # What is written beside the package: elsewhere than in a checkout there may be neither a sandbox nor a wrapper.
    served, operations = arguments.into.parent / FILE, arguments.into.parent / OPERATIONS
    text = text_of(str(arguments.spec))
    document = parse(text, name=name)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / PACKAGE
        write_package(document, made, name=name, text=text)
        sys.path.insert(0, folder)  # import the new package, not an installed one
        beside = {path: source.encode() for path, source in stale(operations).items()}
        if served.parent.exists() and (not served.exists() or served.read_bytes() != sandbox_document(document)):
            beside[served] = sandbox_document(document)
        changed = differences(committed=target, made=made)
        changed += [f"differs: {path.relative_to(arguments.into.parent).as_posix()}" for path in beside]
        if arguments.check:
            if changed:
                print(*changed, sep="\n", file=sys.stderr)
                raise SystemExit("this is not what openapi.yaml gives: run `make generate` and commit the result")
            return
        if wrong := [line for line in type_errors(made.parent) if line.startswith(GENERATED)]:
            raise SystemExit("\n".join([f"{name} gives modules with wrong types:", *wrong]))
        follows = what_follows(document, made=made, changed=changed)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(made, target, ignore=shutil.ignore_patterns("__pycache__"))
        for path, content in beside.items():
            path.write_bytes(content)
    print(*follows, sep="\n")


if __name__ == "__main__":
    main()
