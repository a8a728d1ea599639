"""The objects that replace what is stored: nothing partial can be written or sent, nothing is lost. Section 4.1."""

import copy
import pickle
from collections.abc import Callable
from typing import Any, cast

import attrs
import httpx
import pytest
from hypothesis import given, strategies as st
from itwin_platform import (
    UNSET,
    BasicAuthentication,
    HeaderAuthentication,
    OAuth2AuthorizationCodePKCEAuthentication,
    QueryParameterAuthentication,
    Repository,
    RepositoryOptions,
    UsageError,
)
from itwin_platform_api.api.repositories import update_repository

from tests.support.examples import strings
from tests.wrapper.operations.conftest import Exchange, called

BASIC = BasicAuthentication(username="planted-name", password="planted-password")
HEADER = HeaderAuthentication(key="planted-key", value="planted-value")
QUERY = QueryParameterAuthentication(key="planted-key", value="planted-value")
PKCE = OAuth2AuthorizationCodePKCEAuthentication(
    client_id="planted-id",
    scopes="planted-scope",
    authorization_endpoint="https://planted-a",
    token_endpoint="https://planted-t",
    redirect_uri="https://planted-r",
)
OPTIONS = RepositoryOptions(query_parameters={"apiKey": "planted-key"}, minimum_level=1, maximum_level=None)
AUTHENTICATIONS: tuple[Any, ...] = (BASIC, HEADER, QUERY, PKCE)
named = pytest.mark.parametrize("complete", [*AUTHENTICATIONS, OPTIONS], ids=lambda complete: type(complete).__name__)
by_type = pytest.mark.parametrize("complete", AUTHENTICATIONS, ids=lambda complete: complete.type_)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | strings(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strings(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(strings(max_size=4), JSON, max_size=3)
LEVEL = st.none() | st.integers()


def returned(**properties: object) -> Repository:
    """A repository as the service returns it, decoded from the body of a response."""
    response = httpx.Response(200, json={"repository": {"id": "r", **properties}})
    repository = update_repository.parse_response(response).repository
    assert isinstance(repository, Repository)
    assert repository == Repository.from_dict({"id": "r", **properties})
    return repository


def arguments(complete: Any) -> dict[str, Any]:
    """The properties that must be named, with their values."""
    names = [each.name for each in attrs.fields(type(complete)) if each.init and each.default is attrs.NOTHING]
    return {name: getattr(complete, name) for name in names}


@named
def test_every_property_must_be_named(complete: Any) -> None:
    """Omitting any property, or giving them by position, is a TypeError: a partial object cannot be written."""
    values = arguments(complete)
    assert len(values) == len([name for name, _ in complete.FIELDS.values() if name != "type_"])
    for left_out in values:
        with pytest.raises(TypeError, match=left_out):
            type(complete)(**{name: value for name, value in values.items() if name != left_out})
    with pytest.raises(TypeError, match="positional"):
        type(complete)(*values.values())


@named
def test_an_object_shows_no_secret(complete: Any) -> None:
    """`repr` and `str` hide what may be a secret, the values of properties that are not known too."""
    unknown = attrs.evolve(complete, additional_properties={"realm": "planted"})
    shown = repr(unknown) + str(unknown)
    assert type(complete).__name__ in shown
    assert "planted" not in shown


@by_type
def test_the_variables_of_an_authentication_are_no_secret(complete: Any) -> None:
    """`vars()`, which FastAPI returns of a route without a type, has no property but the type."""
    assert vars(complete) == {"type": complete.type_}


#: Each makes a copy of an object.
COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "evolve": attrs.evolve,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),  # noqa: S301  # our own bytes
    "replace": lambda value: value.replace(),
}


@named
@pytest.mark.parametrize("way", COPIES)
def test_a_copy_is_equal(complete: Any, way: str) -> None:
    """Copies, pickles and `replace()` keep every property."""
    copied = COPIES[way](complete)
    assert (copied, type(copied), copied.to_dict()) == (complete, type(complete), complete.to_dict())


@by_type
def test_what_the_service_returned_is_such_an_object(complete: Any) -> None:
    """A repository holds the class that `update` takes, with properties that this version does not know."""
    wire = complete.to_dict() | {"tenant": {"a": [1]}, "note": None}
    read: Any = returned(authentication=wire).authentication
    assert read == attrs.evolve(complete, additional_properties={"tenant": {"a": [1]}, "note": None})
    assert read.to_dict() == wire


