"""`escape` returns a copy that can be put into HTML. Source: section 2.7."""

import copy
import html
import json
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from itwin_platform import RepositoryResourceData, SceneObject, View3dData, escape

from tests.support.examples import examples
from tests.support.faces import JSON
from tests.support.schema_values import ANY_JSON, SCHEMAS, objects_of


class Tags(HTMLParser):
    """Counts what a browser would take for markup."""

    found = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Count a tag."""
        self.found += 1


def texts_of(value: JSON) -> list[str]:
    """Every string in a value, keys included."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in texts_of(part)]
    return [text for part in value for text in texts_of(part)] if isinstance(value, list) else []


def unescaped(value: JSON) -> JSON:
    """The value with every string, keys included, unescaped once."""
    if isinstance(value, str):
        return html.unescape(value)
    if isinstance(value, dict):
        return {html.unescape(key): unescaped(part) for key, part in value.items()}
    return [unescaped(part) for part in value] if isinstance(value, list) else value


@given(ANY_JSON)
def test_every_string_is_escaped_and_nothing_else_changes(data: Any) -> None:
    """No text holds what begins a tag or ends an attribute, numbers stay numbers, and the source stays as it was."""
    before = copy.deepcopy(data)
    escaped = escape(data)
    assert data == before
    for text in texts_of(escaped):
        assert not set("<>\"'") & set(text)
        assert html.escape(html.unescape(text)) == text


@pytest.mark.parametrize(
    "text",
    ["<script>alert(1)</script>", "\"><img src=x onerror='alert(1)'>", "&lt;b&gt;", "&#60;", "<", "'\"`", "\u2028"],
)
def test_markup_becomes_text(text: str) -> None:
    """In content and in an attribute with quotes of either kind a browser shows the text itself; escaped once."""
    escaped = escape({text: [text]})
    assert isinstance(escaped, dict)
    [(key, value)] = escaped.items()
    tags = Tags()
    tags.feed(f"<p title='{key}' id=\"{key}\">{key}</p>")
    assert tags.found == 1
    assert unescaped(escaped) == {text: [text]}
    assert value == [key]


@settings(max_examples=examples(40))
@given(objects_of(SCHEMAS["View3dData"]), objects_of(SCHEMAS["RepositoryResourceData"]))
def test_typed_data_is_escaped_as_its_wire_form(view: dict[str, Any], resource: dict[str, Any]) -> None:
    """Typed data, a complete scene object and plain data are escaped alike."""
    assert escape(View3dData.from_dict(view)) == escape(view)
    assert escape(RepositoryResourceData.from_dict(resource)) == escape(resource)
    item = SceneObject.from_dict({"kind": "View3d", "data": view})
    assert escape(item) == escape({"kind": "View3d", "data": view})


def test_the_copy_is_json() -> None:
    """Tuples become lists, keys become strings, and other objects their escaped text: nothing escapes the escaping."""
    escaped = escape({1: ("<a>", b"<b>"), None: {"<c>"}})
    assert (
        json.loads(json.dumps(escaped))
        == escaped
        == {
            "1": ["&lt;a&gt;", "b&#x27;&lt;b&gt;&#x27;"],
            "None": "{&#x27;&lt;c&gt;&#x27;}",
        }
    )


def test_deep_data_is_escaped() -> None:
    """Data nested as deep as a scene needs is no obstacle."""
    data: Any = "<"
    for _ in range(200):
        data = [{"<": data}]
    assert texts_of(escape(data)) == ["&lt;"] * 201
