"""Tools that report errors show what the frames of a traceback hold: no frame below a call holds a secret."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from itwin_platform import BackoffPolicy, BasicAuthentication, PlatformError

from tests.support.captured_frames import shown
from tests.support.exchange import PreparedResponse
from tests.support.raw_server import RawServer
from tests.support.six_ways import TOKEN, PlatformCalls, in_six_ways, opened

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
@in_six_ways
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
