"""Print what changed between two versions of the specification, breaking changes first.

Run as `python -m tools.spec.diff BASE [NEW]`; each is a file or a git revision, NEW is `openapi.yaml` by default.
A difference that no rule knows is listed by its place, so that every difference gives a line. It exits with status 1
after a breaking change.
"""

import argparse
import re
import sys
from pathlib import Path

from tools.generation.document import SPECIFICATION, Node, parse, text_of, with_lines
from tools.generation.validity import invalid
from tools.spec.changes import Change, changes
from tools.spec.packages import Breakage, breakages


def report(before: Node, after: Node, broken: list[Breakage] | None = None) -> list[str]:
    """Return the lines to print; `broken` is what griffe finds in the generated packages."""
    found = changes(before, after)
    reported = {re.split(r"\W", change.place, maxsplit=1)[0] for change in found if change.breaking}
    found += [
        Change(place=f"{each.owner}, {each.member}".removesuffix(", "), text=each.text, breaking=True)
        for each in broken or []
        if each.owner not in reported
    ]
    lines: list[str] = []
    for title, selected, always in (
        ("Breaking", [each for each in found if each.breaking], True),
        ("Not breaking", [each for each in found if each.known and not each.breaking], True),
        ("Also changed", [each for each in found if not each.known and not each.prose], False),
    ):
        if selected or always:
            lines += [f"{title}: {len(selected)}", *(f"  {each.place}: {each.text}" for each in selected)]
    if prose := [each.place for each in found if each.prose]:
        lines += [f"Other words, in which a rule may stand: {len(prose)}", *(f"  {place}" for place in prose)]
    return lines


def _valid(source: str) -> Node:
    text, name = text_of(source), Path(source).name
    document = parse(text, name=name)
    if found := invalid(document):
        raise SystemExit("\n".join([f"{name} is not valid:", *with_lines(found, text=text, name=name)]))
    return document


def main() -> None:
    """Read the command line, print, and exit with status 1 after a breaking change."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", help="what to compare with: a file or a git revision")
    parser.add_argument("new", nargs="?", default=str(SPECIFICATION), help="default openapi.yaml")
    arguments = parser.parse_args()
    old, new = (_valid(source) for source in (arguments.base, arguments.new))
    try:
        broken = breakages(old, new)
    except SystemExit as rejected:
        print(f"The generated packages are not compared. {rejected}", file=sys.stderr)
        broken = None
    lines = report(old, new, broken)
    print("\n".join(lines))
    if lines[0] != "Breaking: 0":
        raise SystemExit(1)


if __name__ == "__main__":
    main()
