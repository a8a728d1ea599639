"""The maximum number of lines of code of each part. `make lines` shows it, and `make check` fails above it.

A ceiling is the number of lines that the part had when it was set. Lower it when the part becomes smaller. Raising one
is a commit of its own, with the reason: which users have a situation that fails without the code, and why no code can
go.
"""

from collections.abc import Mapping

CEILINGS = {
    "wrapper": 2_085,
    "transport": 3_866,
    "templates and generation": 2_828,
    "sandbox": 3_728,
    "measure": 2_898,
    "tools": 1_124,
    "tests": 14_092,
}


def exceeded(lines: Mapping[str, int], ceilings: Mapping[str, int]) -> list[str]:
    """Return a message for each part that has more lines than its ceiling allows."""
    return [
        f"{part} has {count:,} lines of code, {count - ceilings[part]:,} above its ceiling: remove code, or raise the "
        "ceiling in tools/structure/ceilings.py in a commit of its own, with the reason"
        for part, count in lines.items()
        if count > ceilings[part]
    ]
