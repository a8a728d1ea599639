"""Show the lines of code of each part beside its ceiling, and fail if one is exceeded: `make lines`."""

import sys

from tools.structure.ceilings import CEILINGS, exceeded
from tools.structure.lines import by_part


def main() -> int:
    """Print the table and the exceeded ceilings, and return 1 if there are any."""
    lines = by_part()
    print(f"{'lines of code':34}{'is':>8}{'ceiling':>9}")
    for part, count in lines.items():
        print(f"{part:34}{count:>8,}{CEILINGS[part]:>9,}")
    found = exceeded(lines, CEILINGS)
    if found:
        print("", *found, sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
