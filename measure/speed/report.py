"""The figures as ratios with their quartiles, their tables, and their targets."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from . import workloads
from .workloads import AIOHTTP, CLIENTS, FLOOR, HTTPX, OURS, WIDTHS, Workload

#: Seconds of one call or listing in each round, by workload and client. The first half of the rounds is one run, the
#: second half another run with new processes.
Figures = dict[Workload, dict[str, list[float]]]
#: Ratio of the medians of two runs above which a figure is marked.
STEADY = 1.1


@dataclass(frozen=True, slots=True)
class Spread:
    """A median with its quartiles, and whether two runs differ by more than STEADY."""

    low: float
    middle: float
    high: float
    varies: bool = False

    @classmethod
    def of(cls, found: Sequence[float]) -> "Spread":
        """Return the spread of all rounds."""
        if len(found) < 2:
            return cls(found[0], found[0], found[0])
        low, middle, high = statistics.quantiles(found, n=4, method="inclusive")
        half = len(found) // 2
        first, second = sorted((statistics.median(found[:half]), statistics.median(found[half:])))
        return cls(low, middle, high, varies=second > STEADY * first)

    def __str__(self) -> str:
        return f"{self.middle:.3g} [{self.low:.3g}-{self.high:.3g}]{' *' if self.varies else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A figure and its target, which is a minimum if `is_least`, and otherwise a maximum."""

    name: str
    target: float
    found: Spread
    is_least: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the quartiles reach the target."""
        return self.found.high >= self.target if self.is_least else self.found.low <= self.target


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The measurements beside the workloads.

    Args:
        python: version of the Python that runs all clients.
        importing: processor time of an import with one client, by scheme, as a ratio to httpx.
        iterate: peak memory of an iterated listing, in MB.
        collect: peak memory of a collected listing, in MB.
        rates: requests per second of each round, by client and requests in flight.
        waiting: seconds of 1,000 calls in each round, for each case of WAITING.
    """

    python: str
    importing: Mapping[str, Spread]
    iterate: float
    collect: float
    rates: Mapping[str, Mapping[int, Sequence[float]]]
    waiting: Sequence[Sequence[float]]


def ratios(figures: Figures, workload: Workload, client: str, *, against: str = HTTPX) -> Spread:
    """Return the ratios of two clients."""
    pairs = zip(figures[workload][client], figures[workload][against], strict=True)
    return Spread.of([own / base for own, base in pairs])


def findings(figures: Figures, parts: Parts | None) -> Iterator[Finding]:
    """Yield each figure that has a target."""
    for workload, found in figures.items():
        if workload.target is not None:
            name = f"{workload.title}, of httpx + json"
            yield Finding(name=name, target=workload.target, found=ratios(figures, workload, OURS))
        if workload == workloads.TASKS_AT_ONCE:
            spent = Spread.of([seconds * 1e6 for seconds in found[OURS]])
            yield Finding(
                name=f"{workload.title}, microseconds a call", target=workloads.TASK_MICROSECONDS, found=spent
            )
            of_aiohttp = ratios(figures, workload, OURS, against=AIOHTTP)
            yield Finding(name=f"{workload.title}, of aiohttp + json", target=1.0, found=of_aiohttp)
    if parts is None:
        return
    ours = parts.rates[OURS]
    for width, target in workloads.RATES.items():
        found_ratios = [rate / base for rate, base in zip(ours[width], ours[WIDTHS[0]], strict=True)]
        name = f"requests per second with {width:,} in flight, of those with {WIDTHS[0]}"
        yield Finding(name=name, target=target, found=Spread.of(found_ratios), is_least=True)
    for scheme, target in (("http", workloads.IMPORT_HTTP), ("https", workloads.IMPORT_HTTPS)):
        yield Finding(name=f"import and a client for {scheme}, of httpx", target=target, found=parts.importing[scheme])
    for name, target, megabytes in (
        ("iterated", workloads.ITERATE_MEGABYTES, parts.iterate),
        ("collected", workloads.COLLECT_MEGABYTES, parts.collect),
    ):
        text = f"peak memory of 10,000 iTwins in pages of 1,000, {name}, MB"
        yield Finding(name=text, target=target, found=Spread.of([megabytes]))


def targets(found: Sequence[Finding]) -> list[list[str]]:
    """Return the rows of the targets: the head, the missed targets, the met targets."""
    rows = [["What", "Target", "Found", ""]]
    for each in sorted(found, key=lambda each: each.is_met):
        target = f"at {'least' if each.is_least else 'most'} {each.target:g}"
        rows.append([each.name, target, str(each.found), "met" if each.is_met else "**missed**"])
    return rows


def table(figures: Figures) -> list[list[str]]:
    """Return the rows of all ratios to httpx, the head first."""
    rows = [["Workload", "httpx + json, ms", *(client for client in CLIENTS if client != HTTPX)]]
    for workload in figures:
        others = [str(ratios(figures, workload, client)) for client in CLIENTS[1:]]
        rows.append([workload.title, f"{statistics.median(figures[workload][HTTPX]) * 1e3:.3g}", *others])
    return rows


def anchor_rows(figures: Figures) -> list[list[str]]:
    """Return the rows of the ratios to the floor, the head first."""
    clients = (OURS, workloads.MSGSPEC, *(client for client in workloads.ANCHORS if client != FLOOR))
    rows = [["Workload", f"{FLOOR}, ms", *clients]]
    for workload, found in figures.items():
        if FLOOR in found:
            others = [
                str(ratios(figures, workload, client, against=FLOOR)) if client in found else "not measured"
                for client in clients
            ]
            rows.append([workload.title, f"{statistics.median(found[FLOOR]) * 1e3:.3g}", *others])
    return rows


def rate_rows(parts: Parts) -> list[list[str]]:
    """Return the rows of the requests per second, the head first."""
    rows = [["In flight", *(f"{width:,}" for width in WIDTHS)]]
    for client, found in parts.rates.items():
        spreads = [Spread.of(found[width]) for width in WIDTHS]
        rows.append([client, *(f"{each.middle:,.0f} [{each.low:,.0f}-{each.high:,.0f}]" for each in spreads)])
    return rows


def waiting_rows(parts: Parts) -> list[list[str]]:
    """Return the rows of the seconds of the tasks at a service with latency, the head first."""
    rows = [["Client", "Requests in flight at most", "Seconds"]]
    cases = zip(workloads.WAITING, parts.waiting, strict=True)
    return [*rows, *([client, str(width), str(Spread.of(rounds))] for (client, width), rounds in cases)]


def print_table(title: str, rows: list[list[str]]) -> None:
    """Print rows of cells, aligned."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    print(f"\n{title}")
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
