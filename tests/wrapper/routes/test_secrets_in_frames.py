"""Error trackers capture the local variables of frames: no frame below a call has a secret."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, cast

import httpx
import pytest
from itwin_platform import (
    AccessToken,
    BackoffEvent,
    BackoffPolicy,
    BackoffTransport,
    BasicAuthentication,
    HeaderAuthentication,
    OAuth2AuthorizationCodePKCEAuthentication,
    PlatformClient,
    PlatformError,
    QueryParameterAuthentication,
    UsageError,
)

from tests.support.every_route import TOKEN, by_every_route, get, opened
from tests.support.frames import shown
from tests.support.services import PreparedResponse, RawServer

PASSWORD = "planted-password"  # made up
SECRET = "planted-webhook-secret"  # made up


def update(authentication: Any) -> Callable[[PlatformClient], Awaitable[object]]:
    """Return a call that sends a password."""
    return lambda platform: platform.repositories.update("i-1", "r-1", authentication=authentication)


CALLS: dict[str, Callable[[PlatformClient], Awaitable[object]]] = {
    "header": update(HeaderAuthentication(key="k", value=PASSWORD)),
    "query": update(QueryParameterAuthentication(key="k", value=PASSWORD)),
    "basic": update(BasicAuthentication(username="u", password=PASSWORD)),
    "oauth": update(
        OAuth2AuthorizationCodePKCEAuthentication(
            client_id=PASSWORD, scopes="s", authorization_endpoint="a", token_endpoint="b", redirect_uri="c"
        )
    ),
    "mapping": update({"type": "Basic", "username": "u", "password": PASSWORD}),
    "webhook": lambda platform: platform.webhooks.update("w-1", secret=SECRET),
    "search": lambda platform: platform.itwins.list(search="planted-search").collect(),
}


def echoes(text: str) -> dict[str, PreparedResponse]:
    """Return the responses in which a service repeats what was sent."""
    return {
        "echo": PreparedResponse(
            status=400, headers={"x-echo": text}, body=f'{{"error": {{"message": "{text}"}}}}'.encode()
        ),
        "echo, rate limit": PreparedResponse(status=429, headers={"retry-after": "9"}, body=text.encode()),
        "echo, not JSON": PreparedResponse(headers={"x-echo": text}, body=f"<b>{text}</b>".encode()),
        "echo, another shape": PreparedResponse(body=f'{{"iTwin": ["{text}"]}}'.encode()),
        "echo, other bytes": PreparedResponse(headers={"content-encoding": "gzip"}, body=text.encode()),
    }


ENDS: dict[str, PreparedResponse | bytes] = {
    "deadline": PreparedResponse(fault="hang"),
    "cancellation": PreparedResponse(fault="hang"),
    "reset": PreparedResponse(fault="reset"),
    "cut": PreparedResponse(fault="cut", body=b"x" * 100),
    "malformed": b"HTTX/9 nonsense\r\n\r\n",
    "rejected": PreparedResponse(status=422, body=b'{"error": {"code": "c"}}'),
    "unavailable": PreparedResponse(status=503, headers={"retry-after": "9"}),
    "rate limit": PreparedResponse(status=429, headers={"retry-after": "9"}),
    **echoes(TOKEN),
    "redirect": PreparedResponse(status=302, headers={"location": "/"}),
    "not JSON": PreparedResponse(body=b"<html>"),
    "not an object": PreparedResponse(body=b"[]"),
    "other bytes": PreparedResponse(headers={"content-encoding": "gzip"}, body=b"x"),
}


@pytest.mark.parametrize("end", ENDS)
@by_every_route
async def test_no_frame_holds_the_token(route: str, end: str) -> None:
    """No message, repr or local variable of an error has the token, by any route."""
    async with RawServer(ENDS[end]) as server, opened(route, server.address, backoff=policy_of(end)) as platform:
        assert TOKEN not in await shown_by(get(platform), server, end, PlatformError)


@pytest.mark.parametrize("end", ["deadline", "cancellation", "reset", "cut", "malformed"])
async def test_no_frame_of_an_ordinary_client_holds_the_token(end: str) -> None:
    """No frame of an httpx client with a BackoffTransport that adds the token has it."""
    async with RawServer(ENDS[end]) as server:
        transport = BackoffTransport(token=TOKEN, policy=policy_of(end))
        async with httpx.AsyncClient(transport=transport) as client:
            assert TOKEN not in await shown_by(client.get(server.address), server, end, PlatformError)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", CALLS)
async def test_no_secret_is_written_anywhere(name: str, end: str, caplog: pytest.LogCaptureFixture) -> None:
    """No message, repr or local variable of an error, no event and no field of the log has a secret."""
    caplog.set_level(logging.DEBUG)
    events: list[BackoffEvent] = []
    sent = {"search": TOKEN, "webhook": SECRET}.get(name, PASSWORD)
    async with RawServer((ENDS | echoes(sent))[end]) as server:
        settings: dict[str, Any] = {"backoff": policy_of(end), "on_event": events.append}
        async with PlatformClient(server.address, vendor="v", token=TOKEN, **settings) as platform:
            text = await shown_by(CALLS[name](platform), server, end, PlatformError)
    text += f"{platform!r} {events} {[vars(record) for record in caplog.records]}"
    # The search text is no secret: a local variable may hold it, and nothing else.
    planted = [line for line in text.splitlines() if "planted" in line]
    assert [line for line in planted if "planted-search" not in line or ".py:" not in line] == []


@pytest.mark.parametrize(
    "echo", ['user"name& wörd\\planted', r"user\"name& wörd\\planted", r"user\"name& w\u00f6rd\\planted"]
)
async def test_no_spelling_of_a_secret_is_written_anywhere(echo: str) -> None:
    """A secret that the service echoes is hidden also as JSON spells it, and words that are none stay."""
    sent = {"type": "QueryParameter", "key": 'user"name', "value": 'user"name& wörd\\planted', "short": "422"}
    body = f"QueryParameter 422: {echo}".encode()
    async with (
        RawServer(PreparedResponse(status=422, body=body)) as server,
        PlatformClient(server.address, vendor="v", token=TOKEN) as platform,
    ):
        assert "planted" not in await shown_by(update(sent)(platform), server, "echo", PlatformError)
        with pytest.raises(PlatformError, match=r"QueryParameter 422: \[redacted\]$") as caught:
            await platform.generated.get_async_httpx_client().patch("/any", json={"authentication": sent})
    # The frames of httpx hold its arguments.
    assert "planted" not in f"{vars(caught.value)}"


def policy_of(end: str) -> BackoffPolicy:
    """Return a policy with which a call ends soon."""
    return BackoffPolicy(deadline=0.05 if end == "deadline" else 30.0, max_attempts=2, base_delay=0.0, max_wait=1.0)


async def shown_by(call: Awaitable[object], server: RawServer, end: str, kind: type[Exception]) -> str:
    """Return the text that an error tracker shows of the error of a call."""
    task = asyncio.ensure_future(call)
    if end == "cancellation":
        await server.received(1)
        task.cancel()
    with pytest.raises(asyncio.CancelledError if end == "cancellation" else kind) as caught:
        await task
    return shown(caught.value)


#: The arguments of each update.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "repositories": {"itwin_id": "i", "repository_id": "r"},
    "webhooks": {"webhook_id": "w", "secret": SECRET},
}
PARTIAL = {"type": "Basic", "password": PASSWORD}
NOT_JSON = {"queryParameters": {"k": PASSWORD, "n": float("nan")}, "minimumLevel": 1, "maximumLevel": 2}


@pytest.mark.parametrize(
    ("group", "keywords"),
    [
        ("repositories", {"authentication": PARTIAL}),
        ("repositories", {"authentication": {"type": PASSWORD}}),
        ("repositories", {"authentication": BasicAuthentication(username=cast("str", None), password=PASSWORD)}),
        ("repositories", {"authentication": PASSWORD}),
        ("repositories", {"authentication": HeaderAuthentication(key="k", value=f"{PASSWORD}\ud800")}),
        ("repositories", {"authentication": PARTIAL, "uri": ""}),
        ("repositories", {"authentication": PARTIAL, "itwin_id": ".."}),
        ("repositories", {"options": {"queryParameters": {"key": PASSWORD}}}),
        ("repositories", {"options": NOT_JSON}),
        ("webhooks", {"webhook_id": ".."}),
        ("webhooks", {"active": 1}),
        ("webhooks", {"secret": [SECRET]}),
    ],
)
async def test_no_frame_of_a_rejected_call_holds_a_secret(group: str, keywords: dict[str, Any]) -> None:
    """No frame of the package has the arguments of a call that a rule rejects."""
    async with PlatformClient("https://service.example", vendor="acme", token=TOKEN) as platform:
        with pytest.raises(UsageError) as caught:
            await getattr(platform, group).update(**ARGUMENTS[group] | keywords)
    assert not [secret for secret in (TOKEN, PASSWORD, SECRET) if secret in shown(caught.value)]


SETTINGS: dict[str, Any] = {"base_url": "https://service.example", "vendor": "acme", "token": TOKEN}


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (PlatformClient, SETTINGS | {"token": f"{TOKEN}\n"}),
        (PlatformClient, SETTINGS | {"token": [TOKEN]}),
        (PlatformClient, SETTINGS | {"base_url": "http://service.example"}),
        (PlatformClient, SETTINGS | {"vendor": "a b"}),
        (AccessToken, {"value": f"{TOKEN}\n"}),
        (AccessToken, {"value": TOKEN, "expires_at": datetime(2026, 3, 1)}),
    ],
)
def test_no_frame_of_a_rejected_constructor_holds_the_token(kind: type, arguments: dict[str, Any]) -> None:
    """No frame of the package has an invalid token, or a token beside another wrong argument."""
    with pytest.raises(PlatformError) as caught:
        kind(**arguments)
    assert TOKEN not in shown(caught.value)
