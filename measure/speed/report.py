"""Prints the figures as ratios with their quartiles, and writes them as a page with a plot."""

import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from .works import CLIENTS, DEFAULT, FAST, HTTPX, LIMIT, Work

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


def write_report(folder: Path, figures: Figures, said: str, alone: list[list[str]]) -> None:
    """Write `benchmarks.md` and `benchmarks.svg` into a folder."""
    folder.mkdir(exist_ok=True)
    day = datetime.now(UTC).date().isoformat()
    lines = [
        "# Benchmarks",
        "",
        ABOUT.format(day=day, python=f"{platform.python_implementation()} {platform.python_version()}"),
        "",
        said,
        "",
        "![The same figures as bars](benchmarks.svg)",
    ]
    tables = [(f"Against {against}", table(figures, against=against)) for against in (HTTPX, LIMIT)]
    for title, (head, *rows) in [("The bars", bars(figures)), *tables]:
        lines += ["", f"## {title}", "", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
    lines += ["", "## Parts alone", ""] if alone else []
    for part in alone:
        lines += ["```text", *part, "```", ""]
    (folder / "benchmarks.md").write_text("\n".join(lines).rstrip() + "\n")
    (folder / "benchmarks.svg").write_text(plot(figures, against=HTTPX))


FONT = 'font-family="sans-serif" font-size="11"'
ABOUT = """Written by `make bench` on {day}: {python}, loopback, interleaved rounds.

The figures are the processor time of the client's process as ratios, median [quartiles] of the rounds; the works with
latency compare elapsed time. Less is better. The data is what a service holds: camera floats of 17 digits, signed image
links, nulls, long names. The 1,000 tasks run in fresh processes. A bar is met, or not, only where both quartiles are on
one side of it; otherwise it is open. What to expect of your own service: [Performance](performance.md)."""
_COLOURS = ["#9aa5b1", "#52606d", "#1f2933", "#c65d21", "#2680c2", "#0f609b"]


def plot(figures: Figures, *, against: str) -> str:
    """Draw bars, a group for each work, as SVG; bars beyond twice the reference end there and show their number."""
    clients = CLIENTS
    width, bar, group = 860, 12, 12 * len(clients) + 34
    height = 50 + group * len(figures)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" {FONT}>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="10" y="20" font-size="14">Client time against {against} (1.0), less is better</text>',
    ]
    scale, left = 260.0, 200
    for place, work in enumerate(figures):
        top = 40 + place * group
        parts.append(f'<text x="10" y="{top + 10}" font-weight="bold">{work.name}</text>')
        for number, client in enumerate(clients):
            middle = ratios(figures, work, client, against=against).middle
            y = top + 16 + number * bar
            length = min(middle, 2.2) * scale
            parts.append(f'<text x="{left - 6}" y="{y + 9}" text-anchor="end">{client}</text>')
            parts.append(
                f'<rect x="{left}" y="{y}" width="{length:.0f}" height="{bar - 2}" fill="{_COLOURS[number]}"/>'
            )
            parts.append(f'<text x="{left + length + 4:.0f}" y="{y + 9}">{middle:.2f}</text>')
    reference = left + scale
    parts.append(
        f'<line x1="{reference}" x2="{reference}" y1="34" y2="{height - 8}" stroke="#1f2933" stroke-dasharray="3"/>'
    )
    return "\n".join([*parts, "</svg>", ""])
