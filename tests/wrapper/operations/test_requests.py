"""The request of each operation: method, path, headers, query and body. Sources: sections 4, 5 and 9."""

import json
import re
import types
from enum import Enum
from typing import Any

import httpx
import pytest
from itwin_platform import (
    UNSET,
    EventType,
    ITwinStatus,
    ITwinSubClass,
    OutcomeUnknownError,
    QueryScope,
    RepositoryResourceData,
    SceneObjectCreate,
    View3dData,
)

from tests.support.calls import IDS, ITWIN, ITWINS_PER_PAGE, METHODS, OBJECTS_PER_PAGE, SCENE
from tests.support.operations import OPERATIONS, argument_of
from tests.wrapper.operations.conftest import BASE_URL, Exchange, called, shown


class Name(str, Enum):  # noqa: UP042 - `str()` of a member of a StrEnum is its value
    """An enum of an application, whose members are strings."""

    DISPLAY = "displayName"


ASSET, PROJECT = ITwinSubClass.ASSET, ITwinSubClass.PROJECT
CREATED, UNKNOWN = EventType.IMODELS_IMODEL_CREATED_V1, "iTwins.iTwinRenamed.v9"
#: An operation, optional keywords, and their part of the body.
BODIES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    *((name, {}, {}) for name in ("create_detector", "create_repository_resource", "create_scene", "update_webhook")),
    ("create_detector", {"type": "VideoDetector", "description": None}, {"type": "VideoDetector", "description": None}),
    ("create_scene", {"description": "", "objects": []}, {"description": "", "sceneData": {"objects": []}}),
    ("update_repository", {"display_name": "Zürich <&> \u2028", "uri": UNSET}, {"displayName": "Zürich <&> \u2028"}),
    ("update_repository", {"authentication": None, "options": None}, {"authentication": None, "options": None}),
    ("update_webhook", {"active": False, "secret": "s"}, {"active": False, "secret": "s"}),
    *(
        ("update_webhook", {"event_types": given}, {"eventTypes": sent})
        for given, sent in (
            ([], []),
            (CREATED, [CREATED]),
            ((str(each) for each in (CREATED, UNKNOWN)), [CREATED, UNKNOWN]),
            (dict.fromkeys(["c", "a", "b"]).keys(), ["a", "b", "c"]),
            (EventType, [*EventType]),
        )
    ),
]


@pytest.mark.parametrize(("name", "keywords", "body"), BODIES, ids=shown)
async def test_keywords_become_the_documented_body(
    name: str, keywords: dict[str, Any], body: dict[str, Any], exchange: Exchange
) -> None:
    """An omitted keyword is not sent, None is null, an unknown enum value is kept, and a set is sorted."""
    await exchange(name, keywords)
    needed = {name.replace("display_name", "displayName"): value for name, value in METHODS[name][2].items()}
    assert exchange.sent == needed | body


async def test_objects_are_models_or_mappings_with_typed_or_plain_data(exchange: Exchange) -> None:
    """Models and mappings can be mixed, come from any iterable, and reach the wire in the same form."""
    view = {"near": 1, "ecefTransform": [1.0], "my_own": 1}
    resource = {"iTwinId": ITWIN, "repositoryId": "imodels", "id": "m", "class": "iModels"}
    plain = {"kind": "Layer", "version": "1.0.0", "data": {"a": [None, {"b": True}]}, "order": 0.5, "new": None}
    objects = (
        SceneObjectCreate(kind="View3d", version="1.0.0", data=View3dData.from_dict(view), display_name="View"),
        {"kind": "RepositoryResource", "version": "1.0.0", "data": RepositoryResourceData.from_dict(resource)},
        types.MappingProxyType(plain),
    )
    await exchange("create_scene", {"objects": (each for each in objects)})
    assert exchange.sent["sceneData"]["objects"] == [
        {"kind": "View3d", "version": "1.0.0", "data": view, "displayName": "View"},
        {"kind": "RepositoryResource", "version": "1.0.0", "data": resource},
        plain,
    ]


MOST = f"$top={ITWINS_PER_PAGE}"
#: An operation, keywords, and the query that they become. The names of all parameters: test_documented_rules.py.
QUERIES: list[tuple[str, dict[str, Any], str]] = [
    *(("get_primary_account", {}, ""), ("create_scene", {}, f"iTwinId={ITWIN}"), ("list_itwins", {}, MOST)),
    (
        *("list_itwins", {"sub_class": [ASSET, "Road"], "status": "Archived", "type": "Bridge & road"}),
        f"subClass=Asset%2CRoad&status=Archived&type=Bridge%20%26%20road&{MOST}",
    ),
    ("list_itwins", {"sub_class": iter((PROJECT, "A")), "search": "a+"}, f"subClass=Project%2CA&$search=a%2B&{MOST}"),
    ("list_itwins", {"sub_class": PROJECT, "filter": "a eq 'b'"}, f"subClass=Project&$filter=a%20eq%20%27b%27&{MOST}"),
    ("list_itwins", {"status": ITwinStatus.TRIAL, "number": Name.DISPLAY}, f"status=Trial&number=displayName&{MOST}"),
    ("list_itwins", {"select": [Name.DISPLAY], "limit": 3, "page_size": 5}, "$select=displayName&$top=5"),
    ("list_itwins", {"include_inactive": True, "page_size": 1, "skip": 7}, "includeInactive=true&$top=1&$skip=7"),
    ("list_itwins", {"include_inactive": False, "skip": 0}, f"includeInactive=false&{MOST}"),
    ("list_scene_objects", {"skip": 5}, f"iTwinId={ITWIN}&$top={OBJECTS_PER_PAGE}&$skip=5"),
]


