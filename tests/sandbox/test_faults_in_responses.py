"""Faults in responses: scripted responses, wrong links, values, added and omitted fields."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import Sandbox
from itwin_platform_sandbox._faults.catalogue import FaultName

Caller = Callable[[str], Awaitable[httpx.Response]]


@pytest.fixture
def size() -> int:
    """As many iTwins and scene objects as fill several pages."""
    return 250


@pytest.fixture
def call(http: httpx.AsyncClient, sandbox: Sandbox) -> Caller:
    """Carries out one operation by its name."""
    repository = f"/itwins/{sandbox.itwin_id}/repositories/{sandbox.repository_id}"
    mine = {"iTwinId": sandbox.itwin_id}
    resource = {"id": "a", "displayName": "A", "type": "T"}
    detector = {"name": "d", "type": "PhotoObjectDetector"}
    scene_object = {"kind": "Layer", "version": "1.0.0", "data": {}}
    scene = {"displayName": "S", "sceneData": {"objects": [scene_object]}}
    requests: dict[str, tuple[str, str, dict[str, str], object]] = {
        "list_itwins": ("GET", "/itwins/", {}, None),
        "get_primary_account": ("GET", "/itwins/myprimaryaccount", {}, None),
        "update_repository": ("PATCH", repository, {}, {}),
        "create_repository_resource": ("POST", f"{repository}/resources", {}, resource),
        "create_scene": ("POST", "/scenes/", mine, scene),
        "list_scene_objects": ("GET", f"/scenes/{sandbox.scene_id}/objects", mine, None),
        "create_detector": ("POST", "/reality-analysis/detectors", {}, detector),
        "update_webhook": ("PATCH", f"/webhooks/{sandbox.webhook_id}", {}, {}),
    }

    async def send(operation: str) -> httpx.Response:
        method, url, params, body = requests[operation]
        return await http.request(method, url, params=params, json=body)

    return send


OPERATIONS = [
    ("list_itwins", "iTwins"),
    ("get_primary_account", "iTwin"),
    ("update_repository", "repository"),
    ("create_repository_resource", "resource"),
    ("create_scene", "scene"),
    ("list_scene_objects", "objects"),
    ("create_detector", "detector"),
    ("update_webhook", ""),
]


def first_item(body: Any, name: str) -> dict[str, object]:
    """What a response is about, or the first of several."""
    found: Any = body[name] if name else body
    item: dict[str, object] = found[0] if isinstance(found, list) else found
    return item


@pytest.mark.parametrize(
    ("name", "status", "media_type", "text"),
    [
        ("rate_limited", 429, "application/json", "RateLimitExceeded"),
        ("unavailable", 503, "application/json", "ServiceUnavailable"),
        ("html_502", 502, "text/html", "<h1>502 Bad Gateway</h1>"),
        ("text_500", 500, "text/plain", "Internal Server Error"),
        ("error_null", 500, "application/json", '{"error":null}'),
        ("gateway_401", 401, "application/json", '{"statusCode":401,"message":"Invalid JWT."}'),
    ],
)
async def test_another_response_comes_instead_and_nothing_is_done(
    call: Caller, sandbox: Sandbox, name: FaultName, status: int, media_type: str, text: str
) -> None:
    """The first request gets a response otherwise, the second one as if the first had not been."""
    sandbox.fault(name)
    response = await call("create_repository_resource")
    assert (response.status_code, response.headers["content-type"]) == (status, media_type)
    assert text in response.text
    assert (await call("create_repository_resource")).status_code == 201


@pytest.mark.parametrize("name", ["rate_limited", "unavailable"])
async def test_a_scripted_error_says_when_to_come_back(call: Caller, sandbox: Sandbox, name: FaultName) -> None:
    """seconds and retry_after of the fault make the header; without seconds it is one second."""
    sandbox.fault(name)
    sandbox.fault(name, seconds=7)
    sandbox.fault(name, seconds=0.25, retry_after="decimals")
    sandbox.fault(name, retry_after="none")
    responses = [await call("list_itwins") for _ in range(4)]
    assert [response.headers.get("retry-after") for response in responses] == ["1", "7", "0.250", None]


async def test_a_token_expires_on_request(call: Caller, http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """From that request on the token gives 401; another one does not."""
    sandbox.fault("token_expires", skip=1)
    statuses = [(await call("list_itwins")).status_code for _ in range(3)]
    http.headers["Authorization"] = "Bearer renewed"
    assert [*statuses, (await call("list_itwins")).status_code] == [200, 401, 401, 200]


async def test_odd_tokens_are_rejected_like_any_others(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Without a bearer token nothing expires, and an unknown continuation token is an invalid $skip."""
    sandbox.fault("token_expires")
    assert (await http.get("/itwins/", headers={"Authorization": "Basic YTpi"})).status_code == 401
    assert [fault.name for fault in sandbox.unused_faults] == ["token_expires"]
    sandbox.clear_faults()
    response = await http.get("/itwins/?$continuationToken=!")
    assert response.json()["error"]["details"][0]["target"] == "$skip"


