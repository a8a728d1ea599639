"""Connections end, stall and are cancelled: each way of sending behaves alike."""

import asyncio
import socket
import time
from typing import Any

import httpx
import pytest
from itwin_platform import BackoffPolicy, OutcomeUnknownError, TransportError, UsageError

from tests.support.every_way import in_every_way, opened
from tests.support.exchange import PreparedResponse, ReceivedRequest
from tests.support.raw_server import Raw, RawServer, either_response
from tests.support.real_time import LONGEST


@in_every_way
async def test_a_connection_that_was_closed_is_not_used(way: str) -> None:
    """When the server silently closes after each response, every POST still succeeds at its first attempt."""

    def closing(request: ReceivedRequest) -> Raw:
        return Raw(data=either_response(request), closes=True)

    once = BackoffPolicy(max_attempts=1)
    async with RawServer(closing) as server, opened(way, server.address, backoff=once) as calls:
        for _ in range(20):
            await calls.post()
        for _ in range(5):
            await calls.get()
        assert len(server.requests) == 25


@in_every_way
async def test_a_connection_that_was_closed_while_the_program_was_busy_is_not_used(way: str) -> None:
    """A close that the event loop has not seen yet is noticed before the next request."""
    async with (
        RawServer(either_response) as server,
        opened(way, server.address, backoff=BackoffPolicy(max_attempts=1)) as calls,
    ):
        for _ in range(5):
            await calls.get()
            server.close_connections()
            # The server has closed by the next iteration of the loop; the client has not looked at its end yet.
            await asyncio.sleep(0)
            assert await calls.post() == "d-1"
        assert len(server.requests) == 10


@in_every_way
async def test_a_connection_that_was_idle_for_too_long_is_not_used(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection is used again within 5 seconds, and not after a longer pause."""
    if way == "uvloop":
        pytest.skip("uvloop has a clock of its own")
    async with RawServer(either_response) as server, opened(way, server.address) as calls:
        for pause, connections in ((0.0, 1), (4.0, 1), (6.0, 2)):
            forward(monkeypatch, seconds=pause)
            assert await calls.post() == "d-1"
            assert server.connections_accepted == connections


def forward(monkeypatch: pytest.MonkeyPatch, *, seconds: float) -> None:
    """Put the clocks of the event loop and of httpcore forward."""
    clock = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: clock() + seconds)


@in_every_way
async def test_writing_has_a_time_limit(way: str) -> None:
    """An attempt to a peer that never reads fails after the `write` timeout, and leaves no socket open."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        timeout = httpx.Timeout(60.0, write=0.05)
        async with opened(way, f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=timeout) as calls:
            with pytest.raises(OutcomeUnknownError, match="WriteTimeout"):
                await post_large(calls)
        peer, _ = silent.accept()
        with peer:
            peer.settimeout(LONGEST)
            while peer.recv(1_000_000):
                pass  # as long as the socket is open, nothing says that this was all


async def post_large(calls: Any) -> None:
    """Send more than the buffers of a connection hold."""
    platform = getattr(calls, "platform", None)
    client: httpx.AsyncClient = calls.client if platform is None else platform.generated.get_async_httpx_client()
    await client.post("/reality-analysis/x", content=b"x" * 10_000_000)


@in_every_way
async def test_closing_ends_calls_that_wait(way: str) -> None:
    """Closing ends calls in flight, at the gate and before a retry, and nothing is sent afterwards."""
    policy = BackoffPolicy(base_delay=30.0, max_in_flight=1, max_wait=60.0)
    async with RawServer(PreparedResponse(status=503), Raw(data=b"")) as server:
        async with opened(way, server.address, backoff=policy, timeout=60.0) as calls:
            waiting = [asyncio.create_task(calls.get()) for _ in range(3)]
            await server.received(2)
            await close(calls)
            ended = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(error, TransportError | UsageError) for error in ended), ended
        await asyncio.sleep(0.02)
        await server.quiet()
        assert len(server.requests) == 2


async def close(calls: Any) -> None:
    """Close the client."""
    platform = getattr(calls, "platform", None)
    await (platform or calls.client).aclose()


@in_every_way
async def test_a_client_belongs_to_one_event_loop(way: str) -> None:
    """A call from another event loop raises UsageError, and calls from the first loop still work."""
    async with RawServer(either_response) as server, opened(way, server.address) as calls:
        await calls.get()

        def elsewhere() -> None:
            asyncio.run(calls.get())

        with pytest.raises(UsageError, match="event loop"):
            await asyncio.to_thread(elsewhere)
        assert await calls.post() == "d-1"


@in_every_way
async def test_a_cancelled_call_leaves_no_connection_behind(way: str) -> None:
    """The connection of a cancelled call is closed, and the next call gets another one."""
    async with (
        RawServer(PreparedResponse(fault="hang"), either_response) as server,
        opened(way, server.address) as calls,
    ):
        call = asyncio.create_task(calls.get())
        await server.received(1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await calls.post() == "d-1"


@in_every_way
async def test_the_pool_limit_does_not_end_connecting(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow address lookup is limited by the `connect` timeout, not by `pool`."""
    if way == "uvloop":
        pytest.skip("uvloop resolves addresses itself")
    found = socket.getaddrinfo

    def slow(*arguments: Any, **others: Any) -> Any:
        time.sleep(0.06)
        return found(*arguments, **others)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    timeout = httpx.Timeout(60.0, pool=0.02)
    async with (
        RawServer(either_response) as server,
        opened(way, f"http://localhost:{server.port}", timeout=timeout, backoff=BackoffPolicy(max_attempts=1)) as calls,
    ):
        assert await calls.post() == "d-1"
