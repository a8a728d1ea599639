"""Every fault of the catalogue fires on the request that it is for, and only there."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import FAULTS, Sandbox

DETECTOR = {"name": "d", "type": "PhotoObjectDetector"}


@pytest.fixture
def size() -> int:
    """As many iTwins and scene objects as begin a second page."""
    return 101


@dataclass(frozen=True)
class Expected:
    """The request that a fault is for, requests on which it has no effect, and what shows that it fired."""

    request: str
    shows: Callable[[httpx.Response], bool]
    passes: tuple[str, ...] = ("unknown_path",)


def body(response: httpx.Response) -> Any:
    """The JSON of a response."""
    return response.json()


def next_href(response: httpx.Response) -> str:
    """The address of the next page."""
    return str(body(response)["_links"]["next"]["href"])


LISTINGS = ("first_page", "last_page")
NOT_LISTINGS = ("unknown_path", "account", "create_detector", "update_webhook")
NOT_SUCCESSFUL = ("unknown_path", "wrong_parameter", "wrong_detector")
EXPECTED = {
    "rate_limited": Expected("account", lambda response: response.status_code == 429),
    "unavailable": Expected("account", lambda response: response.status_code == 503),
    "html_502": Expected("account", lambda response: response.status_code == 502),
    "text_500": Expected("account", lambda response: response.text == "Internal Server Error"),
    "error_null": Expected("account", lambda response: body(response) == {"error": None}),
    "gateway_401": Expected("account", lambda response: body(response)["statusCode"] == 401),
    "token_expires": Expected("account", lambda response: response.status_code == 401, ("unknown_path", "no_token")),
    "max_return_refused": Expected(
        "largest_cap", lambda response: response.status_code == 422, ("unknown_path", "account", "first_page")
    ),
    "next_foreign": Expected(
        "first_page", lambda response: next_href(response).startswith("http://foreign"), (*NOT_LISTINGS, "last_page")
    ),
    "next_looping": Expected(
        "first_page", lambda response: "skip=0" in next_href(response), (*NOT_LISTINGS, "last_page")
    ),
    "next_relative": Expected(
        "first_page", lambda response: next_href(response).startswith("/"), (*NOT_LISTINGS, "last_page")
    ),
    "next_blank_led": Expected(
        "first_page", lambda response: next_href(response).startswith(" "), (*NOT_LISTINGS, "last_page")
    ),
    "next_null": Expected(
        "last_page", lambda response: body(response)["_links"]["next"] is None, (*NOT_LISTINGS, "first_page")
    ),
    "next_empty": Expected("last_page", lambda response: next_href(response) == "", (*NOT_LISTINGS, "first_page")),
    "next_continuation_token": Expected(
        "first_page", lambda response: "$continuationToken" in next_href(response), (*NOT_LISTINGS, "last_page")
    ),
    "other_page_size": Expected(
        "first_page", lambda response: len(body(response)["iTwins"]) == 67, (*NOT_LISTINGS, "last_page")
    ),
    "scene_changes": Expected("scene", lambda response: response.status_code == 200, (*NOT_LISTINGS, *LISTINGS)),
    "unknown_enum_values": Expected("account", lambda response: "ValueOfTomorrow" in response.text, NOT_SUCCESSFUL),
    "unknown_fields": Expected("account", lambda response: "fieldOfTomorrow" in response.text, NOT_SUCCESSFUL),
    "nulls": Expected("account", lambda response: body(response)["iTwin"]["status"] is None, NOT_SUCCESSFUL),
    "missing_fields": Expected("account", lambda response: body(response)["iTwin"].keys() == {"id"}, NOT_SUCCESSFUL),
    "seen_enum_values": Expected(
        "update_webhook",
        lambda response: len(body(response)["eventTypes"]) == 4,
        ("account", *LISTINGS, *NOT_SUCCESSFUL),
    ),
    "seen_times": Expected(
        "update_webhook", lambda response: len(body(response)["created"]) == 28, ("account", *NOT_SUCCESSFUL)
    ),
    "seen_shapes": Expected(
        "account", lambda response: "status" not in body(response)["iTwin"], (*LISTINGS, *NOT_SUCCESSFUL)
    ),
    "seen_headers": Expected("unknown_path", lambda response: "tier" in response.headers, ()),
    "seen_errors": Expected(
        "wrong_detector", lambda response: "target" not in body(response)["error"]["details"][0], ("account", *LISTINGS)
    ),
    "trickle": Expected("account", lambda response: response.status_code == 200),
    "stall": Expected("account", lambda response: response.status_code == 200),
    "truncated_json": Expected("account", lambda response: not is_json(response), NOT_SUCCESSFUL),
    "empty": Expected("account", lambda response: response.content == b"", NOT_SUCCESSFUL),
    "null": Expected("account", lambda response: response.content == b"null", NOT_SUCCESSFUL),
    "list": Expected("account", lambda response: isinstance(body(response), list), NOT_SUCCESSFUL),
}
# No response comes: the connection is reset or rejected, or the body is too large to be decoded in a test.
WITHOUT_RESPONSE = {
    "refuse",
    "reset_before_effect",
    "reset_after_effect",
    "reset_in_head",
    "reset_in_body",
    "gzip_bomb",
}


def is_json(response: httpx.Response) -> bool:
    """Whether the body can be parsed."""
    try:
        json.loads(response.content)
    except ValueError:
        return False
    return True


def test_the_catalogue_has_no_other_fault() -> None:
    """A new fault needs an entry here."""
    assert EXPECTED.keys() | WITHOUT_RESPONSE == FAULTS.keys()
    assert len(FAULTS) == 38


@pytest.fixture
def call(http: httpx.AsyncClient, sandbox: Sandbox) -> Callable[[str], Awaitable[httpx.Response]]:
    """Sends one of the requests by its name."""
    scene = f"/scenes/{sandbox.scene_id}/objects?iTwinId={sandbox.itwin_id}"
    requests: dict[str, tuple[str, str, dict[str, str], object]] = {
        "unknown_path": ("GET", "/nowhere", {}, None),
        "account": ("GET", "/itwins/myprimaryaccount", {}, None),
        "first_page": ("GET", "/itwins/", {}, None),
        "last_page": ("GET", "/itwins/?$skip=100", {}, None),
        "largest_cap": ("GET", "/itwins/", {"X-Max-Return": "10000"}, None),
        "wrong_parameter": ("GET", "/itwins/?$top=0", {}, None),
        "no_token": ("GET", "/itwins/", {"Authorization": "Basic YTpi"}, None),
        "scene": ("GET", scene, {}, None),
        "create_detector": ("POST", "/reality-analysis/detectors", {}, DETECTOR),
        "wrong_detector": ("POST", "/reality-analysis/detectors", {}, {}),
        "update_webhook": ("PATCH", f"/webhooks/{sandbox.webhook_id}", {}, {}),
    }

    async def send(name: str) -> httpx.Response:
        method, url, headers, sent = requests[name]
        return await http.request(method, url, headers=headers, json=sent)

    return send


@pytest.mark.parametrize("name", sorted(EXPECTED))
async def test_a_fault_fires_on_its_matching_request_only(
    call: Callable[[str], Awaitable[httpx.Response]], sandbox: Sandbox, name: Any
) -> None:
    """Requests on which the fault has no effect get the same response as without it and do not use it up."""
    expected = EXPECTED[name]
    ordinary = {other: await call(other) for other in expected.passes}
    sandbox.fault(name, seconds=0)
    for other, before in ordinary.items():
        after = await call(other)
        assert after.status_code == before.status_code, other
        assert strip(after) == strip(before), other
        assert [fault.name for fault in sandbox.unused_faults] == [name], other
    assert expected.shows(await call(expected.request))
    assert sandbox.faults == sandbox.unused_faults == ()


def strip(response: httpx.Response) -> bytes:
    """The body without what differs between two equal requests: the time of a change."""
    if response.headers.get("content-type") == "application/json" and "modified" in response.text:
        content = response.json()
        return json.dumps({name: value for name, value in content.items() if name != "modified"}).encode()
    return response.content


@pytest.mark.parametrize("name", sorted(WITHOUT_RESPONSE - {"refuse", "gzip_bomb"}))
async def test_a_reset_fires_on_a_request_for_an_operation_only(
    call: Callable[[str], Awaitable[httpx.Response]], sandbox: Sandbox, name: Any
) -> None:
    """A request for an unknown path is not reset and does not use the fault up."""
    sandbox.fault(name)
    assert (await call("unknown_path")).status_code == 404
    assert [fault.name for fault in sandbox.unused_faults] == [name]
    with pytest.raises(httpx.TransportError):
        await call("account")
    assert sandbox.faults == ()


async def test_a_gzip_bomb_fires_on_a_success_only(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Errors pass it."""
    sandbox.fault("gzip_bomb")
    for url in ("/nowhere", "/itwins/?$top=0"):
        assert "content-encoding" not in (await http.get(url)).headers
    async with http.stream("GET", "/itwins/") as response:
        assert response.headers["content-encoding"] == "gzip"
    assert sandbox.faults == ()


