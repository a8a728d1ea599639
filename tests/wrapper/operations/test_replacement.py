"""The full-object replacement types: nothing partial can be written, nothing stored is lost. Source: section 4.1."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given, strategies as st
from itwin_platform import (
    BasicAuthentication,
    HeaderAuthentication,
    OAuth2AuthorizationCodePKCEAuthentication,
    QueryParameterAuthentication,
    Repository,
    RepositoryOptions,
    UsageError,
)
from itwin_platform._operations.repositories import Authentication, CompleteObject

from tests.support.examples import strings

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
AUTHENTICATIONS: tuple[Authentication, ...] = (BASIC, HEADER, QUERY, PKCE)
named = pytest.mark.parametrize("complete", [*AUTHENTICATIONS, OPTIONS], ids=lambda complete: type(complete).__name__)
by_type = pytest.mark.parametrize("complete", AUTHENTICATIONS, ids=lambda complete: complete.TYPE)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | strings(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strings(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(strings(max_size=4), JSON, max_size=3)
LEVEL = st.none() | st.integers()


def stored(**properties: object) -> Repository:
    """A repository as the service returns it."""
    return Repository.from_dict({"id": "r", **properties})


def own_fields(complete: CompleteObject) -> dict[str, Any]:
    """The fields that must be named, with their values."""
    return {each.name: getattr(complete, each.name) for each in dataclasses.fields(complete) if each.name != "unknown"}


@named
def test_every_field_must_be_named(complete: CompleteObject) -> None:
    """Leaving out any one field, or giving them by position, is a TypeError: a partial object cannot be written."""
    values = own_fields(complete)
    for left_out in values:
        with pytest.raises(TypeError, match=left_out):
            type(complete)(**{name: value for name, value in values.items() if name != left_out})
    with pytest.raises(TypeError, match="positional"):
        type(complete)(*values.values())


@named
def test_an_object_shows_no_secret(complete: CompleteObject) -> None:
    """`repr` and `str` name the type and hide what may be a secret, properties that are not known too."""
    shown = repr(complete) + str(dataclasses.replace(complete, unknown={"planted": "planted"}))
    assert type(complete).__name__ in shown
    assert "planted" not in shown


@by_type
def test_what_is_stored_is_read_back(complete: Authentication) -> None:
    """`of` a repository with the object gives the object, with properties that this version does not know."""
    wire = complete.wire_fields() | {"tenant": {"a": [1]}, "note": None}
    read = type(complete).of(stored(authentication=wire))
    assert read == dataclasses.replace(complete, unknown={"tenant": {"a": [1]}, "note": None})
    assert read.wire_fields() == wire


@by_type
def test_replace_changes_one_field_and_keeps_all_else(complete: Any) -> None:
    """`replace` changes single fields and leaves the original unchanged."""
    read = type(complete).of(stored(authentication=complete.wire_fields() | {"tenant": "t"}))
    before = read.wire_fields()
    for wire, name in read.properties().items():
        assert read.replace(**{name: "new"}).wire_fields() == before | {wire: "new"}
    assert read.replace() == read
    assert read.wire_fields() == before


#: What a repository holds, and what is said where nothing can be read from it that is not partial.
NOT_BASIC: list[Any] = [None, {"type": "Header", "key": "k", "value": "v"}, {"type": "ApiKey"}, {}, "Basic", [], 5]
UNREADABLE: list[tuple[Any, str, Any, str]] = [
    *((BasicAuthentication, "authentication", held, "no authentication of type Basic") for held in NOT_BASIC),
    (BasicAuthentication, "other", {}, "no authentication of type Basic"),
    (BasicAuthentication, "authentication", {"type": "Basic"}, "did not return username, password: "),
    (BasicAuthentication, "authentication", BASIC.wire_fields() | {"password": None}, "did not return password: "),
    *((RepositoryOptions, "options", held, "not an object") for held in list[Any](["a=b", ["a"], 5])),
]


@pytest.mark.parametrize(("kind", "name", "held", "said"), UNREADABLE)
def test_what_is_not_complete_is_not_read(kind: Any, name: str, held: object, said: str) -> None:
    """`of` raises UsageError, so that no partial object is sent, and nothing is replaced without a word."""
    with pytest.raises(UsageError, match=said) as caught:
        kind.of(stored(**{name: held}))
    assert caught.value.argument == "repository"


@given(st.fixed_dictionaries({"queryParameters": OBJECTS, "minimumLevel": LEVEL, "maximumLevel": LEVEL}), OBJECTS)
def test_all_options_are_read_back(known: dict[str, Any], more: dict[str, Any]) -> None:
    """Whatever the service has stored comes back as it was, unknown properties too; null is as good as absent."""
    read = RepositoryOptions.of(stored(options=more | known))
    assert read.wire_fields() == more | {name: value for name, value in known.items() if value is not None}


@given(LEVEL, LEVEL)
def test_replace_changes_one_option(old: int | None, new: int | None) -> None:
    """A level is set, changed, or with None taken away; the other properties stay."""
    options = RepositoryOptions.of(stored(options={"minimumLevel": old, "maximumLevel": 7, "tileSize": 512}))
    changed = options.replace(minimum_level=new)
    rest = {"maximumLevel": 7, "tileSize": 512}
    assert changed.wire_fields() == (rest if new is None else rest | {"minimumLevel": new})
    assert options.minimum_level == old
    assert options.replace() == options


@pytest.mark.parametrize("properties", [{}, {"options": None}, {"options": {}}], ids=repr)
def test_a_repository_without_options_is_a_beginning(properties: dict[str, object]) -> None:
    """Where nothing is stored, options begin without any property."""
    empty = RepositoryOptions(query_parameters=None, minimum_level=None, maximum_level=None)
    assert RepositoryOptions.of(stored(**properties)) == empty
    assert empty.wire_fields() == {}


def test_what_was_read_is_not_shared() -> None:
    """Changing the repository afterwards changes nothing that was read from it."""
    repository = stored(options={"queryParameters": {"a": ["1"]}, "more": {"b": 1}})
    read = RepositoryOptions.of(repository)
    repository.options["more"]["b"] = 2  # type: ignore[index]  # it is a model
    assert read.wire_fields() == {"queryParameters": {"a": ["1"]}, "more": {"b": 1}}


@pytest.mark.parametrize("kind", [BasicAuthentication, RepositoryOptions])
def test_what_a_repository_holds_is_not_a_repository(kind: Any) -> None:
    """`of(repository.authentication)` says that it takes the repository."""
    repository = Repository.from_dict({"authentication": {"type": "Basic"}, "options": {}})
    for held in (repository.authentication, repository.options):
        with pytest.raises(UsageError, match="repository must be a Repository") as caught:
            kind.of(held)
        assert caught.value.argument == "repository"
