"""Print the size and the complexity of both packages beside their bars: `make lines`.

It exits with status 1 if no decision record names a private attribute of another library.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from tools.structure import private, route
from tools.structure.functions import functions
from tools.structure.lines import SUPPORT, TRANSPORT, WRAPPER, by_folder, lua_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure, its bar, and its location."""

    what: str
    value: int
    most: int | None = None
    where: str = ""


def sizes() -> Iterator[Figure]:
    """Yield the figures of size and complexity."""
    totals: list[tuple[int, int]] = []
    for package, most_lines, most_files in ((WRAPPER, 2_200, 20), (TRANSPORT, 2_650, None)):
        folders = by_folder(package)
        for folder, (_, lines) in sorted(folders.items()):
            yield Figure(what=f"code lines, {package.parent.name}/{folder}", value=lines)
        files, lines = (sum(numbers) for numbers in zip(*folders.values(), strict=True))
        totals.append((files, lines))
        yield Figure(what=f"code lines, {package.parent.name}", value=lines, most=most_lines)
        yield Figure(what=f"files, {package.parent.name}", value=files, most=most_files)
    yield Figure(what="code lines, both", value=sum(lines for _, lines in totals), most=4_800)
    yield Figure(what="code lines, Lua of the transport", value=lua_lines(TRANSPORT))
    yield Figure(what="code lines, templates/support", value=sum(lines for _, lines in by_folder(SUPPORT).values()))
    found = [*functions(WRAPPER), *functions(TRANSPORT)]
    most_complex = max(found, key=lambda function: function.complexity)
    most_nested = max(found, key=lambda function: function.nesting)
    yield Figure(what="highest complexity", value=most_complex.complexity, most=10, where=most_complex.name)
    yield Figure(what="deepest nesting", value=most_nested.nesting, where=most_nested.name)
    names = private.foreign()
    yield Figure(what="private attributes of others", value=len(names), most=1, where=" ".join(names))


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
    for what, work, most_files, most_moves in (
        ("one GET over loopback", route.get, 11, (34, 46)),
        ("one page of 100 iTwins over loopback", route.page, 17, (64, 72)),
    ):
        for writes, most in enumerate(most_moves, start=1):
            print(f"{what}, sent in {writes}")
            print_figures(traced(route.traced_calls(work, writes=writes), most_files=most_files, most_moves=most))
    wrong = [f"no decision record names the private attribute {each}" for each in private.unrecorded()]
    print("".join(f"{each}\n" for each in wrong), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
