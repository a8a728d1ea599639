"""What each operation sends: method, path, headers, query and body. Sources: sections 4, 5 and 9."""

import copy
import types
from enum import Enum
from typing import Any

import httpx
import pytest
from itwin_platform import (
    UNSET,
    BasicAuthentication,
    DetectorType,
    EventType,
    HeaderAuthentication,
    ITwinStatus,
    ITwinSubClass,
    OAuth2AuthorizationCodePKCEAuthentication,
    OutcomeUnknownError,
    PlatformClient,
    QueryParameterAuthentication,
    QueryScope,
    RepositoryOptions,
    RepositoryResourceData,
    SceneObjectCreate,
    UsageError,
    Vector3d,
    View3dData,
)
from pytest_httpx import HTTPXMock

from tests.operations.conftest import (
    BASE_URL,
    ITWIN,
    METHODS,
    OPERATIONS,
    REPOSITORY,
    SCENE,
    WEBHOOK,
    called,
    request_of,
    sent_json,
)


def shown(value: object) -> str:
    """A value as the name of a case, without the address of an object."""
    return str(value).partition(" at 0x")[0][:60]


class Name(str, Enum):  # noqa: UP042 - `str()` of a member of a StrEnum is its value
    """An enum of an application, whose members are strings."""

    DISPLAY = "displayName"


ASSET, PROJECT = ITwinSubClass.ASSET, ITwinSubClass.PROJECT
CREATED, UNKNOWN = EventType.IMODELS_IMODEL_CREATED_V1, "iTwins.iTwinRenamed.v9"
WHOLE_OPTIONS = {"queryParameters": {"a": ["1", 2, None]}, "minimumLevel": 0, "maximumLevel": 24}
PKCE = OAuth2AuthorizationCodePKCEAuthentication(
    client_id="c",
    scopes="a b",
    authorization_endpoint="https://a",
    token_endpoint="https://t",
    redirect_uri="https://r",
)

#: Keywords beside those that an operation needs, and the body that they become.
BODIES: list[tuple[str, dict[str, Any], str]] = [
    ("create_detector", {}, '{"name":"@a/cracks","type":"PhotoObjectDetector"}'),
    ("create_detector", {"display_name": UNSET}, '{"name":"@a/cracks","type":"PhotoObjectDetector"}'),
    *(
        ("create_detector", {keyword: None}, f'{{"name":"@a/cracks","type":"PhotoObjectDetector","{name}":null}}')
        for keyword, name in (
            *(("display_name", "displayName"), ("description", "description")),
            ("documentation_url", "documentationUrl"),
        )
    ),
    (
        "create_detector",
        {"name": "n", "display_name": "D", "description": "", "documentation_url": "https://x"},
        '{"name":"n","type":"PhotoObjectDetector","displayName":"D","description":"","documentationUrl":"https://x"}',
    ),
    *(
        ("create_detector", {"name": "n", "type": kind}, f'{{"name":"n","type":"{kind!s}"}}')
        for kind in (*DetectorType, "PhotoObjectDetector", "VideoDetector", "")
    ),
    ("create_repository_resource", {}, '{"id":"roads","displayName":"Roads"}'),
    ("create_repository_resource", {"type": "Layer"}, '{"id":"roads","displayName":"Roads","type":"Layer"}'),
    ("create_repository_resource", {"type": UNSET}, '{"id":"roads","displayName":"Roads"}'),
    ("create_repository_resource", {"id": "a/b #?%", "display_name": "é"}, '{"id":"a/b #?%","displayName":"é"}'),
    (
        "create_repository_resource",
        {"id": "i" * 200, "display_name": "n" * 200, "type": "t" * 100},
        f'{{"id":"{"i" * 200}","displayName":"{"n" * 200}","type":"{"t" * 100}"}}',
    ),
    ("create_scene", {}, '{"displayName":"Overview"}'),
    ("create_scene", {"id": UNSET, "objects": UNSET}, '{"displayName":"Overview"}'),
    ("create_scene", {"id": SCENE}, f'{{"displayName":"Overview","id":"{SCENE}"}}'),
    ("create_scene", {"description": ""}, '{"displayName":"Overview","description":""}'),
    ("create_scene", {"parent_id": SCENE.upper()}, f'{{"displayName":"Overview","parentId":"{SCENE.upper()}"}}'),
    ("create_scene", {"objects": []}, '{"displayName":"Overview","sceneData":{"objects":[]}}'),
    ("update_repository", {}, '{"displayName":"Tiles"}'),
    ("update_repository", {"display_name": "Zürich <&> \u2028"}, '{"displayName":"Zürich <&> \u2028"}'),
    ("update_repository", {"display_name": UNSET, "uri": "https://x"}, '{"uri":"https://x"}'),
    ("update_repository", {"display_name": UNSET, "authentication": None}, '{"authentication":null}'),
    ("update_repository", {"display_name": UNSET, "options": None}, '{"options":null}'),
    ("update_repository", {"display_name": "n" * 200, "uri": UNSET}, f'{{"displayName":"{"n" * 200}"}}'),
    ("update_webhook", {}, '{"active":true}'),
    ("update_webhook", {"active": False, "secret": UNSET}, '{"active":false}'),
    ("update_webhook", {"active": UNSET, "callback_url": "https://x"}, '{"callbackUrl":"https://x"}'),
    ("update_webhook", {"active": UNSET, "secret": "s"}, '{"secret":"s"}'),
    *(
        ("update_webhook", {"active": UNSET, "event_types": given}, f'{{"eventTypes":[{sent}]}}')
        for given, sent in (
            ([], ""),
            (CREATED, f'"{CREATED}"'),
            (str(CREATED), f'"{CREATED}"'),
            (UNKNOWN, f'"{UNKNOWN}"'),
            ([CREATED, UNKNOWN], f'"{CREATED}","{UNKNOWN}"'),
            ((str(each) for each in (CREATED, UNKNOWN)), f'"{CREATED}","{UNKNOWN}"'),
            ({CREATED: 1}, f'"{CREATED}"'),
            (EventType, ",".join(f'"{each}"' for each in EventType)),
        )
    ),
]


