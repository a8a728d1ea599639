"""Generate the client package from `openapi.yaml`, or check that the committed package is up to date.

Run as `python -m tools.generation.generate [--check] [--spec FILE] [--into FOLDER]`. The package is generated in a
temporary folder and replaces the old one only if the generator gave no warning. With `--check` it compares instead,
names every file that differs, and exits with status 1. After generating it prints the modules that changed, the names
that the wrapper uses and the package no longer has, and what is generated and not wrapped.
"""

import argparse
import filecmp
import shutil
import sys
import tempfile
from pathlib import Path

import yaml

from tools.generation.generator_contract import conflicts

PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = "itwin_platform_api"


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


def what_follows(*, spec: Path, folder: Path, changed: list[str]) -> list[str]:
    """Return the lines that say what changed and what to do next."""
    sys.path.insert(0, str(folder))  # import the new package, not an installed one
    from tools.generation.coverage_of_spec import not_wrapped
    from tools.generation.wrapper_coverage import rows
    from tools.generation.wrapper_fit import misfits
    from tools.spec.reading import load

    count = "1 module" if len(changed) == 1 else f"{len(changed)} modules"
    lines = [f"{count} changed" if changed else "The generated package is as it was."]
    lines += [f"  {line}" for line in changed]
    specification = load(str(spec))
    if found := misfits(specification):
        return [*lines, "", "The wrapper does not fit any more:", "", "\n\n".join(found)]
    missing = [row for row in rows(specification) if not row.wrapped]
    lines += not_wrapped(missing)
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
    from tools.generation.generator import write_package

    target = arguments.into / PACKAGE
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / PACKAGE
        write_package(yaml.safe_load(arguments.spec.read_text(encoding="utf-8")), made, name=arguments.spec.name)
        changed = differences(committed=target, made=made)
        if not arguments.check:
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(made, target)
    if not arguments.check:
        print(*what_follows(spec=arguments.spec, folder=arguments.into, changed=changed), sep="\n")
    elif changed:
        print(*changed, sep="\n", file=sys.stderr)
        raise SystemExit("generated/ is not what openapi.yaml gives: run `make generate` and commit the result")


if __name__ == "__main__":
    main()
