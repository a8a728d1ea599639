"""`make bench` writes the figures into pages whose words are written by hand."""

from pathlib import Path

import pytest

from measure.speed.pages import BEGIN, END, fill, for_users, write_pages
from measure.speed.report import Spread
from measure.speed.workloads import CLIENTS, DEFAULT, FAST, WORKLOADS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("benchmarks.md", "benchmark-bars.md")
#: Seconds of each client in three rounds: all twice as fast as the one before, and ours the fastest.
FIGURES = {workload: {client: [2.0**-rank] * 3 for rank, client in enumerate(CLIENTS)} for workload in WORKLOADS}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A copy of the two pages."""
    for page in PAGES:
        (tmp_path / page).write_text((DOCS / page).read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


def outside(page: Path) -> tuple[str, str]:
    """What stands before and behind the figures."""
    text = page.read_text(encoding="utf-8")
    return text.partition(BEGIN)[0], text.partition(END)[2]


@pytest.mark.parametrize("name", PAGES)
def test_the_words_of_a_page_stay_when_the_figures_are_written(docs: Path, name: str) -> None:
    """Only what stands between the two marks is written, and a second run with the same figures changes nothing."""
    write_pages(docs, FIGURES, "The server was idle.", [["a part"]])
    written = (docs / name).read_text(encoding="utf-8")
    assert outside(docs / name) == outside(DOCS / name)
    write_pages(docs, FIGURES, "The server was idle.", [["a part"]])
    assert (docs / name).read_text(encoding="utf-8") == written


def test_a_page_without_marks_is_not_overwritten(docs: Path) -> None:
    """A page that lost its marks ends the run with what to add, and keeps its text."""
    page = docs / "benchmarks.md"
    page.write_text("# Benchmarks\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="add the lines"):
        fill(page, iter(["a figure"]))
    assert page.read_text(encoding="utf-8") == "# Benchmarks\n"


def test_what_users_gain_stands_before_the_chart() -> None:
    """The page says in sentences what a call costs, and then shows a bar for each workload and client."""
    found = {
        "GET": dict.fromkeys(CLIENTS, Spread(1, 1, 1)) | {DEFAULT: Spread(0.4, 0.5, 0.6), FAST: Spread(0, 0.25, 1)}
    }
    text = "\n".join(for_users(found, "Measured today."))
    gains, _, chart = text.partition("## The chart")
    assert "takes 50% of the processor time, and 25% with the extra `fast`" in gains
    assert '<span class="bar" style="--ratio: 0.250">0.25</span>' in chart


def test_a_missed_bar_comes_first(docs: Path) -> None:
    """Contributors see first what is missed, then what is open, then what is met."""
    slow = {workload: dict(found) | {DEFAULT: [9.0] * 3} for workload, found in FIGURES.items()}
    write_pages(docs, slow, "The server was idle.", [])
    bars = (docs / "benchmark-bars.md").read_text(encoding="utf-8").partition("## The bars")[2].partition("## ")[0]
    rows = [line for line in bars.splitlines() if "| ours" in line]
    met = [row.rstrip("|").rpartition("|")[2].strip() for row in rows]
    assert met == sorted(met, key=["no", "open", "yes", ""].index)
    assert met[0] == "no"
