"""Rules that the document cannot state: rejected at the call, and lifted where they can be."""

from typing import Any

import pytest
from itwin_platform import UNSET, BasicAuthentication, PlatformClient, RepositoryOptions, UsageError
from pytest_httpx import HTTPXMock

from tests.operations.conftest import ITWIN, OPERATIONS, SCENE, called, request_of, sent_json

NOBODY: Any = None  # where a type checker expects a string
PASSWORD: dict[str, object] = {"authentication": BasicAuthentication(username="u", password=NOBODY)}
OPTIONS = {"options": RepositoryOptions(query_parameters=None, minimum_level=-1, maximum_level=None)}
NO_REPRESENTATIONS: tuple[Any, ...] = ("representation", {}, None)
TOO_FEW: dict[str, object] = {"queryParameters": {"a": "b"}}
#: Keywords of an operation; the documented code and target; what is sent with the checks lifted, if it can be.
OWN_RULES: list[tuple[str, dict[str, Any], str | None, str | None, Any]] = [
    ("update_repository", {"display_name": UNSET}, None, None, {}),
    ("update_repository", {"display_name": UNSET, "options": {}}, "InvalidValue", "options", {"options": {}}),
    (
        *("update_repository", {"display_name": UNSET, "options": TOO_FEW}),
        *("InvalidValue", "options", {"options": TOO_FEW}),
    ),
    (
        *("update_repository", {"display_name": UNSET, **OPTIONS}),
        *("InvalidValue", "minimumlevel", {"options": {"minimumLevel": -1}}),
    ),
    (
        *("update_repository", {"display_name": UNSET, **PASSWORD}, "InvalidValue", "password"),
        {"authentication": {"type": "Basic", "username": "u", "password": None}},
    ),
    ("update_webhook", {"active": UNSET}, None, None, {}),
    (
        *("create_scene", {"objects": None}, "InvalidScenesRequest", None),
        {"displayName": "Overview", "sceneData": {"objects": None}},
    ),
    *(
        (name, {"correlation_id": value}, None, None, None)
        for name in ("create_scene", "list_scene_objects")
        for value in (None, "a\nb")
    ),
    ("list_itwins", {"status": ""}, "InvalidValue", "status", None),
    ("list_itwins", {"sub_class": ""}, "InvalidValue", "subClass", None),
    ("list_itwins", {"select": ""}, "InvalidValue", "$select", None),
    ("list_itwins", {"select": "id", "representation": "full"}, None, None, None),
    *(("list_itwins", {"representation": value}, None, None, None) for value in NO_REPRESENTATIONS),
    *(("list_itwins", {"query_scope": value}, None, None, None) for value in ("a\nb", None)),
]


@pytest.mark.parametrize(("name", "keywords", "code", "target", "body"), OWN_RULES, ids=lambda value: str(value)[:60])
async def test_a_rule_of_the_client_is_checked_and_lifted(
    name: str,
    keywords: dict[str, Any],
    code: str | None,
    target: str | None,
    body: Any,
    platform: PlatformClient,
    unchecked: PlatformClient,
    httpx_mock: HTTPXMock,
) -> None:
    """The error has the argument and the documented code and target; a body is sent as it is with the checks lifted."""
    with pytest.raises(UsageError) as caught:
        await called(platform, name, keywords)
    assert (caught.value.code, caught.value.target) == (code, target)
    assert httpx_mock.get_requests() == []
    if body is not None:
        httpx_mock.add_response(status_code=OPERATIONS[name].success, json=OPERATIONS[name].sample())
        await called(unchecked, name, keywords)
        assert sent_json(httpx_mock) == body


#: Keywords of an operation, and what is said of them.
SAID: list[tuple[str, dict[str, Any], str]] = [
    ("create_scene", {"itwin_id": UNSET}, "^POST /scenes/: itwin_id is required: UNSET would omit it"),
    ("list_scene_objects", {"itwin_id": UNSET}, "^GET /scenes/{scene_id}/objects: itwin_id is required: UNSET"),
    ("create_detector", {"name": UNSET}, "^POST /reality-analysis/detectors: name is required: UNSET"),
    ("list_scene_objects", {"scene_id": "scene-1"}, "scene_id must be a UUID"),
    ("list_itwins", {"order_by": 5}, "order_by must be a str"),
    ("list_itwins", {"search": b"a"}, "search must be a str"),
    ("list_itwins", {"status": None}, "status cannot be None: omit it"),
    ("list_itwins", {"representation": "most"}, "'minimal' or 'full'"),
    ("list_itwins", {"include_inactive": "yes"}, "include_inactive must be True or False"),
    ("list_itwins", {"sub_class": 5}, "sub_class must be one str, or an iterable of them"),
    ("list_itwins", {"select": ["id", None]}, "select must be one str, or an iterable of them"),
    ("list_itwins", {"page_size": 1001}, "page_size must be an integer from 1 to 1000"),
    ("list_scene_objects", {"skip": -1}, "skip must be an integer of at least 0"),
    ("create_scene", {"correlation_id": None}, "correlation_id must be a string"),
    *(
        ("create_scene", {"objects": value}, rf"^POST /scenes/: objects must be an iterable .*, not {kind}")
        for value, kind in ((5, "int"), (1.5, "float"), (object(), "object"))
    ),
]


@pytest.mark.parametrize(("name", "keywords", "said"), SAID, ids=lambda value: str(value).partition(" at 0x")[0][:60])
async def test_the_error_names_the_argument_and_its_rule(
    name: str, keywords: dict[str, Any], said: str, platform: PlatformClient
) -> None:
    """The text says which keyword of which operation it is about, and what it must be."""
    with pytest.raises(UsageError, match=said) as caught:
        await called(platform, name, keywords)
    assert str(caught.value.argument).partition("[")[0] in keywords


def test_a_listing_is_rejected_at_the_call(platform: PlatformClient) -> None:
    """The error comes from `list` and `list_objects` themselves, before the first `async for`."""
    with pytest.raises(UsageError):
        platform.itwins.list(page_size=0)
    with pytest.raises(UsageError):
        platform.scenes.list_objects(SCENE, ITWIN, page_size=0)


async def test_without_the_checks_listings_of_another_kind_are_sent(
    unchecked: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """A selection beside a representation, and a scene id that is no UUID, are sent."""
    httpx_mock.add_response(json=OPERATIONS["list_itwins"].sample())
    await unchecked.itwins.list(select="id", representation="full").collect()
    request = request_of(httpx_mock)
    assert dict(request.url.params) == {"$select": "id", "$top": "1000"}
    assert request.headers["prefer"] == "return=representation"
    unchecked.scenes.list_objects("scene-1", ITWIN)
