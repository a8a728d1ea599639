"""The request checks as functions of values: the document's rules, and those that a document cannot state."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, strategies as st
from itwin_platform import UNSET, EventType, SceneObjectCreate, UsageError
from itwin_platform_api.api.itwins import list_itwins
from itwin_platform_api.api.repositories import update_repository
from itwin_platform_api.api.scenes import create_scene
from itwin_platform_api.rules import Rule, check

from tests.support.examples import strings
from tests.support.faces import (
    as_enum,
    as_list,
    check_header,
    check_path_id,
    usage_error,
)

Outcome = tuple[str | None, str | None] | None


def outcome(called: Callable[..., object], *values: Any) -> Outcome:
    """The code and target of the rejection; None where the check passes."""
    try:
        called(*values)
    except UsageError as error:
        return error.code, error.target
    return None


def by_rule(value: object, *, kind: str, **details: Any) -> Outcome:
    """The outcome of one rule, of an argument with the target T."""
    rule = Rule(argument="n", kind=kind, code="Invalid", target="T", **details)
    return outcome(check, {"n": rule}, {"n": value}, usage_error)


def text_of(rules: Mapping[str, Rule], arguments: Mapping[str, object]) -> str | None:
    """The text of the rejection of a body; None where it passes."""
    try:
        check({"body": rules["body"]}, arguments, usage_error)
    except UsageError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("values", "fits"), [([], False), ([1], False), ([1, 2], True), ([1, 2, 3], True), ([1] * 4, False)]
)
def test_a_list_is_taken_within_its_length(values: list[int], *, fits: bool) -> None:
    """Both ends of a length belong to it, whatever the items are."""
    assert by_rule(values, kind="array", least=2, most=3) == (None if fits else ("Invalid", "T"))


@given(st.integers(-2, 1002), st.none() | st.integers(0, 3), st.none() | st.integers(900, 1001))
def test_an_integer_is_taken_within_its_range(value: int, least: int | None, most: int | None) -> None:
    """Both ends of a range belong to it, and a range without an end has none."""
    fits = (least is None or value >= least) and (most is None or value <= most)
    assert by_rule(value, kind="integer", least=least, most=most) == (None if fits else ("Invalid", "T"))
    assert by_rule(float(value), kind="number", least=least, most=most) == (None if fits else ("Invalid", "T"))


WRONG: dict[str, tuple[object, ...]] = {
    "integer": (True, 1.0, "1", None, float("nan"), [1]),
    "number": (True, "1", None, [1]),
    "string": (None, 1, b"x", ["x"], {}),
    "boolean": (None, 1, "true", []),
    "array": (None, 1, "x", {}, {"x"}),
    "object": (None, 1, "x", ["x"]),
}


@pytest.mark.parametrize(
    ("kind", "value"), [(kind, value) for kind, values in WRONG.items() for value in values], ids=repr
)
def test_a_value_of_another_type_is_rejected(kind: str, value: object) -> None:
    """A truth value is no number, a string no list, and None is null, which the service does not accept."""
    assert by_rule(value, kind=kind) == ("Invalid", "T")
    assert by_rule(value, kind=kind, required=True) == ("Invalid", "T")


@given(strings(max_size=8), st.integers(0, 2), st.none() | st.integers(2, 6))
def test_a_string_is_accepted_within_its_lengths(value: str, least: int, most: int | None) -> None:
    """An empty one has the code of the missing value."""
    found = by_rule(value, kind="string", least=least, most=most, missing_code="Missing")
    fits = len(value) >= least and (most is None or len(value) <= most)
    assert found == (None if fits else ("Invalid" if value else "Missing", "T"))


@pytest.mark.parametrize("kind", ["string", "integer", "number", "boolean", "array", "object", "any"])
def test_what_may_be_omitted_or_null_passes(kind: str) -> None:
    """UNSET breaks no rule of what can be omitted, None no rule of what can be null."""
    assert by_rule(UNSET, kind=kind) is None
    assert by_rule(None, kind=kind, nullable=True) is None
    assert by_rule(UNSET, kind=kind, required=True, missing_code="Missing") == ("Missing", "T")


ID: dict[str, Any] = {
    "kind": "string",
    "pattern": create_scene.RULES["body"].properties["id"].pattern,
    "form": "a UUID string",
}


@given(st.uuids())
def test_every_uuid_is_accepted(value: Any) -> None:
    """Upper and lower case are taken, and any variant, and nothing behind it."""
    assert [by_rule(text, **ID) for text in (str(value), str(value).upper())] == [None] * 2
    assert by_rule("6a2d2381-6c57-9332-387a-5b7c00000000", **ID) is None
    assert by_rule("6a2d2381-6c57-9332-387a-5b7c00000000\n", **ID) == ("Invalid", "T")


OPTIONS: dict[str, object] = {"queryParameters": {}, "minimumLevel": None, "maximumLevel": 0}
OBJECT = {"kind": "Layer", "version": "1.0.0", "data": {}}
LACKING_OPTIONS = (
    "options lacks queryParameters, maximumLevel: it replaces what is stored, so pass a complete "
    "RepositoryOptions(query_parameters=..., minimum_level=..., maximum_level=...) with None for a property to remove, "
    "or change the stored one with RepositoryOptions.of(repository).replace(...) (InvalidValue [options])"
)
LACKING_USERNAME = (
    "authentication lacks username: it replaces what is stored, so pass a complete "
    "BasicAuthentication(username=..., password=...), or change the stored one with "
    "BasicAuthentication.of(repository).replace(...) (InvalidValue [username])"
)
#: Bodies, and how the text of their rejection starts.
BODIES: list[tuple[Mapping[str, Rule], object, str | None]] = [
    (create_scene.RULES, {"displayName": "S", "sceneData": {"objects": [OBJECT]}}, None),
    (
        create_scene.RULES,
        {"displayName": "S", "sceneData": {"objects": [OBJECT, {**OBJECT, "version": "1"}]}},
        "objects[1].version must be a semantic version, such as 1.0.0 (InvalidScenesRequest)",
    ),
    (
        create_scene.RULES,
        {"displayName": "S", "sceneData": {"objects": [OBJECT, {"kind": "Layer", "data": {}}]}},
        "objects[1].version is required (InvalidScenesRequest)",
    ),
    (
        create_scene.RULES,
        {"displayName": "S", "sceneData": {"objects": [SceneObjectCreate(**{**OBJECT, "order": "1"})]}},  # type: ignore[arg-type]
        "objects[0].order must be a number (InvalidScenesRequest)",
    ),
    (create_scene.RULES, {"displayName": "S", "sceneData": {"objects": [{**OBJECT, "order": None}]}}, None),
    (create_scene.RULES, {"displayName": "S", "sceneData": {"objects": [5]}}, "objects[0] must be a mapping"),
    (update_repository.RULES, {"options": OPTIONS | {"minimumLevel": 24, "new": [1]}}, None),
    (
        update_repository.RULES,
        {"options": OPTIONS | {"minimumLevel": 25}},
        "options.minimum_level must be an integer from 0 to 24 (InvalidValue [minimumlevel])",
    ),
    (
        create_scene.RULES,
        {"displayName": "S", "sceneData": {"objects": [{**OBJECT, "display_name": "x"}]}},
        "objects[0].display_name must be written as in JSON in a mapping: displayName",
    ),
    (create_scene.RULES, {"displayName": "S", "sceneData": {"objects": [{**OBJECT, "region": "x"}]}}, None),
    (
        update_repository.RULES,
        {"options": {"queryParameters": {}, "minimum_level": 1}},
        "options.minimum_level must be written as in JSON in a mapping: minimumLevel (InvalidValue [minimumlevel])",
    ),
    (
        update_repository.RULES,
        {"options": OPTIONS | {"queryParameters": "a=b"}},
        "options.query_parameters must be a mapping (InvalidValue [options])",
    ),
    (
        update_repository.RULES,
        {"options": {"minimumLevel": 3}},
        LACKING_OPTIONS,
    ),
    (
        update_repository.RULES,
        {"authentication": {"type": "Basic", "password": "p"}},
        LACKING_USERNAME,
    ),
    (
        update_repository.RULES,
        {"authentication": {"type": "OAuth2AuthorizationCodePKCE", "client_id": "c"}},
        "authentication.client_id must be written as in JSON in a mapping: clientId",
    ),
]


@pytest.mark.parametrize(("rules", "body", "said"), BODIES, ids=lambda value: str(value)[:40])
def test_a_body_is_checked_to_its_last_item(rules: Mapping[str, Rule], body: object, said: str | None) -> None:
    """The error names the argument, the item and the property; null in a mapping is sent as written."""
    found = text_of(rules, {"body": body})
    assert found is None if said is None else found is not None and found.startswith(said)


def test_a_limit_that_the_document_does_not_state_is_none() -> None:
    """What is derived of a limit fails by name where there is none."""
    with pytest.raises(ValueError, match="no maximum of skip"):
        assert list_itwins.RULES["skip"].maximum


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
    unset: object = as_enum(UNSET, EventType)
    assert unset is UNSET
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


@pytest.mark.parametrize("kind", [None, "", "basic", "ApiKey", 5, ["Basic"]], ids=repr)
def test_an_unknown_type_of_authentication_is_rejected(kind: object) -> None:
    """The types are documented as the allowed values, so another is rejected, and the text names them."""
    wire = {"type": kind, "key": "k", "value": "v"}
    said = text_of(update_repository.RULES, {"body": {"authentication": wire}})
    assert said is not None
    assert "must have a `type`, one of Header, QueryParameter, Basic, OAuth2AuthorizationCodePKCE" in said


def test_a_set_becomes_a_sorted_list() -> None:
    """A set gives the same list in every process, although its order differs from process to process."""
    names = {f"name {number}" for number in range(50)}
    assert as_list("select", names, str) == sorted(names)
