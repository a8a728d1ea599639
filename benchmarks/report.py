"""Prints the figures as ratios, and writes them as a page with a plot."""

import platform
import statistics
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


def print_table(figures: Figures, *, against: str) -> None:
    """Prints the ratios, aligned."""
    rows = table(figures, against=against)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    print(f"\nclient time against {against!r}: median (least-most) of the rounds; less is better")
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def write_report(folder: Path, figures: Figures, said: str, rounds: int) -> None:
    """Writes `benchmarks.md` and `benchmarks.svg` into a folder."""
    folder.mkdir(exist_ok=True)
    day = datetime.now(UTC).date().isoformat()
    lines = [
        "# Benchmarks",
        "",
        f"Written by `make bench` on {day}: {platform.python_implementation()} {platform.python_version()}, loopback, "
        f"{rounds} interleaved rounds. The figures are the processor time of the client's process as ratios, median "
        "(least-most) of the rounds; the works with latency compare elapsed time. Less is better.",
        "",
        said,
        "",
        "![The same figures as bars](benchmarks.svg)",
    ]
    for against in ("limit", "httpx + json"):
        head, *rows = table(figures, against=against)
        lines += ["", f"## Against {against}", "", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
    (folder / "benchmarks.md").write_text("\n".join(lines) + "\n")
    (folder / "benchmarks.svg").write_text(plot(figures, against="httpx + json"))


_COLOURS = ["#9aa5b1", "#52606d", "#1f2933", "#c65d21", "#2680c2", "#0f609b"]


def plot(figures: Figures, *, against: str) -> str:
    """Draws bars, a group for each work, as SVG; bars beyond twice the reference end there and say their number."""
    clients = list(next(iter(figures.values())))
    width, bar, group = 860, 12, 12 * len(clients) + 34
    height = 50 + group * len(figures)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
        'font-size="11">',
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
            parts.append(f'<rect x="{left}" y="{y}" width="{length:.0f}" height="{bar - 2}" fill="{_COLOURS[number]}"/>')
            parts.append(f'<text x="{left + length + 4:.0f}" y="{y + 9}">{middle:.2f}</text>')
    reference = left + scale
    parts.append(f'<line x1="{reference}" x2="{reference}" y1="34" y2="{height - 8}" stroke="#1f2933" stroke-dasharray="3"/>')
    return "\n".join([*parts, "</svg>", ""])
