"""Requests that are rejected before they are sent: by rules that can be lifted, and because they cannot be sent."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given, strategies as st
from itwin_platform import UNSET, BasicAuthentication, PlatformClient, RepositoryOptions, SceneObjectCreate, UsageError
from itwin_platform._requests.request import check_header

from tests.support.calls import ITWINS_PER_PAGE
from tests.wrapper.client.conftest import Index
from tests.wrapper.operations.conftest import Exchange, called, shown


def level(least: int) -> RepositoryOptions:
    """Options with one property."""
    return RepositoryOptions(query_parameters=None, minimum_level=least, maximum_level=None)


NOBODY: Any = None  # where a type checker expects a string
PASSWORD: dict[str, object] = {"authentication": BasicAuthentication(username="u", password=NOBODY)}
NO_REPRESENTATIONS: list[Any] = ["representation", {}, None]
TOO_FEW: dict[str, object] = {"options": {"queryParameters": {"a": "b"}}}
#: Keywords of an operation; the documented code and target; what is sent with the checks lifted, if it can be.
OWN_RULES: list[tuple[str, dict[str, Any], str | None, str | None, Any]] = [
    *(
        ("update_repository", {"display_name": UNSET} | keywords, "InvalidValue" if keywords else None, target, sent)
        for keywords, target, sent in (
            ({}, None, {}),
            ({"options": {}}, "options", {"options": {}}),
            (TOO_FEW, "options", TOO_FEW),
            ({"options": level(-1)}, "minimumlevel", {"options": {"minimumLevel": -1}}),
            (PASSWORD, "password", {"authentication": {"type": "Basic", "username": "u", "password": None}}),
        )
    ),
    ("update_webhook", {"active": UNSET}, None, None, {}),
    (
        *("create_scene", {"objects": None}, "InvalidScenesRequest", None),
        {"displayName": "Overview", "sceneData": {"objects": None}},
    ),
    ("list_itwins", {"status": ""}, "InvalidValue", "status", None),
    ("list_itwins", {"sub_class": ""}, "InvalidValue", "subClass", None),
    ("list_itwins", {"select": ""}, "InvalidValue", "$select", None),
    ("list_itwins", {"select": "id", "representation": "full"}, None, None, None),
]


@pytest.mark.parametrize(("name", "keywords", "code", "target", "body"), OWN_RULES, ids=shown)
async def test_a_rule_of_the_client_is_checked_and_lifted(
    name: str, keywords: dict[str, Any], code: str | None, target: str | None, body: Any, exchange: Exchange
) -> None:
    """The error has the argument and the documented code and target; a body is sent as it is with the checks lifted."""
    with pytest.raises(UsageError) as caught:
        await called(exchange.platform, name, keywords)
    assert (caught.value.code, caught.value.target) == (code, target)
    assert exchange.mock.get_requests() == []
    if body is not None:
        await exchange(name, keywords, checked=False)
        assert exchange.sent == body


LAYER = {"kind": "Layer", "version": "1.0.0", "data": {}}
LAYER_MODEL: Any = partial(SceneObjectCreate, "1.0.0", "Layer", {})
STORED: dict[str, object] = {"queryParameters": {}, "minimumLevel": None, "maximumLevel": 0}
LACKS = "it replaces what is stored, so pass a complete"
NO_TYPE = "must have a `type`, one of Header, QueryParameter, Basic, "


class OtherBool:
    """A truth value as numpy has it: no bool, and no integer either."""

    def __index__(self) -> int:
        raise TypeError

    def __repr__(self) -> str:
        return "OtherBool()"


OtherBool.__module__, OtherBool.__qualname__ = "numpy", "bool"
#: Keywords of an operation, and what is said of them while the checks are not lifted.
SAID: list[tuple[str, dict[str, Any], str]] = [
    ("create_detector", {"name": UNSET}, "POST /reality-analysis/detectors: name is required: UNSET"),
    ("list_scene_objects", {"scene_id": "scene-1"}, "scene_id must be a UUID"),
    *(
        ("create_scene", {"objects": value}, f"POST /scenes/: objects must be a list, not {kind}")
        for value, kind in ((5, "int"), (1.5, "float"), (object(), "object"), (LAYER, "dict"), ("objects", "str"))
    ),
    ("list_itwins", {"search": b"a"}, "search must be a str"),
    ("list_itwins", {"status": None}, "status cannot be None: omit it"),
    ("list_itwins", {"representation": "most"}, "'minimal' or 'full'"),
    ("list_itwins", {"include_inactive": 1}, "include_inactive must be True or False, not int"),
    ("list_itwins", {"page_size": OtherBool()}, f"from 1 to {ITWINS_PER_PAGE}, not numpy.bool"),
    ("list_itwins", {"number": ""}, "number must be a str that is not empty"),
    ("list_scene_objects", {"order_by": ""}, "order_by must be a str that is not empty"),
    ("list_itwins", {"page_size": ITWINS_PER_PAGE + 1}, f"page_size must be an integer from 1 to {ITWINS_PER_PAGE}"),
    ("list_scene_objects", {"skip": -1}, "skip must be an integer of at least 0"),
    *(
        ("create_scene", {"objects": [LAYER, item]}, f"objects[1]{said}")
        for item, said in (
            (LAYER | {"version": "1"}, ".version must be a semantic version, such as 1.0.0 (InvalidS"),
            ({"kind": "Layer", "data": {}}, ".version is required (InvalidScenesRequest)"),
            (LAYER_MODEL(order="1"), ".order must be a number, not str (InvalidScenesRequest)"),
            ("x", " must be a mapping, not str"),
            (None, " cannot be None"),
            (LAYER | {"display_name": "x"}, ".display_name must be written as in JSON in a mapping: displayName"),
        )
    ),
    *(
        ("update_repository", {"options": value}, f"options{said}")
        for value, said in (
            (STORED | {"minimumLevel": 25}, ".minimum_level must be an integer from 0 to 24 (InvalidValue [min"),
            ({"minimum_level": 1}, ".minimum_level must be written as in JSON in a mapping: minimumLevel (Inva"),
            (STORED | {"queryParameters": "a=b"}, ".query_parameters must be a mapping, not str (InvalidValue [o"),
            ({"minimumLevel": 3}, f" lacks queryParameters, maximumLevel: {LACKS} RepositoryOptions("),
        )
    ),
    *(
        ("update_repository", {"authentication": value}, f"authentication{said}")
        for value, said in (
            ({"type": "Basic", "password": "p"}, f" lacks username: {LACKS} BasicAuthentication(username="),
            ({"type": "OAuth2AuthorizationCodePKCE", "client_id": "c"}, ".client_id must be written as in"),
            *(({"type": kind, "key": "k"}, f" {NO_TYPE}") for kind in (None, "basic", "ApiKey", 5, ["Basic"])),
        )
    ),
]
#: The arguments that are ids, or become a header, and values that they cannot have.
BY_ID = [
    *(("update_repository", "itwin_id"), ("update_repository", "repository_id"), ("update_webhook", "webhook_id")),
    *(("create_repository_resource", "itwin_id"), ("create_repository_resource", "repository_id")),
    *(("list_scene_objects", "scene_id"), ("list_scene_objects", "itwin_id"), ("create_scene", "itwin_id")),
]
NO_IDS = ["", ".", "..", "\ud800", "a\udfff", None, 5, b"x", UNSET]
BY_HEADER = [
    ("create_scene", "correlation_id"),
    ("list_scene_objects", "correlation_id"),
    ("list_itwins", "query_scope"),
]
NO_HEADERS = ["", " a", "a\r\nX-Evil: 1", "ü"]
#: Keywords of an operation, and what is said of them even with the checks lifted.
NEVER_SENT: list[tuple[str, dict[str, Any], str]] = [
    *((name, {argument: value}, f"{argument} must") for name, argument in BY_ID for value in NO_IDS),
    *((name, {argument: value}, "visible ASCII") for name, argument in BY_HEADER for value in NO_HEADERS),
    *((name, {argument: None}, f"{argument} must be a string") for name, argument in BY_HEADER),
    *(
        (name, {"itwin_id": value}, "itwin_id must")
        for name in ("create_scene", "list_scene_objects")
        for value in (UNSET, "", None, 7)
    ),
    *(("list_itwins", {"sub_class": value}, "sub_class must be one str, or an iterable of") for value in (5, b"ab")),
    *(("list_itwins", {"select": ["id", value]}, "select must be one str, or an iterable of") for value in (None, 5)),
    *(
        ("list_itwins", {"representation": value}, "representation must be 'minimal' or")
        for value in NO_REPRESENTATIONS
    ),
]


@pytest.mark.parametrize(("name", "keywords", "said"), SAID, ids=shown)
async def test_the_error_names_the_argument_and_its_rule(
    name: str, keywords: dict[str, Any], said: str, exchange: Exchange
) -> None:
    """The text says which keyword of which operation it is about, where it is wrong inside, and what it must be."""
    with pytest.raises(UsageError) as caught:
        await called(exchange.platform, name, keywords)
    assert said in str(caught.value)
    assert str(caught.value.argument).replace("[", ".").partition(".")[0] in keywords
    assert exchange.mock.get_requests() == []


@pytest.mark.parametrize(("name", "keywords", "said"), NEVER_SENT, ids=shown)
async def test_what_would_become_another_request_is_never_sent(
    name: str, keywords: dict[str, Any], said: str, exchange: Exchange
) -> None:
    """Also with the checks lifted: an id that leaves its place in the path, or a header that starts another one.

    The text names the argument without its value, which may be a secret.
    """
    for client in (exchange.platform, exchange.unchecked):
        with pytest.raises(UsageError, match=said) as caught:
            await called(client, name, keywords)
        assert [caught.value.argument] == list(keywords)
    assert exchange.mock.get_requests() == []


@given(st.text(st.characters(min_codepoint=0, max_codepoint=300), max_size=6))
def test_a_header_is_visible_ascii(value: str) -> None:
    """Control characters, line breaks, blanks around it and letters beyond ASCII are rejected, and nothing else."""
    fits = value != "" and value == value.strip(" ") and all(" " <= each <= "~" for each in value)
    try:
        check_header("h", value)
    except UsageError:
        assert not fits
    else:
        assert fits


async def test_without_the_checks_an_empty_parameter_is_sent_as_given(exchange: Exchange) -> None:
    """Lifting a check sends what the documented rules forbid, and nothing else."""
    given = {"type": "", "number": "", "display_name": "", "parent_id": "", "status": "", "sub_class": "", "select": []}
    await exchange("list_itwins", given, checked=False)
    wire = ("type", "number", "displayName", "parentId", "status", "subClass", "$select")
    assert [exchange.request.url.params.get(name) for name in wire] == [""] * len(wire)


async def test_integers_of_another_library_are_sent_as_integers(exchange: Exchange) -> None:
    """Such as those of numpy, in a query, in a header and in a body."""
    await exchange("list_itwins", {"page_size": Index(), "max_return": Index()}, checked=False)
    assert (exchange.request.url.params["$top"], exchange.request.headers["x-max-return"]) == ("3599", "3599")
    exchange.mock.reset()
    await exchange("list_scene_objects", {"skip": Index()})
    assert exchange.request.url.params["$skip"] == "3599"
    exchange.mock.reset()
    await exchange("create_scene", {"objects": [{**LAYER, "order": Index(), "data": {"a": Index()}}]})
    [item] = exchange.sent["sceneData"]["objects"]
    assert (item["order"], item["data"]) == (3599, {"a": 3599})


async def test_without_the_checks_listings_of_another_kind_are_sent(exchange: Exchange) -> None:
    """A selection beside a representation, and a scene id that is no UUID, are sent."""
    await exchange("list_itwins", {"select": "id", "representation": "full"}, checked=False)
    assert dict(exchange.request.url.params) == {"$select": "id", "$top": str(ITWINS_PER_PAGE)}
    assert exchange.request.headers["prefer"] == "return=representation"
    await exchange("list_scene_objects", {"scene_id": "scene-1"}, checked=False)


NO_JSON: list[object] = [float("nan"), {1, 2}, object(), b"x", "\ud800", 10**5000]
LOOP: list[object] = []
LOOP.append(LOOP)
#: Where a value can stand in a body, and the argument that the error names.
IN_BODIES: list[tuple[str, Callable[[PlatformClient, Any], Awaitable[object]]]] = [
    ("objects[0].data.a[0]", lambda it, value: called(it, "create_scene", {"objects": [{"data": {"a": [value]}}]})),
    ("objects[0].order", lambda it, value: called(it, "create_scene", {"objects": [LAYER_MODEL(order=value)]})),
    ("options.a", lambda it, value: called(it, "update_repository", {"options": {"a": value}})),
    ("options.minimum_level", lambda it, value: called(it, "update_repository", {"options": level(value)})),
    ("name", lambda it, value: called(it, "create_detector", {"name": value})),
    ("extra_body.a", lambda it, value: it.with_options(extra_body={"a": value}).aclose()),
]


@pytest.mark.parametrize("value", [*NO_JSON, LOOP], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(("argument", "call"), IN_BODIES, ids=lambda part: part if isinstance(part, str) else "")
async def test_a_value_that_json_does_not_have_is_rejected(
    argument: str, call: Callable[[PlatformClient, Any], Awaitable[object]], value: object, exchange: Exchange
) -> None:
    """The error names the argument and the place inside it, before anything is sent."""
    with pytest.raises(UsageError, match=r"cannot be (serialized as JSON|sent)") as caught:
        await call(exchange.unchecked, value)
    place = caught.value.argument or ""
    assert place.startswith(argument.partition("[")[0]) if value is LOOP else place == argument
    assert exchange.mock.get_requests() == []


@pytest.mark.parametrize(("value", "said"), [("x" * 70_000, "URL.* too long"), ("\ud800", "half of a surrogate pair")])
@pytest.mark.parametrize(
    ("name", "argument"), [("create_scene", "itwin_id"), ("update_webhook", "webhook_id"), ("list_itwins", "filter")]
)
async def test_a_value_that_an_address_cannot_hold_is_rejected(
    name: str, argument: str, value: str, said: str, exchange: Exchange
) -> None:
    """The error says why the request cannot be written, for a part of the path and for a value of the query."""
    with pytest.raises(UsageError, match=said):
        await called(exchange.platform, name, {argument: value})
    assert exchange.mock.get_requests() == []
