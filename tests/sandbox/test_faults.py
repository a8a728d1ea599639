"""What each fault does: on the request that it is for and only there, in responses and in the bytes on the wire."""

import asyncio
import gzip
import io
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import FAULTS, Sandbox
from itwin_platform_sandbox._faults.catalogue import FaultName

from tests.support.real_time import until

Caller = Callable[[str], Awaitable[httpx.Response]]


@pytest.fixture
def size() -> int:
    """As many iTwins and scene objects as fill several pages."""
    return 250


#: What a response is about, by operation; a webhook is the response itself.
OPERATIONS = {
    "list_itwins": "iTwins",
    "get_primary_account": "iTwin",
    "update_repository": "repository",
    "create_repository_resource": "resource",
    "create_scene": "scene",
    "list_scene_objects": "objects",
    "create_detector": "detector",
    "update_webhook": "",
}


@pytest.fixture
def call(http: httpx.AsyncClient, sandbox: Sandbox) -> Caller:
    """Sends one of the requests by its name: each operation, another page, and requests that are rejected."""
    repository = f"/itwins/{sandbox.itwin_id}/repositories/{sandbox.repository_id}"
    mine = f"?iTwinId={sandbox.itwin_id}"
    scene = {"displayName": "S", "sceneData": {"objects": [{"kind": "Layer", "version": "1.0.0", "data": {}}]}}
    requests: dict[str, tuple[str, str, dict[str, str], object]] = {
        "list_itwins": ("GET", "/itwins/", {}, None),
        "get_primary_account": ("GET", "/itwins/myprimaryaccount", {}, None),
        "update_repository": ("PATCH", repository, {}, {}),
        "create_repository_resource": (
            *("POST", f"{repository}/resources", {}),
            {"id": "a", "displayName": "A", "type": "T"},
        ),
        "create_scene": ("POST", f"/scenes/{mine}", {}, scene),
        "list_scene_objects": ("GET", f"/scenes/{sandbox.scene_id}/objects{mine}", {}, None),
        "create_detector": (
            *("POST", "/reality-analysis/detectors", {}),
            {"name": "d", "type": "PhotoObjectDetector"},
        ),
        "update_webhook": ("PATCH", f"/webhooks/{sandbox.webhook_id}", {}, {}),
        "last_page": ("GET", "/itwins/?$skip=200", {}, None),
        "largest_cap": ("GET", "/itwins/", {"X-Max-Return": "10000"}, None),
        "smaller_cap": ("GET", "/itwins/", {"X-Max-Return": "9999"}, None),
        "unknown_path": ("GET", "/nowhere", {}, None),
        "wrong_parameter": ("GET", "/itwins/?$top=0", {}, None),
        "wrong_detector": ("POST", "/reality-analysis/detectors", {}, {}),
        "no_token": ("GET", "/itwins/", {"Authorization": "Basic YTpi"}, None),
    }

    async def send(name: str) -> httpx.Response:
        method, url, headers, sent = requests[name]
        return await http.request(method, url, headers=headers, json=sent)

    return send


@dataclass(frozen=True)
class Expected:
    """The request that a fault is for, requests on which it has no effect, and what shows that it fired."""

    request: str
    shows: Callable[[httpx.Response], bool]
    passes: tuple[str, ...] = ("unknown_path",)


def body(response: httpx.Response) -> Any:
    """The JSON of a response."""
    return response.json()


def rejected(status: int, media_type: str, text: str) -> Expected:
    """Another response comes, for any operation."""
    return Expected(
        "get_primary_account",
        lambda response: (
            (response.status_code, response.headers["content-type"]) == (status, media_type) and text in response.text
        ),
    )


def content(expected: bytes) -> Expected:
    """Status and media type stay, the body of a success is something else."""
    return Expected(
        "get_primary_account",
        lambda response: (
            (response.status_code, response.content, response.headers["content-type"])
            == (200, expected, "application/json")
        ),
        NOT_SUCCESSFUL,
    )


