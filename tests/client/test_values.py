"""Models and values behave as values: `attrs.asdict`, `to_dict`, pickle, copies, equality and hashing."""

import copy
import dataclasses
import json
import pickle
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import attrs
import pytest
from itwin_platform import (
    UNSET,
    AccessToken,
    AttemptEnded,
    BackoffPolicy,
    BasicAuthentication,
    CooldownStarted,
    ErrorDetail,
    EventType,
    ITwin,
    ITwinStatus,
    ITwinSubClass,
    ITwinSummary,
    Page,
    RateLimit,
    RepositoryOptions,
    SceneState,
)

from tests.support.sample_models import ANSWERS, sent

#: Frozen values: equal where their fields are, and usable as keys.
VALUES: list[object] = [
    *(ITwinStatus.ACTIVE, ITwinStatus("Paused"), EventType.ITWINS_ITWIN_CREATED_V1),
    *(BackoffPolicy(max_attempts=2), RateLimit(requests=1, per=2.0), ErrorDetail(code="A")),
    AccessToken("t", datetime(2026, 3, 1, tzinfo=UTC)),
    BasicAuthentication(username="u", password="p"),
    RepositoryOptions(query_parameters={"a": "b"}, minimum_level=1, maximum_level=None),
    SceneState(display_name="S", last_modified=None, is_partial=True),
    CooldownStarted(method="GET", route="/a", seconds=1.0),
    AttemptEnded(method="GET", route="/", status=200, error=None, seconds=0.1, attempt=1, correlation_id=None),
]
COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),  # noqa: S301  # our own bytes
}
each_answer = pytest.mark.parametrize("name", sorted(ANSWERS))
each_copy = pytest.mark.parametrize("way", sorted(COPIES))


@each_answer
def test_to_dict_is_what_was_sent(name: str) -> None:
    """`json.dumps(model.to_dict())` works, and `from_dict` of it gives an equal model."""
    model = ANSWERS[name]
    written = json.loads(json.dumps(model.to_dict()))
    assert type(model).from_dict(written) == model
    assert written.keys() == sent(name).keys()


@each_answer
def test_asdict_has_every_field_by_its_python_name(name: str) -> None:
    """`attrs.asdict` goes into nested models and lists, and leaves enums, times and UNSET as they are."""
    model = ANSWERS[name]
    written = attrs.asdict(model)
    assert list(written) == [field.name for field in attrs.fields(type(model))]
    for field, value in written.items():
        own = getattr(model, field)
        if attrs.has(type(own)):
            assert value == attrs.asdict(own)
        elif isinstance(own, list):
            assert value == [attrs.asdict(item) if attrs.has(type(item)) else item for item in own]
        else:
            assert value == own


def test_asdict_can_leave_out_what_is_absent() -> None:
    """UNSET stays itself, so a filter finds it."""
    itwin = ITwin.from_dict({"id": "a", "parentId": None, "new": 1})
    given = attrs.asdict(itwin, filter=lambda _, value: value is not UNSET)
    assert given == {"id": "a", "parent_id": None, "additional_properties": {"new": 1}}


@each_copy
@each_answer
def test_a_copied_model_is_equal_and_another(name: str, way: str) -> None:
    """Absent fields stay UNSET, the same object."""
    model = ANSWERS[name]
    copied = COPIES[way](model)
    assert copied == model
    assert copied is not model
    absent = [field.name for field in attrs.fields(type(model)) if getattr(model, field.name) is UNSET]
    assert all(getattr(copied, field) is UNSET for field in absent)


def test_a_deep_copy_shares_nothing() -> None:
    """Changing it leaves the original as it was."""
    itwin = ITwin.from_dict({"id": "a", "new": {"inner": [1]}})
    copied = copy.deepcopy(itwin)
    copied["new"]["inner"].append(2)
    assert itwin.to_dict() == {"id": "a", "new": {"inner": [1]}}
    assert copied != itwin


