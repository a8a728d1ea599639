"""Control of the sandbox by a test: any response, matches, other routes, a clock."""

from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import Sandbox, ServiceRateLimit

from tests.support.sandboxes import client_of

pytestmark = pytest.mark.itwin_sandbox(itwins=3, objects=3)
DETECTOR = {"name": "cracks", "type": "PhotoObjectDetector"}


HTML = {"status": 502, "body": "<h1>Bad</h1>", "headers": {"Content-Type": "text/html", "X-Odd": "yes"}}


@pytest.mark.parametrize(
    ("response", "content", "media_type"),
    [
        ({}, b"", None),
        (HTML, b"<h1>Bad</h1>", "text/html"),
        ({"body": "down"}, b"down", "text/plain; charset=utf-8"),
        ({"body": {"error": None}, "status": 200}, b'{"error":null}', "application/json"),
    ],
)
async def test_a_fault_can_be_any_response(
    http: httpx.AsyncClient, sandbox: Sandbox, response: dict[str, Any], content: bytes, media_type: str | None
) -> None:
    """Status, body and headers are those of the fault, in Python and over HTTP, and the operation has no effect."""
    sandbox.fault("respond", **response)
    assert (await http.post("/sandbox/faults", json={"name": "respond", **response})).status_code == 201
    for _ in range(2):
        found = await http.post("/reality-analysis/detectors", json=DETECTOR)
        assert (found.status_code, found.content) == (response.get("status", 500), content)
        assert (found.headers.get("content-type"), "date" in found.headers) == (media_type, True)
        assert ("x-odd" in found.headers) is (response is HTML)
    assert (await http.get("/sandbox")).json()["counts"]["detectors"] == 0


@pytest.mark.parametrize(
    ("match", "fires"),
    [
        ({"path": "/reality-analysis/detectors"}, True),
        ({"path": "/reality*"}, True),
        ({"path": "/itwins/"}, False),
        ({"query": {"q": "1"}}, True),
        ({"query": {"q": "2"}}, False),
        ({"query": {"q": "1"}, "body": {"name": "other"}}, False),
        ({"body": {"name": "cracks", "a": {"b": 1}}}, True),
        ({"body": {"a": {"b": True}}}, False),
        ({"body": {"a": {"c": 1}}}, False),
        ({"body": {"list": [1]}}, False),
        ({"body": {"list": [1, 2]}}, True),
    ],
)
async def test_a_match_narrows_a_fault(http: httpx.AsyncClient, match: dict[str, Any], fires: bool) -> None:
    """An object in the body may have more fields than the match; another request does not use the fault up."""
    added = await http.post("/sandbox/faults", json={"name": "respond", "status": 502, "match": match})
    assert added.json()["match"] == match
    body = {**DETECTOR, "a": {"b": 1, "d": 2}, "list": [1, 2]}
    response = await http.post("/reality-analysis/detectors?q=1&r=2", json=body)
    assert response.status_code == (502 if fires else 201)
    assert (await http.post("/reality-analysis/detectors", content=b"no JSON")).status_code == 400
    assert len((await http.get("/sandbox/faults")).json()["unused"]) == (not fires)


async def test_an_application_gets_its_token_from_the_sandbox(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """A route of a test has its response, in Python and over HTTP, until a reset, and its requests are recorded."""
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
    other: dict[str, Any] = {"method": "GET", "path": "/.well-known/jwks", "status": 203}
    other |= {"json": [1], "headers": {"Content-Type": "a/b"}}
    assert (await http.post("/sandbox/responses", json=other)).status_code == 201
    response = await http.get("/.well-known/jwks")
    assert (response.status_code, response.json(), response.headers["content-type"]) == (203, [1], "a/b")
    assert (await http.get("/connect/token")).status_code == 404
    sandbox.reset()
    assert (await http.get("/.well-known/jwks")).status_code == 404


async def test_the_clock_of_the_service_can_be_put_forward(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Tokens expire until registered again, a rate limit begins anew, times are later; a reset puts it back."""
    sandbox.add_token("brief", expires_in=3600)
    brief = {"Authorization": "Bearer brief"}
    sandbox.advance(3600)
    assert (await http.get("/itwins/", headers=brief)).status_code == 401
    sandbox.add_token("brief", expires_in=3600)
    assert (await http.get("/itwins/", headers=brief)).status_code == 200
    sandbox.set_rate(ServiceRateLimit(1, 60))
    assert [(await http.get("/itwins/")).status_code for _ in range(2)] == [200, 429]
    assert (await http.post("/sandbox/advance", json={"seconds": 60})).json() == {"advanced": 3660}
    response = await http.get("/itwins/")
    assert response.status_code == 200
    later = httpx.Response(200, headers={"date": response.headers["date"]}).headers["date"]
    sandbox.reset()
    assert (await http.get("/itwins/")).headers["date"] != later
    assert (await http.post("/sandbox/advance", json={"seconds": 10**9})).status_code == 200
    assert (await http.post("/sandbox/advance", json={"seconds": 1})).json()["error"]["target"] == "seconds"


WRONG: list[tuple[str, tuple[object, ...], dict[str, Any], str]] = [
    *(("fault", ("stall",), {"count": count}, "count") for count in (1.5, 0, 10**400)),
    *(("fault", ("stall",), {"seconds": seconds}, "seconds") for seconds in (-1, 1e300, float("nan"), True, "3")),
    ("fault", ("stall",), {"operation": "delete_itwin"}, "operation"),
    *(("fault", ("next_foreign",), {"origin": f"http://a.example{x}"}, "origin") for x in ("/path", "\r\nX: y")),
    ("fault", ("refuse",), {}, "seconds"),
    ("fault", ("refuse",), {"seconds": 1, "operation": "list_itwins"}, "operation"),
    ("fault", ("stall",), {"match": {"pth": "/a"}}, "match.pth"),
    ("fault", ("stall",), {"match": {"query": {"$top": 5}}}, "match.query[...]"),
    ("fault", ("respond",), {"body": object()}, "body"),
    ("fault", ("respond",), {"headers": {"A": "b\r\nc: d"}}, "headers[...]"),
    ("fault", ("respond",), {"headers": {"Content-Length": "5"}}, "headers"),
    *(("respond", ("GET", path), {}, "path") for path in ("/a?b=c", "/sandbox/more", "/itwins/")),
    ("respond", ("get", "/a"), {}, "method"),
    ("respond", ("GET", "/a"), {"json": {1, 2}}, "json"),
    ("advance", (-1,), {}, "seconds"),
    ("add_token", ("a b",), {}, "token"),
    ("add_token", ("a",), {"permissions": "itwins_modify_all"}, "permissions[...]"),
    ("add_token", ("a",), {"member_of": ["7f2c1f8e-0000-9332-387a-5b7c00000000"]}, "member_of"),
    ("set_rate", (ServiceRateLimit(0, 1),), {}, "requests"),
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


@pytest.mark.parametrize(("name", "meant"), [("explode", ""), ("rate_limit", r".*\(did you mean rate_limited\?\)")])
def test_an_unknown_name_is_rejected(name: Any, meant: str) -> None:
    """The error names the argument, the name that was probably meant, and the known names; for events too."""
    with pytest.raises(ValueError, match=rf"^name: '{name}'{meant} is not one of refuse, reset_before_effect"):
        Sandbox(itwins=1).fault(name)
    sandbox = Sandbox(itwins=1, objects=0)
    with pytest.raises(ValueError, match=r"^event_type: .*did you mean iTwins\.iTwinUpdated\.v1"):
        sandbox.delivery(sandbox.webhook_id, "iTwins.iTwinUpdate.v1", {})
