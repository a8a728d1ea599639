"""Print the size of the code and the ways of two calls through it beside their bars: `make lines`."""

from collections.abc import Iterator
from dataclasses import dataclass

from tools.structure import route
from tools.structure.lines import PROJECT, SANDBOX, SUPPORT, TRANSPORT, WRAPPER, by_folder, other_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure and its bar."""

    what: str
    value: int
    most: int | None = None


def sizes() -> Iterator[Figure]:
    """Yield the code lines of the packages and of what is around them."""
    both = 0
    for package, most_lines in ((WRAPPER, 2_200), (TRANSPORT, 2_650)):
        folders = by_folder(package)
        for folder, (_, lines) in sorted(folders.items()):
            yield Figure(what=f"code lines, {package.parent.name}/{folder}", value=lines)
        files, lines = (sum(numbers) for numbers in zip(*folders.values(), strict=True))
        both += lines
        yield Figure(what=f"code lines, {package.parent.name}", value=lines, most=most_lines)
        yield Figure(what=f"files, {package.parent.name}", value=files, most=20 if package == WRAPPER else None)
    yield Figure(what="code lines, both", value=both, most=4_800)
    yield Figure(what="code lines, Lua of the transport", value=other_lines(TRANSPORT, "*.lua"))
    # With its page, its grammar and its data; what `make generate` writes of the document is none of them.
    lines = sum(lines for _, lines in by_folder(SANDBOX).values())
    lines += other_lines(SANDBOX, "*.html", "*.lark", "_*/*.json")
    yield Figure(what="code lines, sandbox with its data", value=lines, most=4_700)
    for around, most in ((SUPPORT, None), (PROJECT / "tools", 3_300), (PROJECT / "measure", 4_200)):
        lines = sum(lines for _, lines in by_folder(around).values())
        yield Figure(what=f"code lines, {around.relative_to(PROJECT).as_posix()}", value=lines, most=most)


def traced(calls: route.Calls, *, most_files: int, most_moves: int) -> Iterator[Figure]:
    """Yield the figures of a traced operation."""
    own = route.hand_written(calls)
    yield Figure(what="  hand-written files", value=len(route.files(own)), most=most_files)
    yield Figure(what="  moves between them", value=route.moves(own), most=most_moves)


def print_figures(figures: Iterator[Figure]) -> None:
    """Print a row for each figure."""
    for figure in figures:
        mark = "" if figure.most is None or figure.value <= figure.most else "  ABOVE"
        bar = "" if figure.most is None else f"{figure.most:,}"
        print(f"{figure.what:34}{figure.value:>6,}{bar:>7}{mark}")


def main() -> None:
    """Print the table."""
    print(f"{'':34}{'is':>6}{'bar':>7}")
    print_figures(sizes())
    for what, work, most_files, most_moves in (
        ("one GET over loopback", route.get, 11, (34, 46)),
        ("one page of 100 iTwins over loopback", route.page, 17, (64, 72)),
    ):
        for writes, most in enumerate(most_moves, start=1):
            print(f"{what}, sent in {writes}")
            print_figures(traced(route.traced_calls(work, writes=writes), most_files=most_files, most_moves=most))


if __name__ == "__main__":
    main()
