"""Scene object data is typed where its structure is known and can be escaped; responses need no dictionaries."""

import copy
import gc
import html
import json
import pickle
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import attrs
import httpx
import pytest
from hypothesis import given, settings
from itwin_platform import RepositoryResourceData, Vector3d, View3dData, escape
from itwin_platform._operations.scenes import JSON
from itwin_platform_api.api.itwins import list_itwins
from itwin_platform_api.api.scenes import create_scene, list_scene_objects
from itwin_platform_api.models import (
    ITwin,
    ITwinsResponse,
    SceneDataCreate,
    SceneObject,
    SceneObjectCreate,
    SceneObjectMinimal,
    SceneObjectsResponse,
    SceneResponse,
)
from itwin_platform_api.structures import MOST, ResponseReader
from itwin_platform_api.types import encode

from tests.support.deviating_responses import (
    CONTEXT,
    CREATED,
    DATA,
    DESCRIBED,
    ITWIN,
    LINKS,
    OBJECT,
    SCENE,
    SUMMARY,
    VIEW,
    different,
)
from tests.support.examples import examples
from tests.support.schema_values import ANY_JSON, SCHEMAS, objects_of

TYPES: dict[str, Any] = {"RepositoryResource": RepositoryResourceData, "View3d": View3dData}
VIEWS, RESOURCES = objects_of(SCHEMAS["View3dData"]), objects_of(SCHEMAS["RepositoryResourceData"])


@pytest.mark.parametrize("model", [SceneObject, SceneObjectMinimal])
@settings(max_examples=examples(40))
@given(resource=RESOURCES, view=VIEWS)
def test_data_of_a_known_kind_is_typed_and_loses_nothing(
    model: Any, resource: dict[str, Any], view: dict[str, Any]
) -> None:
    """Typed data with missing, null, wrong or unknown fields is sent back unchanged."""
    for kind, data in (("RepositoryResource", resource), ("View3d", view)):
        wire = {"id": "x", "kind": kind, "data": data}
        item = model.from_dict(wire)
        assert type(item.data) is TYPES[kind]
        assert item.to_dict() == wire


@pytest.mark.parametrize("kind", ["Layer", "Repository", "iModelVisibility", "ResourceSettings", "view3d", ""])
def test_data_of_any_other_kind_stays_a_dict(kind: str) -> None:
    """Its structure is not shown, so it is kept as it is."""
    data = {"position": {"x": 1}, "iTwinId": "i", "createdDateTime": "2022-06-09T17:26:11.13"}
    item = SceneObject.from_dict({"kind": kind, "data": data})
    assert (type(item.data), item.data) == (dict, data)


def test_vectors_are_typed() -> None:
    """Typed data has Python names, and integers stay integers."""
    view = View3dData.from_dict({"position": {"x": 1, "y": 2.5, "z": -3}, "ecefTransform": [1] * 16})
    assert (view.position, view.ecef_transform) == (Vector3d(x=1, y=2.5, z=-3), [1] * 16)
    assert type(view.position.x) is int


@settings(max_examples=examples(40))
@given(objects_of(SCHEMAS["SceneObjectCreate"]) | objects_of({"properties": {}}))
def test_an_object_to_create_is_sent_as_it_is_given(wire: dict[str, Any]) -> None:
    """As a mapping or as a model, nothing is added, dropped or changed, and nothing is shared with what was given."""
    before = copy.deepcopy(wire)
    given_objects: list[Any] = [wire, SceneObjectCreate.from_dict(wire)]
    for given_object in given_objects:
        body = encode(SceneDataCreate(objects=[given_object]))
        assert body == {"objects": [before]}
        body["objects"][0]["changed"] = "later"
    assert wire == before


@given(ANY_JSON)
def test_data_of_an_object_to_create_is_not_shared(data: Any) -> None:
    """What the caller does to the data once the body is written does not reach it."""
    given_object = SceneObjectCreate(kind="Layer", version="1.0.0", data={"inner": [data]})
    body = encode(SceneDataCreate(objects=[given_object]))
    given_object.data["inner"].append("later")
    assert body["objects"][0]["data"] == {"inner": [data]}


