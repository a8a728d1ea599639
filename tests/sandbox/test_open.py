"""As open as a test needs: any response, one of several calls, other routes, a clock, other frameworks."""

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import RateLimit, Sandbox
from itwin_platform_sandbox._faults.plan import Match
from itwin_platform_sandbox._service.messages import APIRequest, Body

from tests.support.sandboxes import client_of

pytestmark = pytest.mark.itwin_sandbox(itwins=3, objects=3)
DETECTOR = {"name": "cracks", "type": "PhotoObjectDetector"}


@pytest.mark.parametrize(
    ("arguments", "status", "content", "media_type"),
    [
        ({}, 500, b"", None),
        (
            {"status": 502, "body": "<h1>Bad</h1>", "headers": {"Content-Type": "text/html"}},
            502,
            b"<h1>Bad</h1>",
            "text/html",
        ),
        ({"body": "down"}, 500, b"down", "text/plain; charset=utf-8"),
        ({"body": {"error": None}}, 500, b'{"error":null}', "application/json"),
        ({"status": 204}, 204, b"", None),
        ({"status": 200, "body": [], "headers": {"X-Odd": "yes"}}, 200, b"[]", "application/json"),
    ],
)
async def test_a_fault_can_be_any_response(
    http: httpx.AsyncClient,
    sandbox: Sandbox,
    arguments: dict[str, Any],
    status: int,
    content: bytes,
    media_type: str | None,
) -> None:
    """Status, body and headers are those of the fault, in Python and over HTTP, and the operation has no effect."""
    sandbox.fault("respond", **arguments)
    assert (await http.post("/sandbox/faults", json={"name": "respond", **arguments})).status_code == 201
    for _ in range(2):
        response = await http.post("/reality-analysis/detectors", json=DETECTOR)
        assert (response.status_code, response.content) == (status, content)
        assert response.headers.get("content-type") == media_type
        assert "date" in response.headers
        assert response.headers.get("x-odd") == arguments.get("headers", {}).get("X-Odd")
    assert (await http.get("/sandbox")).json()["counts"]["detectors"] == 0


