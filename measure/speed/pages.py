"""Write the figures into docs/benchmarks.md.

Only the part of the page between its two marks is replaced; the text around it is edited by hand.
"""

import platform
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from .report import Figures, Finding, Parts, bars, findings, rate_rows, ratios, table, tasks
from .workloads import (
    AIOHTTP,
    GET,
    HTTPX2,
    LISTING_AT_100_MS,
    OBJECTS,
    OURS,
    POST_ECHOED,
    TASKS_AT_ONCE,
    WORKLOADS,
)

BEGIN, END = "<!-- Measured by `make bench`: edit the text outside of these marks. -->", "<!-- End of the figures. -->"
#: The clients of the chart.
SHOWN = (HTTPX2, AIOHTTP, OURS)
_BY_NAME = {each.title: each for each in WORKLOADS}
#: The sentences for users, by workload: the ratio, and its inverse.
GAINS = {
    GET: "**A call** takes {ratio:.0%} of the processor time.",
    TASKS_AT_ONCE: "**A thousand calls at once** take {ratio:.0%} of it.",
    _BY_NAME[POST_ECHOED]: "**Creating a scene of 100 objects** takes {ratio:.0%}.",
    _BY_NAME[OBJECTS]: "**5,000 scene objects as typed models** take {ratio:.0%} of the time of plain dictionaries.",
    LISTING_AT_100_MS: (
        "**A listing of 10,000 iTwins** from a service 100 ms away is {speed:.0f} times as fast. It reads pages of "
        "1,000, ten in flight; httpx reads\n  pages of 100 here, one after the other."
    ),
}


def write_page(page: Path, figures: Figures, parts: Parts, server_load: str) -> None:
    """Write the figures between the marks of the page.

    Raises:
        SystemExit: The page lacks the marks.
    """
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} has no marks for the figures: add the lines {BEGIN!r} and {END!r}")
    lines = measured(figures, parts, server_load)
    page.write_text("\n".join([before + begin, "", *lines, "", end + after]), encoding="utf-8")


def measured(figures: Figures, parts: Parts, server_load: str) -> Iterator[str]:
    """Yield the lines between the marks."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    yield f"Measured on {date.today().isoformat()} with {python}."
    yield "Compared with the same work written by hand with httpx and the json module:"
    yield ""
    for workload, words in GAINS.items():
        if workload in figures:
            ratio = ratios(figures, workload, OURS).middle
            yield f"- {words.format(ratio=ratio, speed=1 / ratio)}"
    yield from [
        "",
        "## The chart",
        "",
        "Each bar is the time of one client as a ratio to httpx with json, whose 1 is the",
    ]
    yield from ["mark. Shorter is better.", "", *rows_of(chart(figures))]
    found = [*findings(figures, parts)]
    missed = sum(not each.is_met for each in found)
    yield from ["", "## The bars", ""]
    yield f"{len(found) - missed} of {len(found)} bars are met. A bar is met if the median keeps it."
    yield from ["", *rows_of(bars(found)), "", "As a share of the bar, which is the mark:", "", *rows_of(shares(found))]
    yield from [
        "",
        "## All figures",
        "",
        "Ratios to httpx + json: the median, and the quartiles.",
        "",
        *rows_of(table(figures)),
    ]
    yield from ["", "1,000 calls at once:", "", *rows_of(tasks(figures))]
    yield from [
        "",
        "Requests per second from a service without latency:",
        "",
        *rows_of(rate_rows(parts)),
        "",
        server_load,
    ]


def chart(figures: Figures) -> list[list[str]]:
    """Return the chart as rows of cells, the head first."""
    found = {
        workload.title: [
            ratios(figures, workload, client).middle if client in workload.clients else None for client in SHOWN
        ]
        for workload in figures
        if workload.data == "real"
    }
    most = max(ratio for row in found.values() for ratio in row if ratio is not None)
    return [
        ["Workload", *SHOWN],
        *([name, *("" if ratio is None else cell(ratio, most=most) for ratio in row)] for name, row in found.items()),
    ]


def shares(found: Sequence[Finding]) -> list[list[str]]:
    """Return each figure as a share of its bar, the longest first; what is missed is longer than the mark."""
    most = max(1.0, *(each.of_the_bar for each in found))
    ranked = sorted(found, key=lambda each: -each.of_the_bar)
    return [["What", "Of its bar"], *([each.name, cell(each.of_the_bar, most=most)] for each in ranked)]


def cell(ratio: float, *, most: float) -> str:
    """Return a number, and the length of its bar for the style sheet of the site, which fits the longest one."""
    return f'<span class="bar" style="--ratio: {ratio:.3f}; --most: {max(1.0, most):.3f}">{ratio:.2f}</span>'


def rows_of(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table in Markdown, whose first row is the head."""
    if not rows:
        return
    head, *others = rows
    yield "| " + " | ".join(head) + " |"
    yield "|---" * len(head) + "|"
    for row in others:
        yield "| " + " | ".join(row) + " |"
