"""Write the figures into docs/benchmarks.md.

Only the part of the page between its two marks is replaced; the text around it is edited by hand.
"""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from .report import (
    Figures,
    Finding,
    Parts,
    Spread,
    anchor_rows,
    findings,
    rate_rows,
    ratios,
    table,
    targets,
    tasks,
    waiting_rows,
)
from .workloads import (
    AIOHTTP,
    GET,
    HTTPX,
    MSGSPEC,
    OBJECTS_WITH_DATA,
    OURS,
    PAGES_IN_FLIGHT,
    PAGES_IN_TURN,
    POST_ECHOED,
    POST_MODELS_ECHOED,
    STOCK,
    TASKS_AT_ONCE,
    TASKS_OVER_TLS,
    WORKLOADS,
)

BEGIN, END = "<!-- Measured by `make bench`: edit the text outside of these marks. -->", "<!-- End of the figures. -->"
#: The clients of the chart.
SHOWN = (STOCK, AIOHTTP, MSGSPEC, OURS)
_BY_NAME = {each.title: each for each in WORKLOADS}
#: What one of these takes, of the time of httpx and of aiohttp, both with json.
GAINS = {
    GET: "one call",
    TASKS_AT_ONCE: "a thousand calls at once",
    TASKS_OVER_TLS: "a thousand calls at once over TLS, on new connections",
    _BY_NAME[POST_ECHOED]: "a new scene of 100 objects, given as mappings",
    _BY_NAME[POST_MODELS_ECHOED]: "the same, given as models",
    _BY_NAME[OBJECTS_WITH_DATA]: "5,000 scene objects and their data, as typed models instead of dictionaries",
}


#: What stands between the marks.
_MEASURED = """
Measured on {date} with CPython {python}, each process on one core, in two runs of {rounds} rounds. The same work was
written by hand with httpx and the json module, and with aiohttp and the json module. Of their processor time, this
client takes:

{gains}

A star marks what differs by more than 10% between the two runs: another measurement may find another figure.

A listing of 10,000 iTwins, from a service that responds after 100 ms, in ten pages of 1,000 takes so many seconds:

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

The same figures, as a share of their target, which is the mark:

{shares}

## All figures

Each ratio is to the time of httpx with json: the median of the rounds, and their quartiles in brackets.

{ratios}

## Against the floor

Each ratio is to the least client that the parts of this one allow: asyncio, httptools and msgspec, and nothing else.

{anchors}

{importing}

## Each Python, many calls, and rates

This client with each Python that was measured, of httpx with json under the same Python:

{pythons}

A thousand calls at once, to a service without latency:

{tasks}

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
    """Return what stands between the marks, where `old` stood."""
    found = [*findings(figures, parts)]
    return _MEASURED.format(
        date=date.today().isoformat(),
        python=parts.python,
        rounds=len(figures[GET][OURS]) // 2,
        gains=in_markdown(gains(figures)),
        listing=in_markdown(listing(figures)),
        chart=in_markdown(chart(figures)),
        met=sum(each.is_met for each in found),
        all=len(found),
        targets=in_markdown(targets(found)),
        shares=in_markdown(shares(found)),
        ratios=in_markdown(table(figures)),
        anchors=in_markdown(anchor_rows(figures)),
        importing=importing(parts),
        pythons=in_markdown(each_python(figures, parts.python, old)),
        tasks=in_markdown(tasks(figures)),
        waiting=in_markdown(waiting_rows(parts)),
        rates=in_markdown(rate_rows(parts)),
        server_load=server_load,
    )


def importing(parts: Parts) -> str:
    """Return a sentence about import and one client."""
    found = parts.importing.get("pyreqwest")
    theirs = "was not measured" if found is None else f"takes {found} of it"
    ours = parts.importing["http"]
    return f"To import a library and make one client, this one takes {ours} of the time of httpx; pyreqwest {theirs}."


def each_python(figures: Figures, python: str, old: str) -> list[list[str]]:
    """Return a row for each Python, the head first: the old text keeps the rows of other Pythons."""
    head = ["", *(workload.title for workload in GAINS)]
    rows = [line.strip("| ").split(" | ") for line in old.splitlines() if line.startswith("| CPython ")]
    rows.append([f"CPython {python}", *(str(ratios(figures, workload, OURS)) for workload in GAINS)])
    by_version = {row[0].rpartition(".")[0]: row for row in rows if len(row) == len(head)}
    return [head, *(by_version[version] for version in sorted(by_version))]


def gains(figures: Figures) -> list[list[str]]:
    """Return what this client takes of the time of others as rows of cells, the head first."""
    return [
        ["", "Of httpx + json", "Of aiohttp + json"],
        *(
            [words, *(share(ratios(figures, workload, OURS, against=other)) for other in (HTTPX, AIOHTTP))]
            for workload, words in GAINS.items()
        ),
    ]


def share(ratio: Spread) -> str:
    """Return a ratio in percent."""
    return f"{ratio.middle:.0%}{' *' if ratio.varies else ''}"


def listing(figures: Figures) -> list[list[str]]:
    """Return the seconds of a listing with latency as rows of cells, the head first."""
    return [
        ["", "One page after the other", "Ten pages in flight"],
        *(
            [client, *(str(Spread.of(figures[each][client])) for each in (PAGES_IN_TURN, PAGES_IN_FLIGHT))]
            for client in (HTTPX, AIOHTTP, STOCK, OURS)
        ),
    ]


def chart(figures: Figures) -> list[list[str]]:
    """Return the chart as rows of cells, the head first."""
    found = {
        workload.title: [ratios(figures, workload, client).middle for client in SHOWN]
        for workload in figures
        if workload.data == "real"
    }
    most = max(ratio for row in found.values() for ratio in row)
    return [["Workload", *SHOWN], *([name, *(cell(ratio, most=most) for ratio in row)] for name, row in found.items())]


def shares(found: Sequence[Finding]) -> list[list[str]]:
    """Return each figure as a share of its target, the longest first; what is missed is longer than the mark."""
    most = max(1.0, *(each.of_the_target for each in found))
    ranked = sorted(found, key=lambda each: -each.of_the_target)
    return [["What", "Of its target"], *([each.name, cell(each.of_the_target, most=most)] for each in ranked)]


def cell(ratio: float, *, most: float) -> str:
    """Return a number, and the length of its bar for the style sheet of the site, which fits the longest one."""
    return f'<span class="bar" style="--ratio: {ratio:.3f}; --most: {max(1.0, most):.3f}">{ratio:.2f}</span>'


def in_markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, whose first row is the head."""
    head, *others = rows
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in others)])