def next_link(expected: str) -> Expected:
    """The next link of a page that is not the last, with the port left out."""
    return Expected(
        "list_itwins",
        lambda response: (
            body(response)["_links"]["next"]["href"].replace(f":{response.request.url.port}", "") == expected
        ),
        (*NOT_LISTINGS, "last_page"),
    )


def last_link(expected: object) -> Expected:
    """The next link of the last page."""
    return Expected(
        "last_page",
        lambda response: body(response)["_links"]["next"] == expected,
        (*NOT_LISTINGS, "list_itwins"),
    )


def account(shows: Callable[[Any], bool]) -> Expected:
    """The primary account comes in another form."""
    return Expected("get_primary_account", lambda response: shows(body(response)["iTwin"]), NOT_SUCCESSFUL)


JSON = "application/json"
HERE = "http://127.0.0.1/itwins/"
NOT_LISTINGS = ("unknown_path", "get_primary_account", "create_detector", "update_webhook")
NOT_SUCCESSFUL = ("unknown_path", "wrong_parameter", "wrong_detector")
EXPECTED = {
    "rate_limited": rejected(429, JSON, "RateLimitExceeded"),
    "unavailable": rejected(503, JSON, "ServiceUnavailable"),
    "html_502": rejected(502, "text/html", "<h1>502 Bad Gateway</h1>"),
    "text_500": rejected(500, "text/plain", "Internal Server Error"),
    "error_null": rejected(500, JSON, '{"error":null}'),
    "gateway_401": rejected(401, JSON, '{"statusCode":401,"message":"Invalid JWT."}'),
    "token_expires": Expected(
        "get_primary_account", lambda response: response.status_code == 401, ("unknown_path", "no_token")
    ),
    "max_return_refused": Expected(
        "largest_cap",
        lambda response: body(response)["error"]["details"][0]["target"] == "X-Max-Return",
        ("unknown_path", "get_primary_account", "smaller_cap"),
    ),
    "next_foreign": next_link("http://foreign.invalid/itwins/?$skip=100&$top=100"),
    "next_looping": next_link(f"{HERE}?$skip=0&$top=100"),
    "next_relative": next_link("/itwins/?$skip=100&$top=100"),
    "next_blank_led": next_link(f" {HERE}?$skip=100&$top=100"),
    "next_continuation_token": next_link(f"{HERE}?$continuationToken=MTAw&$top=100"),
    "other_page_size": next_link(f"{HERE}?$skip=67&$top=100"),
    "next_null": last_link(None),
    "next_empty": last_link({"href": ""}),
    "scene_changes": Expected(
        "list_scene_objects",
        lambda response: response.status_code == 200,
        (*NOT_LISTINGS, "list_itwins", "last_page"),
    ),
    "unknown_enum_values": account(lambda itwin: "ValueOfTomorrow" in str(itwin)),
    "unknown_fields": account(lambda itwin: "fieldOfTomorrow" in itwin),
    "nulls": account(lambda itwin: itwin["status"] is None),
    "missing_fields": account(lambda itwin: itwin.keys() == {"id"}),
    "seen_shapes": account(lambda itwin: "status" not in itwin),
    "seen_enum_values": Expected(
        "update_webhook",
        lambda response: len(body(response)["eventTypes"]) == 4,
        ("get_primary_account", "list_itwins", "last_page", *NOT_SUCCESSFUL),
    ),
    "seen_times": Expected(
        "update_webhook",
        lambda response: len(body(response)["created"]) == 28,
        ("get_primary_account", *NOT_SUCCESSFUL),
    ),
    "seen_headers": Expected("unknown_path", lambda response: "tier" in response.headers, ()),
    "seen_errors": Expected(
        "wrong_detector",
        lambda response: "target" not in body(response)["error"]["details"][0],
        ("get_primary_account", "list_itwins", "last_page"),
    ),
    "trickle": Expected("get_primary_account", lambda response: response.status_code == 200),
    "stall": Expected("get_primary_account", lambda response: response.status_code == 200),
    "truncated_json": Expected("get_primary_account", lambda response: not is_json(response), NOT_SUCCESSFUL),
    "empty": content(b""),
    "null": content(b"null"),
    "list": content(b'[1, "two", null]'),
}
RESETS = {"reset_before_effect": 201, "reset_after_effect": 409, "reset_in_head": 409, "reset_in_body": 409}


