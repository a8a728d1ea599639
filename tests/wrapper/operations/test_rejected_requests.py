"""Requests that are rejected before they are sent, by a rule or because they cannot be sent."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st
from itwin_platform import UNSET, RepositoryOptions, SceneObjectCreate, UsageError

from tests.support.calls import ITWINS_PER_PAGE
from tests.wrapper.client.conftest import Array, Index, answering
from tests.wrapper.operations.conftest import Exchange, called, shown

OPTIONS = RepositoryOptions(query_parameters=None, minimum_level=None, maximum_level=None)
LAYER = {"kind": "Layer", "version": "1.0.0", "data": {}}
LEVELS: dict[str, object] = {"queryParameters": {}, "minimumLevel": 25, "maximumLevel": None}
PKCE = {"type": "OAuth2AuthorizationCodePKCE", "client_id": "c"}
IN_JSON = "must be written as in JSON in a mapping: "
NOTHING = "nothing to change: pass at least one of "
#: An operation, keywords that break a rule, and the text of the error, which names the argument in Python.
RULES: list[tuple[str, dict[str, Any], str]] = [
    ("update_repository", {"display_name": UNSET}, f"{NOTHING}display_name, uri, authentication, options"),
    ("update_webhook", {"active": UNSET}, f"{NOTHING}active, callback_url, event_types, secret"),
    ("create_detector", {"name": UNSET}, "POST /reality-analysis/detectors: name is required: UNSET"),
    ("create_scene", {"objects": LAYER}, "POST /scenes/: objects must be a list, not dict"),
    ("create_scene", {"objects": None}, "objects cannot be None"),
    ("create_scene", {"objects": [LAYER, {"kind": "Layer", "data": {}}]}, "objects[1].version is required (Invalid"),
    ("create_scene", {"objects": [LAYER | {"data": {"a": {1}}}]}, "objects[0].data.a cannot be serialized as JSON"),
    ("create_scene", {"objects": [LAYER, 5]}, "objects[1] must be a mapping, not int"),
    ("create_scene", {"objects": [LAYER | {"display_name": "x"}]}, f"objects[0].display_name {IN_JSON}displayName"),
    ("update_repository", {"options": {"minimum_level": 1}}, f"options.minimum_level {IN_JSON}minimumLevel"),
    ("update_repository", {"options": LEVELS}, "options.minimum_level must be an integer from 0 to 24 (InvalidValue"),
    ("update_repository", {"authentication": PKCE}, f"authentication.client_id {IN_JSON}clientId"),
    ("list_scene_objects", {"scene_id": "scene-1"}, "scene_id must be a UUID"),
    ("list_itwins", {"status": ""}, "status must be a str that is not empty (InvalidValue [status])"),
    *(("list_itwins", {name: ""}, name) for name in ("sub_class", "select")),
    ("list_itwins", {"page_size": Array()}, f"page_size must be an integer from 1 to {ITWINS_PER_PAGE}, not tests."),
    ("list_itwins", {"select": "id", "representation": "full"}, "select cannot be combined"),
]
#: The arguments that are ids, or become a header, and values that they cannot have.
BY_ID = [
    *(("update_repository", "itwin_id"), ("update_repository", "repository_id"), ("update_webhook", "webhook_id")),
    *(("create_repository_resource", "itwin_id"), ("create_repository_resource", "repository_id")),
    *(("list_scene_objects", "scene_id"), ("list_scene_objects", "itwin_id"), ("create_scene", "itwin_id")),
]
BY_HEADER = [
    ("create_scene", "correlation_id"),
    ("list_scene_objects", "correlation_id"),
    ("list_itwins", "query_scope"),
]
NO_REPRESENTATIONS: list[Any] = ["most", {}, None]
NO_IDS = ["", ".", "..", "\ud800", "a\udfff", None, 5, b"x", UNSET]
#: Keywords of an operation that are rejected also without checks, and the text of the error.
NEVER_SENT: list[tuple[str, dict[str, Any], str]] = [
    *((name, {argument: value}, f"{argument} must") for name, argument in BY_ID for value in NO_IDS),
    *(
        (name, {argument: value}, f"{argument} must be a string of visible ASCII")
        for name, argument in BY_HEADER
        for value in ("", " a", "a\r\nX-Evil: 1", "ü", None)
    ),
    *(("list_itwins", {"sub_class": value}, "sub_class must be one str, or an iterable of") for value in (5, b"ab")),
    ("update_webhook", {"event_types": 5}, "event_types must be one str, or an iterable of"),
    *(("list_itwins", {"select": ["id", value]}, "select must be one str, or an iterable of") for value in (None, 5)),
    *(("list_itwins", {"representation": value}, "must be 'minimal' or 'full'") for value in NO_REPRESENTATIONS),
]


@pytest.mark.parametrize(("name", "keywords", "said"), RULES, ids=shown)
async def test_the_error_names_the_argument_and_its_rule(
    name: str, keywords: dict[str, Any], said: str, exchange: Exchange
) -> None:
    """The text of a UsageError names the keyword, the wrong place in it, and the rule."""
    with pytest.raises(UsageError) as caught:
        await called(exchange.platform, name, keywords)
    assert [each for each in (said, caught.value.argument or "nothing") if each not in str(caught.value)] == []
    assert exchange.mock.get_requests() == []


@pytest.mark.parametrize(("name", "keywords", "said"), NEVER_SENT, ids=shown)
async def test_what_would_become_another_request_is_never_sent(
    name: str, keywords: dict[str, Any], said: str, exchange: Exchange
) -> None:
    """An id that leaves its part of the path, and a header that starts another one, are rejected also without checks.

    The text names the argument without its value, which may be a secret.
    """
    for client in (exchange.platform, exchange.unchecked):
        with pytest.raises(UsageError, match=said) as caught:
            await called(client, name, keywords)
        assert [caught.value.argument] == list(keywords)
    assert exchange.mock.get_requests() == []


@given(st.text(st.characters(min_codepoint=0, max_codepoint=300), max_size=6))
def test_a_header_is_visible_ascii(value: str) -> None:
    """A header value is accepted if it is visible ASCII without blanks around it, and rejected otherwise."""
    fits = value != "" and value == value.strip(" ") and all(" " <= each <= "~" for each in value)
    try:
        answering()[0].with_options(headers={"h": value})
    except UsageError:
        assert not fits
    else:
        assert fits


@pytest.mark.parametrize(
    ("name", "keywords", "body"),
    [
        ("update_repository", {"options": {"a": 1}}, {"displayName": "Tiles", "options": {"a": 1}}),
        ("create_scene", {"objects": None}, {"displayName": "Overview", "sceneData": {"objects": None}}),
        *(("update_webhook", {"active": UNSET}, {}), ("update_repository", {"display_name": UNSET}, {})),
    ],
)
async def test_a_body_is_sent_as_given_with_the_checks_lifted(
    name: str, keywords: dict[str, Any], body: object, exchange: Exchange
) -> None:
    """Without checks, a partial object, a null and an update without a change are sent."""
    await exchange(name, keywords, checked=False)
    assert exchange.sent == body


async def test_a_combination_is_sent_with_the_checks_lifted(exchange: Exchange) -> None:
    """Without checks, `select` and the full representation are requested together."""
    await exchange("list_itwins", {"select": "id", "representation": "full"}, checked=False)
    assert exchange.request.url.params["$select"] == "id"
    assert exchange.request.headers["prefer"] == "return=representation"


async def test_integers_of_another_library_are_sent_as_integers(exchange: Exchange) -> None:
    """Integers of libraries such as numpy are sent in a query, a header and a body."""
    await exchange("list_itwins", {"page_size": Index(), "max_return": Index()}, checked=False)
    assert (exchange.request.url.params["$top"], exchange.request.headers["x-max-return"]) == ("3599", "3599")
    exchange.mock.reset()
    await exchange("create_scene", {"objects": [{**LAYER, "order": Index(), "data": {"a": Index()}}]})
    [item] = exchange.sent["sceneData"]["objects"]
    assert (item["order"], item["data"]) == (3599, {"a": 3599})


#: The place of a value in a body, as the error names it, the operation, and its keywords.
IN_BODIES: list[tuple[str, str, Callable[[Any], dict[str, Any]]]] = [
    ("objects[1].data.a[0].b", "create_scene", lambda value: {"objects": [LAYER, {"data": {"a": [{"b": value}]}}]}),
    ("objects[0].order", "create_scene", lambda value: {"objects": [SceneObjectCreate("1", "L", {}, order=value)]}),
    ("options.minimum_level", "update_repository", lambda value: {"options": OPTIONS.replace(minimum_level=value)}),
    ("name", "create_detector", lambda value: {"name": value}),
]


@pytest.mark.parametrize(("argument", "name", "keywords"), IN_BODIES)
async def test_a_value_that_json_does_not_have_is_rejected(
    argument: str, name: str, keywords: Callable[[Any], dict[str, Any]], exchange: Exchange
) -> None:
    """The error names the argument and the place inside it, before anything is sent."""
    with pytest.raises(UsageError, match="cannot be serialized as JSON") as caught:
        await called(exchange.unchecked, name, keywords(float("nan")))
    assert caught.value.argument == argument
    assert exchange.mock.get_requests() == []


@pytest.mark.parametrize(("value", "said"), [("x" * 70_000, "URL.* too long"), ("\ud800", "a lone surrogate")])
@pytest.mark.parametrize(
    ("name", "argument"), [("create_scene", "itwin_id"), ("update_webhook", "webhook_id"), ("list_itwins", "filter")]
)
async def test_a_value_that_an_address_cannot_hold_is_rejected(
    name: str, argument: str, value: str, said: str, exchange: Exchange
) -> None:
    """A path or query that is too long, or holds a lone surrogate, is a UsageError."""
    with pytest.raises(UsageError, match=said):
        await called(exchange.platform, name, {argument: value})
    assert exchange.mock.get_requests() == []
