"""Print what changed between two versions of the specification, breaking changes first.

Run as `python -m tools.spec.diff BASE [NEW]`; each is a file or a git revision, NEW is `openapi.yaml` by default.
A difference that no rule covers is listed by
its location, so that every difference gives a line. It exits with status 1 after a breaking change.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from tools.generation.document import SPECIFICATION, parse, text_of, with_lines
from tools.generation.validity import invalid
from tools.spec.changes import CLASS_GONE, Change, changes, reworded
from tools.spec.packages import Breakage, breakages
from tools.spec.reading import read
from tools.spec.specification import Specification
from tools.spec.structure import Difference, Document, differences, unexplained


def report(before: Document, after: Document, broken: list[Breakage] | None = None) -> list[str]:
    """Return the lines to print; `broken` is what griffe finds in the generated packages."""
    old, new = read(before), read(after)
    found = _confirmed(changes(old, new), broken)
    lines: list[str] = []
    for title, breaking in (("Breaking", True), ("Not breaking", False)):
        selected = [change for change in found if change.breaking is breaking]
        lines += [f"{title}: {len(selected)}", *(f"  {_place(change, old, new)}: {change.text}" for change in selected)]
    prose = reworded(old, new)
    others = _unexplained(before, after, old, new)
    if not found and not prose and not others:
        others = list(differences(before, after))
    prose += [difference.place for difference in others if difference.is_prose]
    others = [difference for difference in others if not difference.is_prose]
    if others:
        lines += [f"Also changed: {len(others)}", *(f"  {each.place}: {each.text}" for each in others)]
    if prose:
        lines += [f"Other words, in which a rule may stand: {len(prose)}", *(f"  {place}" for place in prose)]
    return lines


def _confirmed(found: list[Change], broken: list[Breakage] | None) -> list[Change]:
    """Return changes as the packages confirm them: no class is gone that is still generated, and none is missing."""
    if broken is None:
        return found
    gone = {each.owner for each in broken if not each.member}
    kept = [
        replace(change, text="no operation uses it any more; its class is still generated", breaking=False)
        if change.text == CLASS_GONE and change.place not in gone
        else change
        for change in found
    ]
    told = {change.place for change in kept if change.breaking}
    others = [each for each in broken if each.owner not in told and not any(each.owner in each_.text for each_ in kept)]
    return sorted(
        {*kept, *(Change(place=each.owner, part=each.member, text=each.text, breaking=True) for each in others)}
    )


def _unexplained(before: Document, after: Document, old: Specification, new: Specification) -> list[Difference]:
    """Return the differences that no rule reports."""
    known = {id(before): old, id(after): new}

    def is_reported(first: Document, second: Document) -> bool:
        """Return whether the rules report anything about two documents."""
        specifications = [known.get(id(document)) or read(document) for document in (first, second)]
        return bool(changes(*specifications) or reworded(*specifications))

    return unexplained(before, after, is_reported)


def _place(change: Change, old: Specification, new: Specification) -> str:
    """Return the place of a change: an operation and its part, or a model, with the operations that use it."""
    operation = change.place in old.operations or change.place in new.operations
    place = f"{change.place}, {change.part}" if operation else f"{change.place}.{change.part}"
    used = [
        f"{words} {', '.join(sorted(users))}"
        for words, users in (
            ("sent by", {*old.senders(change.place), *new.senders(change.place)}),
            ("returned by", {*old.returners(change.place), *new.returners(change.place)}),
        )
        if users and not operation
    ]
    return " ".join([place.removesuffix(", ").removesuffix("."), *([f"({'; '.join(used)})"] if used else [])])


def _valid(source: str) -> Document:
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