def texts_of(value: JSON) -> list[str]:
    """Every string in a value, keys included."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in texts_of(part)]
    return [text for part in value for text in texts_of(part)] if isinstance(value, list) else []


@given(ANY_JSON)
def test_every_string_is_escaped_and_nothing_else_changes(data: Any) -> None:
    """No text holds what begins a tag or ends an attribute, and the source stays as it was."""
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
    escaped = escape({text: [text, 7, None]})
    assert isinstance(escaped, dict)
    [(key, value)] = escaped.items()
    shown = ElementTree.fromstring(f"<p title='{key}' id=\"{key}\">{key}</p>")  # noqa: S314  # our own text
    assert (shown.text, shown.attrib, value) == (text, {"title": text, "id": text}, [key, 7, None])


@settings(max_examples=examples(40))
@given(VIEWS, RESOURCES)
def test_typed_data_is_escaped_as_its_wire_form(view: dict[str, Any], resource: dict[str, Any]) -> None:
    """Typed data, a complete scene object and plain data are escaped alike."""
    assert escape(View3dData.from_dict(view)) == escape(view)
    assert escape(RepositoryResourceData.from_dict(resource)) == escape(resource)
    wire = {"kind": "View3d", "data": view}
    assert escape(SceneObject.from_dict(wire)) == escape(wire)


def test_the_escaped_copy_is_json() -> None:
    """Tuples become lists, keys become strings, and other objects their escaped text: nothing escapes the escaping."""
    escaped = escape({1: ("<a>", b"<b>"), None: {"<c>"}})
    assert escaped == {"1": ["&lt;a&gt;", "b&#x27;&lt;b&gt;&#x27;"], "None": "{&#x27;&lt;c&gt;&#x27;}"}
    assert json.loads(json.dumps(escaped)) == escaped


@pytest.mark.parametrize("name", [*DESCRIBED])
def test_a_response_with_any_deviation_gives_the_models_of_dictionaries(name: str) -> None:
    """Fields that are unknown, missing, null, doubled or of another type, and broken bodies, are read alike."""
    assert different(name, count=examples(2_000)) == []


def rejected(_: object) -> Any:
    """Stand in for making a model of a dictionary."""
    raise AssertionError("a dictionary was made")


@pytest.mark.parametrize("names", [tuple(ITWIN), SUMMARY], ids=["full", "minimal"])
def test_a_page_of_itwins_is_read_without_dictionaries(names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of full and of minimal iTwins take the fast way."""
    items = [{name: ITWIN[name] for name in names}] * 3
    monkeypatch.setattr(ITwin, "from_dict", rejected)
    page = list_itwins.parse_response(httpx.Response(200, json={"iTwins": items, "_links": LINKS}))
    assert [itwin.number for itwin in page.itwins] == ["PRO-000005"] * 3


