"""Connections end, stall and are cancelled: each way of sending behaves alike."""

import asyncio
import socket
import time
from typing import Any

import httpx
import pytest
from itwin_platform import BackoffPolicy, NotSentError, OutcomeUnknownError, TransportError, UsageError

from tests.support.every_way import in_every_way, opened
from tests.support.exchange import PreparedResponse
from tests.support.raw_server import DETECTOR, Raw, RawServer, either_response, raw_response


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


@pytest.mark.parametrize("read", [0, 20, -1], ids=["nothing", "half a head", "half a body"])
@pytest.mark.parametrize("resets", [False, True], ids=["closed", "reset"])
@in_every_way
async def test_a_post_whose_response_is_lost_is_sent_once(way: str, read: int, resets: bool) -> None:
    """A connection that breaks under a POST is never taken for one that was not made."""
    response = Raw(data=raw_response(DETECTOR)[:read], closes=True, resets=resets)
    async with RawServer(response) as server, opened(way, server.address) as calls:
        with pytest.raises(OutcomeUnknownError):
            await calls.post()
        assert len(server.requests) == 1


@in_every_way
async def test_a_post_without_a_server_was_not_sent(way: str) -> None:
    """Where nothing listens, the error says that the request certainly had no effect."""
    # What is bound and does not listen refuses connections, and nobody else gets its port.
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        async with opened(way, f"http://127.0.0.1:{bound.getsockname()[1]}") as calls:
            with pytest.raises(NotSentError):
                await calls.post()


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
