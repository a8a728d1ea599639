"""Print the figures as ratios with their quartiles."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from .works import CLIENTS, DEFAULT, FAST, HTTPX, Work

#: Work -> client -> seconds for one call or listing, a number a measurement; those of one turn stand at one index.
Figures = dict[Work, dict[str, list[float]]]


@dataclass(frozen=True, slots=True)
class Spread:
    """A median and the quartiles around it."""

    low: float
    middle: float
    high: float

    @classmethod
    def of(cls, found: Sequence[float]) -> "Spread":
        """Return that of some figures."""
        if len(found) < 2:
            return cls(found[0], found[0], found[0])
        return cls(*statistics.quantiles(found, n=4, method="inclusive"))

    def __str__(self) -> str:
        digits = 2 if self.middle >= 0.1 else 3
        return f"{self.middle:.{digits}f} [{self.low:.{digits}f}-{self.high:.{digits}f}]"

    def verdict(self, bar: float) -> str:
        """Say whether a bar is met: only where both quartiles are on one side of it."""
        return "yes" if self.high <= bar else "no" if self.low > bar else "open"


def ratios(figures: Figures, work: Work, client: str, *, against: str) -> Spread:
    """Return the ratios of what was measured in turn."""
    pairs = zip(figures[work][client], figures[work][against], strict=True)
    return Spread.of([one / other for one, other in pairs])


def table(figures: Figures, *, against: str) -> list[list[str]]:
    """Return the table as rows of cells, the first one its head."""
    rows = [["work", *CLIENTS]]
    for work in figures:
        found = (str(ratios(figures, work, client, against=against)) for client in CLIENTS)
        rows.append(
            [work.name, *("1" if client == against else cell for client, cell in zip(CLIENTS, found, strict=True))]
        )
    return rows


def bars(figures: Figures) -> list[list[str]]:
    """Return what is aimed at as rows of cells, the first one their head."""
    rows = [["work", "client", "bar", "found", "met"]]
    for work in figures:
        for client in (DEFAULT, FAST):
            found, bar = ratios(figures, work, client, against=HTTPX), work.bar(client)
            rows.append([work.name, client, f"{bar:.3g}" if bar else "", str(found), found.verdict(bar) if bar else ""])
    return rows


def print_table(title: str, rows: list[list[str]]) -> None:
    """Print rows of cells, aligned."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    print(f"\n{title}")
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
