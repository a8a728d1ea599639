"""Write the figures into the pages of the documentation: the gains for users, and the bars for contributors.

Only the part of a page between its two marks is replaced; the text around it is edited by hand.
"""

import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

from .report import Figures, Spread, bars, ratios, table
from .workloads import DEFAULT, FAST, HTTPX, LIMIT, STOCK

BEGIN, END = "<!-- Measured by `make bench`: edit the text outside of these marks. -->", "<!-- End of the figures. -->"
#: The clients of the chart, by column.
SHOWN = {"stock generator": STOCK, "this client": DEFAULT, "with `fast`": FAST}
#: The sentences for users, by the name of the workload.
GAINS = {
    "GET": "**A call** takes {default:.0%} of the processor time, and {fast:.0%} with the extra `fast`.",
    "1,000 tasks": "**A thousand calls at once** take {default:.0%} of it, and {fast:.0%} with `fast`.",
    "10,000 iTwins at 100 ms": "**A listing of 10,000 iTwins** is {speed:.0f} times as fast with pages in flight and "
    "`fast`, when the service is 100 ms away.",
    "10,000 iTwins, pages of 1,000": "**10,000 iTwins as typed models** take {default:.0%} of the time of plain "
    "dictionaries, and {fast:.0%} with `fast`.",
    "POST 100 objects, echoed": "**Creating a scene of 100 objects** takes {default:.0%}, and {fast:.0%} with `fast`.",
}
#: The ratios of each client to httpx, by the name of the workload.
Spreads = Mapping[str, Mapping[str, Spread]]


def write_pages(docs: Path, figures: Figures, server_load: str, alone: Sequence[Sequence[str]]) -> None:
    """Write `benchmarks.md` and `benchmark-bars.md`."""
    clients = next(iter(figures.values()))
    spreads = {
        workload.name: {each: ratios(figures, workload, each, against=HTTPX) for each in clients}
        for workload in figures
    }
    tables = {f"Against {against}": table(figures, against=against) for against in (HTTPX, LIMIT)}
    python = f"{platform.python_implementation()} {platform.python_version()}"
    when = f"Measured on {date.today().isoformat()} with {python}."
    fill(docs / "benchmarks.md", for_users(spreads, when))
    fill(docs / "benchmark-bars.md", for_contributors(bars(figures), tables, alone, f"{when} {server_load}"))


def fill(page: Path, lines: Iterator[str]) -> None:
    """Replace the lines between the two marks of a page.

    Raises:
        SystemExit: The page lacks the marks.
    """
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} has no marks for the figures: add the lines {BEGIN!r} and {END!r}")
    page.write_text("\n".join([before + begin, "", *lines, "", end + after]), encoding="utf-8")


def for_users(spreads: Spreads, when: str) -> Iterator[str]:
    """Yield the sentences for users, and a table whose cells show a bar."""
    yield f"{when} Compared with the same work written by hand with httpx and the json module:"
    yield ""
    for workload, words in GAINS.items():
        if workload in spreads:
            default, fast = spreads[workload][DEFAULT].middle, spreads[workload][FAST].middle
            yield f"- {words.format(default=default, fast=fast, speed=1 / fast)}"
    yield from ["", "## The chart", ""]
    yield "Each bar is the time of one client, and the mark is httpx with json, which is 1. Shorter is better."
    yield "The first column is the client that openapi-python-client generates by itself."
    yield ""
    yield from rows_of([["Workload", *SHOWN], *([workload, *cells(found)] for workload, found in spreads.items())])


def cells(found: Mapping[str, Spread]) -> Iterator[str]:
    """Yield the cells of one workload: a number, and the length of its bar for the style sheet of the site."""
    for client in SHOWN.values():
        ratio = found[client].middle
        yield f'<span class="bar" style="--ratio: {ratio:.3f}">{ratio:.2f}</span>'


def for_contributors(
    bars: list[list[str]], tables: Mapping[str, list[list[str]]], alone: Sequence[Sequence[str]], server_load: str
) -> Iterator[str]:
    """Yield the bars, those that are missed first, and all figures with their quartiles."""
    head, *found = bars
    order = ("no", "open", "yes", "")
    yield from [server_load, "", "## The bars", ""]
    yield from rows_of([head, *sorted(found, key=lambda row: order.index(row[-1]))])
    for title, rows in tables.items():
        yield from ["", f"## {title}", "", *rows_of(rows)]
    if alone:
        yield from ["", "## Parts alone"]
    for part in alone:
        yield from ["", "```text", *part, "```"]


def rows_of(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table in Markdown, whose first row is the head."""
    head, *others = rows
    yield "| " + " | ".join(head) + " |"
    yield "|---" * len(head) + "|"
    for row in others:
        yield "| " + " | ".join(row) + " |"