@pytest.mark.parametrize("kinds", [("View3d", "RepositoryResource"), ("Layer", "View3d", "Évo"), ()], ids=repr)
def test_scene_objects_are_read_without_dictionaries(kinds: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """In a page and in a created scene; `data` is typed for the documented kinds, and stays a dict for all others."""
    listed, created = (
        [item | {"kind": kind, "data": DATA.get(kind, DATA["Layer"])} for kind in kinds] for item in (OBJECT, CREATED)
    )
    for model in (SceneObject, SceneResponse, SceneObjectMinimal):
        monkeypatch.setattr(model, "from_dict", rejected)
    page = {"objects": listed, "sceneContext": CONTEXT, "_links": LINKS}
    objects = list_scene_objects.parse_response(httpx.Response(200, json=page)).objects
    made = {"scene": SCENE | {"sceneData": {"objects": created}}}
    scene = create_scene.parse_response(httpx.Response(200, json=made)).scene
    assert (scene.display_name, scene.creation_time.year) == ("Harbour", 2024)
    for items in (objects, scene.scene_data.objects):
        assert [(item.kind, type(item.data)) for item in items] == [(kind, TYPES.get(kind, dict)) for kind in kinds]
        far = [item.data.far for item in items if isinstance(item.data, View3dData)]
        assert far == [VIEW["far"]] * kinds.count("View3d")


@pytest.mark.parametrize("place", ["an item", "all items", "the data of an item", "a vector in it", "the page"])
def test_a_property_that_the_document_lacks_costs_no_dictionaries(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it is, no model is made of a dictionary, and its value is in the `additional_properties` there."""
    reader = ResponseReader(SceneObjectsResponse)
    objects = [copy.deepcopy(OBJECT) | {"kind": "View3d", "data": copy.deepcopy(VIEW)} for _ in range(3)]
    body: dict[str, Any] = {"objects": objects, "sceneContext": CONTEXT, "_links": LINKS}
    _, odd, _ = objects
    for holder in {
        "an item": [odd],
        "all items": objects,
        "the data of an item": [odd["data"]],
        "a vector in it": [odd["data"]["up"]],
        "the page": [body],
    }[place]:
        holder |= {"$new-property": {"x": [1]}, "width": 7, "tags": None}
    expected = SceneObjectsResponse.from_dict(body)
    for model in (SceneObjectsResponse, SceneObject, View3dData, Vector3d):
        monkeypatch.setattr(model, "from_dict", rejected)
    for _ in range(2):
        assert reader.read(httpx.Response(200, json=body)) == expected


def test_names_that_are_data_are_read_and_not_all_kept() -> None:
    """A service whose items have other names each time costs no memory, and neither do names that no field can have."""
    reader = ResponseReader(ITwinsResponse)
    for number in range(2 * MOST):
        items = [ITWIN | {f"name{number}": 1}, ITWIN | {'"': 2, "\\": 3, "": 4, "`": 5}]
        page = reader.read(httpx.Response(200, json={"iTwins": items, "_links": LINKS}))
        assert [item.additional_properties for item in page.itwins] == [
            {f"name{number}": 1},
            {'"': 2, "\\": 3, "": 4, "`": 5},
        ]
    assert len(vars(reader)["_unknown"]) == MOST


def listed_view() -> SceneObject:
    """Return an object of a page, whose data has not been read."""
    body = {"objects": [OBJECT | {"kind": "View3d", "data": VIEW}], "sceneContext": CONTEXT, "_links": LINKS}
    return list_scene_objects.parse_response(httpx.Response(200, json=body)).objects[0]


def count_of_views() -> int:
    """Return how many models of views there are."""
    return sum(type(each) is View3dData for each in gc.get_objects())


def test_the_models_of_the_data_of_an_object_are_made_once_when_it_is_first_read() -> None:
    """A listing whose data nobody reads makes no models of it; what is changed in the data, or assigned, stays."""
    before = count_of_views()
    item = listed_view()
    assert count_of_views() <= before
    assert isinstance(item.data, View3dData)
    item.data.far = 5.0
    assert item.data.far == 5.0
    unread = listed_view()
    unread.data = {"far": 1}
    assert unread.data == {"far": 1}


COPIES: dict[str, Callable[[SceneObject], SceneObject]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda item: pickle.loads(pickle.dumps(item)),  # noqa: S301  # our own bytes
    "evolve": attrs.evolve,
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_an_object_whose_data_was_not_read_is_like_one_whose_data_was(
    copied: Callable[[SceneObject], SceneObject],
) -> None:
    """It is equal, and has the same copies, the same representation, and the same JSON."""
    known = SceneObject.from_dict(OBJECT | {"kind": "View3d", "data": VIEW})
    assert copied(listed_view()) == known
    assert (repr(listed_view()), listed_view().to_dict()) == (repr(known), known.to_dict())
