"""What a test sees inside: stored data without secrets, comparisons of secrets, and deliveries to webhooks."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import Sandbox
from itwin_platform_sandbox._sandbox import StoredKind
from itwin_platform_sandbox._server.deliveries import Delivery, post

from tests.support.real_time import until
from tests.support.sandboxes import requests_of, serving

BASIC = {"type": "Basic", "username": "reader", "password": "planted-password"}
EVENT = "iTwins.iTwinUpdated.v1"
Receiver = tuple[str, list[bytes]]


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """An address that responds 500 to the first request and 200 to all others, and what it received."""
    received: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        received.append(head + await reader.readexactly(length))
        status = b"500 Error" if len(received) == 1 else b"200 OK"
        writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook", received


async def test_what_is_stored_is_shown_without_secrets(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Each kind is found by its id, in Python and over HTTP alike, and no secret is in it."""
    requests = requests_of(sandbox)
    await http.request(*requests["update_repository"], json={"authentication": BASIC})
    await http.request(*requests["create_repository_resource"], json={"id": "a/b", "displayName": "A"})
    await http.request(*requests["create_detector"], json={"name": "@a/d", "type": "PhotoObjectDetector"})
    scene: Any = sandbox.stored("scene", sandbox.scene_id)
    ids: dict[StoredKind, str] = {
        "itwin": sandbox.itwin_id,
        "repository": sandbox.repository_id,
        "resource": "a/b",
        "scene": sandbox.scene_id.upper(),
        "scene_object": scene["sceneData"]["objects"][0]["id"],
        "detector": "@a/d",
        "webhook": sandbox.webhook_id,
    }
    stored = {kind: sandbox.stored(kind, item_id) for kind, item_id in ids.items()}
    shown = {kind: (await http.get(f"/sandbox/stored/{kind}/{item_id}")).json() for kind, item_id in ids.items()}
    assert shown == stored
    assert stored["repository"]["authentication"] == dict.fromkeys(BASIC, "<hidden>") | {"type": "Basic"}
    assert "planted-password" not in json.dumps(stored)


async def test_what_is_not_stored_is_said(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """An unknown id is a LookupError and 404, an unknown kind a ValueError and 422."""
    with pytest.raises(LookupError, match="no webhook with the id"):
        sandbox.stored("webhook", "none")
    with pytest.raises(ValueError, match="kind: 'hook'"):
        sandbox.stored("hook", "none")  # type: ignore[arg-type] # what the test is about
    responses = [await http.get(f"/sandbox/stored/{kind}/none") for kind in ("webhook", "hook")]
    assert [response.status_code for response in responses] == [404, 422]


@pytest.mark.parametrize(
    ("compared", "matches"),
    [
        ({"webhook_id": "{webhook_id}", "secret": "planted"}, True),
        ({"webhook_id": "{webhook_id}", "secret": "plante"}, False),
        ({"webhook_id": "none", "secret": "planted"}, None),
        ({"repository_id": "{repository_id}", "authentication": dict(reversed(BASIC.items()))}, True),
        ({"repository_id": "{repository_id}", "authentication": BASIC | {"password": "other"}}, False),
        ({"repository_id": "{repository_id}", "authentication": None}, False),
        ({"repository_id": "none", "authentication": None}, None),
    ],
)
async def test_a_wrong_secret_is_noticed(
    http: httpx.AsyncClient, sandbox: Sandbox, compared: dict[str, Any], matches: bool | None
) -> None:
    """A webhook's secret and a repository's authentication can be compared, in Python and over HTTP alike, and are
    never returned; an unknown id is an error that names it.
    """
    for operation, body in (
        ("update_webhook", {"secret": "planted"}),
        ("update_repository", {"authentication": BASIC}),
    ):
        await http.request(*requests_of(sandbox)[operation], json=body)
    (name, text), (_, value) = compared.items()
    item_id = text.format(webhook_id=sandbox.webhook_id, repository_id=sandbox.repository_id)
    response = await http.post("/sandbox/secrets", json=compared | {name: item_id})
    has = sandbox.has_secret if name == "webhook_id" else sandbox.has_authentication
    if matches is None:
        assert (response.status_code, response.json()["error"]["target"]) == (422, name)
        with pytest.raises(ValueError, match=f"^{name}: "):
            has(item_id, value)
    else:
        assert (response.json(), has(item_id, value)) == ({"matches": matches}, matches)


async def test_a_delivery_is_signed_with_the_secret(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Body and headers are those of a real delivery, in Python and over HTTP."""
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
    assert (await http.post("/sandbox/deliveries", json={**asked, "content": []})).status_code == 422


async def test_changes_are_posted_to_subscribers(receiver: Receiver) -> None:
    """With `deliver`, a change of an iTwin is posted to active webhooks that subscribe to it, again after a failure."""
    address, received = receiver
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async with serving(itwins=9, deliver=True, sleep=sleep) as (sandbox, http):
        requests = requests_of(sandbox)
        await http.request(*requests["update_repository"], json={"displayName": "before"})
        subscription = {"active": True, "callbackUrl": address, "eventTypes": [EVENT], "secret": "planted"}
        await http.request(*requests["update_webhook"], json=subscription)
        await http.request(*requests["update_repository"], json={"displayName": ""})  # is rejected
        await http.request(*requests["update_repository"], json={"displayName": "after"})
        await until(lambda: len(sandbox.deliveries) == 1)
        (delivery,) = sandbox.deliveries
        shown = (await http.get("/sandbox/deliveries")).json()["deliveries"]
    assert (delivery.attempts, delivery.status, delivery.error, pauses) == (2, 200, None, [1.0])
    assert [request.endswith(delivery.body) for request in received] == [True, True]
    assert delivery.headers["Signature"].encode() in received[1]
    assert [item["status"] for item in shown] == [200]


@pytest.mark.parametrize(
    ("url", "attempts", "error"),
    [
        ("https://127.0.0.1/hook", 0, "no http address of this machine"),
        ("http://hooks.example.com/", 0, "no http address of this machine"),
        ("javascript:alert(1)", 0, "no http address of this machine"),
        ("http://10.0.0.1/hook", 0, "no http address of this machine"),
        ("http:///hook", 0, "no http address of this machine"),
        ("http://localhost:9/", 3, "connect"),
        ("http://127.8.0.1:9/", 3, "connect"),
        ("http://[::1]:9/", 3, "connect"),
    ],
)
async def test_only_this_machine_is_called(url: str, attempts: int, error: str) -> None:
    """Other addresses are never called, and a receiver that does not respond is called three times."""

    async def sleep(_: float) -> None:
        return

    delivery = await post(Delivery(url=url, event_type=EVENT, body=b"{}", headers={}), sleep)
    assert delivery.attempts == attempts
    assert error in str(delivery.error)
