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
from itwin_platform_sandbox._server.deliveries import Delivery, is_loopback, post

from tests.support.real_time import until

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
    repository = f"/itwins/{sandbox.itwin_id}/repositories/{sandbox.repository_id}"
    await http.patch(repository, json={"authentication": BASIC})
    await http.post(f"{repository}/resources", json={"id": "a/b", "displayName": "A"})
    await http.post("/reality-analysis/detectors", json={"name": "@a/d", "type": "PhotoObjectDetector"})
    scene: Any = sandbox.stored("scene", sandbox.scene_id)
    ids = {
        "itwin": sandbox.itwin_id,
        "repository": sandbox.repository_id,
        "resource": "a/b",
        "scene": sandbox.scene_id.upper(),
        "scene_object": scene["sceneData"]["objects"][0]["id"],
        "detector": "@a/d",
        "webhook": sandbox.webhook_id,
    }
    stored = {kind: sandbox.stored(kind, item_id) for kind, item_id in ids.items()}  # type: ignore[arg-type] # a table
    for kind, item_id in ids.items():
        shown = (await http.get(f"/sandbox/stored/{kind}/{item_id}")).json()
        assert shown == stored[kind]
    assert stored["repository"]["authentication"] == dict.fromkeys(BASIC, "<hidden>") | {"type": "Basic"}
    assert "planted-password" not in json.dumps(stored)
    assert sandbox.webhook_ids["iTwin"] == sandbox.webhook_id


async def test_what_is_not_stored_is_said(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """An unknown id is a LookupError and 404, an unknown kind a ValueError and 422."""
    with pytest.raises(LookupError, match="no webhook with the id"):
        sandbox.stored("webhook", "none")
    with pytest.raises(ValueError, match="kind: 'hook'"):
        sandbox.stored("hook", "none")  # type: ignore[arg-type] # what the test is about
    assert (await http.get("/sandbox/stored/webhook/none")).status_code == 404
    assert (await http.get("/sandbox/stored/hook/none")).status_code == 422


async def test_a_wrong_secret_is_noticed(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """A webhook's secret and a repository's authentication can be compared, and are never returned."""
    await http.patch(f"/webhooks/{sandbox.webhook_id}", json={"secret": "planted"})
    await http.patch(f"/itwins/{sandbox.itwin_id}/repositories/{sandbox.repository_id}", json={"authentication": BASIC})
    assert sandbox.has_secret(sandbox.webhook_id, "planted")
    assert not sandbox.has_secret(sandbox.webhook_id, "plante")
    assert sandbox.has_authentication(sandbox.repository_id, dict(reversed(BASIC.items())))
    assert not sandbox.has_authentication(sandbox.repository_id, BASIC | {"password": "other"})
    assert not sandbox.has_authentication(sandbox.repository_id, None)
    for body, matches in (
        ({"webhook_id": sandbox.webhook_id, "secret": "planted"}, True),
        ({"webhook_id": sandbox.webhook_id, "secret": "other"}, False),
        ({"repository_id": sandbox.repository_id, "authentication": BASIC}, True),
        ({"repository_id": sandbox.repository_id}, False),
    ):
        assert (await http.post("/sandbox/secrets", json=body)).json() == {"matches": matches}
    with pytest.raises(ValueError, match="webhook_id"):
        sandbox.has_secret("none", "planted")
    with pytest.raises(ValueError, match="repository_id"):
        sandbox.has_authentication("none", None)


async def test_a_delivery_is_signed_with_the_secret(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Body and headers are those of a real delivery, in Python and over HTTP."""
    await http.patch(f"/webhooks/{sandbox.webhook_id}", json={"secret": "planted"})
    delivery = sandbox.delivery(sandbox.webhook_id, EVENT, {"iTwinId": "x"})
    asked = {"webhook_id": sandbox.webhook_id, "event_type": EVENT, "content": {"iTwinId": "x"}}
    sent = (await http.post("/sandbox/deliveries", json=asked)).json()
    for body, headers in ((delivery.body, delivery.headers), (sent["body"].encode(), sent["headers"])):
        digest = hmac.new(b"planted", body, hashlib.sha256).hexdigest()
        assert headers == {"Content-Type": "application/json", "Signature": f"sha256={digest}"}
        message = json.loads(body)
        assert message["content"] == {"iTwinId": "x"}
        assert len(message["enqueuedDateTime"].partition(".")[2].rstrip("Z")) == 7
        named = ("eventType", "webhookId", "iTwinId")
        assert [message[name] for name in named] == [EVENT, sandbox.webhook_id, sandbox.itwin_id]
    assert json.loads(delivery.body)["messageId"] != json.loads(sent["body"])["messageId"]
    assert "planted" not in repr(delivery)
    assert (await http.post("/sandbox/deliveries", json={**asked, "content": []})).status_code == 422


async def test_changes_are_posted_to_subscribers(receiver: Receiver) -> None:
    """With `deliver`, a change of an iTwin is posted to active webhooks that subscribe to it, again after a failure."""
    address, received = receiver
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async with (
        Sandbox(itwins=9, objects=0, deliver=True, sleep=sleep) as sandbox,
        httpx.AsyncClient(base_url=sandbox.base_url, headers={"Authorization": "Bearer a"}) as http,
    ):
        repository = f"/itwins/{sandbox.itwin_id}/repositories/{sandbox.repository_id}"
        await http.patch(repository, json={"displayName": "before"})
        subscription = {"active": True, "callbackUrl": address, "eventTypes": [EVENT], "secret": "planted"}
        await http.patch(f"/webhooks/{sandbox.webhook_id}", json=subscription)
        await http.patch(repository, json={"displayName": ""})  # is rejected
        await http.patch(repository, json={"displayName": "after"})
        await until(lambda: len(sandbox.deliveries) == 1)
        (delivery,) = sandbox.deliveries
        shown = (await http.get("/sandbox/deliveries")).json()["deliveries"]
    assert (delivery.attempts, delivery.status, delivery.error) == (2, 200, None)
    assert pauses == [1.0]
    assert [received[0].endswith(delivery.body), received[1].endswith(delivery.body)] == [True, True]
    assert delivery.headers["Signature"].encode() in received[1]
    assert [item["status"] for item in shown] == [200]


@pytest.mark.parametrize(
    ("url", "attempts", "error"),
    [
        ("https://127.0.0.1/hook", 0, "no http address of this machine"),
        ("http://hooks.example.com/", 0, "no http address of this machine"),
        ("javascript:alert(1)", 0, "no http address of this machine"),
        ("http://127.0.0.1:9/", 3, "connect"),
    ],
)
async def test_only_this_machine_is_called(url: str, attempts: int, error: str) -> None:
    """Other addresses are never called, and a receiver that does not respond is called three times."""

    async def sleep(_: float) -> None:
        return

    delivery = await post(Delivery(url=url, event_type=EVENT, body=b"{}", headers={}), sleep)
    assert delivery.attempts == attempts
    assert error in str(delivery.error)


@pytest.mark.parametrize(
    ("host", "expected"), [("localhost", True), ("127.8.0.1", True), ("::1", True), ("10.0.0.1", False), ("", False)]
)
def test_loopback_addresses_are_known(host: str, *, expected: bool) -> None:
    """Only addresses that no other machine can reach."""
    assert is_loopback(host) is expected
