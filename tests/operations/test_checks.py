"""The request checks as functions of values. Source: sections 2, 4, 7 and 8."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st
from itwin_platform import UNSET, EventType, UsageError
from itwin_platform._operations.replacement import check_authentication, check_options
from itwin_platform._operations.rules import (
    as_enum,
    as_list,
    check_exclusive,
    check_path_id,
    check_string,
    check_uuid,
    reject_none,
)
from itwin_platform._requests.request import check_header, check_integer

from tests.support.examples import strings

SIMPLE = ("status", "type", "number", "display_name", "parent_id", "itwin_account_id", "search")
#: The pairs that section 4.3 forbids; written out here a second time, as a table of their own.
FORBIDDEN = (
    {frozenset({"filter", name}): "$filter" for name in SIMPLE}
    | {frozenset({"search", name}): "$search" for name in ("number", "display_name")}
    | {frozenset({"include_inactive", "status"}): "includeInactive"}
)

PARAMETERS = (*SIMPLE, "filter", "include_inactive", "sub_class", "select", "order_by")


def outcome(check: Callable[..., object], *values: Any, **rules: Any) -> tuple[str | None, str | None] | None:
    """The code and target of the rejection; None where the check passes."""
    try:
        check(*values, **rules)
    except UsageError as error:
        return error.code, error.target
    return None


@pytest.mark.parametrize("pair", [*itertools.combinations(PARAMETERS, 2)], ids="+".join)
def test_parameters_exclude_each_other_as_documented(pair: tuple[str, str]) -> None:
    """Exactly the documented pairs are rejected, with InvalidParameter and the documented target."""
    found = outcome(check_exclusive, dict.fromkeys(PARAMETERS, UNSET) | dict.fromkeys(pair, False))
    target = FORBIDDEN.get(frozenset(pair))
    assert found == (target and ("InvalidParameter", target))


@given(st.integers(-2, 1002), st.integers(0, 3), st.none() | st.integers(900, 1001))
def test_an_integer_is_taken_within_its_range(value: int, least: int, most: int | None) -> None:
    """Both ends of a range belong to it, and a range without an upper end has none."""
    fits = value >= least and (most is None or value <= most)
    found = outcome(check_integer, "n", value, least=least, most=most, code="InvalidValue", target="$top")
    assert found == (None if fits else ("InvalidValue", "$top"))


@pytest.mark.parametrize("value", [True, 1.0, "1", None, float("nan"), [1], UNSET], ids=repr)
def test_what_is_no_integer_is_rejected(value: object) -> None:
    """A truth value, a decimal, a string or nothing is no integer."""
    assert outcome(check_integer, "n", value, least=0, most=None, code="C", target="T") == ("C", "T")


@given(strings(max_size=8), st.integers(0, 2), st.none() | st.integers(2, 6))
def test_a_string_is_accepted_within_its_lengths(value: str, least: int, most: int | None) -> None:
    """Too short has the code of the missing value, too long is InvalidValue; both name the target."""
    found = outcome(check_string, "n", value, least=least, most=most, code="Missing", target="T")
    too_long = most is not None and len(value) > most
    assert found == (("Missing", "T") if len(value) < least else ("InvalidValue", "T") if too_long else None)


@pytest.mark.parametrize("value", [None, 1, b"x", ["x"], {}], ids=repr)
def test_what_is_no_string_is_rejected(value: object) -> None:
    """None stands for null, and null is no string."""
    assert outcome(check_string, "n", value, code="C", target="T") == ("C", "T")
    assert outcome(check_uuid, "n", value, code="C", target="T") == ("C", "T")


def test_unset_passes_every_check_of_what_may_be_omitted() -> None:
    """What is omitted breaks no rule."""
    assert outcome(check_string, "n", UNSET, least=1, code="C") is None
    assert outcome(check_uuid, "n", UNSET) is None
    assert [outcome(reject_none, "n", value) for value in (UNSET, 0, "", False)] == [None] * 4


def test_none_is_rejected_by_name() -> None:
    """The text names the parameter that is null, and the code is the operation's."""
    with pytest.raises(UsageError, match="b cannot be None") as caught:
        reject_none("b", None, code="InvalidRequestBody")
    assert (caught.value.code, caught.value.target) == ("InvalidRequestBody", None)


