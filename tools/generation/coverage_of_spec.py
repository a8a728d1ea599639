"""Print where the wrapper has each operation, parameter, body field and error code of the specification.

Run as `python -m tools.generation.coverage_of_spec [--spec FILE]`. What the wrapper does not have is listed at the
end, with the lines that reach it through `platform.generated`.
"""

import argparse

from tools.generation.unwrapped import UNWRAPPED
from tools.generation.wrapper_coverage import Row, places, rows
from tools.generation.wrapper_fit import misfits
from tools.spec.reading import SPECIFICATION, load


def report(source: str) -> list[str]:
    """Return the lines to print.

    Raises:
        SystemExit: the wrapper uses what the generated package no longer has.
    """
    if found := misfits():
        raise SystemExit("\n\n".join(found))
    specification = load(source)
    found_rows, found_places = rows(specification), places(specification)
    width = max(len(row.part) for row in found_rows) + 2
    lines: list[str] = []
    for name, operation in specification.operations.items():
        preview = "  (Technical Preview)" if operation.preview else ""
        lines.append(f"{found_places[name].method}  {operation.method} {operation.path}{preview}")
        lines += [f"  {row.part:<{width}}{row.held or '-'}" for row in found_rows if row.operation == name and row.part]
        lines.append("")
    missing = [row for row in found_rows if not row.held]
    lines.append(f"{len(found_rows) - len(missing)} of {len(found_rows)} in the wrapper")
    return [*lines, *not_wrapped(missing)]


def not_wrapped(missing: list[Row]) -> list[str]:
    """Return what is generated and not wrapped, each with the lines that reach it."""
    lines = [f"\nGenerated, not wrapped: {len(missing)}"] if missing else []
    by_calls: dict[tuple[str, ...], list[Row]] = {}
    for row in missing:
        by_calls.setdefault((row.operation, *row.lines), []).append(row)
    for (operation, *calls), same in by_calls.items():
        parts = ", ".join(row.part for row in same if row.part)
        lines += [f"\n  {operation}{f': {parts}' if parts else ''} - call it like this", ""]
        lines += [f"    {line}" for line in calls]
        if not parts and operation not in UNWRAPPED:
            lines += ["", "  To commit it without a wrapper, name it in tools/generation/unwrapped.py."]
    return lines


def main() -> None:
    """Read the command line and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spec", default=str(SPECIFICATION), help="a file or a git revision; default openapi.yaml")
    print("\n".join(report(parser.parse_args().spec)))


if __name__ == "__main__":
    main()
