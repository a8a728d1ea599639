"""Every generated model decodes anything without losing anything. Source: sections 2 and 4."""

import copy
import inspect
import json
import pickle
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from itwin_platform_api.models import view3d_data

from tests.support.examples import examples
from tests.support.schema_values import MODELS, SCHEMAS, objects_of

each_model = pytest.mark.parametrize("name", sorted(MODELS))


def test_every_object_of_the_specification_has_a_model() -> None:
    """Each schema that is an object, or the models of its alternatives, is generated, and nothing else is."""
    objects = {
        name for name, schema in SCHEMAS.items() if schema.get("type") == "object" and "x-undecoded" not in schema
    }
    assert MODELS.keys() == objects


@each_model
@settings(max_examples=examples(15))
@given(data=st.data())
def test_a_round_trip_loses_nothing(name: str, data: st.DataObject) -> None:
    """`from_dict` and `to_dict` keep wrong types, null, missing and unknown fields, and leave the source unchanged."""
    wire = data.draw(objects_of(SCHEMAS[name]))
    before = copy.deepcopy(wire)
    model = MODELS[name].from_dict(wire)
    assert model.to_dict() == before
    assert wire == before


@each_model
@settings(max_examples=examples(10))
@given(data=st.data())
def test_a_model_survives_copies_and_shows_itself(name: str, data: st.DataObject) -> None:
    """Copy, deepcopy and pickle give an equal model, and `repr` never fails."""
    model = MODELS[name].from_dict(data.draw(objects_of(SCHEMAS[name])))
    for again in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301  # our own
        assert again == model
        assert again.to_dict() == model.to_dict()
        assert repr(again) == repr(model)
    assert repr(model).startswith(f"{type(model).__name__}(")


@each_model
def test_unknown_fields_are_a_mapping_of_their_own(name: str) -> None:
    """Unknown fields can be read and changed by subscript, and are sent back."""
    model = MODELS[name].from_dict({"fromTheFuture": {"a": 1}})
    assert "fromTheFuture" in model
    assert model.additional_keys == ["fromTheFuture"]
    model["another"] = [2]
    del model["fromTheFuture"]
    assert model.to_dict() == {"another": [2]}


@each_model
def test_models_share_nothing(name: str) -> None:
    """Two models share no unknown fields."""
    one, other = (MODELS[name].from_dict({}) for _ in range(2))
    one["a"] = 1
    assert "a" not in other
    assert one != other


@pytest.mark.parametrize("text", ['{"id": NaN}', '{"id": 1e400}', '{"id": "\\ud800"}', '{"id": ' + "9" * 4000 + "}"])
@each_model
def test_unusual_json_is_accepted(name: str, text: str) -> None:
    """NaN, infinity, half a surrogate pair and huge integers survive a round trip."""
    parsed: dict[str, Any] = json.loads(text)
    written = MODELS[name].from_dict(parsed).to_dict()
    assert repr(written) == repr(parsed)


def test_the_last_of_two_equal_names_wins() -> None:
    """Of a name that JSON contains twice, the last one counts."""
    assert MODELS["ITwin"].from_dict(json.loads('{"id": "a", "id": "b"}')).id == "b"


def test_a_description_beside_a_reference_is_kept() -> None:
    """Three vectors of a camera do not read alike."""
    source = inspect.getsource(view3d_data)
    words = ("Camera eye location.", "Camera pointing direction.", "Up direction relative to the camera.")
    assert [each for each in words if each not in source] == []
