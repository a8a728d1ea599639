"""Objects that replace the stored one: they are complete and lose nothing. Section 4.1."""

from types import MappingProxyType
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
from tests.wrapper.operations.conftest import Exchange, called, shown

KINDS: list[Any] = [HeaderAuthentication, QueryParameterAuthentication, BasicAuthentication]
KINDS += [OAuth2AuthorizationCodePKCEAuthentication]


def arguments(kind: Any) -> dict[str, Any]:
    """A value for each property that must be named."""
    return {name: f"planted-{name}" for name, _ in kind.FIELDS.values() if name != "type_"}


AUTHENTICATIONS: list[Any] = [kind(**arguments(kind)) for kind in KINDS]
OPTIONS = RepositoryOptions(query_parameters={"apiKey": ["1", 2, None]}, minimum_level=0, maximum_level=None)
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
    return repository


@pytest.mark.parametrize("kind", [*KINDS, RepositoryOptions])
def test_every_property_must_be_named(kind: Any) -> None:
    """A missing or a positional argument of a constructor is a TypeError."""
    values = arguments(kind)
    for left_out in values:
        with pytest.raises(TypeError, match=left_out):
            kind(**{name: value for name, value in values.items() if name != left_out})
    with pytest.raises(TypeError, match="positional"):
        kind(*values.values())


STORED = {"queryParameters": {"a": "b"}, "minimumLevel": 1, "maximumLevel": 2}
NOTHING = RepositoryOptions(query_parameters=None, minimum_level=None, maximum_level=None)
#: A complete object, and its body; a mapping is sent unchanged.
COMPLETE: list[tuple[str, Any, dict[str, Any]]] = [
    ("authentication", AUTHENTICATIONS[0], {"type": "Header", "key": "planted-key", "value": "planted-value"}),
    *(("authentication", each, each.to_dict()) for each in AUTHENTICATIONS[1:]),
    ("options", OPTIONS, {"queryParameters": {"apiKey": ["1", 2, None]}, "minimumLevel": 0}),
    ("options", NOTHING, {}),
    *(
        (name, kind(mapping), mapping)
        for kind in (dict, MappingProxyType)
        for name, mapping in (
            ("authentication", {"type": "Basic", "username": "u", "password": "p", "realm": {"a": [None]}}),
            ("options", STORED | {"minimumLevel": None, "tileSize": 512}),
        )
    ),
]


@pytest.mark.parametrize(("name", "given", "wire"), COMPLETE, ids=shown)
async def test_a_complete_object_is_sent(name: str, given: Any, wire: dict[str, Any], exchange: Exchange) -> None:
    """An object or a mapping of any kind is sent with all of its properties."""
    await exchange("update_repository", {"display_name": UNSET, name: given})
    assert exchange.sent == {name: wire}


@by_type
def test_a_returned_object_can_be_changed_and_sent(complete: Any) -> None:
    """A repository holds the class that `update` takes, and `replace` changes properties of a copy.

    Both keep properties that this version does not know.
    """
    wire = complete.to_dict() | {"tenant": {"a": [1]}, "note": None}
    read: Any = returned(authentication=wire).authentication
    assert read == attrs.evolve(complete, additional_properties={"tenant": {"a": [1]}, "note": None})
    for property_name, (name, _) in read.FIELDS.items():
        if name != "type_":
            assert read.replace(**{name: "new"}).to_dict() == wire | {property_name: "new"}
    read.replace().additional_properties["tenant"] = "another"
    assert read.to_dict() == wire


@given(OBJECTS, LEVEL, LEVEL, OBJECTS)
def test_all_options_are_kept(query: dict[str, Any], old: int | None, new: int | None, more: dict[str, Any]) -> None:
    """`replace` keeps all other options, unknown ones too; null is the same as absent."""
    rest = more | {"queryParameters": query}
    options: Any = returned(options=rest | {"minimumLevel": old}).options
    for level, written in ((old, options), (new, options.replace(minimum_level=new)), (old, options)):
        assert written.to_dict() == (rest if level is None else rest | {"minimumLevel": level})
    assert (options.minimum_level, options.maximum_level) == (old, None)


UNFINISHED = RepositoryOptions(query_parameters=None, minimum_level=cast("Any", UNSET), maximum_level=None)
STORED_PKCE = returned(authentication={"type": "OAuth2AuthorizationCodePKCE", "scopes": "s"}).authentication
#: A partial object, its missing properties, and the constructor that the error names.
PARTIAL: list[tuple[str, Any, str, str]] = [
    ("options", {}, "queryParameters, minimumLevel, maximumLevel", "RepositoryOptions("),
    ("options", STORED | {"maximumLevel": UNSET}, "maximumLevel", "RepositoryOptions("),
    ("options", UNFINISHED, "minimum_level", "RepositoryOptions("),
    ("authentication", {"type": "Basic", "password": "p"}, "username", "BasicAuthentication(username=..., password="),
    ("authentication", {"type": "QueryParameter", "key": UNSET, "value": "v"}, "key", "QueryParameterAuthentication("),
    (
        *("authentication", STORED_PKCE, "client_id, authorization_endpoint, token_endpoint, redirect_uri"),
        "OAuth2AuthorizationCodePKCEAuthentication(client_id=..., ",
    ),
]


@pytest.mark.parametrize(("name", "partial", "missing", "instead"), PARTIAL)
async def test_a_partial_object_is_not_sent(
    name: str, partial: Any, missing: str, instead: str, exchange: Exchange
) -> None:
    """The error names the missing properties, the class to use, and `replace`."""
    with pytest.raises(UsageError) as caught:
        await called(exchange.platform, "update_repository", {"display_name": UNSET, name: partial})
    said = str(caught.value)
    assert f": {name} lacks {missing}: it replaces the stored object, so pass a complete {instead}" in said
    assert f"repository.{name}.replace(...)" in said
    assert caught.value.argument == name


NO_OBJECTS: list[Any] = [returned(), "Basic", 5, ["a"]]
OTHERS = [("options", value) for value in (*NO_OBJECTS, AUTHENTICATIONS[0])]
OTHERS += [("authentication", value) for value in (*NO_OBJECTS, OPTIONS)]


@pytest.mark.parametrize(("name", "other"), OTHERS, ids=shown)
async def test_another_value_is_not_sent(name: str, other: Any, exchange: Exchange) -> None:
    """Another model, and a value that is no object, is rejected with the accepted classes."""
    said = f": {name} must (be RepositoryOptions or a mapping|have a `type`, one of Header, |be HeaderAuth)"
    with pytest.raises(UsageError, match=said):
        await called(exchange.platform, "update_repository", {"display_name": UNSET, name: other})
