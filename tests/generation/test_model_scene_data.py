"""Scene object data: typed where the description shows the structure, kept as it is everywhere else. Section 2.7."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from itwin_platform import (
    RepositoryResourceData,
    SceneObject,
    SceneObjectCreate,
    SceneObjectMinimal,
    Vector3d,
    View3dData,
)
from itwin_platform_api.models import SceneDataCreate
from itwin_platform_api.types import encode

from tests.support.examples import examples
from tests.support.faces import objects_to_create
from tests.support.schema_values import ANY_JSON, SCHEMAS, objects_of

TYPES: dict[str, Any] = {"RepositoryResource": RepositoryResourceData, "View3d": View3dData}
OTHER_KINDS = (
    *("Layer", "Repository", "CameraAnimation", "Movie", "Cutout", "MaterialDecoration", "GoogleTilesStyling"),
    *("ITwinDisplayStyleOptions", "UnrealAtmosphericStyling", "ExpressionStyling", "GeospatialFeatureStyling"),
    *("GISStyling", "RealityDataStyling", "iModelVisibility", "ScheduleSimulation", "ResourceSettings", "view3d", ""),
)


def test_the_typed_kinds_are_those_of_the_description() -> None:
    """Exactly the kinds whose data the description shows have a type."""
    assert sorted(TYPES) == sorted(SCHEMAS["SceneObjectKind"]["enum"])


@pytest.mark.parametrize("model", [SceneObject, SceneObjectMinimal])
@settings(max_examples=examples(40))
@given(resource=objects_of(SCHEMAS["RepositoryResourceData"]), view=objects_of(SCHEMAS["View3dData"]))
def test_data_of_a_known_kind_is_typed_and_loses_nothing(
    model: Any, resource: dict[str, Any], view: dict[str, Any]
) -> None:
    """Typed data with missing, null, wrong or unknown fields is sent back unchanged."""
    for kind, data in (("RepositoryResource", resource), ("View3d", view)):
        wire = {"id": "x", "kind": kind, "data": data}
        item = model.from_dict(wire)
        assert type(item.data) is TYPES[kind]
        assert item.to_dict() == wire


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_data_of_any_other_kind_stays_a_dict(kind: str) -> None:
    """Its structure is not shown, so it is kept as it is."""
    data = {"position": {"x": 1}, "iTwinId": "i", "createdDateTime": "2022-06-09T17:26:11.13"}
    item = SceneObject.from_dict({"kind": kind, "data": data})
    assert type(item.data) is dict
    assert item.data == data


def test_vectors_are_typed() -> None:
    """Typed data has Python names, and integers stay integers."""
    view = View3dData.from_dict({"position": {"x": 1, "y": 2.5, "z": -3}, "ecefTransform": [1] * 16})
    assert view.position == Vector3d(x=1, y=2.5, z=-3)
    assert type(view.position.x) is int
    assert view.ecef_transform == [1] * 16


@settings(max_examples=examples(40))
@given(objects_of(SCHEMAS["SceneObjectCreate"]) | objects_of({"properties": {}}))
def test_an_object_to_create_is_sent_as_it_is_given(wire: dict[str, Any]) -> None:
    """As a mapping or as a model, nothing is added, dropped or changed, and nothing is shared with what was given."""
    before = copy.deepcopy(wire)
    for given_object in (wire, SceneObjectCreate.from_dict(wire)):
        body = encode(SceneDataCreate(objects=objects_to_create([given_object])))
        assert body == {"objects": [before]}
        body["objects"][0]["changed"] = "later"
    assert wire == before


@given(ANY_JSON)
def test_data_of_an_object_to_create_is_not_shared(data: Any) -> None:
    """What the caller does to the data once the body is written does not reach it."""
    given_object = SceneObjectCreate(kind="Layer", version="1.0.0", data={"inner": [data]})
    body = encode(SceneDataCreate(objects=objects_to_create([given_object])))
    given_object.data["inner"].append("later")
    assert body["objects"][0]["data"] == {"inner": [data]}
