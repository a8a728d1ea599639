"""The control interface over HTTP has the functions of Python, and names a wrong field."""

import hashlib
import hmac
import json
from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

from tests.support.sandboxes import requests_of, serving

BASIC = {"type": "Basic", "username": "reader", "password": "planted-password"}
EVENT = "iTwins.iTwinUpdated.v1"


async def test_the_overview_has_address_token_and_ids(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """One request returns address, token, ids and settings, and is not in the journal."""
    overview = (await http.get("/sandbox")).json()
    assert (overview["base_url"], overview["token"]) == (sandbox.base_url, sandbox.token)
    names = ("account_id", "itwin_id", "repository_id", "scene_id", "webhook_id", "repository_ids", "webhook_ids")
    assert {name: overview["ids"][name] for name in names} == {name: getattr(sandbox, name) for name in names}
    assert sandbox.webhook_ids["iTwin"] == sandbox.webhook_id
    assert sandbox.repository_ids["WebMapService"] == sandbox.repository_id
    assert overview["counts"]["itwins"] == 33
    assert overview["settings"]["rate"] is None
    assert sandbox.requests == []


async def test_a_fault_is_added_listed_and_removed(http: httpx.AsyncClient) -> None:
    """POST adds, GET returns pending and unused faults, DELETE removes."""
    body = b'{"name": "respond", "operation": "list_itwins", "count": null, "status": 502}'
    form = {"Content-Type": "application/x-www-form-urlencoded"}  # as `curl -d` names every body
    added = await http.post("/sandbox/faults", content=body, headers=form)
    listed = (await http.get("/sandbox/faults")).json()
    assert added.status_code == 201
    assert [fault["name"] for name in ("faults", "unused") for fault in listed[name]] == ["respond"] * 2
    assert (await http.get("/itwins/")).status_code == 502
    assert (await http.delete("/sandbox/faults")).status_code == 204
    assert (await http.get("/itwins/")).status_code == 200


async def test_refusing_connections_can_be_switched_on_over_http(http: httpx.AsyncClient) -> None:
    """The request that adds `refuse` gets its response, and the next connection is refused."""
    assert (await http.post("/sandbox/faults", json={"name": "refuse", "seconds": 3600})).is_success
    with pytest.raises(httpx.ConnectError):
        await http.get("/itwins/")


async def test_the_journal_is_filtered_and_cleared(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Filters by operation and status narrow the journal, and DELETE empties it."""
    for url in ("/itwins/", "/itwins/myprimaryaccount", "/itwins/?$top=0", "/nowhere"):
        await http.get(url)
    found = {
        "": ["/itwins/", "/itwins/myprimaryaccount", "/itwins/", "/nowhere"],
        "operation=get_primary_account": ["/itwins/myprimaryaccount"],
        "status=422": ["/itwins/"],
        "operation=none&status=404": ["/nowhere"],
    }
    for query, paths in found.items():
        shown = (await http.get(f"/sandbox/requests?{query}")).json()["requests"]
        assert [record["path"] for record in shown] == paths, query
    assert (await http.delete("/sandbox/requests")).status_code == 204
    assert sandbox.requests == []


async def test_a_reset_goes_back_to_the_start(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Data, tokens, faults, rate limit, latency, journal and random ids are as they were."""
    detector = {"name": "d", "type": "PhotoObjectDetector"}
    first = (await http.post("/reality-analysis/detectors", json=detector)).json()
    message = sandbox.delivery(sandbox.webhook_id, EVENT, {}).body.partition(b"messageId")[2]
    sandbox.add_token("narrow", scopes=[])
    sandbox.fault("stall", count=None)
    sandbox.set_rate("1/60")
    sandbox.set_latency(5)
    overview = (await http.post("/sandbox/reset")).json()
    assert overview["counts"]["detectors"] == overview["counts"]["requests"] == 0
    assert (sandbox.faults, sandbox.requests) == ((), [])
    for _ in range(2):
        assert (await http.get("/itwins/", headers={"Authorization": "Bearer narrow"})).status_code == 200
    assert (await http.post("/reality-analysis/detectors", json=detector)).json() == first
    assert sandbox.delivery(sandbox.webhook_id, EVENT, {}).body.endswith(message)


async def test_a_token_is_registered(http: httpx.AsyncClient) -> None:
    """The fields of the request are the arguments of `add_token`."""
    body = {"token": "a/b=", "organization_administrator": False, "member_of": [], "expires_in": 60}
    headers = {"Authorization": "Bearer a/b="}
    added = await http.post("/sandbox/tokens", json=body)
    assert (added.status_code, {name: added.json()[name] for name in body}) == (201, body)
    assert (await http.get("/itwins/", headers=headers)).json()["iTwins"] == []


async def test_the_rate_limit_is_set_and_lifted(http: httpx.AsyncClient) -> None:
    """PUT starts a new count; null removes the limit."""
    assert (await http.put("/sandbox/rate", json={"requests": 1, "per": 60})).status_code == 200
    assert [(await http.get("/itwins/")).status_code for _ in range(2)] == [200, 429]
    limit = {"requests": 5, "per": 0.5, "retry_after": "seconds"}
    assert (await http.put("/sandbox/rate", json={"requests": 5, "per": 0.5})).json() == limit
    assert (await http.get("/sandbox")).json()["settings"]["rate"] == limit
    assert (await http.put("/sandbox/rate", content=b"null")).json() is None
    assert [(await http.get("/itwins/")).status_code for _ in range(6)] == [200] * 6


async def test_the_latency_is_set() -> None:
    """Every response waits for the latency, which the argument and PUT set."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async with serving(sleep=sleep, latency=0.2) as (_, http):
        await http.get("/itwins/")
        assert (await http.put("/sandbox/latency", json={"latency": 0.3})).json() == {"latency": 0.3}
        assert (await http.get("/sandbox")).json()["settings"]["latency"] == 0.3
        await http.get("/itwins/")
    assert waits == [0.2, 0.3]


async def test_an_unknown_path_or_method_of_the_control_interface_is_rejected_by_it(http: httpx.AsyncClient) -> None:
    """An unknown path gets a 404 that lists the paths, an unknown method a 405, both without a token."""
    del http.headers["Authorization"]
    unknown, put = await http.get("/sandbox/fault"), await http.put("/sandbox/reset")
    codes = [(response.status_code, response.json()["error"]["code"]) for response in (unknown, put)]
    assert codes == [(404, "NotFound"), (405, "NotSupported")]
    assert "/sandbox/faults" in unknown.json()["error"]["message"]


#: Method, path and body of a wrong request, and the field that its error names.
WRONG: list[tuple[str, str, bytes, str | None]] = [
    ("POST", "/faults", b'{"name": "stall", "colour": "red"}', "colour"),
    ("POST", "/faults", b'{"name": "stall", "count": 1%s}' % (b"0" * 400), "count"),
    ("POST", "/faults", b'{"name": "respond", "headers": {"A": 1}}', "headers[...]"),
    *(("POST", "/faults", content, None) for content in (b"[]", b'"stall"', b"name=stall", b"{", b"\xff", b"NaN")),
    *(("POST", "/faults", content, None) for content in (b"[" * 5000, b'"' + b"a" * 2**21 + b'"')),
    *(("POST", path, b"", name) for path, name in (("/faults", "name"), ("/tokens", "token"), ("/advance", "seconds"))),
    ("POST", "/responses", b'{"method": "GET", "path": "a"}', "path"),
    ("POST", "/deliveries", b'{"webhook_id": "w", "event_type": "e", "content": []}', "content"),
    ("PUT", "/rate", b'{"requests": 0, "per": 1}', "requests"),
    ("PUT", "/latency", b'"slow"', None),
    ("GET", "/requests?status=ok", b"", "status"),
    ("GET", "/requests?colour=red", b"", "colour"),
]


@pytest.mark.parametrize(("method", "path", "content", "field"), WRONG)
async def test_a_wrong_field_is_named(
    http: httpx.AsyncClient, sandbox: Sandbox, method: str, path: str, content: bytes, field: str | None
) -> None:
    """A wrong field gets a 422 that names it, and changes nothing."""
    response = await http.request(method, f"/sandbox{path}", content=content)
    assert (response.status_code, response.json()["error"]["target"]) == (422, field)
    assert response.json()["error"]["message"]
    assert (sandbox.faults, (await http.get("/sandbox")).json()["settings"]["rate"]) == ((), None)


async def test_what_is_stored_is_shown_without_secrets(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """A stored item is found by its id, a UUID in any letter case, in Python and over HTTP, without its secrets."""
    requests = requests_of(sandbox)
    await http.request(*requests["update_repository"], json={"authentication": BASIC})
    await http.request(*requests["create_repository_resource"], json={"id": "a/b", "displayName": "A"})
    await http.request(*requests["create_detector"], json={"name": "@a/d", "type": "PhotoObjectDetector"})
    scene_id = "7F2C1F8E-0000-9332-387A-5B7C0000000A"
    await http.post(f"/scenes/?iTwinId={sandbox.itwin_id}", json={"displayName": "A", "id": scene_id})
    scene: Any = sandbox.stored("scene", sandbox.scene_id)
    ids: dict[Any, str] = {
        "itwin": sandbox.itwin_id.upper(),
        "repository": sandbox.repository_id,
        "resource": "a/b",
        "scene": scene_id.lower(),
        "scene_object": scene["sceneData"]["objects"][0]["id"],
        "detector": "@a/d",
        "webhook": sandbox.webhook_id,
    }
    stored = {kind: sandbox.stored(kind, item_id) for kind, item_id in ids.items()}
    shown = {kind: (await http.get(f"/sandbox/stored/{kind}/{item_id}")).json() for kind, item_id in ids.items()}
    assert shown == stored
    assert stored["repository"]["authentication"] == dict.fromkeys(BASIC, "<hidden>") | {"type": "Basic"}
    assert "planted-password" not in json.dumps(stored)


async def test_an_object_that_is_not_stored_is_an_error(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """An unknown id is a LookupError and 404, an unknown kind a ValueError and 422."""
    with pytest.raises(LookupError, match="no webhook with the id"):
        sandbox.stored("webhook", "none")
    with pytest.raises(ValueError, match="kind: 'hook'"):
        sandbox.stored("hook", "none")  # type: ignore[arg-type] # an unknown kind
    responses = [await http.get(f"/sandbox/stored/{kind}/none") for kind in ("webhook", "hook")]
    assert [response.status_code for response in responses] == [404, 422]


async def test_a_wrong_secret_is_noticed(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Python and HTTP compare secrets and never return them; an unknown id is an error."""
    webhook_id, repository_id = sandbox.webhook_id, sandbox.repository_id
    await http.patch(f"/webhooks/{webhook_id}", json={"secret": "planted"})
    await http.request(*requests_of(sandbox)["update_repository"], json={"authentication": BASIC})
    compared: list[tuple[dict[str, Any], bool]] = [
        *(({"webhook_id": webhook_id, "secret": secret}, secret == "planted") for secret in ("planted", "plante")),
        ({"repository_id": repository_id, "authentication": dict(reversed(BASIC.items()))}, True),
        *(
            ({"repository_id": repository_id, "authentication": other}, False)
            for other in (BASIC | {"password": "x"}, None)
        ),
    ]
    for body, matches in compared:
        has = sandbox.has_secret if "secret" in body else sandbox.has_authentication
        assert (await http.post("/sandbox/secrets", json=body)).json() == {"matches": has(*body.values())}
        assert has(*body.values()) is matches
    with pytest.raises(ValueError, match=r"^webhook_id: "):
        sandbox.has_secret("none", "planted")
    with pytest.raises(ValueError, match=r"^repository_id: "):
        sandbox.has_authentication("none", None)


async def test_a_delivery_is_signed_with_the_secret(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """A delivery has the body and the headers of a real one, in Python and over HTTP."""
    await http.patch(f"/webhooks/{sandbox.webhook_id}", json={"secret": "planted"})
    delivery = sandbox.delivery(sandbox.webhook_id, EVENT, {"iTwinId": "x"})
    asked = {"webhook_id": sandbox.webhook_id, "event_type": EVENT, "content": {"iTwinId": "x"}}
    sent = (await http.post("/sandbox/deliveries", json=asked)).json()
    message_ids = set()
    for body, headers in ((delivery.body, delivery.headers), (sent["body"].encode(), sent["headers"])):
        digest = hmac.new(b"planted", body, hashlib.sha256).hexdigest()
        assert headers == {"Content-Type": "application/json", "Signature": f"sha256={digest}"}
        message = json.loads(body)
        message_ids.add(message.pop("messageId"))
        assert len(message.pop("enqueuedDateTime").partition(".")[2].rstrip("Z")) == 7
        ids = {"webhookId": sandbox.webhook_id, "iTwinId": sandbox.itwin_id}
        assert message == {"content": {"iTwinId": "x"}, "eventType": EVENT, **ids}
    assert len(message_ids) == 2
    assert "planted" not in repr(delivery)
