"""The templates depend on the pinned generator: a new version of it fails here with what to compare."""

import sys
from pathlib import Path

import pytest
from openapi_python_client import strings

from tools.generation import generate, templates_diff
from tools.generation.naming import use_own_names
from tools.generation.templates_diff import conflicts, moved, record


def test_the_installed_generator_is_the_one_that_ours_were_made_for() -> None:
    """Its templates are as recorded.

    When this fails after an upgrade: docs/regenerating.md, "Upgrade the generator".
    """
    assert conflicts() == ("", False)


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
    recorded = record(stock)
    assert moved(recorded, ours, stock) == []
    (stock / "other.jinja").write_text("nothing of ours is about it")
    (stock / "base.jinja").write_text("changed")
    (stock / "macros.jinja").write_text("changed")
    (stock / "own.jinja").write_text("the generator has one of that name now")
    (stock / "model.jinja").unlink()
    assert moved(recorded, ours, stock) == [
        "changed: base.jinja (templates/model.jinja imports it)",
        "changed: macros.jinja (templates/model.jinja imports it)",
        "gone: model.jinja (templates/model.jinja replaces it)",
        "new: own.jinja (templates/own.jinja replaces it)",
    ]
    file = tmp_path / "record"
    file.write_text(recorded.replace(recorded.splitlines()[0], "# openapi-python-client 0.0.1"))
    said, is_broken = conflicts(file, ours, stock)
    first, *lines, last = said.splitlines()
    assert [line.split(":")[0].strip() for line in lines] == ["gone", "new", "changed", "changed"]
    assert (first.endswith("were made for 0.0.1:"), is_broken) == (True, True)
    assert last.endswith("make templates-diff SINCE=0.0.1")


def test_nothing_is_generated_by_a_generator_that_does_not_fit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A template of ours that would be ignored ends the run before anything is written."""
    monkeypatch.setattr(generate, "conflicts", lambda: ("gone: model.py.jinja", True))
    monkeypatch.setattr("sys.argv", ["generate", "--into", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"gone: model\.py\.jinja"):
        generate.main()
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_the_generator_no_longer_has_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """An import that fails after an upgrade is no traceback, and mypy tells the rest."""
    monkeypatch.setitem(sys.modules, "tools.generation.generator", None)
    monkeypatch.setattr("sys.argv", ["generate", "--check"])
    with pytest.raises(SystemExit, match=r"tools\.generation\.generator.*\n.*make types"):
        generate.main()


def test_difference_shows_what_ours_changes(tmp_path: Path) -> None:
    """The difference is a unified one, also where the generator has no such template."""
    (tmp_path / "a.jinja").write_text("one\ntwo\n")
    text = templates_diff.difference("a.jinja", ("stock", tmp_path / "stock"), ("ours", tmp_path))
    assert text == "--- stock/a.jinja\n+++ ours/a.jinja\n@@ -0,0 +1,2 @@\n+one\n+two\n"


@pytest.mark.parametrize(
    ("name", "attribute", "class_name"),
    [
        ("iTwinId", "itwin_id", "ITwinId"),
        ("ITwinsResponse", "itwins_response", "ITwinsResponse"),
        ("X-iTwin-Query-Scope", "x_itwin_query_scope", "XITwinQueryScope"),
        ("iModelId", "imodel_id", "IModelId"),
        ("View3dData", "view3d_data", "View3dData"),
        ("Vector3d", "vector3d", "Vector3d"),
        ("VIEW_3D", "view_3d", "VIEW3D"),
        ("OAuth2AuthorizationCodePKCE", "oauth2_authorization_code_pkce", "OAuth2AuthorizationCodePKCE"),
        ("documentationUrl", "documentation_url", "DocumentationUrl"),
        ("callbackURL", "callback_url", "CallbackURL"),
        ("$orderby", "orderby", "Orderby"),
        ("_links", "links", "Links"),
        ("list_itwins", "list_itwins", "ListItwins"),
    ],
)
def test_a_name_is_made_of_its_words(name: str, attribute: str, class_name: str) -> None:
    """Attributes, modules and classes are named by the same words, as people say them: never `i_twin_id`."""
    use_own_names()
    assert (strings.PythonIdentifier(name, ""), strings.ClassName(name, "")) == (attribute, class_name)
