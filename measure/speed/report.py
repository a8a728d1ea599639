"""The figures as ratios with their quartiles, and tables of them."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from .workloads import CLIENTS, DEFAULT, FAST, HTTPX, Workload

#: Workload -> client -> the seconds of one call or listing in each measurement; those of one turn share an index.
Figures = dict[Workload, dict[str, list[float]]]


@dataclass(frozen=True, slots=True)
class Spread:
    """A median and the quartiles around it."""

    low: float
    middle: float
    high: float

    @classmethod
    def of(cls, found: Sequence[float]) -> "Spread":
        """Return the spread of some figures."""
        if len(found) < 2:
            return cls(found[0], found[0], found[0])
        return cls(*statistics.quantiles(found, n=4, method="inclusive"))

    def __str__(self) -> str:
        digits = 2 if self.middle >= 0.1 else 3
        return f"{self.middle:.{digits}f} [{self.low:.{digits}f}-{self.high:.{digits}f}]"

    def verdict(self, bar: float) -> str:
        """Return whether a bar is met: yes or no if both quartiles are on one side of it, otherwise open."""
        return "yes" if self.high <= bar else "no" if self.low > bar else "open"


def ratios(figures: Figures, workload: Workload, client: str, *, against: str) -> Spread:
    """Return the spread of the ratios of two clients."""
    pairs = zip(figures[workload][client], figures[workload][against], strict=True)
    return Spread.of([own / base for own, base in pairs])


def table(figures: Figures, *, against: str) -> list[list[str]]:
    """Return the table as rows of cells, the head first."""
    rows = [["workload", *CLIENTS]]
    for workload in figures:
        found = (str(ratios(figures, workload, client, against=against)) for client in CLIENTS)
        rows.append(
            [workload.name, *("1" if client == against else cell for client, cell in zip(CLIENTS, found, strict=True))]
        )
    return rows


def bars(figures: Figures) -> list[list[str]]:
    """Return the bars as rows of cells, the head first."""
    rows = [["workload", "client", "bar", "found", "met"]]
    for workload in figures:
        for client in (DEFAULT, FAST):
            found, bar = ratios(figures, workload, client, against=HTTPX), workload.bar(client)
            rows.append(
                [workload.name, client, f"{bar:.3g}" if bar else "", str(found), found.verdict(bar) if bar else ""]
            )
    return rows


def print_table(title: str, rows: list[list[str]]) -> None:
    """Print rows of cells, aligned."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    print(f"\n{title}")
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
