"""What each operation sends: method, path, headers, query and body. Sources: sections 4, 5 and 9."""

import copy
import json
import re
import types
from enum import Enum
from typing import Any

import httpx
import pytest
from itwin_platform import (
    UNSET,
    DetectorType,
    EventType,
    ITwinStatus,
    ITwinSubClass,
    OutcomeUnknownError,
    QueryScope,
    RepositoryOptions,
    RepositoryResourceData,
    SceneObjectCreate,
    Vector3d,
    View3dData,
)

from tests.support.calls import IDS, ITWIN, ITWINS_PER_PAGE, METHODS, OBJECTS_PER_PAGE, SCENE
from tests.support.operations import OPERATIONS, SPECIFICATION, argument_of, nullable, wire_of
from tests.wrapper.operations.conftest import BASE_URL, Exchange, called, shown
from tests.wrapper.operations.test_replacement import BASIC, HEADER, PKCE, QUERY


class Name(str, Enum):  # noqa: UP042 - `str()` of a member of a StrEnum is its value
    """An enum of an application, whose members are strings."""

    DISPLAY = "displayName"


def rows(table: dict[str, list[Any]]) -> list[Any]:
    """The rows of a table by operation, each with its operation."""
    return [(name, *row) for name, of_operation in table.items() for row in of_operation]


def detector(properties: dict[str, Any]) -> str:
    """The body of a detector, with its properties in the order of the document."""
    names = SPECIFICATION["components"]["schemas"]["DetectorCreate"]["properties"]
    return json.dumps({name: properties[name] for name in names if name in properties}, separators=(",", ":"))


ASSET, PROJECT = ITwinSubClass.ASSET, ITwinSubClass.PROJECT
CREATED, UNKNOWN = EventType.IMODELS_IMODEL_CREATED_V1, "iTwins.iTwinRenamed.v9"
LONG = "x" * 200
#: By operation: keywords beside those that it needs, and the body that they become.
BODIES: dict[str, list[Any]] = {
    "create_detector": [
        ({}, '{"name":"@a/cracks","type":"PhotoObjectDetector"}'),
        *(
            ({"name": "n", keyword: value}, detector({"name": "n", "type": "PhotoObjectDetector", name: value}))
            for keyword, name in ((argument_of({}, name), name) for name in nullable("create_detector"))
            for value in (None, "", "https://x")
        ),
        *(
            ({"name": "n", "type": kind}, f'{{"name":"n","type":"{kind!s}"}}')
            for kind in (*DetectorType, "PhotoObjectDetector", "VideoDetector", "")
        ),
    ],
    "create_repository_resource": [
        ({}, '{"id":"roads","displayName":"Roads"}'),
        ({"id": "a/b #?%", "display_name": "é"}, '{"id":"a/b #?%","displayName":"é"}'),
        ({"id": LONG, "type": LONG[100:]}, f'{{"id":"{LONG}","type":"{LONG[100:]}","displayName":"Roads"}}'),
    ],
    "create_scene": [
        ({"id": UNSET, "objects": UNSET}, '{"displayName":"Overview"}'),
        ({"id": SCENE}, f'{{"id":"{SCENE}","displayName":"Overview"}}'),
        ({"description": ""}, '{"displayName":"Overview","description":""}'),
        ({"parent_id": SCENE.upper()}, f'{{"displayName":"Overview","parentId":"{SCENE.upper()}"}}'),
        ({"objects": []}, '{"displayName":"Overview","sceneData":{"objects":[]}}'),
    ],
    "update_repository": [
        ({"display_name": "Zürich <&> \u2028"}, '{"displayName":"Zürich <&> \u2028"}'),
        ({"display_name": LONG, "uri": UNSET}, f'{{"displayName":"{LONG}"}}'),
        ({"display_name": UNSET, "uri": "https://x"}, '{"uri":"https://x"}'),
        ({"display_name": UNSET, "authentication": None}, '{"authentication":null}'),
        ({"display_name": UNSET, "options": None}, '{"options":null}'),
    ],
    "update_webhook": [
        ({"active": False, "secret": UNSET}, '{"active":false}'),
        ({"active": UNSET, "callback_url": "https://x"}, '{"callbackUrl":"https://x"}'),
        ({"active": UNSET, "secret": "s"}, '{"secret":"s"}'),
        *(
            ({"active": UNSET, "event_types": given}, f'{{"eventTypes":[{sent}]}}')
            for given, sent in (
                ([], ""),
                (CREATED, f'"{CREATED}"'),
                ([CREATED, UNKNOWN], f'"{CREATED}","{UNKNOWN}"'),
                ((str(each) for each in (CREATED, UNKNOWN)), f'"{CREATED}","{UNKNOWN}"'),
                (dict.fromkeys(["c", "a", "b"]).keys(), '"a","b","c"'),
                (EventType, ",".join(f'"{each}"' for each in EventType)),
            )
        ),
    ],
}


