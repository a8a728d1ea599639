"""Prints the figures as ratios, and writes them as a page with a plot."""

import platform
import statistics
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

#: Work -> client -> seconds for one call or listing, a number a round.
Figures = dict[str, dict[str, list[float]]]


def ratios(figures: Figures, work: str, client: str, *, against: str) -> tuple[float, float, float]:
    """Returns the median ratio of the rounds, the least and the most."""
    pairs = zip(figures[work][client], figures[work][against], strict=True)
    found = [one / other for one, other in pairs]
    return statistics.median(found), min(found), max(found)


def table(figures: Figures, *, against: str) -> list[list[str]]:
    """Returns the table as rows of cells, the first one its head."""
    clients = list(next(iter(figures.values())))
    rows = [["work", *clients]]
    for work in figures:
        cells = [work]
        for client in clients:
            middle, least, most = ratios(figures, work, client, against=against)
            cells.append("1" if client == against else f"{middle:.2f} ({least:.2f}-{most:.2f})")
        rows.append(cells)
    return rows


def print_table(title: str, rows: list[list[str]]) -> None:
    """Prints rows of cells, aligned."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    print(f"\n{title}")
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """A ratio that is aimed at: at most `bound`, or where it is told as "times faster", at least."""

    client: str
    against: str
    work: str
    bound: float
    faster: bool = False

    def row(self, figures: Figures) -> list[str]:
        """Says what is aimed at and what was found."""
        client, against = (self.against, self.client) if self.faster else (self.client, self.against)
        middle, least, most = ratios(figures, self.work, client, against=against)
        word = "at least" if self.faster else "at most"
        holds = middle >= self.bound if self.faster else round(middle, 2) <= self.bound
        found = f"{middle:.2f} ({least:.2f}-{most:.2f})"
        return [self.work, self.client, self.against, f"{word} {self.bound:g}", found, "yes" if holds else "no"]


_DEFAULT, _FAST, _HTTPX, _LIMIT = "ours, default", "ours, fast", "httpx + json", "limit"
AIMS = [
    Aim(client=_DEFAULT, against=_HTTPX, work="one small GET", bound=0.70),
    Aim(client=_DEFAULT, against=_HTTPX, work="PATCH", bound=0.70),
    Aim(client=_FAST, against=_HTTPX, work="one small GET", bound=0.40),
    Aim(client=_FAST, against=_HTTPX, work="1,000 tasks, small GETs", bound=0.15),
    Aim(client=_DEFAULT, against=_HTTPX, work="1,000 tasks at 20 ms", bound=2, faster=True),
    Aim(client=_FAST, against=_HTTPX, work="1,000 tasks at 20 ms", bound=8, faster=True),
    Aim(client=_FAST, against=_HTTPX, work="10,000 full iTwins, pages of 1,000", bound=0.95),
    Aim(client=_FAST, against=_LIMIT, work="10,000 full iTwins, pages of 1,000", bound=3.0),
    Aim(client=_FAST, against=_HTTPX, work="10,000 full iTwins, pages of 100", bound=0.70),
    Aim(client=_FAST, against=_LIMIT, work="10,000 full iTwins, pages of 100", bound=4.0),
    Aim(client=_FAST, against=_HTTPX, work="5,000 View3d scene objects, pages of 100", bound=0.75),
    Aim(client=_FAST, against=_LIMIT, work="5,000 View3d scene objects, pages of 100", bound=3.2),
    Aim(client=_FAST, against=_HTTPX, work="POST a scene of 100 objects", bound=0.35),
    Aim(client=_FAST, against=_HTTPX, work="10,000 iTwins at 100 ms", bound=40, faster=True),
]


def aims(figures: Figures) -> list[list[str]]:
    """Returns what is aimed at as rows of cells, the first one their head."""
    head = ["work", "client", "against", "aimed at", "found", "holds"]
    return [head, *(aim.row(figures) for aim in AIMS if aim.work in figures)]


def write_report(folder: Path, figures: Figures, said: str, alone: list[list[str]]) -> None:
    """Writes `benchmarks.md` and `benchmarks.svg` into a folder."""
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
    tables = [(f"Against {against}", table(figures, against=against)) for against in ("limit", "httpx + json")]
    for title, (head, *rows) in [*tables, ("What is aimed at", aims(figures))]:
        lines += ["", f"## {title}", "", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
    lines += ["", "## Parts alone", ""]
    for part in alone:
        lines += ["```text", *part, "```", ""]
    (folder / "benchmarks.md").write_text("\n".join(lines).rstrip() + "\n")
    (folder / "benchmarks.svg").write_text(plot(figures, against="httpx + json"))


FONT = 'font-family="sans-serif" font-size="11"'
ABOUT = """Written by `make bench` on {day}: {python}, loopback, interleaved rounds.

The figures are the processor time of the client's process as ratios, median (least-most) of the rounds; the works with
latency compare elapsed time. Less is better. What to expect of your own service: [Performance](performance.md)."""
_COLOURS = ["#9aa5b1", "#52606d", "#1f2933", "#c65d21", "#2680c2", "#0f609b"]


def plot(figures: Figures, *, against: str) -> str:
    """Draws bars, a group for each work, as SVG; bars beyond twice the reference end there and say their number."""
    clients = list(next(iter(figures.values())))
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
        parts.append(f'<text x="10" y="{top + 10}" font-weight="bold">{work}</text>')
        for number, client in enumerate(clients):
            middle, _, _ = ratios(figures, work, client, against=against)
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