@by_type
def test_replace_changes_one_property_and_keeps_all_others(complete: Any) -> None:
    """`replace` changes single properties and leaves the original unchanged."""
    read: Any = returned(authentication=complete.to_dict() | {"tenant": "t"}).authentication
    before = read.to_dict()
    for wire, (name, _) in read.FIELDS.items():
        if name != "type_":
            assert read.replace(**{name: "new"}).to_dict() == before | {wire: "new"}
    read.replace().additional_properties["tenant"] = "another"
    assert read.to_dict() == before


@given(st.fixed_dictionaries({}, optional={"queryParameters": OBJECTS, "minimumLevel": LEVEL}), OBJECTS)
def test_all_options_are_kept(known: dict[str, Any], more: dict[str, Any]) -> None:
    """Options that the service returned are sent as they were, unknown properties too; null is as good as absent."""
    read: Any = returned(options=more | known).options
    assert read.to_dict() == more | {name: value for name, value in known.items() if value is not None}
    assert read.maximum_level is None


@given(LEVEL, LEVEL)
def test_replace_changes_one_option(old: int | None, new: int | None) -> None:
    """A level is set, changed, or with None taken away; the other properties stay."""
    options: Any = returned(options={"minimumLevel": old, "maximumLevel": 7, "tileSize": 512}).options
    rest = {"maximumLevel": 7, "tileSize": 512}
    assert options.replace(minimum_level=new).to_dict() == (rest if new is None else rest | {"minimumLevel": new})
    assert options.minimum_level == old


STORED = {"queryParameters": {"a": "b"}, "minimumLevel": 1, "maximumLevel": 2}
UNFINISHED = RepositoryOptions(query_parameters=None, minimum_level=cast("Any", UNSET), maximum_level=None)
#: What is not complete, how the error names it, and the call that it says to write instead.
PARTIAL: list[tuple[str, Any, str, str]] = [
    ("options", {"minimumLevel": 3}, "queryParameters, maximumLevel", "RepositoryOptions("),
    ("options", {}, "queryParameters, minimumLevel, maximumLevel", "RepositoryOptions("),
    ("options", STORED | {"maximumLevel": UNSET}, "maximumLevel", "RepositoryOptions("),
    ("options", UNFINISHED, "minimum_level", "RepositoryOptions("),
    ("authentication", {"type": "Basic", "password": "p"}, "username", "BasicAuthentication(username=..., password="),
    ("authentication", {"type": "Header"}, "key, value", "HeaderAuthentication(key=..., value=...)"),
    ("authentication", {"type": "QueryParameter", "key": "k"}, "value", "QueryParameterAuthentication("),
    ("authentication", {"type": "Basic", "username": "u", "password": UNSET}, "password", "BasicAuthentication("),
    ("authentication", returned(authentication={"type": "Basic"}).authentication, "username, password", "Basic"),
    ("authentication", returned(authentication={"type": "Header", "key": "k"}).authentication, "value", "Header"),
    (
        "authentication",
        returned(authentication={"type": "OAuth2AuthorizationCodePKCE", "scopes": "s"}).authentication,
        "client_id, authorization_endpoint, token_endpoint, redirect_uri",
        "OAuth2AuthorizationCodePKCEAuthentication(client_id=..., ",
    ),
]


@pytest.mark.parametrize(("name", "partial", "missing", "instead"), PARTIAL)
async def test_what_is_not_complete_is_not_sent(
    name: str, partial: Any, missing: str, instead: str, exchange: Exchange
) -> None:
    """The error names the missing properties, the class to write instead, and how to change what is stored."""
    with pytest.raises(UsageError) as caught:
        await called(exchange.platform, "update_repository", {"display_name": UNSET, name: partial})
    said = str(caught.value)
    assert f": {name} lacks {missing}: it replaces what is stored, so pass a complete {instead}" in said
    assert f"repository.{name}.replace(...)" in said
    assert caught.value.argument == name


NO_OBJECT: list[Any] = ["Basic", 5, ["a"]]
NO_OPTIONS: list[Any] = [BASIC, returned(), *NO_OBJECT]
NO_AUTHENTICATION: list[Any] = [OPTIONS, returned(), {}]
OTHERS: list[tuple[str, Any, str]] = [
    *(("options", value, "be RepositoryOptions or a mapping, not ") for value in NO_OPTIONS),
    *(("authentication", value, "have a `type`, one of Header, ") for value in NO_AUTHENTICATION),
    *(("authentication", value, "be HeaderAuthentication or QueryParameterAuth") for value in NO_OBJECT),
]


@pytest.mark.parametrize(("name", "other", "said"), OTHERS)
async def test_another_value_is_not_sent(name: str, other: Any, said: str, exchange: Exchange) -> None:
    """A model of something else, and what is no object, is rejected with the classes that are accepted."""
    with pytest.raises(UsageError, match=f": {name} must {said}"):
        await called(exchange.platform, "update_repository", {"display_name": UNSET, name: other})