def test_models_compare_by_all_that_they_hold() -> None:
    """Another value, another absence, another unknown field: each makes another model; another class never equals."""
    model = ITwin.from_dict({"id": "a", "type": None})
    for other in ({"id": "b", "type": None}, {"id": "a"}, {"id": "a", "type": None, "new": 1}):
        assert model != ITwin.from_dict(other)
    others: list[object] = [ITwinSummary.from_dict({"id": "a", "type": None}), {"id": "a", "type": None}, "a"]
    assert model not in others
    assert model == ITwin.from_dict({"type": None, "id": "a"})


def test_a_model_can_be_changed_and_so_is_no_key() -> None:
    """A set or a dictionary rejects it with a TypeError: its id, which is a string, is the key to use."""
    with pytest.raises(TypeError, match="unhashable type: 'ITwin'"):
        hash(ITwin.from_dict({"id": "a"}))


@each_copy
@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_survives_copies_and_is_a_key(value: object, way: str) -> None:
    """Equal, of the same class, and found again in a set, because no field of it can be changed."""
    copied = COPIES[way](value)
    for field in dataclasses.fields(value) if dataclasses.is_dataclass(value) else ():
        with pytest.raises(AttributeError):
            setattr(value, field.name, "changed")
    assert type(copied) is type(value)
    assert copied == value
    assert {value: 1}[copied] == 1


@each_copy
def test_a_page_survives_copies(way: str) -> None:
    """A copy of a page equals it, with its items and its `resume`."""
    page = Page(items=[ITwin.from_dict({"id": "a"})], resume="r")
    assert COPIES[way](page) == page


@each_copy
@pytest.mark.parametrize("text", ["Active", "Paused"])
def test_an_enum_is_its_string(text: str, way: str) -> None:
    """Listed or not: equal to its text, the same key, and written into JSON as it."""
    member = COPIES[way](ITwinStatus(text))
    assert member == text
    assert {text: 1}[member] == 1
    assert (str(member), f"{member}", json.dumps(member)) == (text, text, f'"{text}"')


@each_copy
def test_unset_stays_the_same_object(way: str) -> None:
    """UNSET stays the same object in copies and pickles, and is false."""
    assert COPIES[way]({"a": [UNSET]})["a"][0] is UNSET
    assert bool(UNSET) is False


def test_a_detail_is_matched_in_the_order_of_the_wire() -> None:
    """Code, message and target can be given, and matched, by position."""
    match ErrorDetail("InvalidValue", "Too long.", "uri"):
        case ErrorDetail("InvalidValue", _, target):
            assert target == "uri"
        case _:
            pytest.fail("it is not matched")


def test_evolve_changes_a_field_and_keeps_the_rest() -> None:
    """`attrs.evolve` keeps properties that this version does not know, and shares none of them with the original."""
    original = ITwin.from_dict({"id": "a", "displayName": "A", "aPropertyOfTomorrow": {"deep": [1, None]}})
    changed = attrs.evolve(original, display_name="changed")
    assert (changed.display_name, original.display_name) == ("changed", "A")
    assert changed.to_dict() == original.to_dict() | {"displayName": "changed"}
    changed["new"] = 1
    assert "new" not in original


def test_a_match_statement_reads_fields() -> None:
    """Enum members match their strings."""
    match ITwin.from_dict({"subClass": "Project", "status": "Active", "parentId": None, "number": "P-1"}):
        case ITwin(sub_class=ITwinSubClass.PROJECT, status="Active", parent_id=None, number=number):
            assert number == "P-1"
        case _:
            pytest.fail("it does not match")


def test_a_service_returns_results() -> None:
    """FastAPI turns `to_dict()` into JSON: one model, or a list of them."""
    # Imported here: it takes half a second, in each process that collects the tests.
    from fastapi import FastAPI
    from fastapi.testclient import TestClient

    app, item = (
        FastAPI(),
        {"id": "a", "displayName": "Straße", "status": "Active", "aPropertyOfTomorrow": {"deep": [1]}},
    )

    @app.get("/several")
    def several() -> list[dict[str, Any]]:
        return [ITwin.from_dict(item).to_dict()] * 2

    assert TestClient(app).get("/several").json() == [item] * 2
