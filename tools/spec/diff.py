"""Print what changed between two versions of the specification, breaking changes first.

Run as `python -m tools.spec.diff BASE [NEW]`. Each is a file or a git revision, and NEW is `openapi.yaml` by default.
Every difference has a line: if no rule explains it, the line has its place. The exit status is 1 after a breaking
change.
"""

import argparse
import re
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from tools.generation.document import SPECIFICATION, Node, parse, text_of, with_lines
from tools.generation.document_checks import invalid
from tools.spec.changes import BREAKING, HEADINGS, Change, changes
from tools.spec.packages import Breakage, compared


def report(
    before: Node, after: Node, modules: Collection[str] | None = None, broken: Sequence[Breakage] = ()
) -> list[str]:
    """Return the lines to print; `modules` differ between the generated packages, and `broken` are their breakages."""
    found = changes(before, after, modules)
    reported = {re.split(r"\W", change.place, maxsplit=1)[0] for change in found if change.heading == BREAKING}
    found += [
        Change(place=f"{owner}, {member}".removesuffix(", "), text=text)
        for owner, member, text in broken
        if owner not in reported
    ]
    lines: list[str] = []
    for heading in HEADINGS:
        selected = [each.line for each in found if each.heading == heading]
        if selected or heading in HEADINGS[:2]:
            lines += [f"{heading}: {len(selected)}", *selected]
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
    parser.add_argument("base", help="the old document: a file or a git revision")
    parser.add_argument("new", nargs="?", default=str(SPECIFICATION), help="the new document, openapi.yaml by default")
    arguments = parser.parse_args()
    old, new = (_valid(source) for source in (arguments.base, arguments.new))
    try:
        lines = report(old, new, *compared(old, new))
    except SystemExit as rejected:
        print(f"The generated packages are not compared. {rejected}", file=sys.stderr)
        lines = report(old, new)
    print("\n".join(lines))
    if lines[0] != "Breaking: 0":
        raise SystemExit(1)


if __name__ == "__main__":
    main()