async def test_the_largest_cap_can_be_rejected(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """An X-Max-Return of 10000 gives 422, a smaller one does not."""
    sandbox.fault("max_return_refused", count=2)
    rejected = await http.get("/itwins/", headers={"X-Max-Return": "10000"})
    accepted = await http.get("/itwins/", headers={"X-Max-Return": "9999"})
    assert rejected.json()["error"]["details"][0]["target"] == "X-Max-Return"
    assert [rejected.status_code, accepted.status_code] == [422, 200]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("next_foreign", "http://foreign.invalid/itwins/?$skip=100&$top=100"),
        ("next_looping", "{base_url}/itwins/?$skip=0&$top=100"),
        ("next_relative", "/itwins/?$skip=100&$top=100"),
        ("next_blank_led", " {base_url}/itwins/?$skip=100&$top=100"),
        ("next_continuation_token", "{base_url}/itwins/?$continuationToken=MTAw&$top=100"),
        ("other_page_size", "{base_url}/itwins/?$skip=67&$top=100"),
    ],
)
async def test_a_next_link_misleads(call: Caller, sandbox: Sandbox, name: FaultName, expected: str) -> None:
    """The fault changes the link as the catalogue says."""
    sandbox.fault(name)
    links = (await call("list_itwins")).json()["_links"]
    assert links["next"]["href"] == expected.format(base_url=sandbox.base_url)


async def test_a_foreign_link_leads_to_the_given_origin(call: Caller, sandbox: Sandbox) -> None:
    """The origin of the fault can be a place that the test watches."""
    sandbox.fault("next_foreign", operation="list_scene_objects", origin="http://127.0.0.1:9")
    links = (await call("list_scene_objects")).json()["_links"]
    assert links["next"]["href"].startswith(f"http://127.0.0.1:9/scenes/{sandbox.scene_id}/objects?")


@pytest.mark.parametrize(("name", "expected"), [("next_null", None), ("next_empty", {"href": ""})])
async def test_the_last_page_has_a_link_to_nowhere(
    http: httpx.AsyncClient, sandbox: Sandbox, name: FaultName, expected: object
) -> None:
    """Only where no page follows the link is null or empty."""
    sandbox.fault(name, count=None)
    first = (await http.get("/itwins/")).json()["_links"]
    last = (await http.get("/itwins/?$skip=200")).json()["_links"]
    assert first["next"]["href"].startswith(sandbox.base_url)
    assert last["next"] == expected


@pytest.mark.parametrize("name", ["next_continuation_token", "other_page_size", "next_blank_led", "next_relative"])
async def test_following_odd_links_still_reads_everything(
    http: httpx.AsyncClient, sandbox: Sandbox, name: FaultName
) -> None:
    """Following unusual but correct links returns every iTwin once."""
    sandbox.fault(name, count=None)
    url, ids = "/itwins/", []
    while url:
        body = (await http.get(url.strip())).json()
        ids += [itwin["id"] for itwin in body["iTwins"]]
        url = body["_links"].get("next", {}).get("href", "")
    assert len(ids) == len(set(ids)) == 250


async def test_a_scene_changes_between_two_pages(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Who pages on after the change misses one object, and lastModified tells of it."""
    sandbox.fault("scene_changes")
    url = f"/scenes/{sandbox.scene_id}/objects?iTwinId={sandbox.itwin_id}"
    pages = [(await http.get(f"{url}&$skip={skip}")).json() for skip in (0, 100, 200)]
    assert [len(page["objects"]) for page in pages] == [100, 100, 49]
    times = [page["sceneContext"]["lastModified"] for page in pages]
    assert times[0] < times[1] == times[2]


@pytest.mark.parametrize(("operation", "name"), OPERATIONS)
async def test_every_response_can_have_unknown_fields(
    call: Caller, sandbox: Sandbox, operation: str, name: str
) -> None:
    """Fields are added on the outside, to the things and within them; none is lost."""
    sandbox.fault("unknown_fields")
    body = (await call(operation)).json()
    assert "fieldOfTomorrow" in body
    assert first_item(body, name)["fieldOfTomorrow"] == {"text": "new", "list": [1, None, True]}


@pytest.mark.parametrize(("operation", "name"), OPERATIONS)
async def test_every_response_can_have_nulls_or_gaps(call: Caller, sandbox: Sandbox, operation: str, name: str) -> None:
    """Everything but the id is null, or is omitted."""
    sandbox.fault("nulls")
    item = first_item((await call(operation)).json(), name)
    assert {key for key, value in item.items() if value is not None} <= {"id"}
    assert len(item) >= 6


@pytest.mark.parametrize(("operation", "name"), OPERATIONS)
async def test_every_response_can_have_gaps(call: Caller, sandbox: Sandbox, operation: str, name: str) -> None:
    """Everything but the id is omitted."""
    sandbox.fault("missing_fields")
    assert first_item((await call(operation)).json(), name).keys() <= {"id"}


@pytest.mark.parametrize(("operation", "name"), OPERATIONS)
async def test_every_enumeration_can_have_an_unknown_value(
    call: Caller, sandbox: Sandbox, operation: str, name: str
) -> None:
    """`unknown_values` puts unknown values into classes, types, kinds, scopes and event types."""
    sandbox.fault("unknown_enum_values")
    response = await call(operation)
    assert "ValueOfTomorrow" in response.text
    if operation == "update_webhook":
        assert response.json()["eventTypes"][-1] == "things.thingHappened.v9"


@pytest.mark.parametrize("name", ["nulls", "unknown_enum_values", "unknown_fields", "missing_fields"])
async def test_a_changed_response_leaves_what_is_stored_as_it_is(
    call: Caller, sandbox: Sandbox, name: FaultName
) -> None:
    """The request after the fault gets a response as the request before it."""
    for operation in ("list_itwins", "update_repository", "list_scene_objects", "get_primary_account"):
        before = (await call(operation)).json()
        sandbox.fault(name)
        assert (await call(operation)).json() != before
        assert (await call(operation)).json() == before