@pytest.mark.parametrize(("name", "keywords", "body"), BODIES, ids=shown)
async def test_the_body_holds_what_is_given(
    name: str, keywords: dict[str, Any], body: str, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """What is omitted is not sent, None is sent as null, a value as itself, known to an enum or not."""
    httpx_mock.add_response(status_code=OPERATIONS[name].success, json=OPERATIONS[name].sample())
    await called(platform, name, keywords)
    assert request_of(httpx_mock).content == body.encode()


#: A complete object, and how it is sent; what is given as a mapping is sent as it is.
COMPLETE: list[tuple[str, Any, dict[str, Any]]] = [
    ("authentication", HeaderAuthentication(key="k", value="v"), {"type": "Header", "key": "k", "value": "v"}),
    (
        *("authentication", QueryParameterAuthentication(key="k", value="")),
        {"type": "QueryParameter", "key": "k", "value": ""},
    ),
    (
        *("authentication", BasicAuthentication(username="u", password="p")),
        {"type": "Basic", "username": "u", "password": "p"},
    ),
    (
        *("authentication", PKCE),
        {"type": "OAuth2AuthorizationCodePKCE", "clientId": "c", "scopes": "a b"}
        | {"authorizationEndpoint": "https://a", "tokenEndpoint": "https://t", "redirectUri": "https://r"},
    ),
    *(
        (name, kind(mapping), mapping)
        for kind in (dict, types.MappingProxyType)
        for name, mapping in (
            ("authentication", {"type": "Basic", "username": "u", "password": "p", "realm": {"a": [None]}}),
            ("options", WHOLE_OPTIONS),
            ("options", WHOLE_OPTIONS | {"minimumLevel": None, "tileSize": 512}),
        )
    ),
    ("options", RepositoryOptions(query_parameters=None, minimum_level=None, maximum_level=None), {}),
    (
        *("options", RepositoryOptions(query_parameters={}, minimum_level=0, maximum_level=None)),
        {"queryParameters": {}, "minimumLevel": 0},
    ),
]


@pytest.mark.parametrize(("name", "given", "wire"), COMPLETE, ids=shown)
async def test_a_complete_object_is_sent(
    name: str, given: Any, wire: dict[str, Any], platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """An object or a mapping of any kind is sent with all of its properties, and stays as it was in its depth."""
    before = copy.deepcopy(wire)
    httpx_mock.add_response(json=OPERATIONS["update_repository"].sample())
    await called(platform, "update_repository", {"display_name": UNSET, name: given})
    assert sent_json(httpx_mock) == {name: before}
    assert wire == before


async def test_objects_are_models_or_mappings_with_typed_or_plain_data(
    platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Both can be mixed, come from any iterable, and reach the wire in the same form; null and unknown stay."""
    httpx_mock.add_response(status_code=201, json=OPERATIONS["create_scene"].sample())
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
    await platform.scenes.create(ITWIN, display_name="S", objects=(each for each in objects))
    common = {"kind": "View3d", "version": "1.0.0", "data": wire}
    assert sent_json(httpx_mock)["sceneData"]["objects"] == [
        common | {"displayName": "View"},
        common | {"id": SCENE, "visible": False, "order": 2},
        {"kind": "RepositoryResource", "version": "1.0.0", "data": resource},
        plain,
    ]
    assert (objects[:3], plain) == before, "what is handed in is not changed"


#: Keywords of a listing, and the query that they become.
QUERIES: list[tuple[str, dict[str, Any], bytes]] = [
    ("list_itwins", {}, b"$top=1000"),
    *(
        ("list_itwins", keywords, query + b"&$top=1000")
        for keywords, query in (
            ({"sub_class": ASSET}, b"subClass=Asset"),
            ({"sub_class": "Asset"}, b"subClass=Asset"),
            ({"select": [Name.DISPLAY], "parent_id": Name.DISPLAY}, b"parentId=displayName&$select=displayName"),
            ({"sub_class": [ASSET, "Project"]}, b"subClass=Asset%2CProject"),
            ({"sub_class": iter((PROJECT, "Road"))}, b"subClass=Project%2CRoad"),
            ({"status": ITwinStatus.TRIAL}, b"status=Trial"),
            ({"status": "Archived"}, b"status=Archived"),
            ({"type": "Bridge & road"}, b"type=Bridge%20%26%20road"),
            ({"number": "P/17", "display_name": "é"}, b"number=P%2F17&displayName=%C3%A9"),
            ({"parent_id": "p", "itwin_account_id": "a"}, b"parentId=p&iTwinAccountId=a"),
            ({"search": "a+b"}, b"$search=a%2Bb"),
            ({"select": "id"}, b"$select=id"),
            ({"select": ("id", "number")}, b"$select=id%2Cnumber"),
            (
                {"filter": "number eq 'a''b'", "sub_class": ASSET},
                b"subClass=Asset&$filter=number%20eq%20%27a%27%27b%27",
            ),
            ({"order_by": "displayName ASC"}, b"$orderby=displayName%20ASC"),
            ({"include_inactive": True}, b"includeInactive=true"),
            ({"include_inactive": False}, b"includeInactive=false"),
        )
    ),
    ("list_itwins", {"page_size": 1, "skip": 7}, b"$top=1&$skip=7"),
    ("list_itwins", {"page_size": 1000, "skip": 0, "limit": 3}, b"$top=1000"),
    ("list_itwins", {"page_size": None, "limit": 3}, b"$top=3"),
    ("list_itwins", {"limit": 1}, b"$top=1"),
    ("list_itwins", {"limit": 5000}, b"$top=1000"),
    ("list_scene_objects", {}, b"iTwinId=%s&$top=100"),
    ("list_scene_objects", {"order_by": "displayName"}, b"iTwinId=%s&orderBy=displayName&$top=100"),
    ("list_scene_objects", {"page_size": 1, "skip": 5}, b"iTwinId=%s&$top=1&$skip=5"),
    ("get_primary_account", {}, b""),
    ("create_scene", {}, b"iTwinId=%s"),
]


@pytest.mark.parametrize(("name", "keywords", "query"), QUERIES, ids=shown)
async def test_keywords_become_the_documented_parameters(
    name: str, keywords: dict[str, Any], query: bytes, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """What is given is sent under its documented name, several values joined by a comma; nothing else is sent."""
    httpx_mock.add_response(status_code=OPERATIONS[name].success, json=OPERATIONS[name].sample())
    await called(platform, name, keywords)
    request = request_of(httpx_mock)
    assert sorted(request.url.query.split(b"&")) == sorted(query.replace(b"%s", ITWIN.encode()).split(b"&"))
    assert request.content == b"" or request.method != "GET"


#: Headers that a keyword makes; without it, they are not sent.
HEADERS: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    *((name, {}, {"x-max-return": "10000"} if name == "list_itwins" else {}) for name in OPERATIONS),
    ("list_itwins", {"max_return": 9}, {"x-max-return": "9"}),
    *(
        ("list_itwins", keywords, {name: value, "x-max-return": "10000"})
        for keywords, name, value in (
            ({"representation": "minimal"}, "prefer", "return=minimal"),
            ({"representation": "full"}, "prefer", "return=representation"),
            ({"select": "id", "representation": "minimal"}, "prefer", "return=minimal"),
            ({"query_scope": QueryScope.ORGANIZATION_ADMIN}, "x-itwin-query-scope", "OrganizationAdmin"),
            ({"query_scope": "MemberOfiTwin"}, "x-itwin-query-scope", "MemberOfiTwin"),
            ({"query_scope": "all"}, "x-itwin-query-scope", "all"),
        )
    ),
    *(
        (name, {"correlation_id": "activity 7/9"}, {"x-correlation-id": "activity 7/9"})
        for name in ("create_scene", "list_scene_objects")
    ),
]


def test_the_calls_are_those_of_the_specification() -> None:
    """Every operation of the specification is called in these tests, and no other."""
    assert METHODS.keys() == OPERATIONS.keys()


@pytest.mark.parametrize(("name", "keywords", "own"), HEADERS, ids=str)
async def test_method_path_and_headers_are_the_documented_ones(
    name: str, keywords: dict[str, Any], own: dict[str, str], platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Accept carries the vendor and the version of section 9, Authorization the token; nothing unexpected is sent."""
    operation = OPERATIONS[name]
    httpx_mock.add_response(status_code=operation.success, json=operation.sample())
    await called(platform, name, keywords)
    request = request_of(httpx_mock)
    ids = {"iTwinId": ITWIN, "repositoryId": REPOSITORY, "sceneId": SCENE, "webhookId": WEBHOOK}
    assert f"https://service.example{request.url.path}" == BASE_URL + operation.path.format(**ids)
    assert request.method == operation.method
    headers = dict(request.headers)
    version = "v2" if name in ("create_detector", "update_webhook") else "v1"
    assert headers.pop("accept") == f"application/vnd.acme.itwin-platform.{version}+json"
    assert headers.pop("authorization") == "Bearer planted-token"
    assert headers.pop("host") == "service.example"
    assert headers.pop("accept-encoding") == "gzip"
    assert headers.pop("user-agent").startswith("itwin-platform/")
    if operation.method != "GET":
        assert headers.pop("content-type") == "application/json"
        assert int(headers.pop("content-length")) == len(request.content)
    assert headers == own


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
async def test_an_id_stays_one_part_of_the_path(
    given: str, raw: bytes, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Whatever characters an id has, it is percent-encoded and read back as one part of the path, or of the query."""
    for name in ("update_repository", "create_repository_resource", "update_webhook", "create_scene"):
        httpx_mock.add_response(status_code=OPERATIONS[name].success, json=OPERATIONS[name].sample())
    await platform.repositories.update(given, given, uri="u")
    await platform.repositories.create_resource(given, given, id="r", display_name="R")
    await platform.webhooks.activate(given)
    await platform.scenes.create(given, display_name="S")
    *paths, scene = (request.url for request in httpx_mock.get_requests())
    repository = b"/api/itwins/" + raw + b"/repositories/" + raw
    assert [url.raw_path for url in paths] == [repository, repository + b"/resources", b"/api/webhooks/" + raw]
    assert scene.params.multi_items() == [("iTwinId", given)]


@pytest.mark.parametrize("repository_id", ["../x", "../../admin", "a/../b", "..", "%2e%2e", "..%2Fadmin", "..\\admin"])
async def test_an_id_that_climbs_is_rejected(
    repository_id: str, platform: PlatformClient, unchecked: PlatformClient
) -> None:
    """An id that would reach another path is never sent, even with `check_requests=False`."""
    for client in (platform, unchecked):
        with pytest.raises(UsageError, match="would reach another path"):
            await client.repositories.update(ITWIN, repository_id, uri="u")


async def test_activate_and_deactivate_are_updates(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """They send `active` and nothing else."""
    httpx_mock.add_response(json=OPERATIONS["update_webhook"].sample(), is_reusable=True)
    await platform.webhooks.activate(WEBHOOK)
    await platform.webhooks.deactivate(WEBHOOK)
    requests = httpx_mock.get_requests()
    assert [(each.method, each.content) for each in requests] == [
        ("PATCH", b'{"active":true}'),
        ("PATCH", b'{"active":false}'),
    ]


async def test_nothing_of_one_call_leaks_into_the_next(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """Headers and query of one call, and cookies of its response, are not sent with the next one."""
    scene, account = OPERATIONS["create_scene"], OPERATIONS["get_primary_account"]
    httpx_mock.add_response(status_code=201, json=scene.sample(), headers={"set-cookie": "session=1; Path=/"})
    httpx_mock.add_response(json=account.sample())
    await called(platform, "create_scene", {"correlation_id": "first-call"})
    await platform.itwins.get_primary_account()
    _, second = httpx_mock.get_requests()
    assert second.url == f"{BASE_URL}/itwins/myprimaryaccount"
    assert not {"x-correlation-id", "cookie", "content-type"} & set(second.headers)


@pytest.mark.parametrize("scene_id", [UNSET, SCENE])
async def test_a_lost_response_names_the_scene(scene_id: str, platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """The scene is not created twice; the error says which id was given, so that the caller can look."""
    httpx_mock.add_exception(httpx.ReadError("lost"))
    with pytest.raises(OutcomeUnknownError) as caught:
        await platform.scenes.create(ITWIN, display_name="S", id=scene_id)
    assert caught.value.scene_id == (scene_id or None)
    assert len(httpx_mock.get_requests()) == 1
