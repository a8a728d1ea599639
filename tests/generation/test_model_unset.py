"""UNSET: what is not there, as opposed to what is null."""

import copy
import pickle
from typing import Any

import pytest
from itwin_platform import UNSET, ITwin, Unset
from itwin_platform_api import types


def test_there_is_one_unset() -> None:
    """Copy, deepcopy, pickle of any protocol and the constructor give the same object."""
    others = [copy.copy(UNSET), copy.deepcopy([UNSET])[0], Unset(), types.UNSET]
    others += [pickle.loads(pickle.dumps(UNSET, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]  # noqa: S301  # our own bytes
    assert all(other is UNSET for other in others)


def test_unset_is_false_and_shows_its_name() -> None:
    """It can be asked for in a condition, and shows no address."""
    assert not UNSET
    assert repr(UNSET) == "UNSET"
    assert isinstance(UNSET, Unset)


def test_unset_is_not_null() -> None:
    """A missing field is UNSET and not written; a null one is None and written as null."""
    model = ITwin.from_dict({"parentId": None})
    assert (model.parent_id, model.image) == (None, UNSET)
    assert model.to_dict() == {"parentId": None}


def test_an_attribute_of_unset_says_how_to_get_the_value() -> None:
    """What was not returned has no attributes, and the error tells which arguments request it."""
    model: Any = ITwin.from_dict({"id": "a"})
    with pytest.raises(
        AttributeError, match=r"no 'year': the service did not return .* representation=\"full\" or select="
    ):
        _ = model.created_date_time.year
    assert not hasattr(UNSET, "year")


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("displayName", "displayName is a field of ITwin: read the attribute display_name"),
        ("iTwinAccountId", "iTwinAccountId is a field of ITwin: read the attribute itwin_account_id"),
        ("class", "class is a field of ITwin: read the attribute class_"),
        ("region", "region"),
        ("additional_properties", "additional_properties"),
    ],
)
def test_a_key_that_is_a_field_names_its_attribute(key: str, said: str) -> None:
    """A model holds by key only what the specification does not name."""
    with pytest.raises(KeyError) as caught:
        ITwin.from_dict({"id": "a", "displayName": "N"})[key]
    assert caught.value.args == (said,)


@pytest.mark.parametrize("value", [None, "", 0, False, [], {}])
def test_unset_equals_nothing_else(value: object) -> None:
    """Other false values are values."""
    assert value != UNSET