@given(st.uuids())
def test_every_uuid_is_as_enum(value: Any) -> None:
    """Upper and lower case are taken."""
    assert outcome(check_uuid, "id", str(value)) is None
    assert outcome(check_uuid, "id", str(value).upper()) is None


@pytest.mark.parametrize(
    "value",
    [
        *("", "x", "6a2d23816c579332387a5b7c00000000", "{6a2d2381-6c57-9332-387a-5b7c00000000}", "g" * 36),
        *("6a2d2381-6c57-9332-387a-5b7c0000000", "6a2d2381-6c57-9332-387a-5b7c00000000\n"),
    ],
)
def test_what_has_not_the_form_of_a_uuid_is_rejected(value: str) -> None:
    """The form is 8-4-4-4-12 hexadecimal digits and nothing around it."""
    assert outcome(check_uuid, "id", value, code="C", target="T") == ("C", "T")


def test_a_uuid_need_not_satisfy_its_standard() -> None:
    """Ids with another variant have been seen."""
    assert outcome(check_uuid, "id", "6a2d2381-6c57-9332-387a-5b7c00000000") is None


@pytest.mark.parametrize("value", ["", ".", "..", None, 5, b"x", UNSET, "\ud800", "a\udfff"], ids=repr)
def test_an_id_that_is_no_part_of_a_path_is_rejected(value: object) -> None:
    """Empty, a dot, two dots, no string, and a string that cannot be encoded."""
    assert outcome(check_path_id, "id", value) == (None, None)


@given(strings(min_size=1).filter(lambda text: text not in (".", "..")))
def test_any_other_string_is_an_id(value: str) -> None:
    """Ids are opaque: slashes, blanks and characters of any script are taken."""
    assert outcome(check_path_id, "id", value) is None


@given(st.text(st.characters(min_codepoint=0, max_codepoint=300), max_size=6))
def test_a_header_is_visible_ascii(value: str) -> None:
    """Control characters, line breaks, blanks around it and letters beyond ASCII are rejected."""
    fits = value != "" and value == value.strip(" ") and all(" " <= each <= "~" for each in value)
    assert (outcome(check_header, "h", value) is None) == fits


def test_one_value_becomes_a_member_and_other_values_stay() -> None:
    """UNSET stays UNSET, a string becomes a member, known or not."""
    assert as_enum(UNSET, EventType) is UNSET
    assert as_enum("iTwins.iTwinCreated.v1", EventType) is EventType.ITWINS_ITWIN_CREATED_V1
    assert type(as_enum("new", EventType)) is EventType


@pytest.mark.parametrize("value", [5, [5], ["a", None], b"ab"], ids=repr)
def test_several_takes_strings_only(value: object) -> None:
    """Something else among the values is rejected instead of being written as a string."""
    assert outcome(as_list, "select", value, str) == (None, None)


def test_several_keeps_what_is_absent() -> None:
    """UNSET is not sent; None is left to the checks, and to the service where they are lifted."""
    assert as_list("select", UNSET, str) is UNSET
    assert as_list("select", None, str) is None
    assert as_list("select", (), str) == []


LEVELS = {"minimumLevel": "minimumlevel", "maximumLevel": "maximumlevel"}


@given(st.sampled_from(sorted(LEVELS)), st.integers(-3, 27) | st.booleans() | st.floats() | strings(max_size=2))
def test_levels_are_0_to_24(name: str, value: object) -> None:
    """Both ends belong to the range; the target is written in lower case, as documented."""
    fits = type(value) is int and 0 <= value <= 24
    found = outcome(check_options, {name: value}, named=True)
    assert found == (None if fits else ("InvalidValue", LEVELS[name]))


@pytest.mark.parametrize("kind", [None, "", "basic", "ApiKey", 5, ["Basic"]], ids=repr)
def test_an_unknown_type_of_authentication_is_rejected(kind: object) -> None:
    """The types are documented as the allowed values, so another is rejected, and the text names them."""
    with pytest.raises(UsageError, match="one of Header, QueryParameter, Basic, OAuth2AuthorizationCodePKCE") as caught:
        check_authentication({"type": kind, "key": "k", "value": "v"})
    assert (caught.value.code, caught.value.target) == (None, None)


def test_a_set_becomes_a_sorted_list() -> None:
    """A set gives the same list in every process, although its order differs from process to process."""
    names = {f"name {number}" for number in range(50)}
    assert as_list("select", names, str) == sorted(names)