@pytest.mark.parametrize(("name", "keywords", "query"), QUERIES, ids=shown)
async def test_keywords_become_the_documented_parameters(
    name: str, keywords: dict[str, Any], query: str, exchange: Exchange
) -> None:
    """A keyword becomes its documented parameter, several values joined by commas."""
    await exchange(name, keywords)
    assert sorted(exchange.request.url.query.decode().split("&")) == sorted(query.split("&"))


CAP = {"x-max-return": "9999"}
#: Headers that a keyword makes; without it, they are not sent.
HEADERS: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    *((name, {}, CAP if name == "list_itwins" else {}) for name in OPERATIONS),
    (
        "list_itwins",
        {"max_return": 10_000, "representation": "full"},
        {"x-max-return": "10000", "prefer": "return=representation"},
    ),
    ("list_itwins", {"select": "id", "representation": "minimal"}, CAP | {"prefer": "return=minimal"}),
    *(
        ("list_itwins", {"query_scope": scope}, CAP | {"x-itwin-query-scope": str(scope)})
        for scope in (QueryScope.ORGANIZATION_ADMIN, "all")
    ),
    *(
        (name, {"correlation_id": "activity 7/9"}, {"x-correlation-id": "activity 7/9"})
        for name in ("create_scene", "list_scene_objects")
    ),
]


@pytest.mark.parametrize(("name", "keywords", "own"), HEADERS, ids=str)
async def test_method_path_and_headers_are_the_documented_ones(
    name: str, keywords: dict[str, Any], own: dict[str, str], exchange: Exchange
) -> None:
    """Each request has the documented method, path, Accept and Authorization, and no other headers."""
    operation = OPERATIONS[name]
    await exchange(name, keywords)
    request = exchange.request
    path = re.sub(r"\{(\w+)\}", lambda found: IDS[argument_of({}, found[1])], operation.path)
    assert str(request.url).partition("?")[0] == BASE_URL + path
    assert request.method == operation.method
    headers = dict(request.headers)
    assert headers.pop("user-agent").startswith("itwin-platform/")
    body = {"content-type": "application/json", "content-length": str(len(request.content))}
    assert headers == own | (body if operation.method != "GET" else {}) | {
        "accept": operation.accept.replace(".vendor.", ".acme."),
        "authorization": "Bearer planted-token",
        "host": "service.example",
        "accept-encoding": "gzip",
    }
    assert request.content == b"" or operation.method != "GET"


#: An id, and its percent-encoded form in the path.
ENCODED = [("a/b#c?d%e", b"a%2Fb%23c%3Fd%25e"), ("...", b"..."), ("a%2Fb", b"a%252Fb"), ("\n\x00", b"%0A%00")]
ENCODED += [("a b@ü+&=;{itwin_id}", b"a%20b%40%C3%BC%2B%26%3D%3B%7Bitwin_id%7D")]


@pytest.mark.parametrize(("given", "raw"), ENCODED)
async def test_an_id_stays_one_part_of_the_path(given: str, raw: bytes, exchange: Exchange) -> None:
    """An id of any characters is one percent-encoded part of the path or the query."""
    for name in ("update_repository", "create_repository_resource", "update_webhook", "create_scene"):
        await exchange(name, dict.fromkeys(METHODS[name][1], given))
    *paths, scene = (request.url for request in exchange.mock.get_requests())
    repository = b"/api/itwins/" + raw + b"/repositories/" + raw
    assert [url.raw_path for url in paths] == [repository, repository + b"/resources", b"/api/webhooks/" + raw]
    assert scene.params.multi_items() == [("iTwinId", given)]


async def test_activate_and_deactivate_are_updates(exchange: Exchange) -> None:
    """`activate` and `deactivate` send `active`, and the secret if there is one."""
    exchange.mock.add_response(json=OPERATIONS["update_webhook"].sample(), is_reusable=True)
    webhooks = exchange.platform.webhooks
    for call in (webhooks.activate, webhooks.deactivate):
        await call("w")
        await call("w", secret="s")
    assert [(each.method, json.loads(each.content)) for each in exchange.mock.get_requests()] == [
        ("PATCH", {"active": active} | secret) for active in (True, False) for secret in ({}, {"secret": "s"})
    ]


@pytest.mark.parametrize("scene_id", [UNSET, SCENE])
async def test_a_lost_response_names_the_scene(scene_id: str, exchange: Exchange) -> None:
    """A lost response of a new scene is not retried, and the error has the id of the caller."""
    exchange.mock.add_exception(httpx.ReadError("lost"))
    with pytest.raises(OutcomeUnknownError) as caught:
        await called(exchange.platform, "create_scene", {"id": scene_id})
    assert caught.value.scene_id == (scene_id or None)
    assert (SCENE in str(caught.value)) is (scene_id == SCENE)
    assert len(exchange.mock.get_requests()) == 1
