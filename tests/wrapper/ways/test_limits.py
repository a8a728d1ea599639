"""The limits of a call hold on every way to send: size, memory, time, and what may be seen of the token."""

import gzip
import tracemalloc
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import httpx
import httpx2
import pytest
from itwin_platform import BackoffPolicy, BackoffTransport, PlatformClient

from tests.support.frames import shown
from tests.support.real_time import run_in
from tests.support.services import PreparedResponse, Raw, RawServer, raw_response

TOKEN = "planted-token-of-20-characters"
LIMIT = 2_000_000
#: What a caller passes as `http_client` and as `transport`, by the way that is taken then.
CLIENTS: dict[str, Any] = {"http_client": httpx.AsyncClient, "httpx2 client": httpx2.AsyncClient}
TRANSPORTS: dict[str, Any] = {"transport": httpx.AsyncHTTPTransport, "httpx2 transport": httpx2.AsyncHTTPTransport}
#: 40 MB of zeros.
BOMB = gzip.compress(bytes(40_000_000))


async def failure_of(way: str, address: str, *, deadline: float | None = 30.0) -> BaseException | None:
    """Return the error of a GET; None when it succeeds, which only a way without decoding may do."""
    policy = BackoffPolicy(max_attempts=1, deadline=deadline)
    async with AsyncExitStack() as stack:
        if way == "BackoffTransport":
            transport = BackoffTransport(httpx.AsyncHTTPTransport(), policy=policy, max_response_bytes=LIMIT)
            stack.push_async_callback(transport.aclose)
            request = httpx.Request("GET", address, headers={"Authorization": f"Bearer {TOKEN}"})
            call: Coroutine[Any, Any, object] = transport.handle_async_request(request)
        else:
            platform = PlatformClient(
                address,
                vendor="v",
                token=TOKEN,
                backoff=policy,
                max_response_bytes=LIMIT,
                transport=TRANSPORTS[way]() if way in TRANSPORTS else None,
                http_client=await stack.enter_async_context(CLIENTS[way]()) if way in CLIENTS else None,
            )
            call = (await stack.enter_async_context(platform)).itwins.get_primary_account()
        try:
            await call
        except Exception as error:  # noqa: BLE001  # the limit decides which one
            return error
    return None


async def size(way: str) -> None:
    """More than the limit is rejected, and does not end the reading of a body that does not end."""
    endless = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"fffff\r\n%s\r\n" % bytes(0xFFFFF) * 20
    async with RawServer(Raw(data=raw_response(bytes(LIMIT + 1))), Raw(data=endless)) as server:
        for _ in range(2):
            error = await failure_of(way, server.address)
            assert f"larger than max_response_bytes, {LIMIT} bytes" in str(error)


async def memory(way: str) -> None:
    """A small body that becomes a large one takes three times the limit at most."""
    async with RawServer(raw_response(BOMB, head=b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip")) as server:
        tracemalloc.start()
        try:
            error = await failure_of(way, server.address)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    # It hands on what came, encoded.
    assert way == "BackoffTransport" or f"larger than max_response_bytes, {LIMIT} bytes" in str(error)
    assert peak <= 3 * LIMIT


async def time(way: str) -> None:
    """The deadline ends a call whose response never comes, or never ends."""
    for response in (PreparedResponse(fault="hang"), Raw(data=raw_response(b"{}")[:-1])):
        async with RawServer(response) as server:
            assert "the deadline of 0.1 s passed" in str(await failure_of(way, server.address, deadline=0.1))


async def secrets(way: str) -> None:
    """The token is in no frame and no text of an error, also if the service echoes it."""
    body = b'{"error": {"message": "%s"}}' % TOKEN.encode()
    for head in (b"HTTP/1.1 503 X\r\nx-echo: ", b"HTTP/1.1 422 X\r\nx-echo: "):
        async with RawServer(Raw(data=raw_response(body, head=head + TOKEN.encode()))) as server:
            error = await failure_of(way, server.address)
            assert (error is None) is (way == "BackoffTransport")
            assert error is None or TOKEN not in shown(error)


@pytest.mark.parametrize("way", ["default", "uvloop", *TRANSPORTS, *CLIENTS, "BackoffTransport"])
@pytest.mark.parametrize("limit", [size, memory, time, secrets])
def test_a_limit_holds_on_every_way_to_send(limit: Callable[[str], Coroutine[Any, Any, None]], way: str) -> None:
    """Size, memory, time and secrets, whoever makes the connection."""
    run_in(way, partial(limit, way))
