"""Print the size and the complexity of the wrapper beside their limits: `make lines`.

It exits with status 1 if a limit is exceeded.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from tools.structure import route
from tools.structure.functions import functions
from tools.structure.lines import WRAPPER, by_folder, first_level_files


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure, its limit, and its location."""

    what: str
    value: int
    most: int | None
    where: str = ""

    @property
    def holds(self) -> bool:
        """Whether the figure is within the limit."""
        return self.most is None or self.value <= self.most


def sizes() -> Iterator[Figure]:
    """Yield the figures of size and complexity."""
    yield Figure(what="files at the first level", value=first_level_files(), most=8)
    lines = by_folder()
    for folder, count in sorted(lines.items()):
        yield Figure(what=f"code lines, {folder}", value=count, most=850)
    yield Figure(what="code lines, all", value=sum(lines.values()), most=2_900)
    found = list(functions(WRAPPER))
    most_complex = max(found, key=lambda function: function.complexity)
    most_nested = max(found, key=lambda function: function.nesting)
    yield Figure(what="highest complexity", value=most_complex.complexity, most=10, where=most_complex.name)
    yield Figure(what="deepest nesting", value=most_nested.nesting, most=4, where=most_nested.name)


def one_get(calls: route.Calls, *, limited: bool) -> Iterator[Figure]:
    """Yield the figures of one GET."""
    hand_written = route.hand_written(calls)
    yield Figure(what="  hand-written files", value=len(route.files(hand_written)), most=10 if limited else None)
    yield Figure(what="  moves between them", value=route.moves(hand_written), most=24 if limited else None)
    yield Figure(what="  calls in them", value=len(hand_written), most=None)
    yield Figure(what="  files, generated ones too", value=len(route.files(calls)), most=None)
    yield Figure(what="  moves, generated files too", value=route.moves(calls), most=None)
    yield Figure(what="  calls, generated functions too", value=len(calls), most=None)


def print_figures(figures: Iterator[Figure]) -> int:
    """Print a row for each figure, and return how many exceed their limit."""
    exceeded = 0
    for figure in figures:
        mark = "" if figure.holds else "  EXCEEDED"
        limit = "" if figure.most is None else f"{figure.most:,}"
        print(f"{figure.what:38}{figure.value:>6,}{limit:>7}  {figure.where}{mark}".rstrip())
        exceeded += not figure.holds
    return exceeded


def main() -> int:
    """Print the table."""
    print(f"{'':38}{'is':>6}{'limit':>7}")
    exceeded = print_figures(sizes())
    print("one GET, through a transport that can be cancelled at any time, as the default can")
    exceeded += print_figures(one_get(route.traced_calls(route.CleanTransport), limited=True))
    print("one GET, through a caller's transport, whose cancellation the client orders")
    print_figures(one_get(route.traced_calls(route.ProtectedTransport), limited=False))
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