@pytest.mark.parametrize(("name", "keywords", "body"), rows(BODIES), ids=shown)
async def test_the_body_holds_what_is_given(name: str, keywords: dict[str, Any], body: str, exchange: Exchange) -> None:
    """What is omitted is not sent, None is sent as null, a value as itself, known to an enum or not; a set in order."""
    await exchange(name, keywords)
    assert exchange.request.content == body.encode()


STORED = {"queryParameters": {"a": ["1", 2, None]}, "minimumLevel": 0, "maximumLevel": 24}
#: A complete object, and how it is sent; what is given as a mapping is sent as it is.
COMPLETE: list[tuple[str, Any, dict[str, Any]]] = [
    ("authentication", HEADER, {"type": "Header", "key": "planted-key", "value": "planted-value"}),
    ("authentication", QUERY, {"type": "QueryParameter", "key": "planted-key", "value": "planted-value"}),
    ("authentication", BASIC, {"type": "Basic", "username": "planted-name", "password": "planted-password"}),
    (
        *("authentication", PKCE),
        {"type": "OAuth2AuthorizationCodePKCE", "clientId": "planted-id", "scopes": "planted-scope"}
        | {"authorizationEndpoint": "https://planted-a", "tokenEndpoint": "https://planted-t"}
        | {"redirectUri": "https://planted-r"},
    ),
    *(
        (name, kind(mapping), mapping)
        for kind in (dict, types.MappingProxyType)
        for name, mapping in (
            ("authentication", {"type": "Basic", "username": "u", "password": "p", "realm": {"a": [None]}}),
            ("options", STORED),
            ("options", STORED | {"minimumLevel": None, "tileSize": 512}),
        )
    ),
    ("options", RepositoryOptions(query_parameters=None, minimum_level=None, maximum_level=None), {}),
    (
        *("options", RepositoryOptions(query_parameters={}, minimum_level=0, maximum_level=None)),
        {"queryParameters": {}, "minimumLevel": 0},
    ),
]


@pytest.mark.parametrize(("name", "given", "wire"), COMPLETE, ids=shown)
async def test_a_complete_object_is_sent(name: str, given: Any, wire: dict[str, Any], exchange: Exchange) -> None:
    """An object or a mapping of any kind is sent with all of its properties, and stays as it was in its depth."""
    before = copy.deepcopy(wire)
    await exchange("update_repository", {"display_name": UNSET, name: given})
    assert exchange.sent == {name: before}
    assert wire == before


async def test_objects_are_models_or_mappings_with_typed_or_plain_data(exchange: Exchange) -> None:
    """Both can be mixed, come from any iterable, and reach the wire in the same form; null and unknown stay."""
    axis = Vector3d(x=0, y=0.5, z=1e-7)
    wire: dict[str, Any] = {name: axis.to_dict() for name in ("position", "direction", "up")} | {"near": 1, "far": 9}
    wire |= {"isOrthographic": False, "aspectRatio": 1.5, "ecefTransform": [1.0] * 16}
    resource = {"iTwinId": ITWIN, "repositoryId": "imodels", "id": "m", "class": "iModels"}
    plain = {"kind": "Layer", "version": "1.0.0", "data": {"a": [None, {"b": True}]}, "order": 0.5, "new": None}
    objects = (
        SceneObjectCreate(kind="View3d", version="1.0.0", data=View3dData.from_dict(wire), display_name="View"),
        SceneObjectCreate(kind="View3d", version="1.0.0", data=wire, id=SCENE, visible=False, order=2),
        {"kind": "RepositoryResource", "version": "1.0.0", "data": RepositoryResourceData.from_dict(resource)},
        types.MappingProxyType(plain),
    )
    before = copy.deepcopy((objects[:3], plain))
    await exchange("create_scene", {"objects": (each for each in objects)})
    common = {"kind": "View3d", "version": "1.0.0", "data": wire}
    assert exchange.sent["sceneData"]["objects"] == [
        common | {"displayName": "View"},
        common | {"id": SCENE, "visible": False, "order": 2},
        {"kind": "RepositoryResource", "version": "1.0.0", "data": resource},
        plain,
    ]
    assert (objects[:3], plain) == before, "what is handed in is not changed"


