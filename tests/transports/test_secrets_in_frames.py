"""Tools that report errors show what the frames of a traceback hold: no frame below a call holds a secret."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import pytest
from itwin_platform import (
    AccessToken,
    BackoffEvent,
    BackoffPolicy,
    BasicAuthentication,
    HeaderAuthentication,
    OAuth2AuthorizationCodePKCEAuthentication,
    PlatformClient,
    PlatformError,
    QueryParameterAuthentication,
    TokenError,
    UsageError,
)

from tests.support.captured_frames import shown
from tests.support.every_way import TOKEN, in_every_way, opened
from tests.support.exchange import PreparedResponse
from tests.support.raw_server import RawServer

PASSWORD = "planted-password"  # made up
SECRET = "planted-webhook-secret"  # made up


def update(authentication: Any) -> Callable[[PlatformClient], Awaitable[object]]:
    """Send a password."""
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
ENDS: dict[str, tuple[PreparedResponse | bytes, type[BaseException]]] = {
    "deadline": (PreparedResponse(fault="hang"), PlatformError),
    "cancellation": (PreparedResponse(fault="hang"), asyncio.CancelledError),
    "reset": (PreparedResponse(fault="reset"), PlatformError),
    "cut": (PreparedResponse(fault="cut", body=b"x" * 100), PlatformError),
    "malformed": (b"HTTX/9 nonsense\r\n\r\n", PlatformError),
    "rejected": (PreparedResponse(status=422, body=b'{"error": {"code": "c"}}'), PlatformError),
    "unavailable": (PreparedResponse(status=503, headers={"retry-after": "9"}), PlatformError),
    "rate limit": (PreparedResponse(status=429, headers={"retry-after": "9"}), PlatformError),
    "redirect": (PreparedResponse(status=302, headers={"location": "/"}), PlatformError),
    "not JSON": (PreparedResponse(body=b"<html>"), PlatformError),
    "not an object": (PreparedResponse(body=b"[]"), PlatformError),
    "other bytes": (PreparedResponse(headers={"content-encoding": "gzip"}, body=b"x"), PlatformError),
}


@pytest.mark.parametrize("end", ENDS)
@in_every_way
async def test_no_frame_holds_the_token(way: str, end: str) -> None:
    """The token is in no message, no repr and no local of any error of a call, however it is sent."""
    step, kind = ENDS[end]
    async with RawServer(step) as server, opened(way, server.address, backoff=policy_of(end)) as calls:
        text = await shown_by(calls.get(), server, end, (kind, Exception))
    assert TOKEN not in text


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
async def test_no_secret_is_written_anywhere(
    call: Callable[[PlatformClient], Awaitable[object]], end: str, caplog: pytest.LogCaptureFixture
) -> None:
    """No secret is in a message, a repr or a local of any error of a call, in an event, or in a field of the log."""
    caplog.set_level(logging.DEBUG)
    step, kind = ENDS[end]
    events: list[BackoffEvent] = []
    async with RawServer(step) as server:
        settings: dict[str, Any] = {"backoff": policy_of(end), "on_event": events.append}
        async with PlatformClient(server.address, vendor="v", token=TOKEN, **settings) as platform:
            text = await shown_by(call(platform), server, end, kind)
    text += f"{platform!r} {events} {[vars(record) for record in caplog.records]}"
    # What is searched for is no secret of the caller: it may be in a local, and nowhere else.
    planted = [line for line in text.splitlines() if "planted" in line]
    assert [line for line in planted if "planted-search" not in line or ".py:" not in line] == []


def policy_of(end: str) -> BackoffPolicy:
    """Return a policy with which the call ends soon."""
    return BackoffPolicy(deadline=0.05 if end == "deadline" else 30.0, max_attempts=2, base_delay=0.0, max_wait=1.0)


async def shown_by(call: Awaitable[object], server: RawServer, end: str, kind: Any) -> str:
    """Return what a tool shows of the error of a call."""
    task = asyncio.ensure_future(call)
    if end == "cancellation":
        await server.received(1)
        task.cancel()
    with pytest.raises(kind) as caught:
        await task
    return shown(caught.value)


SECRET_MAPPING = {"type": "Basic", "password": PASSWORD}
REJECTED: dict[str, Callable[[PlatformClient], Awaitable[object]]] = {
    "a partial mapping": lambda platform: platform.repositories.update("i", "r", authentication=SECRET_MAPPING),
    "an unknown type": lambda platform: platform.repositories.update("i", "r", authentication={"type": PASSWORD}),
    "no user name": lambda platform: platform.repositories.update(
        "i",
        "r",
        authentication=BasicAuthentication(username=None, password=PASSWORD),  # type: ignore[arg-type]  # wrong
    ),
    "a string": lambda platform: platform.repositories.update("i", "r", authentication=PASSWORD),  # type: ignore[arg-type]  # wrong
    "partial options": lambda platform: platform.repositories.update(
        "i", "r", options={"queryParameters": {"key": PASSWORD}}
    ),
    "another argument": lambda platform: platform.repositories.update("i", "r", uri="", authentication=SECRET_MAPPING),
    "an id": lambda platform: platform.repositories.update("..", "r", authentication=SECRET_MAPPING),
    "no JSON": lambda platform: platform.repositories.update(
        "i", "r", options={"queryParameters": {"k": PASSWORD, "n": float("nan")}, "minimumLevel": 1, "maximumLevel": 2}
    ),
    "no UTF-8": update(HeaderAuthentication(key="k", value=f"{PASSWORD}\ud800")),
    "the id of a webhook": lambda platform: platform.webhooks.update("..", secret=SECRET),
    "no boolean": lambda platform: platform.webhooks.update("w", active=1, secret=SECRET),  # type: ignore[arg-type]  # wrong
    "a secret in a list": lambda platform: platform.webhooks.update("w", secret=[SECRET]),  # type: ignore[arg-type]  # wrong
}


@pytest.mark.parametrize("call", REJECTED.values(), ids=REJECTED)
async def test_no_frame_of_a_rejected_call_holds_a_secret(call: Callable[[PlatformClient], Awaitable[object]]) -> None:
    """What a rule rejects is in no frame of the package either."""
    async with PlatformClient("https://service.example", vendor="acme", token=TOKEN) as platform:
        with pytest.raises(UsageError) as caught:
            await call(platform)
    assert not [secret for secret in (TOKEN, PASSWORD, SECRET) if secret in shown(caught.value)]


@pytest.mark.parametrize(
    "settings",
    [{"token": f"{TOKEN}\n"}, {"token": [TOKEN]}, {"base_url": "http://service.example"}, {"vendor": "a b"}],
    ids=str,
)
def test_no_frame_of_a_rejected_setting_holds_the_token(settings: dict[str, Any]) -> None:
    """Neither a token that cannot be sent nor one beside another wrong argument is in a frame of the package."""
    with pytest.raises(PlatformError) as caught:
        PlatformClient(**{"base_url": "https://service.example", "vendor": "acme", "token": TOKEN, **settings})
    assert TOKEN not in shown(caught.value)


@pytest.mark.parametrize("arguments", [(f"{TOKEN}\n",), (TOKEN, datetime(2026, 3, 1))], ids=["value", "time"])
def test_no_frame_of_a_rejected_access_token_holds_it(arguments: tuple[Any, ...]) -> None:
    """A value that cannot be sent, or a time without a zone, leaves the value in no frame."""
    with pytest.raises(TokenError) as caught:
        AccessToken(*arguments)
    assert TOKEN not in shown(caught.value)
