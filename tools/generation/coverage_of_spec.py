"""Print where the wrapper has each operation, parameter, body field and error code of the specification.

Run as `python -m tools.generation.coverage_of_spec`. At the end it lists what the wrapper does not have, with the lines
that use it through `platform.generated`.
"""

from tools.generation.unwrapped import UNWRAPPED
from tools.generation.wrapper_coverage import Row, operation_uses, rows
from tools.spec.reading import SPECIFICATION, load


def report() -> list[str]:
    """Return the lines to print."""
    specification = load(str(SPECIFICATION))
    found_rows, uses = rows(specification), operation_uses(specification)
    width = max(len(row.part) for row in found_rows) + 2
    lines: list[str] = []
    for name, operation in specification.operations.items():
        preview = "  (Technical Preview)" if operation.preview else ""
        lines.append(f"{uses[name].method}  {operation.method} {operation.path}{preview}")
        lines += [
            f"  {row.part:<{width}}{row.wrapped or '-'}" for row in found_rows if row.operation == name and row.part
        ]
        lines.append("")
    missing = [row for row in found_rows if not row.wrapped]
    lines.append(f"{len(found_rows) - len(missing)} of {len(found_rows)} in the wrapper")
    return [*lines, *not_wrapped(missing)]


def not_wrapped(missing: list[Row]) -> list[str]:
    """Return the lines about what is generated and not wrapped, with the lines that use it."""
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


if __name__ == "__main__":
    print("\n".join(report()))