#: The most items of a page.
MOST = {"list_itwins": ITWINS_PER_PAGE, "list_scene_objects": OBJECTS_PER_PAGE}
#: By operation: keywords, and the query that they become; `%s` is the iTwin, `%t` the most items of a page, and
#: `%o` the parameter for the order of objects.
QUERIES: dict[str, list[Any]] = {
    "list_itwins": [
        ({}, b"$top=%t"),
        ({"sub_class": ASSET}, b"subClass=Asset&$top=%t"),
        ({"select": [Name.DISPLAY], "parent_id": Name.DISPLAY}, b"parentId=displayName&$select=displayName&$top=%t"),
        ({"sub_class": [ASSET, "Project"]}, b"subClass=Asset%2CProject&$top=%t"),
        ({"sub_class": iter((PROJECT, "Road"))}, b"subClass=Project%2CRoad&$top=%t"),
        ({"status": ITwinStatus.TRIAL}, b"status=Trial&$top=%t"),
        ({"status": "Archived"}, b"status=Archived&$top=%t"),
        ({"type": "Bridge & road"}, b"type=Bridge%20%26%20road&$top=%t"),
        ({"number": "P/17", "display_name": "é"}, b"number=P%2F17&displayName=%C3%A9&$top=%t"),
        ({"parent_id": "p", "itwin_account_id": "a"}, b"parentId=p&iTwinAccountId=a&$top=%t"),
        ({"search": "a+b"}, b"$search=a%2Bb&$top=%t"),
        ({"select": ("id", "number")}, b"$select=id%2Cnumber&$top=%t"),
        ({"filter": "a eq 'a''b'", "sub_class": ASSET}, b"subClass=Asset&$filter=a%20eq%20%27a%27%27b%27&$top=%t"),
        ({"order_by": "displayName ASC"}, b"$orderby=displayName%20ASC&$top=%t"),
        ({"include_inactive": True}, b"includeInactive=true&$top=%t"),
        ({"include_inactive": False}, b"includeInactive=false&$top=%t"),
        ({"page_size": 1, "skip": 7}, b"$top=1&$skip=7"),
        ({"page_size": MOST["list_itwins"], "skip": 0, "limit": 3}, b"$top=%t"),
    ],
    "list_scene_objects": [
        ({}, b"iTwinId=%s&$top=%t"),
        ({"order_by": "displayName"}, b"iTwinId=%s&%o=displayName&$top=%t"),
        ({"page_size": 1, "skip": 5}, b"iTwinId=%s&$top=1&$skip=5"),
    ],
    "get_primary_account": [({}, b"")],
    "create_scene": [({}, b"iTwinId=%s")],
}


@pytest.mark.parametrize(("name", "keywords", "query"), rows(QUERIES), ids=shown)
async def test_keywords_become_the_documented_parameters(
    name: str, keywords: dict[str, Any], query: bytes, exchange: Exchange
) -> None:
    """What is given is sent under its documented name, several values joined by a comma; nothing else is sent."""
    await exchange(name, keywords)
    sent = exchange.request.url.query.split(b"&")
    expected = query.replace(b"%s", ITWIN.encode()).replace(b"%t", str(MOST.get(name)).encode())
    expected = expected.replace(b"%o", wire_of("list_scene_objects", "order_by").encode())
    assert sorted(sent) == sorted(expected.split(b"&"))


#: Headers that a keyword makes; without it, they are not sent.
HEADERS: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    *((name, {}, {"x-max-return": "9999"} if name == "list_itwins" else {}) for name in OPERATIONS),
    ("list_itwins", {"max_return": 9}, {"x-max-return": "9"}),
    *(
        ("list_itwins", keywords, {name: value, "x-max-return": "9999"})
        for keywords, name, value in (
            ({"representation": "minimal"}, "prefer", "return=minimal"),
            ({"representation": "full"}, "prefer", "return=representation"),
            ({"select": "id", "representation": "minimal"}, "prefer", "return=minimal"),
            ({"query_scope": QueryScope.ORGANIZATION_ADMIN}, "x-itwin-query-scope", "OrganizationAdmin"),
            ({"query_scope": "all"}, "x-itwin-query-scope", "all"),
        )
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
    """Accept carries the vendor and the version of section 9, Authorization the token; nothing unexpected is sent."""
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


#: An id, and how it stands in the path: percent-encoded, one part of it whatever characters it has.
ENCODED = [
    ("a/b#c?d%e", b"a%2Fb%23c%3Fd%25e"),
    ("imodels", b"imodels"),
    ("...", b"..."),
    ("a b@ü+&=;{itwin_id}", b"a%20b%40%C3%BC%2B%26%3D%3B%7Bitwin_id%7D"),
    ("a%2Fb", b"a%252Fb"),
    ("\n\x00", b"%0A%00"),
]


@pytest.mark.parametrize(("given", "raw"), ENCODED)
async def test_an_id_stays_one_part_of_the_path(given: str, raw: bytes, exchange: Exchange) -> None:
    """Whatever characters an id has, it is percent-encoded and read back as one part of the path, or of the query."""
    for name in ("update_repository", "create_repository_resource", "update_webhook", "create_scene"):
        await exchange(name, dict.fromkeys(METHODS[name][1], given))
    *paths, scene = (request.url for request in exchange.mock.get_requests())
    repository = b"/api/itwins/" + raw + b"/repositories/" + raw
    assert [url.raw_path for url in paths] == [repository, repository + b"/resources", b"/api/webhooks/" + raw]
    assert scene.params.multi_items() == [("iTwinId", given)]


async def test_activate_and_deactivate_are_updates(exchange: Exchange) -> None:
    """They send `active`, and a secret if there is one."""
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
    """The scene is not created twice; the error says which id was given, so that the caller can look."""
    exchange.mock.add_exception(httpx.ReadError("lost"))
    with pytest.raises(OutcomeUnknownError) as caught:
        await called(exchange.platform, "create_scene", {"id": scene_id})
    assert caught.value.scene_id == (scene_id or None)
    assert (SCENE in str(caught.value)) is (scene_id == SCENE)
    assert len(exchange.mock.get_requests()) == 1
