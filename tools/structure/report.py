"""Print the size and the complexity of the wrapper beside their bars: `make lines`.

It exits with status 1 if an import goes up, or if no decision record names a private attribute of another library.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from tools.structure import imports, private, route
from tools.structure.functions import functions
from tools.structure.lines import HTTP, WRAPPER, by_room


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure, its bar, and its location."""

    what: str
    value: int
    most: int | None = None
    where: str = ""


def sizes() -> Iterator[Figure]:
    """Yield the figures of size and complexity."""
    rooms = by_room()
    for room, (_, lines) in sorted(rooms.items()):
        yield Figure(what=f"code lines, {room}", value=lines)
    above = sum(lines for room, (_, lines) in rooms.items() if room != HTTP)
    yield Figure(what=f"code lines, all above {HTTP}", value=above, most=2_300)
    yield Figure(what="code lines, all", value=sum(lines for _, lines in rooms.values()), most=4_300)
    yield Figure(what="files", value=sum(files for files, _ in rooms.values()), most=45)
    found = list(functions(WRAPPER))
    most_complex = max(found, key=lambda function: function.complexity)
    most_nested = max(found, key=lambda function: function.nesting)
    yield Figure(what="highest complexity", value=most_complex.complexity, most=10, where=most_complex.name)
    yield Figure(what="deepest nesting", value=most_nested.nesting, where=most_nested.name)
    yield Figure(what="circles of imports", value=len(circles := imports.circles()), most=0, where=" ".join(circles))
    names = private.foreign()
    yield Figure(what="private attributes of others", value=len(names), most=2, where=" ".join(names))


def traced(calls: route.Calls, *, most_files: int, most_moves: int) -> Iterator[Figure]:
    """Yield the figures of a traced operation."""
    own = route.hand_written(calls)
    yield Figure(what="  hand-written files", value=len(route.files(own)), most=most_files)
    yield Figure(what="  moves between them", value=route.moves(own), most=most_moves)
    yield Figure(what="  calls in them", value=len(own))
    yield Figure(what="  files, generated ones too", value=len(route.files(calls)))
    yield Figure(what="  moves, generated files too", value=route.moves(calls))


def print_figures(figures: Iterator[Figure]) -> None:
    """Print a row for each figure."""
    for figure in figures:
        mark = "" if figure.most is None or figure.value <= figure.most else "  ABOVE"
        bar = "" if figure.most is None else f"{figure.most:,}"
        print(f"{figure.what:34}{figure.value:>6,}{bar:>7}{mark}  {figure.where}".rstrip())


def main() -> int:
    """Print the table, and what must not be."""
    print(f"{'':34}{'is':>6}{'bar':>7}")
    print_figures(sizes())
    print("one GET over loopback")
    print_figures(traced(route.traced_calls(route.get), most_files=11, most_moves=40))
    print("one page of 100 iTwins over loopback")
    print_figures(traced(route.traced_calls(route.page), most_files=17, most_moves=64))
    wrong = [f"an import goes up: {each}" for each in imports.upward()]
    wrong += [f"no decision record names the private attribute {each}" for each in private.unrecorded()]
    print("".join(f"{each}\n" for each in wrong), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