def is_json(response: httpx.Response) -> bool:
    """Whether the body can be parsed."""
    try:
        json.loads(response.content)
    except ValueError:
        return False
    return True


def test_the_catalogue_has_no_other_fault() -> None:
    """A new fault needs an entry here."""
    assert EXPECTED.keys() | RESETS.keys() | {"refuse", "gzip_bomb"} == FAULTS.keys()
    assert len(FAULTS) == 38


@pytest.mark.parametrize("name", sorted(EXPECTED))
async def test_a_fault_fires_on_its_matching_request_only(call: Caller, sandbox: Sandbox, name: Any) -> None:
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
    if response.headers.get("content-type") == JSON and "modified" in response.text:
        return json.dumps({name: value for name, value in response.json().items() if name != "modified"}).encode()
    return response.content


@pytest.mark.parametrize(("name", "status_of_the_second"), RESETS.items())
async def test_a_reset_comes_before_or_after_the_effect(
    call: Caller, sandbox: Sandbox, name: FaultName, status_of_the_second: int
) -> None:
    """An operation gets no response, an unknown path does; the name says whether the resource exists then."""
    sandbox.fault(name)
    assert (await call("unknown_path")).status_code == 404
    with pytest.raises(httpx.ReadError):
        await call("create_repository_resource")
    second = await call("create_repository_resource")
    assert second.status_code == status_of_the_second
    assert [record.status for record in sandbox.requests] == [404, None, status_of_the_second]


@pytest.mark.parametrize("name", ["rate_limited", "unavailable", "html_502", "text_500", "error_null", "gateway_401"])
async def test_another_response_comes_instead_and_nothing_is_done(
    call: Caller, sandbox: Sandbox, name: FaultName
) -> None:
    """The first request gets a response otherwise, the second one as if the first had not been."""
    sandbox.fault(name)
    assert (await call("create_repository_resource")).status_code >= 400
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


async def test_a_token_expires_until_faults_are_cleared(
    call: Caller, http: httpx.AsyncClient, sandbox: Sandbox
) -> None:
    """From that request on the token gives 401, another one does not; cleared, it has the rights that it had."""
    sandbox.add_token(sandbox.token, permissions=[], organization_administrator=False, service_application=False)
    sandbox.fault("token_expires", skip=1)
    statuses = [(await call("get_primary_account")).status_code for _ in range(3)]
    other = await http.get("/itwins/", headers={"Authorization": "Bearer renewed"})
    sandbox.clear_faults()
    statuses += [other.status_code, *[(await call(name)).status_code for name in ("list_itwins", "update_webhook")]]
    assert statuses == [200, 401, 401, 200, 200, 403]


async def test_a_continuation_token_of_others_is_an_invalid_skip(http: httpx.AsyncClient) -> None:
    """The error names $skip."""
    response = await http.get("/itwins/?$continuationToken=!")
    assert response.json()["error"]["details"][0]["target"] == "$skip"


async def test_a_foreign_link_leads_to_the_given_origin(call: Caller, sandbox: Sandbox) -> None:
    """The origin of the fault can be a place that the test watches."""
    sandbox.fault("next_foreign", operation="list_scene_objects", origin="http://127.0.0.1:9")
    links = (await call("list_scene_objects")).json()["_links"]
    assert links["next"]["href"].startswith(f"http://127.0.0.1:9/scenes/{sandbox.scene_id}/objects?")


