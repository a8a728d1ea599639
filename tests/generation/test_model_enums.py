"""Enums are open: a value that the description does not list stays a string, and is of the type of the enum."""

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given, strategies as st
from itwin_platform import ITwin, ITwinStatus, Webhook

from tests.support.schema_values import ENUMS, SCHEMAS, TEXTS


@pytest.fixture(params=sorted(ENUMS))
def enum(request: pytest.FixtureRequest) -> Any:
    """Each enum."""
    return ENUMS[request.param]


def pickled(value: Any) -> Any:
    """The value after a way through pickle."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301  # our own bytes


def test_members_are_the_documented_values(enum: Any) -> None:
    """The members of each enum are the values of the specification, no fewer and no more."""
    assert sorted(str(member) for member in enum) == sorted(SCHEMAS[enum.__name__]["enum"])


def test_every_enum_of_the_specification_is_there() -> None:
    """Each schema with values is an enum."""
    assert ENUMS.keys() == {name for name, schema in SCHEMAS.items() if "enum" in schema}


def test_an_unknown_value_is_an_equal_string(enum: Any) -> None:
    """It compares, hashes, formats and sorts as the text that it is, and shows what it is."""
    unknown = enum("From the Future")
    assert type(unknown) is enum
    assert unknown == "From the Future" == str(unknown) == f"{unknown}" == unknown.value == unknown.name
    assert {unknown: 1}["From the Future"] == 1
    assert {"From the Future": 1}[unknown] == 1
    assert json.dumps([unknown]) == '["From the Future"]'
    assert "From the Future" in repr(unknown)
    assert sorted([unknown, "A", "Z"]) == ["A", "From the Future", "Z"]


def test_an_unknown_value_survives_copies(enum: Any) -> None:
    """Copy, deepcopy and pickle keep text and type; a known one stays the same member."""
    unknown = enum("From the Future")
    known = next(iter(enum))
    for pair in (copy.copy((unknown, known)), copy.deepcopy((unknown, known)), pickled((unknown, known))):
        assert pair == ("From the Future", known)
        assert type(pair[0]) is enum
        assert pair[1] is known


def test_an_unknown_value_does_not_join_the_enum(enum: Any) -> None:
    """A hostile response cannot grow the enum."""
    members = list(enum)
    enum("From the Future")
    assert list(enum) == members


@pytest.mark.parametrize("value", [None, 5, True, b"Active", ["Active"]], ids=repr)
def test_what_is_no_string_is_no_member(enum: Any, value: object) -> None:
    """The enum itself takes strings only; in a response such a value stays as it came."""
    with pytest.raises(ValueError, match="is not a valid"):
        enum(value)
    assert ITwin.from_dict({"status": value}).to_dict() == {"status": value}


@given(TEXTS | st.sampled_from([str(member) for member in ITwinStatus]))
def test_any_string_in_a_response_is_of_the_enum(text: str) -> None:
    """Known or not, empty or not: it is read into the enum and written back as it was."""
    model = ITwin.from_dict({"status": text})
    assert isinstance(model.status, ITwinStatus)
    assert (model.status, model.to_dict()) == (text, {"status": text})


def test_one_unknown_value_in_a_list_loses_no_other() -> None:
    """Known and unknown event types stay in their order."""
    types = ["iModels.iModelCreated.v1", "accessControl.memberRoleUpdated.v1", None, 5, "iTwins.iTwinDeleted.v1"]
    webhook = Webhook.from_dict({"eventTypes": types})
    assert webhook.event_types == types
    assert webhook.to_dict() == {"eventTypes": types}
