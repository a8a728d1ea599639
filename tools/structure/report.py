"""Print the size of the code and the ways of two calls through it beside their bars: `make lines`."""

import asyncio
from itertools import pairwise

from tools.structure import route
from tools.structure.lines import PROJECT, SANDBOX, SUPPORT, TRANSPORT, WRAPPER, by_folder, other_lines


def show(what: str, value: int, most: int | None = None) -> None:
    """Print a figure, its bar, and whether it is above."""
    bar = "" if most is None else f"{most:,}"
    print(f"{what:34}{value:>6,}{bar:>7}{'  ABOVE' if most is not None and value > most else ''}")


def show_sizes() -> None:
    """Print the code lines of the packages and of what is around them."""
    both = 0
    for package, most_lines, most_files in ((WRAPPER, 2_200, 20), (TRANSPORT, 2_650, None)):
        folders = by_folder(package)
        for folder, lines in sorted(folders.items()):
            show(f"code lines, {package.parent.name}/{folder}", lines)
        show(f"code lines, {package.parent.name}", folders.total(), most_lines)
        show(f"files, {package.parent.name}", len([*package.rglob("*.py")]), most_files)
        both += folders.total()
    show("code lines, both", both, 4_800)
    show("code lines, Lua of the transport", other_lines(TRANSPORT, "*.lua"))
    # With its page, its grammar and its data; what `make generate` writes of the document is none of them.
    data = other_lines(SANDBOX, "*.html", "*.lark", "_*/*.json")
    show("code lines, sandbox with its data", by_folder(SANDBOX).total() + data, 4_700)
    for around, most in ((SUPPORT, None), (PROJECT / "tools", 3_300), (PROJECT / "measure", 4_200)):
        show(f"code lines, {around.relative_to(PROJECT).as_posix()}", by_folder(around).total(), most)


def main() -> None:
    """Print the table."""
    print(f"{'':34}{'is':>6}{'bar':>7}")
    show_sizes()
    for what, work, most_files, most_moves in (
        ("one GET over loopback", route.get, 11, (34, 46)),
        ("one page of 100 iTwins over loopback", route.page, 17, (64, 72)),
    ):
        for writes, most in enumerate(most_moves, start=1):
            print(f"{what}, sent in {writes}")
            files = asyncio.run(route.traced(work, writes=writes))
            show("  hand-written files", len({*files}), most_files)
            show("  moves between them", sum(before != after for before, after in pairwise(files)), most)


if __name__ == "__main__":
    main()
