"""Tools that report errors show what the frames of a traceback hold: no frame below a call holds a secret."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import httpx
import pytest
from itwin_platform import (
    AccessToken,
    BackoffPolicy,
    BasicAuthentication,
    PlatformClient,
    PlatformError,
    TokenError,
    UsageError,
)

from tests.support.captured_frames import shown
from tests.support.every_way import TOKEN, PlatformCalls, in_every_way, opened
from tests.support.exchange import PreparedResponse
from tests.support.raw_server import RawServer

PASSWORD = "planted-password"  # made up
SECRET = "planted-webhook-secret"  # made up
DESCRIPTION = "planted-description"


async def update_repository(calls: Any) -> None:
    """Send a password."""
    authentication = BasicAuthentication(username="u", password=PASSWORD)
    await calls.platform.repositories.update("i-1", "r-1", authentication=authentication)


async def update_repository_from_a_mapping(calls: Any) -> None:
    """Send a password in wire names."""
    authentication = {"type": "Basic", "username": "u", "password": PASSWORD}
    await calls.platform.repositories.update("i-1", "r-1", authentication=authentication)


async def update_webhook(calls: Any) -> None:
    """Send the secret of a webhook."""
    await calls.platform.webhooks.update("w-1", secret=SECRET)


async def get(calls: Any) -> None:
    """Send nothing but the token."""
    if isinstance(calls, PlatformCalls):
        await calls.platform.itwins.get_primary_account()
    else:
        await calls.get()


CALLS = [update_repository, update_repository_from_a_mapping, update_webhook, get]
ENDS: dict[str, tuple[PreparedResponse | bytes, type[BaseException]]] = {
    "deadline": (PreparedResponse(fault="hang"), PlatformError),
    "cancellation": (PreparedResponse(fault="hang"), asyncio.CancelledError),
    "reset": (PreparedResponse(fault="reset"), PlatformError),
    "cut": (PreparedResponse(fault="cut", body=b"x" * 100), PlatformError),
    "malformed": (b"HTTX/9 nonsense\r\n\r\n", PlatformError),
    "rejected": (PreparedResponse(status=422, body=b'{"error": {"code": "c"}}'), PlatformError),
    "not JSON": (PreparedResponse(body=b"<html>"), PlatformError),
    "not an object": (PreparedResponse(body=b"[]"), PlatformError),
    "other bytes": (PreparedResponse(headers={"content-encoding": "gzip"}, body=b"x"), PlatformError),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
@in_every_way
async def test_no_frame_holds_a_secret(way: str, call: Callable[[Any], Awaitable[None]], end: str) -> None:
    """Neither the token nor a secret of a body is in a message, a repr or a local of any error of a call."""
    step, kind = ENDS[end]
    policy = BackoffPolicy(deadline=0.05 if end == "deadline" else 30.0, max_attempts=2, base_delay=0.0)
    async with RawServer(step) as server, opened(way, server.address, backoff=policy) as calls:
        if not isinstance(calls, PlatformCalls) and call is not get:
            pytest.skip("an AsyncClient has no such call")
        task = asyncio.ensure_future(call(calls))
        if end == "cancellation":
            await server.received(1)
            task.cancel()
        with pytest.raises((kind, Exception) if way == "plain" else kind) as caught:
            await task
    text = shown(caught.value)
    assert [line for line in text.splitlines() if "planted" in line] == []
    assert TOKEN not in text


async def test_a_request_of_ones_own_shows_no_token() -> None:
    """The `repr` of what is sent is the method and the address."""
    assert "planted" not in repr(httpx.Request("GET", "http://x/", headers={"Authorization": TOKEN}))


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
