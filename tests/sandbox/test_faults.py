"""Faults: the requests that they match, and their effect on responses."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import Sandbox
from itwin_platform_sandbox._faults.catalogue import FaultName

from tests.support.calls import OBJECTS_PER_PAGE
from tests.support.operations import OPERATIONS
from tests.support.sandboxes import requests_of

pytestmark = pytest.mark.itwin_sandbox(itwins=120, objects=20)

Caller = Callable[[str], Awaitable[httpx.Response]]


@pytest.mark.parametrize(
    ("faults", "met"),
    [
        ([{"name": "empty", "operation": "list_itwins", "count": 2}], ["", "-", "", "-", "-"]),
        (
            [{"name": "empty"}, {"name": "null", "count": 2}, {"name": "list", "skip": 1}],
            ["", "null", "null", "-", "["],
        ),
        ([{"name": "empty", "count": None, "skip": 2}], ["-", "-", "", "", ""]),
    ],
    ids=["a count for one operation", "in the order of the calls", "without an end after some"],
)
async def test_a_fault_fires_on_its_requests(
    http: httpx.AsyncClient, sandbox: Sandbox, faults: list[dict[str, Any]], met: list[str]
) -> None:
    """One request uses one fault; requests of other operations use none, and `clear_faults` removes all."""
    for fault in faults:
        sandbox.fault(**fault)
    urls = ["/itwins/", "/itwins/myprimaryaccount" if "operation" in faults[0] else "/itwins/", *["/itwins/"] * 3]
    found = [(await http.get(url)).text for url in urls]
    assert ["-" if text.startswith("{") else text.partition("1")[0] for text in found] == met
    sandbox.clear_faults()
    assert (await http.get("/itwins/")).text.startswith("{")


#: The body of each operation; the scene has an object, because a fault changes kinds.
BODIES = {name: operation.sent for name, operation in OPERATIONS.items()}
BODIES["create_scene"] = {
    "displayName": "S",
    "sceneData": {"objects": [{"kind": "Layer", "version": "1.0.0", "data": {}}]},
}
NOT_LISTINGS = ("unknown_path", "get_primary_account", "create_detector", "update_webhook")
NOT_SUCCESSFUL = ("unknown_path", "wrong_parameter", "wrong_detector")


@pytest.fixture
def call(http: httpx.AsyncClient, sandbox: Sandbox) -> Caller:
    """Send a request by its name: of an operation, of another page, or one that is rejected."""
    others: dict[str, tuple[str, str, dict[str, str]]] = {
        "last_page": ("GET", "/itwins/?$skip=100", {}),
        "unknown_path": ("GET", "/nowhere", {}),
        "wrong_parameter": ("GET", "/itwins/?$top=0", {}),
        "wrong_detector": ("POST", "/reality-analysis/detectors", {}),
        "no_token": ("GET", "/itwins/", {"Authorization": "Basic YTpi"}),
    }
    operations = requests_of(sandbox)

    async def send(name: str) -> httpx.Response:
        method, url, headers = others.get(name) or (*operations[name], {})
        body = BODIES.get(name, {} if method == "POST" else None)
        return await http.request(method, url, headers=headers, json=body)

    return send


def lasting(response: httpx.Response) -> object:
    """Return the status and the body without the time of a change, which differs between equal requests."""
    if "modified" not in response.text:
        return response.status_code, response.content
    return response.status_code, response.json() | {"modified": ""}


async def fired(
    call: Caller, sandbox: Sandbox, name: FaultName, request: str, passing: tuple[str, ...]
) -> httpx.Response:
    """Return the response that a fault changes, after requests that it does not match."""
    ordinary = {other: await call(other) for other in passing}
    sandbox.fault(name, seconds=0, origin="http://127.0.0.1:9")
    for other, before in ordinary.items():
        assert lasting(await call(other)) == lasting(before), other
    assert [fault.name for fault in sandbox.unused_faults] == [name]
    response = await call(request)
    assert sandbox.faults == sandbox.unused_faults == ()
    return response


#: Status, media type and a part of the body of the response that comes instead.
INSTEAD: dict[FaultName, tuple[int, str, str]] = {
    "rate_limited": (429, "application/json", "RateLimitExceeded"),
    "unavailable": (503, "application/json", "ServiceUnavailable"),
    "respond": (500, "", ""),
}
#: The page on which the next link is changed, and the link.
LINKS: dict[FaultName, tuple[str, object]] = {
    "next_foreign": ("list_itwins", {"href": "http://127.0.0.1:9/itwins/?$skip=100&$top=100"}),
    "next_looping": ("list_itwins", {"href": "{base_url}/itwins/?$skip=0&$top=100"}),
    "next_relative": ("list_itwins", {"href": "/itwins/?$skip=100&$top=100"}),
    "next_blank_led": ("list_itwins", {"href": " {base_url}/itwins/?$skip=100&$top=100"}),
    "next_continuation_token": ("list_itwins", {"href": "{base_url}/itwins/?$continuationToken=MTAw&$top=100"}),
    "other_page_size": ("list_itwins", {"href": "{base_url}/itwins/?$skip=67&$top=100"}),
    "next_empty": ("last_page", {"href": ""}),
    "next_null": ("last_page", None),
}
CONTENTS: dict[FaultName, bytes] = {"empty": b"", "null": b"null", "list": b'[1, "two", null]'}


@pytest.mark.parametrize(("name", "expected"), INSTEAD.items())
async def test_another_response_comes_instead_and_nothing_is_done(
    call: Caller, sandbox: Sandbox, name: FaultName, expected: tuple[int, str, str]
) -> None:
    """The first request gets the response of the fault and has no effect, the second one succeeds."""
    response = await fired(call, sandbox, name, "create_repository_resource", ("unknown_path",))
    assert (response.status_code, response.headers.get("content-type", "")) == expected[:2]
    assert expected[2] in response.text
    assert (await call("create_repository_resource")).status_code == 201


@pytest.mark.parametrize("name", LINKS)
async def test_a_next_link_is_changed(call: Caller, sandbox: Sandbox, name: FaultName) -> None:
    """A fault changes the link of its page only: of the last page, or of another one."""
    page, link = LINKS[name]
    other = "last_page" if page == "list_itwins" else "list_itwins"
    found = (await fired(call, sandbox, name, page, (*NOT_LISTINGS, other))).json()["_links"]["next"]
    assert json.loads(json.dumps(found).replace(sandbox.base_url, "{base_url}")) == link


@pytest.mark.parametrize(("name", "content"), CONTENTS.items())
async def test_a_body_is_something_else(call: Caller, sandbox: Sandbox, name: FaultName, content: bytes) -> None:
    """Status and media type of a success are kept, and errors are unchanged."""
    response = await fired(call, sandbox, name, "get_primary_account", NOT_SUCCESSFUL)
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.content == content


#: The request that a fault matches, requests that pass it, and a check that it fired.
OTHERS: dict[FaultName, tuple[str, tuple[str, ...], Callable[[httpx.Response], bool]]] = {
    "token_expires": ("get_primary_account", ("unknown_path", "no_token"), lambda found: found.status_code == 401),
    "trickle": ("get_primary_account", ("unknown_path",), lambda found: found.json().keys() == {"iTwin"}),
    "stall": ("get_primary_account", ("unknown_path",), lambda found: found.json().keys() == {"iTwin"}),
    "truncated_json": ("get_primary_account", NOT_SUCCESSFUL, lambda found: found.content[-1:] != b"}"),
}


@pytest.mark.parametrize("name", OTHERS)
async def test_a_fault_fires_on_its_matching_request_only(call: Caller, sandbox: Sandbox, name: FaultName) -> None:
    """A request that a fault does not match gets its usual response and does not use up the fault."""
    request, passing, shows = OTHERS[name]
    assert shows(await fired(call, sandbox, name, request, passing))


#: A fault, and a check of the object in the changed response.
CHANGES: dict[FaultName, Callable[[dict[str, object]], bool]] = {
    "unknown_fields": lambda item: item["fieldOfTomorrow"] == {"text": "new", "list": [1, None, True]},
    "nulls": lambda item: (
        {key for key, value in item.items() if value is not None} <= {"id"} and len(item) > 4  # none is lost
    ),
    "missing_fields": lambda item: item.keys() <= {"id"},
    "unknown_enum_values": lambda item: "OfTomorrow" in str(item),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("operation", OPERATIONS)
async def test_every_response_can_have_other_fields_and_values(
    call: Caller, sandbox: Sandbox, operation: str, name: FaultName
) -> None:
    """Fields are added, null or omitted; classes, types, kinds, scopes and event types become unknown."""
    found = (await fired(call, sandbox, name, operation, NOT_SUCCESSFUL)).json()
    assert name != "unknown_fields" or "fieldOfTomorrow" in found
    shown: Any = found[held] if (held := OPERATIONS[operation].held) else found
    item = shown[0] if isinstance(shown, list) else shown
    assert CHANGES[name](found if name == "unknown_enum_values" else item)


@pytest.mark.parametrize("name", CHANGES)
async def test_a_changed_response_changes_no_stored_item(call: Caller, sandbox: Sandbox, name: FaultName) -> None:
    """The request after the fault has the response of the request before it."""
    for operation in ("list_itwins", "update_repository", "list_scene_objects", "get_primary_account"):
        before = (await call(operation)).json()
        sandbox.fault(name)
        assert (await call(operation)).json() != before
        assert (await call(operation)).json() == before


@pytest.mark.parametrize("name", ["rate_limited", "unavailable"])
async def test_a_scripted_error_says_when_to_come_back(call: Caller, sandbox: Sandbox, name: FaultName) -> None:
    """`seconds` and `retry_after` of the fault make the header; the default is one second."""
    sandbox.fault(name)
    sandbox.fault(name, seconds=7)
    sandbox.fault(name, seconds=0.25, retry_after="decimals")
    sandbox.fault(name, retry_after="none")
    responses = [await call("list_itwins") for _ in range(4)]
    assert [response.headers.get("retry-after") for response in responses] == ["1", "7", "0.250", None]


async def test_a_token_expires_until_faults_are_cleared_or_it_is_registered(
    call: Caller, http: httpx.AsyncClient, sandbox: Sandbox
) -> None:
    """An expired token gets 401 until faults are cleared or it is registered again."""
    sandbox.add_token(sandbox.token, permissions=[], organization_administrator=False, service_application=False)
    sandbox.fault("token_expires", skip=1)
    responses = [await call("get_primary_account") for _ in range(3)]
    responses.append(await http.get("/itwins/", headers={"Authorization": "Bearer renewed"}))
    sandbox.clear_faults()
    responses += [await call("list_itwins"), await call("update_webhook")]
    sandbox.fault("token_expires")
    responses.append(await call("list_itwins"))
    sandbox.add_token(sandbox.token)
    responses.append(await call("list_itwins"))
    assert [response.status_code for response in responses] == [200, 401, 401, 200, 200, 403, 401, 200]


async def test_skip_counts_only_requests_on_which_the_fault_has_an_effect(call: Caller, sandbox: Sandbox) -> None:
    """The fault with `skip=1` changes the second last page, not the other requests between them."""
    sandbox.fault("next_null", skip=1)
    requests = ("list_itwins", "get_primary_account", "last_page", "list_itwins", "last_page")
    responses = [await call(name) for name in requests]
    assert [response.json().get("_links", {}).get("next", "") for response in responses][2::2] == ["", None]


@pytest.mark.itwin_sandbox(objects=250)
async def test_a_scene_changes_between_two_pages(call: Caller, http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """A listing that continues after the change misses one object and has another lastModified."""
    url = f"{requests_of(sandbox)['list_scene_objects'][1]}&$skip="
    first = (await fired(call, sandbox, "scene_changes", "list_scene_objects", (*NOT_LISTINGS, "list_itwins"))).json()
    most = OBJECTS_PER_PAGE
    pages = [first, *[(await http.get(f"{url}{skip}")).json() for skip in (most, 2 * most)]]
    assert [len(page["objects"]) for page in pages] == [most, most, min(most, 249 - 2 * most)]
    times = [page["sceneContext"]["lastModified"] for page in pages]
    assert times[0] < times[1] == times[2]
