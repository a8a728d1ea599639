"""Scene object data is typed where its structure is known and can be escaped; responses are read in one way."""

import copy
import html
from typing import Any

import attrs
import httpx
import pytest
from hypothesis import given, settings
from itwin_platform import RepositoryResourceData, View3dData, escape
from itwin_platform_api.api.scenes import list_scene_objects
from itwin_platform_api.models import ITwinsResponse, SceneDataCreate, SceneObject, SceneObjectCreate
from itwin_platform_api.structures import MOST, ResponseReader
from itwin_platform_api.types import encode
from msgspec import Struct

from tests.generated.test_model_values import pickled
from tests.support.deviating_responses import different
from tests.support.examples import examples
from tests.support.operations import OPERATIONS
from tests.support.schema_values import ANY_JSON, SCHEMAS, objects_of

TYPES: dict[str, Any] = {"RepositoryResource": RepositoryResourceData, "View3d": View3dData}
VIEWS, RESOURCES = objects_of(SCHEMAS["View3dData"]), objects_of(SCHEMAS["RepositoryResourceData"])


@settings(max_examples=examples(40))
@given(resource=RESOURCES, view=VIEWS)
def test_data_of_a_known_kind_is_typed_and_loses_nothing(resource: dict[str, Any], view: dict[str, Any]) -> None:
    """Typed data with missing, null, wrong or unknown fields is sent back unchanged."""
    for kind, data in (("RepositoryResource", resource), ("View3d", view)):
        wire = {"id": "x", "kind": kind, "data": data}
        item = SceneObject.from_dict(wire)
        assert type(item.data) is TYPES[kind]
        assert item.to_dict() == wire


@pytest.mark.parametrize("kind", ["Layer", "Repository", "iModelVisibility", "ResourceSettings", "view3d", ""])
def test_data_of_any_other_kind_stays_a_dict(kind: str) -> None:
    """Data of an undocumented kind is kept unchanged."""
    data = {"position": {"x": 1}, "iTwinId": "i", "createdDateTime": "2022-06-09T17:26:11.13"}
    item = SceneObject.from_dict({"kind": kind, "data": data})
    assert (type(item.data), item.data) == (dict, data)


@settings(max_examples=examples(40))
@given(objects_of(SCHEMAS["SceneObjectCreate"]) | objects_of({"properties": {}}), ANY_JSON)
def test_an_object_to_create_is_sent_as_it_is_given(wire: dict[str, Any], inner: Any) -> None:
    """A mapping and a model are sent unchanged, and the body shares no object with the argument."""
    wire |= {"data": {"inner": [inner]}}
    before = copy.deepcopy(wire)
    given_objects: list[Any] = [wire, SceneObjectCreate.from_dict(wire)]
    for given_object in given_objects:
        body = encode(SceneDataCreate(objects=[given_object]))
        assert body == {"objects": [before]}
        body["objects"][0]["data"]["inner"].append("later")
    assert wire == before


def unescaped(value: Any) -> Any:
    """Return the value before it was escaped; fail if a string can begin a tag or end an attribute."""
    if isinstance(value, str):
        assert not set("<>\"'") & set(value)
        return html.unescape(value)
    if isinstance(value, dict):
        return {unescaped(name): unescaped(item) for name, item in value.items()}
    return [unescaped(item) for item in value] if isinstance(value, list) else value


@given(ANY_JSON)
def test_every_string_is_escaped_once_and_nothing_else_changes(data: Any) -> None:
    """Each string and key is escaped once, a browser shows the original, and the source is unchanged."""
    before = copy.deepcopy(data)
    assert unescaped(escape(data)) == data == before


@settings(max_examples=examples(40))
@given(VIEWS, RESOURCES)
def test_typed_data_is_escaped_as_its_wire_form(view: dict[str, Any], resource: dict[str, Any]) -> None:
    """Typed data, a complete scene object and plain data are escaped alike."""
    assert escape(View3dData.from_dict(view)) == escape(view)
    assert escape(RepositoryResourceData.from_dict(resource)) == escape(resource)
    wire = {"kind": "View3d", "data": view}
    assert escape(SceneObject.from_dict(wire)) == escape(wire)


def test_the_escaped_copy_is_json() -> None:
    """The escaped copy of a tuple is a list, a key is a string, and any other object is its escaped text."""
    escaped = escape({1: ("<a>", b"<b>"), None: {"<c>"}})
    assert escaped == {"1": ["&lt;a&gt;", "b&#x27;&lt;b&gt;&#x27;"], "None": "{&#x27;&lt;c&gt;&#x27;}"}


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_response_with_any_deviation_gives_the_models_of_dictionaries(name: str) -> None:
    """Fields that are unknown, missing, null, doubled or of another type, and broken bodies, are read alike."""
    assert different(name, count=examples(2_000)) == []


def test_names_that_are_data_are_read_and_not_all_kept() -> None:
    """Unknown names cost no memory, even when each page has new ones or names that no field can have."""
    reader = ResponseReader(ITwinsResponse)
    for number in range(2 * MOST):
        unknown = [{f"name{number}": 1}, {'"': 2, "\\": 3, "": 4, "`": 5}]
        page = reader.read(httpx.Response(200, json={"iTwins": unknown, "_links": {}}))
        assert [item.additional_properties for item in page.itwins] == unknown
    assert max(len(each.__struct_fields__) for each in Struct.__subclasses__()) < 2 * MOST


LISTED = OPERATIONS["list_scene_objects"].sample()
[VIEW] = [item for item in LISTED["objects"] if item["kind"] == "View3d"]


def listed_view() -> SceneObject:
    """Return an object of a page before its data is read."""
    return list_scene_objects.parse_response(httpx.Response(200, json=LISTED | {"objects": [VIEW]})).objects[0]


def test_changes_in_the_data_of_a_listed_object_are_kept() -> None:
    """The models of the data are made on the first read, and changed or assigned data stays."""
    item, unread = listed_view(), listed_view()
    assert isinstance(item.data, View3dData)
    item.data.far = 5.0
    assert item.data.far == 5.0
    unread.data = {"far": 1}
    assert unread.data == {"far": 1}


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled, attrs.evolve])
def test_an_object_is_equal_before_and_after_its_data_is_read(copied: Any) -> None:
    """An object is equal before and after its data is read, and so are its copies, its `repr` and its JSON."""
    known = SceneObject.from_dict(VIEW)
    assert copied(listed_view()) == known
    assert (repr(listed_view()), listed_view().to_dict()) == (repr(known), known.to_dict())
