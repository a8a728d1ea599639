"""Write the figures into docs/benchmarks.md.

Only the part of the page between its two marks is replaced; the text around it is edited by hand.
"""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from . import report
from .report import Figures, Parts, Spread, ratios
from .workloads import AIOHTTP, GET, HTTPX, MSGSPEC, OURS, STOCK, by_title

BEGIN, END = "<!-- Measured by `make bench`: edit the text outside of these marks. -->", "<!-- End of the figures. -->"
#: The clients of the chart.
SHOWN = (STOCK, AIOHTTP, MSGSPEC, OURS)
#: The workloads of the table at the top: their descriptions by title.
GAINS = {
    "GET": "one call",
    "1,000 tasks": "a thousand calls at once",
    "1,000 tasks over TLS": "a thousand calls at once over TLS, on new connections",
    "POST 100 objects, echoed": "a new scene of 100 objects, given as mappings",
    "POST 100 objects as models, echoed": "the same, given as models",
    "5,000 scene objects, the data of each read": (
        "5,000 scene objects and their data, as typed models instead of dictionaries"
    ),
}
#: The text between the marks.
_MEASURED = """
Measured on {date} with CPython {python}, each process on one core, in two runs of {rounds} rounds. The same work was
written by hand with httpx and the json module, and with aiohttp and the json module. Of their processor time, this
client takes:

{gains}

A star marks a figure that differs by more than 10% between the two runs: another measurement may find another figure.

Seconds to list 10,000 iTwins in ten pages of 1,000, from a service that responds after 100 ms:

{listing}

This client requests the first page alone, because its link shows how the service paginates, and then nine pages at
once. That works with each service and each page size. The other programs request ten pages at once: they are written
for this listing, and know how many pages it has.

## The chart

The mark is the time of httpx with json, which is 1. Each bar is the time of one client. Shorter is better.

{chart}

## The targets

The project sets itself these targets, and {met} of {all} are met. A target is met if the quartiles reach it.

{targets}

## All figures

Each ratio is to the time of httpx with json: the median of the rounds, and their quartiles in brackets.

{ratios}

## Against the floor

Each ratio is to the smallest client that can be written with the parts of this one: asyncio, httptools and msgspec.

{anchors}

{importing}

## Each Python, and rates

This client with each Python that was measured, of httpx with json under the same Python:

{pythons}

A thousand calls at once, to a service that responds after 20 ms. By default, this client has 20 requests in flight.
With `BackoffPolicy(max_in_flight=100)`, it has as many as the others have by default:

{waiting}

Requests per second, from a service without latency:

{rates}

{server_load}

"""


def write_page(page: Path, figures: Figures, parts: Parts, server_load: str) -> None:
    """Write the figures between the marks of the page.

    Raises:
        SystemExit: The page lacks the marks.
    """
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    old, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} has no marks for the figures: add the lines {BEGIN!r} and {END!r}")
    page.write_text(f"{before}{begin}\n{measured(figures, parts, server_load, old)}{end}{after}", encoding="utf-8")


def measured(figures: Figures, parts: Parts, server_load: str, old: str) -> str:
    """Return the text between the marks; `old` is the text that it replaces."""
    found = [*report.findings(figures, parts)]
    return _MEASURED.format(
        date=date.today().isoformat(),
        python=parts.python,
        rounds=len(figures[GET][OURS]) // 2,
        gains=in_markdown(gains(figures)),
        listing=in_markdown(listing(figures)),
        chart=in_markdown(chart(figures)),
        met=sum(each.is_met for each in found),
        all=len(found),
        targets=in_markdown(report.targets(found)),
        ratios=in_markdown(report.table(figures)),
        anchors=in_markdown(report.anchor_rows(figures)),
        importing=importing(parts),
        pythons=in_markdown(each_python(figures, parts.python, old)),
        waiting=in_markdown(report.waiting_rows(parts)),
        rates=in_markdown(report.rate_rows(parts)),
        server_load=server_load,
    )


def importing(parts: Parts) -> str:
    """Return a sentence about import and one client."""
    found = parts.importing.get("pyreqwest")
    theirs = "was not measured" if found is None else f"takes {found} of it"
    ours = parts.importing["http"]
    return f"To import a library and make one client, this one takes {ours} of the time of httpx; pyreqwest {theirs}."


def each_python(figures: Figures, python: str, old: str) -> list[list[str]]:
    """Return a row for each Python, the head first. The rows of other Pythons come from the old text."""
    head = ["", *GAINS]
    rows = [line.strip("| ").split(" | ") for line in old.splitlines() if line.startswith("| CPython ")]
    rows.append([f"CPython {python}", *(str(ratios(figures, by_title(title), OURS)) for title in GAINS)])
    by_version = {row[0].rpartition(".")[0]: row for row in rows if len(row) == len(head)}
    return [head, *(by_version[version] for version in sorted(by_version))]


def gains(figures: Figures) -> list[list[str]]:
    """Return the rows of the time of this client as a share of the time of others, the head first."""
    rows = [["", "Of httpx + json", "Of aiohttp + json"]]
    for title, words in GAINS.items():
        found = [ratios(figures, by_title(title), OURS, against=other) for other in (HTTPX, AIOHTTP)]
        rows.append([words, *(f"{each.middle:.0%}{' *' if each.varies else ''}" for each in found)])
    return rows


def listing(figures: Figures) -> list[list[str]]:
    """Return the seconds of a listing with latency as rows of cells, the head first."""
    workloads = [workload for workload in figures if workload.elapsed]
    clients = (HTTPX, AIOHTTP, STOCK, OURS)
    rows = [[client, *(str(Spread.of(figures[each][client])) for each in workloads)] for client in clients]
    return [["", "One page after the other", "Ten pages in flight"], *rows]


def chart(figures: Figures) -> list[list[str]]:
    """Return the chart as rows of cells, the head first."""
    found = {
        workload.title: [ratios(figures, workload, client).middle for client in SHOWN]
        for workload in figures
        if workload.data == "real"
    }
    most = max(1.0, *(ratio for row in found.values() for ratio in row))
    return [["Workload", *SHOWN], *([name, *(bar(ratio, most=most) for ratio in row)] for name, row in found.items())]


def bar(ratio: float, *, most: float) -> str:
    """Return a ratio with the length of its bar; the style sheet of the site fits the longest bar into the table."""
    return f'<span class="bar" style="--ratio: {ratio:.3f}; --most: {most:.3f}">{ratio:.2f}</span>'


def in_markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown; the first row is the head."""
    head, *others = rows
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in others)])