async def test_a_match_hits_one_of_several_parallel_calls(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Only requests with the path, the query and the fields of the body meet the fault; others do not use it up."""
    wanted = {"query": {"$top": "2", "status": "Active"}}
    sandbox.fault("respond", status=503, match=wanted)
    urls = ["/itwins/?$top=1&status=Active", "/itwins/?$top=2", "/itwins/?$top=2&status=Active&subClass=Project"]
    responses = await asyncio.gather(*(http.get(url) for url in urls))
    assert [response.status_code for response in responses] == [200, 200, 503]
    fault = {"name": "reset_after_effect", "match": {"body": {"name": "b"}, "path": "/reality-analysis/*"}}
    await http.post("/sandbox/faults", json=fault)
    assert (await http.get("/sandbox/faults")).json()["faults"][0]["match"] == fault["match"]
    assert (await http.post("/reality-analysis/detectors", json=DETECTOR)).status_code == 201
    with pytest.raises(httpx.ReadError):
        await http.post("/reality-analysis/detectors", json={**DETECTOR, "name": "b"})
    assert sandbox.faults == ()


@pytest.mark.parametrize(
    ("match", "accepts"),
    [
        ({"path": "/a"}, True),
        ({"path": "/*"}, True),
        ({"path": "/b"}, False),
        ({"query": {"q": "1"}}, True),
        ({"query": {"q": "2"}}, False),
        ({"body": {"a": {"b": 1}}}, True),
        ({"body": {"a": {"b": True}}}, False),
        ({"body": {"a": {"c": 1}}}, False),
        ({"body": {"list": [1]}}, False),
        ({"body": {"list": [1, 2]}}, True),
    ],
)
def test_a_match_compares_what_it_names(match: Mapping[str, Any], accepts: bool) -> None:
    """Objects may have more fields than a match; everything else is equal. A path is below the prefix."""
    body = Body(b'{"a": {"b": 1, "d": 2}, "list": [1, 2]}')
    request = APIRequest(method="POST", path="/api/a", query={"q": "1", "r": "2"}, body=body)
    assert Match(**match).accepts(request, "/api") is accepts
    assert not Match(body={"a": 1}).accepts(APIRequest(method="POST", path="/a", body=Body(b"no JSON")), "")


async def test_an_application_gets_its_token_from_the_sandbox(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Another route responds as it was told, in Python and over HTTP, until a reset, and is in the journal."""
    sandbox.respond("POST", "/connect/token", json={"access_token": "fetched", "expires_in": 60})
    form = {"grant_type": "client_credentials", "client_secret": "planted"}
    async with client_of(sandbox) as application:
        del application.headers["Authorization"]
        token = (await application.post("/connect/token", data=form)).json()["access_token"]
        application.headers["Authorization"] = f"Bearer {token}"
        assert (await application.get("/itwins/")).status_code == 200
    record = sandbox.requests[0]
    assert (record.operation, record.path, record.status) == (None, "/connect/token", 200)
    assert "planted" not in str(record.body)
    other = {
        "method": "GET",
        "path": "/.well-known/jwks",
        "status": 203,
        "json": [1],
        "headers": {"Content-Type": "a/b"},
    }
    assert (await http.post("/sandbox/responses", json=other)).status_code == 201
    response = await http.get("/.well-known/jwks")
    assert (response.status_code, response.json(), response.headers["content-type"]) == (203, [1], "a/b")
    assert (await http.get("/connect/token")).status_code == 404
    sandbox.reset()
    assert (await http.get("/.well-known/jwks")).status_code == 404


async def test_the_clock_of_the_service_can_be_put_forward(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Tokens expire, a rate limit begins anew and times are later without any sleep; a reset puts it back."""
    sandbox.add_token("brief", expires_in=3600)
    brief = {"Authorization": "Bearer brief"}
    assert (await http.get("/itwins/", headers=brief)).status_code == 200
    sandbox.advance(3600)
    assert (await http.get("/itwins/", headers=brief)).status_code == 401
    sandbox.set_rate(RateLimit(1, 60))
    assert [(await http.get("/itwins/")).status_code for _ in range(2)] == [200, 429]
    assert (await http.post("/sandbox/advance", json={"seconds": 60})).json() == {"advanced": 3660}
    response = await http.get("/itwins/")
    assert response.status_code == 200
    later = httpx.Response(200, headers={"date": response.headers["date"]}).headers["date"]
    sandbox.reset()
    assert (await http.get("/itwins/")).headers["date"] != later
    assert (await http.post("/sandbox/advance", json={"seconds": 10**9})).status_code == 200
    assert (await http.post("/sandbox/advance", json={"seconds": 1})).json()["error"]["target"] == "seconds"


def test_it_runs_in_a_thread_with_with() -> None:
    """Inside `with`, code without asyncio has a running sandbox and controls it; it can be started again."""
    sandbox = Sandbox(itwins=2, objects=0)
    for _ in range(2):
        with sandbox as running, httpx.Client(base_url=running.base_url) as http:
            http.headers["Authorization"] = f"Bearer {running.token}"
            assert len(http.get("/itwins/").json()["iTwins"]) == 2
            running.fault("refuse", seconds=3600)
            running.reset()
            assert [record.status for record in running.requests] == []
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{sandbox.base_url}/itwins/")


WRONG: list[tuple[str, tuple[object, ...], dict[str, Any], str]] = [
    ("fault", ("stall",), {"seconds": "3"}, "seconds"),
    ("fault", ("stall",), {"count": 1.5}, "count"),
    ("fault", ("stall",), {"match": {"pth": "/a"}}, "match.pth"),
    ("fault", ("stall",), {"match": {"query": {"$top": 5}}}, "match.query[...]"),
    ("fault", ("refuse",), {"seconds": 1, "match": {"path": "/"}}, "match"),
    ("fault", ("respond",), {"status": 99}, "status"),
    ("fault", ("respond",), {"body": object()}, "body"),
    ("fault", ("respond",), {"headers": {"a b": "c"}}, "headers"),
    ("fault", ("respond",), {"headers": {"A": "b\r\nc: d"}}, "headers[...]"),
    ("fault", ("respond",), {"headers": {"Content-Length": "5"}}, "headers"),
    ("respond", ("POST", "connect"), {}, "path"),
    ("respond", ("POST", "/a?b=c"), {}, "path"),
    ("respond", ("GET", "/sandbox/more"), {}, "path"),
    ("respond", ("GET", "/itwins/"), {}, "path"),
    ("respond", ("get", "/a"), {}, "method"),
    ("respond", ("GET", "/a"), {"json": {1, 2}}, "json"),
    ("respond", ("GET", "/a"), {"headers": {"Transfer-Encoding": "chunked"}}, "headers"),
    ("advance", (-1,), {}, "seconds"),
    ("add_token", ("a b",), {}, "token"),
    ("add_token", ("a",), {"permissions": "itwins_modify_all"}, "permissions[...]"),
    ("add_token", ("a",), {"member_of": ["7f2c1f8e-0000-9332-387a-5b7c00000000"]}, "member_of"),
    ("add_token", ("a",), {"member_of": 5}, "member_of"),
    ("add_token", ("a",), {"expires_in": "60"}, "expires_in"),
    ("set_latency", ("1",), {}, "latency"),
    ("set_rate", (RateLimit(0, 1),), {}, "requests"),
    ("delivery", ("none", "iTwins.iTwinUpdated.v1", {}), {}, "webhook_id"),
]


@pytest.mark.parametrize(("method", "arguments", "keywords", "field"), WRONG)
def test_a_wrong_argument_is_named(
    method: str, arguments: tuple[object, ...], keywords: dict[str, Any], field: str
) -> None:
    """A ValueError names the argument, and nothing is changed."""
    sandbox = Sandbox(itwins=1, objects=0)
    with pytest.raises(ValueError, match=r"^[a-z_]+") as caught:
        getattr(sandbox, method)(*arguments, **keywords)
    assert str(caught.value).partition(": ")[0].replace("[0]", "[...]") == field
    assert sandbox.faults == ()


def test_a_type_of_event_must_exist() -> None:
    """A delivery of another event names the argument and the type that was probably meant."""
    sandbox = Sandbox(itwins=1, objects=0)
    with pytest.raises(ValueError, match=r"^event_type: .*did you mean iTwins\.iTwinUpdated\.v1"):
        sandbox.delivery(sandbox.webhook_id, "iTwins.iTwinUpdate.v1", {})