async def test_skip_counts_only_requests_on_which_the_fault_has_an_effect(call: Caller, sandbox: Sandbox) -> None:
    """The fault changes the second last page, whatever is requested in between."""
    sandbox.fault("next_null", skip=1)
    for name in ("list_itwins", "get_primary_account", "last_page", "list_itwins", "last_page"):
        response = await call(name)
    assert body(response)["_links"]["next"] is None


async def test_a_scene_changes_between_two_pages(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Who pages on after the change misses one object, and lastModified tells of it."""
    sandbox.fault("scene_changes")
    url = f"/scenes/{sandbox.scene_id}/objects?iTwinId={sandbox.itwin_id}"
    pages = [(await http.get(f"{url}&$skip={skip}")).json() for skip in (0, 100, 200)]
    assert [len(page["objects"]) for page in pages] == [100, 100, 49]
    times = [page["sceneContext"]["lastModified"] for page in pages]
    assert times[0] < times[1] == times[2]


#: A fault, and what then holds of what a response is about.
CHANGES: dict[FaultName, Callable[[dict[str, object]], bool]] = {
    "unknown_fields": lambda item: item["fieldOfTomorrow"] == {"text": "new", "list": [1, None, True]},
    "nulls": lambda item: (
        {key for key, value in item.items() if value is not None} <= {"id"} and len(item) >= 6  # none is lost
    ),
    "missing_fields": lambda item: item.keys() <= {"id"},
    "unknown_enum_values": lambda item: "OfTomorrow" in str(item) or "things.thingHappened.v9" in str(item),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("operation", OPERATIONS)
async def test_every_response_can_have_other_fields_and_values(
    call: Caller, sandbox: Sandbox, operation: str, name: FaultName
) -> None:
    """Fields are added, null or omitted; classes, types, kinds, scopes and event types become unknown."""
    sandbox.fault(name)
    found = (await call(operation)).json()
    assert name != "unknown_fields" or "fieldOfTomorrow" in found
    shown: Any = found[OPERATIONS[operation]] if OPERATIONS[operation] else found
    item = shown[0] if isinstance(shown, list) else shown
    assert CHANGES[name](found if name == "unknown_enum_values" else item)


@pytest.mark.parametrize("name", CHANGES)
async def test_a_changed_response_leaves_what_is_stored_as_it_is(
    call: Caller, sandbox: Sandbox, name: FaultName
) -> None:
    """The request after the fault gets a response as the request before it."""
    for operation in ("list_itwins", "update_repository", "list_scene_objects", "get_primary_account"):
        before = (await call(operation)).json()
        sandbox.fault(name)
        assert (await call(operation)).json() != before
        assert (await call(operation)).json() == before


async def test_refuse_lasts_until_faults_are_cleared(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Every connection is refused while the fault lasts, and none afterwards."""
    sandbox.fault("refuse", seconds=3600)
    with pytest.raises(httpx.ConnectError):
        await http.get("/nowhere")
    sandbox.clear_faults()
    assert (await http.get("/itwins/")).status_code == 200


async def test_rejected_connections_are_taken_again_after_the_seconds() -> None:
    """While it lasts nothing listens and open connections are gone; then the same address responses."""
    over = asyncio.Event()

    async def sleep(_: float) -> None:
        await over.wait()

    headers = {"Authorization": "Bearer a"}
    async with (
        Sandbox(itwins=1, sleep=sleep) as sandbox,
        httpx.AsyncClient(base_url=sandbox.base_url, headers=headers) as http,
    ):
        assert (await http.get("/itwins/")).status_code == 200
        sandbox.fault("refuse", seconds=5)
        for _ in range(2):
            with pytest.raises(httpx.ConnectError):
                await http.get("/itwins/")
        over.set()
        await until(lambda: sandbox._running.server._refusing is None)
        assert (await http.get("/itwins/")).status_code == 200


@pytest.mark.parametrize(("name", "has_head"), [("reset_in_head", False), ("reset_in_body", True)])
async def test_a_reset_within_a_response_lets_its_beginning_through(
    sandbox: Sandbox, name: FaultName, has_head: bool
) -> None:
    """The bytes before the reset arrive, and not the complete body."""
    sandbox.fault(name)
    received = bytearray()
    reader, writer = await send_raw(sandbox)
    with pytest.raises(ConnectionResetError):
        await read_to_the_end(reader, received)
    writer.close()
    assert received.startswith(b"HTTP/1.1 200 OK\r\n")
    head, found, rest = bytes(received).partition(b"\r\n\r\n")
    assert bool(found) is has_head
    if has_head:
        length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length"))
        assert 0 < len(rest) < int(length.split(b":")[1])


async def test_a_stalled_request_ends_when_the_client_leaves(sandbox: Sandbox) -> None:
    """Without seconds nothing is ever returned, and nothing is left behind."""
    sandbox.fault("stall")
    _, writer = await send_raw(sandbox)
    await until(lambda: sandbox.faults == ())
    assert sandbox.requests == []
    writer.close()
    await until(lambda: len(sandbox.requests) == 1)
    assert sandbox.requests[0].status is None


@pytest.mark.parametrize(("name", "pieces"), [("stall", 1), ("trickle", 19)])
async def test_a_slow_response_takes_its_seconds_and_is_complete(name: FaultName, pieces: int) -> None:
    """A stall waits before the response, a trickle between the many pieces of its body."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async with Sandbox(itwins=50, sleep=sleep) as sandbox, httpx.AsyncClient(base_url=sandbox.base_url) as http:
        sandbox.fault(name, seconds=10)
        response = await http.get("/itwins/", headers={"Authorization": "Bearer a"})
    assert len(response.json()["iTwins"]) == 50
    assert len(waits) >= pieces
    assert sum(waits) == pytest.approx(10, rel=0.1)


async def test_latency_and_jitter_hold_every_response_back() -> None:
    """Each response waits for the latency and a share of the jitter, the same in every run."""
    runs: list[list[float]] = []
    for _ in range(2):
        waits: list[float] = []

        async def sleep(seconds: float, waits: list[float] = waits) -> None:
            waits.append(seconds)

        async with (
            Sandbox(itwins=1, latency=0.2, jitter=0.1, sleep=sleep) as sandbox,
            httpx.AsyncClient(base_url=sandbox.base_url) as http,
        ):
            for _request in range(3):
                await http.get("/itwins/")
        runs.append(waits)
    assert runs[0] == runs[1]
    assert len(set(runs[0])) == 3
    assert all(0.2 <= wait <= 0.3 for wait in runs[0])


async def test_a_gzip_bomb_is_small_on_the_wire_and_valid(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Errors pass it; less than 300 kB unpack to more than 256 MiB of JSON, and the checksum is right."""
    sandbox.fault("gzip_bomb")
    for url in ("/nowhere", "/itwins/?$top=0"):
        assert "content-encoding" not in (await http.get(url)).headers
    async with http.stream("GET", "/itwins/") as response:
        packed = b"".join([chunk async for chunk in response.aiter_raw()])
    assert response.headers["content-encoding"] == "gzip"
    assert len(packed) < 300_000
    with gzip.GzipFile(fileobj=io.BytesIO(packed)) as unpacked:
        size, visible = 0, b""
        for piece in iter(lambda: unpacked.read(2**24), b""):
            size, visible = size + len(piece), visible + piece.strip()
    assert (size, visible) == (256 * 2**20 + 2, b"{}")


async def send_raw(sandbox: Sandbox) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection on which a listing was requested."""
    host, port = sandbox.base_url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET /itwins/ HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer a\r\nAccept: */*\r\n\r\n")
    return reader, writer


async def read_to_the_end(reader: asyncio.StreamReader, received: bytearray) -> None:
    """Collect what comes until the connection ends in one way or another."""
    while data := await reader.read(100):
        received += data
