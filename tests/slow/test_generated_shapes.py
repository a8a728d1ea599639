"""Shapes that no operation has yet generate code that means them, or are rejected with words."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import PROJECT
from tests.support.regenerated import Change, Document, Regenerated
from tools.generation import generator

VENDOR_JSON = "application/vnd.vendor.itwin-platform.v1+json"
JSON_BODY = {"schema": {"$ref": "#/components/schemas/ITwinResponse"}}
SCRIPT = """
import inspect
import json
from datetime import date
from uuid import UUID

import httpx
from itwin_platform_api.api.itwins import list_itwins
from itwin_platform_api.api.scenes import delete_scene
from itwin_platform_api.models import ITwin, ITwinResponse

key = "6a2d2381-6c57-9332-387a-5b7c00000000"
wire = {"iTwin": {"id": "i"}, "due": "2024-05-17", "key": key, "days": ["2024-01-02"]}
model = ITwinResponse.from_dict(wire)
item = {"id": "i", "due": "2024-05-17", "key": key, "days": ["2024-01-02"], "floors": 7, "parts": [{"x": 1}]}
expected = ITwin.from_dict(item)
ordinary, ITwin.from_dict = ITwin.from_dict, None  # a page takes another way as long as it is as described
page = list_itwins.parse_response(httpx.Response(200, json={"iTwins": [item], "_links": {}}))
ITwin.from_dict = ordinary
odd = {"iTwin": {}, "due": "soon", "key": 7, "days": None}
print(json.dumps({
    "types": [type(value).__name__ for value in (model.itwin, model.due, model.key, model.days[0])],
    "round trip": model.to_dict() == wire,
    "odd values": ITwinResponse.from_dict(odd).to_dict() == odd,
    "page": [page.itwins == [expected], type(page.itwins[0].due).__name__, type(page.itwins[0].parts[0]).__name__],
    "returns": [str(inspect.signature(delete_scene.asyncio).return_annotation)],
}))
"""


def add_shapes(document: Document) -> None:
    """Add an operation without a body, a schema with iTwin in its name, dates, UUIDs, and a quote that ends a text."""
    document["components"]["schemas"]["ITwinResponse"] = {
        "type": "object",
        "required": ["iTwin"],
        "description": 'Called "the iTwin"',
        "properties": {
            "iTwin": {"$ref": "#/components/schemas/ITwin"},
            "due": {"type": ["string", "null"], "format": "date", "description": 'Called "due"'},
            "key": {"type": "string", "format": "uuid"},
            "days": {"type": "array", "items": {"type": "string", "format": "date"}},
        },
    }
    shapes = document["components"]["schemas"]["ITwinResponse"]["properties"]
    document["components"]["schemas"]["ITwin"]["properties"] |= {
        **{name: shapes[name] for name in ("due", "key", "days")},
        "floors": {"type": "integer"},
        "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Vector3d"}},
    }
    document["paths"]["/itwins/{iTwinId}"] = {
        "get": {
            "operationId": "get_itwin",
            "tags": ["itwins"],
            "security": [{"bearer": []}],
            "parameters": [{"$ref": "#/components/parameters/ITwinIdPath"}],
            "responses": {"200": {"description": 'An "iTwin"', "content": {VENDOR_JSON: JSON_BODY}}},
        }
    }
    document["paths"]["/scenes/{sceneId}"] = {
        "delete": {
            "operationId": "delete_scene",
            "tags": ["scenes"],
            "security": [{"bearer": []}],
            "parameters": [{"$ref": "#/components/parameters/SceneIdPath"}],
            "responses": {"204": {"description": "The scene is gone."}},
            "x-accept": VENDOR_JSON,
        }
    }


def test_new_shapes_are_decoded_and_sent_as_they_came(regenerated: Callable[[Change], Regenerated]) -> None:
    """A date is a date, what is none stays as it came, a page is read the fast way, and a 204 is None for checkers."""
    made = regenerated(add_shapes)
    assert "await delete_scene.asyncio(scene_id, client=platform.generated)" in made.output
    assert json.loads(made.run("-W", "error", "-c", SCRIPT).stdout) == {
        "types": ["ITwin", "date", "UUID", "date"],
        "round trip": True,
        "odd values": True,
        "page": [True, "date", "Vector3d"],
        "returns": ["None"],
    }


def small(schema: dict[str, Any]) -> Document:
    """A document with one model."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "t", "version": "1"},
        "paths": {},
        "components": {"schemas": {"Thing": {"type": "object", "properties": {"part": schema}}}},
    }


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "string", "format": "binary"}, "which templates/decoding.jinja does not decode"),
        ({"oneOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "uuid"}]}, "several forms"),
    ],
)
def test_a_form_that_no_code_decodes_is_rejected(tmp_path: Path, schema: dict[str, Any], said: str) -> None:
    """A value is never decoded as it came against its type: the generation ends and names the property."""
    with pytest.raises(SystemExit, match="part") as rejected:
        generator.write_package(small(schema), tmp_path / "itwin_platform_api", name="small.yaml")
    assert said in str(rejected.value)


def test_modules_that_clash_are_rejected(tmp_path: Path) -> None:
    """Two schemas whose modules have one name would overwrite each other: both are reported."""
    document = small({"type": "string"})
    document["components"]["schemas"] |= {"ITwinX": {"type": "object"}, "ItwinX": {"type": "object"}}
    for name in ("ITwinX", "ItwinX"):
        document["components"]["schemas"][name]["properties"] = {"a": {"type": "string"}}
    with pytest.raises(SystemExit, match=r"models/itwin_x\.py would be written for ITwinX and for ItwinX"):
        generator.write_package(document, tmp_path / "itwin_platform_api", name="small.yaml")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{{ enum.no_such_name }}", "no_such_name"),
        ("{{ enum.class_info | no_such_filter }}", "No filter named 'no_such_filter'"),
    ],
)
def test_a_name_that_the_generator_does_not_have_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    """A template that uses a name or a filter which is gone ends the generation with its file and line."""
    templates = tmp_path / "templates"
    templates.mkdir()
    for path in (PROJECT / "templates").glob("*.jinja"):
        (templates / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    (templates / "str_enum.py.jinja").write_text(f"first\n{line}\n", encoding="utf-8")
    monkeypatch.setattr(generator, "TEMPLATES", templates)
    document = small({"$ref": "#/components/schemas/Color"})
    document["components"]["schemas"]["Color"] = {"type": "string", "enum": ["red"]}
    with pytest.raises(SystemExit, match=r"str_enum\.py\.jinja:2: ") as rejected:
        generator.write_package(document, tmp_path / "itwin_platform_api", name="small.yaml")
    assert said in str(rejected.value)
    assert "make templates-diff" in str(rejected.value)


def test_what_cannot_be_imported_is_rejected(tmp_path: Path) -> None:
    """A module that fails to import, or lacks a name that it exports, ends the generation."""
    package = tmp_path / "broken_package"
    package.mkdir()
    (package / "__init__.py").write_text("__all__ = ['gone']\n")
    with pytest.raises(SystemExit, match="cannot be imported"):
        generator.check_imports(package, name="small.yaml")
