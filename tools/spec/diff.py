"""Prints what changed between two versions of the specification, breaking changes first.

Run as `python -m tools.spec.diff BASE [NEW]`; each is a file or a git revision, NEW is `openapi.yaml` by default.
Operations and parameters are named as the client's user names them where the client has them. What no rule knows is
listed by its place, so that every difference gives a line. Exits with status 1 when something breaks.
"""

import argparse

from tools.generation.wrapper_coverage import argument, keywords, places
from tools.spec.changes import Change, changes, reworded
from tools.spec.reading import SPECIFICATION, load_document, read
from tools.spec.specification import Specification
from tools.spec.structure import Document, differences, unexplained


def report(before: Document, after: Document) -> list[str]:
    """Return the lines to print."""
    old, new = read(before), read(after)
    names = _Names(old, new)
    found = changes(old, new)
    lines: list[str] = []
    for title, breaking in (("Breaking", True), ("Not breaking", False)):
        some = [change for change in found if change.breaking is breaking]
        lines += [f"{title}: {len(some)}", *(f"  {names.of(change)}: {change.text}" for change in some)]
    words = reworded(old, new)
    readings = {id(before): old, id(after): new}

    def is_reported(one: Document, other: Document) -> bool:
        """Return whether the rules report anything about two documents."""
        first, second = (readings.get(id(document)) or read(document) for document in (one, other))
        return bool(changes(first, second) or reworded(first, second))

    others = unexplained(before, after, is_reported)
    if not found and not words and not others:
        others = list(differences(before, after))
    words += [difference.place for difference in others if difference.is_prose]
    others = [difference for difference in others if not difference.is_prose]
    if others:
        lines += [f"Also changed: {len(others)}", *(f"  {each.place}: {each.text}" for each in others)]
    if words:
        lines += [f"Other words, in which a rule may stand: {len(words)}", *(f"  {place}" for place in words)]
    return lines


class _Names:
    """How a client's user names the place of a change."""

    def __init__(self, old: Specification, new: Specification) -> None:
        self._old, self._new = old, new
        self._places = places(old) | places(new)

    def of(self, change: Change) -> str:
        if change.place in self._old.operations or change.place in self._new.operations:
            place = self._places.get(change.place)
            if place is None:
                return f"{change.place}, {change.part}".removesuffix(", ")
            given = keywords(place, argument(place, change.part) or "") if " " in change.part else frozenset[str]()
            keyword = f" ({', '.join(f'{name}=' for name in sorted(given))})" if given else ""
            return f"{place.method}, {change.part}{keyword}".removesuffix(", ")
        model = f"{change.place}.{change.part}".removesuffix(".")
        users = {"sent by": self._users("senders", change), "returned by": self._users("returners", change)}
        used = [f"{verb} {', '.join(map(self._method, names))}" for verb, names in users.items() if names]
        return f"{model} ({'; '.join(used)})" if used else model

    def _users(self, side: str, change: Change) -> list[str]:
        one, other = (getattr(specification, side)(change.place) for specification in (self._old, self._new))
        return sorted({*one, *other})

    def _method(self, operation: str) -> str:
        return self._places[operation].method if operation in self._places else operation


def main() -> None:
    """Reads the command line, prints, and exits with status 1 when something breaks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", help="what to compare with: a file or a git revision")
    parser.add_argument("new", nargs="?", default=str(SPECIFICATION), help="default openapi.yaml")
    arguments = parser.parse_args()
    old, new = load_document(arguments.base), load_document(arguments.new)
    print("\n".join(report(old, new)))
    if any(change.breaking for change in changes(read(old), read(new))):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
