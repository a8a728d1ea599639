"""`make bench` writes the figures into a page whose words are written by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from measure.speed.pages import BEGIN, END, write_page
from measure.speed.report import Figures, Finding, Parts, Spread
from measure.speed.workloads import (
    AIOHTTP,
    ANCHORS,
    CLIENTS,
    HTTPX,
    OURS,
    WIDTHS,
    WORKLOADS,
    is_measured,
)

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
#: Each client is ten times as fast as the one before, and this client is the fastest.
FIGURES: Figures = {
    workload: {client: [0.01 * 10.0 ** -CLIENTS.index(client)] * 3 for client in CLIENTS}
    | {client: [1e-9] * 3 for client in ANCHORS if is_measured(workload, client)}
    for workload in WORKLOADS
}
PARTS = Parts(
    python="3.13.0",
    importing={"http": Spread(1, 1.1, 1.2), "https": Spread(1, 1.1, 1.2)},
    iterate=5.0,
    collect=16.0,
    rates={client: dict.fromkeys(WIDTHS, [1000.0] * 5) for client in (HTTPX, AIOHTTP, OURS)},
    waiting=[[0.5] * 5, [0.4] * 5, [1.1] * 5, [0.3] * 5],
)


def written(page: Path, figures: Figures = FIGURES, parts: Parts = PARTS) -> str:
    """Write the figures into a copy of the page, and return it."""
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    write_page(page, figures, parts, "The server was idle.")
    return page.read_text(encoding="utf-8")


def test_the_words_of_the_page_stay_when_the_figures_are_written(tmp_path: Path) -> None:
    """Only what stands between the two marks is written, as often as it is; a page without marks keeps its text."""
    page, before = tmp_path / "benchmarks.md", PAGE.read_text(encoding="utf-8")
    text = written(page)
    assert text.partition(BEGIN)[0] == before.partition(BEGIN)[0]
    assert text.partition(END)[2] == before.partition(END)[2]
    write_page(page, FIGURES, PARTS, "The server was idle.")
    assert page.read_text(encoding="utf-8") == text
    page.write_text("# Benchmarks\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="add the lines"):
        write_page(page, FIGURES, PARTS, "The server was idle.")
    assert page.read_text(encoding="utf-8") == "# Benchmarks\n"


def test_figures_of_other_pythons_stay(tmp_path: Path) -> None:
    """Each Python has a row, which the next measurement with this Python replaces and one with another Python keeps."""
    page = tmp_path / "benchmarks.md"
    written(page, parts=replace(PARTS, python="3.99.1"))
    slow = {workload: dict(found) | {OURS: [0.05] * 3} for workload, found in FIGURES.items()}
    write_page(page, slow, replace(PARTS, python="3.100.0"), "The server was idle.")
    write_page(page, FIGURES, replace(PARTS, python="3.100.2"), "The server was idle.")
    made_up = ("| CPython 3.99.", "| CPython 3.100.")
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith(made_up)]
    assert [row.split(" | ")[0] for row in rows] == ["| CPython 3.100.2", "| CPython 3.99.1"]
    assert all(" | 1e-06 [1e-06-1e-06]" in row for row in rows)


def test_a_target_is_met_where_the_quartiles_reach_it() -> None:
    """A median that noise has moved past its target is not called missed, and one whose quartiles are past it is."""
    for found, is_met in (([0.9, 1.0, 1.1, 1.2, 1.3], True), ([1.1, 1.1, 1.1, 1.2, 1.3], False)):
        assert Finding(name="GET", target=1.0, found=Spread.of(found)).is_met is is_met
