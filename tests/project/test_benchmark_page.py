"""`make bench` writes the figures into a page whose words are written by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from measure.speed.pages import BEGIN, END, write_page
from measure.speed.report import Figures, Finding, Parts, Spread, findings
from measure.speed.workloads import (
    AIOHTTP,
    ANCHORS,
    CLIENTS,
    HTTPX,
    OURS,
    RATES,
    RY,
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
    """Only the text between the two marks is replaced; a page without marks stays as it is."""
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


def test_a_figure_that_was_not_measured_says_so(tmp_path: Path) -> None:
    """A client without a wheel, and a workload that an anchor does not run, have no figure."""
    without = {
        workload: {client: found for client, found in each.items() if client != RY}
        for workload, each in FIGURES.items()
    }
    text = written(tmp_path / "benchmarks.md", without).partition("## Against the floor")[2].partition("\n## ")[0]
    rows = {
        line.split(" | ")[0]: line.strip("| ").split(" | ")[-2:] for line in text.splitlines() if "msgspec" not in line
    }
    assert rows["| GET"] == ["not measured", "not measured"]
    assert rows["| 10,000 iTwins, pages of 100"] == ["not measured", "1 [1-1]"]
    assert "pyreqwest was not measured" in text


def test_figures_of_other_pythons_stay(tmp_path: Path) -> None:
    """Each Python has a row, which only a measurement with the same Python replaces."""
    page = tmp_path / "benchmarks.md"
    written(page, parts=replace(PARTS, python="3.99.1"))
    slow = {workload: dict(found) | {OURS: [0.05] * 3} for workload, found in FIGURES.items()}
    write_page(page, slow, replace(PARTS, python="3.100.0"), "The server was idle.")
    write_page(page, FIGURES, replace(PARTS, python="3.100.2"), "The server was idle.")
    made_up = ("| CPython 3.99.", "| CPython 3.100.")
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith(made_up)]
    assert [row.split(" | ")[0] for row in rows] == ["| CPython 3.100.2", "| CPython 3.99.1"]
    assert all(" | 1e-06 [1e-06-1e-06]" in row for row in rows)


def test_a_missed_target_comes_first(tmp_path: Path) -> None:
    """A figure above its target is marked, and comes before those that meet theirs."""
    slow = {workload: dict(found) | {OURS: [0.05] * 3} for workload, found in FIGURES.items()}
    text = written(tmp_path / "benchmarks.md", slow).partition("## The targets")[2]
    rows = [line for line in text.splitlines() if " met |" in line or "missed" in line]
    assert "| GET, of httpx + json | at most 0.17 | 5 [5-5] | **missed** |" in rows
    assert rows == sorted(rows, key=lambda row: " met |" in row)


def test_a_rate_must_reach_its_target() -> None:
    """Requests per second miss their target below it, and all other figures above it."""
    ours = {20: [1000.0] * 5, 100: [999.0] * 5, 1_000: [900.0] * 5}
    parts = replace(PARTS, iterate=6.1, collect=17.0, rates={**PARTS.rates, OURS: ours}, waiting=[])
    found = [*findings(FIGURES, parts)]
    assert sum(each.is_least for each in found) == len(RATES)
    assert [each.name for each in found if not each.is_met] == [
        "requests per second with 100 in flight, of those with 20",
        "peak memory of 10,000 iTwins in pages of 1,000, iterated, MB",
    ]


def test_a_target_is_met_if_the_quartiles_reach_it() -> None:
    """A median that noise has moved past its target does not miss it."""
    for found, is_met in (([0.9, 1.0, 1.1, 1.2, 1.3], True), ([1.1, 1.1, 1.1, 1.2, 1.3], False)):
        assert Finding(name="GET", target=1.0, found=Spread.of(found)).is_met is is_met


def test_a_figure_that_differs_between_two_runs_is_marked() -> None:
    """A figure has a star if the medians of the two halves of its rounds differ by more than 10 %."""
    assert str(Spread.of([1.0, 1.0, 1.0, 1.09, 1.09, 1.09])) == "1.04 [1-1.09]"
    assert str(Spread.of([1.0, 1.0, 1.0, 1.12, 1.12, 1.12])) == "1.06 [1-1.12] *"
    assert str(Spread.of([1.12, 1.12, 1.12, 1.0, 1.0, 1.0])) == "1.06 [1-1.12] *"
