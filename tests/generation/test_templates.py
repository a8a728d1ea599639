"""Our templates stand on those of the pinned generator: when they move, somebody looks."""

from pathlib import Path

from tools.generation import templates_diff


def test_the_generators_templates_are_those_that_ours_were_made_against() -> None:
    """The pinned generator's templates are as recorded.

    When this fails after an upgrade: `make templates-diff SINCE=<the version before>` shows what moved. Take over into
    templates/ what is needed, run `make generate` and `make check`, then
    `python -m tools.generation.templates_diff --record`.
    """
    assert templates_diff.moved(templates_diff.RECORD.read_text(encoding="utf-8")) == []


def test_what_ours_replace_and_what_they_take_from_is_watched(tmp_path: Path) -> None:
    """A template of the generator is watched when ours has its name, or imports or includes it."""
    stock, ours = tmp_path / "stock", tmp_path / "ours"
    for folder in (stock, ours):
        folder.mkdir()
    for name in ("model.jinja", "macros.jinja", "base.jinja", "other.jinja"):
        (stock / name).write_text(name)
    (ours / "model.jinja").write_text(
        '{% from "macros.jinja" import a %}{%- include "own.jinja" %}{% extends "base.jinja" %}'
    )
    (ours / "own.jinja").write_text("")
    recorded = templates_diff.record(stock)
    assert templates_diff.moved(recorded, ours, stock) == []
    (stock / "other.jinja").write_text("nothing of ours is about it")
    (stock / "base.jinja").write_text("changed")
    (stock / "macros.jinja").write_text("changed")
    (stock / "own.jinja").write_text("the generator has one of that name now")
    (stock / "model.jinja").unlink()
    assert templates_diff.moved(recorded, ours, stock) == [
        "changed: base.jinja",
        "changed: macros.jinja",
        "gone: model.jinja",
        "new: own.jinja",
    ]


def test_difference_shows_what_ours_changes(tmp_path: Path) -> None:
    """The difference is a unified one, also where the generator has no such template."""
    (tmp_path / "ours").write_text("one\ntwo\n")
    text = templates_diff.difference(tmp_path / "stock", tmp_path / "ours", one_name="stock", other_name="ours")
    assert text == "--- stock\n+++ ours\n@@ -0,0 +1,2 @@\n+one\n+two\n"