async def test_skip_counts_only_requests_on_which_the_fault_has_an_effect(
    call: Callable[[str], Awaitable[httpx.Response]], sandbox: Sandbox
) -> None:
    """The fault changes the second last page, whatever is requested in between."""
    sandbox.fault("next_null", skip=1)
    for name in ("first_page", "account", "last_page", "first_page", "last_page"):
        response = await call(name)
    assert body(response)["_links"]["next"] is None


async def test_refuse_affects_every_operation(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Every request is refused while the fault lasts, and none afterwards."""
    sandbox.fault("refuse", seconds=3600)
    with pytest.raises(httpx.ConnectError):
        await http.get("/nowhere")
    sandbox.clear_faults()
    assert (await http.get("/itwins/")).status_code == 200


async def test_clearing_faults_restores_expired_tokens(
    call: Callable[[str], Awaitable[httpx.Response]], sandbox: Sandbox
) -> None:
    """A token that a fault has ended is accepted again, with the rights that it had."""
    sandbox.add_token(sandbox.token, permissions=[], organization_administrator=False, service_application=False)
    sandbox.fault("token_expires")
    statuses = [(await call("account")).status_code for _ in range(2)]
    sandbox.clear_faults()
    statuses += [(await call("account")).status_code, (await call("update_webhook")).status_code]
    assert statuses == [401, 401, 200, 403]
