"""A call that closing or a cancellation ends leaves no task, no permit and no connection."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import anyio
import httpx
import pytest
from itwin_platform_transport import (
    AccessToken,
    BackoffPolicy,
    BackoffTransport,
    DeadlineExceededError,
    Gate,
    NotSentError,
    OutcomeUnknownError,
    PlatformError,
    StateError,
    UsageError,
)

from tests.support.event_loops import CountingVirtualLoop, VirtualTimeLoop, cancelled_at_turn
from tests.support.services import ADDRESS, ScriptedTransport, backoff, send


class SlowService(httpx.AsyncBaseTransport):
    """Responds with 429, 503, 401 and 200, with awaits wherever a real transport has them."""

    def __init__(self) -> None:
        self.connections = 0
        self.statuses = [429, 503, 401, 200]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Connect, send, and return the head of the response."""
        await asyncio.sleep(0)
        self.connections += 1
        try:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        except BaseException:
            self.connections -= 1
            raise
        return httpx.Response(self.statuses.pop(0) if self.statuses else 200, stream=SlowBody(self))


class SlowBody(httpx.AsyncByteStream):
    """A body in two pieces. Closing it gives the connection back."""

    def __init__(self, service: SlowService) -> None:
        self._service = service

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in (b"{", b"}"):
            await asyncio.sleep(0)
            yield piece

    async def aclose(self) -> None:
        """Give the connection back."""
        self._service.connections -= 1
        await asyncio.sleep(0)


async def left_by_a_call_that_is_cancelled(turn: int, *, busy: bool) -> bool:
    """Cancel a call in an iteration of the event loop, check that nothing is left, and return whether the call ran."""
    gate, service, asked = Gate(1), SlowService(), 0

    async def token() -> AccessToken:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0)
        return AccessToken(f"t-{asked}", datetime.now(UTC) + timedelta(hours=1))

    transport = BackoffTransport(service, gate=gate, token=token, policy=BackoffPolicy(base_delay=0.1))
    other = asyncio.create_task(send(transport)) if busy else None
    hit = await cancelled_at_turn(send(transport), turn=turn)
    if other is not None:
        assert (await other).status_code == 200
    assert repr(gate).endswith("in_flight=0, waiting=0)")
    assert service.connections == 0
    assert (await send(transport)).status_code == 200
    await transport.aclose()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    return hit


@pytest.mark.parametrize("busy", [False, True])
def test_a_call_can_be_cancelled_at_every_await(busy: bool) -> None:
    """A cancellation in any await leaves nothing: in the gate, the token, the connection, the body and the delays."""
    turn, hit = 0, True
    while hit:
        turn += 1
        with asyncio.Runner(loop_factory=CountingVirtualLoop) as runner:
            hit = runner.run(left_by_a_call_that_is_cancelled(turn, busy=busy))
    assert turn > 20


@pytest.mark.parametrize("turns", range(8))
def test_a_loop_can_end_with_a_call_in_flight(caplog: pytest.LogCaptureFixture, turns: int) -> None:
    """When `asyncio.run` cancels a call at its end, nothing is raised, logged or left open."""
    service = SlowService()

    async def main() -> "asyncio.Task[httpx.Response]":
        call = asyncio.create_task(send(BackoffTransport(service)))
        for _ in range(turns):
            await asyncio.sleep(0)
        return call

    caplog.set_level("ERROR")
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        call = runner.run(main())
    assert (call.cancelled(), service.connections, caplog.text) == (True, 0, "")


class TidyingUp(ScriptedTransport):
    """Takes some seconds to clean up after each request, behind a shield, as the connections of httpx do."""

    seconds = 5.0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send, and clean up."""
        try:
            return await super().handle_async_request(request)
        finally:
            with anyio.CancelScope(shield=True):
                await asyncio.sleep(self.seconds)


@pytest.mark.parametrize("turns", range(6))
@pytest.mark.parametrize("waits_for", ["the gate", "the gate and a slow token", "a token", "its own body"])
async def test_a_call_that_may_continue_as_the_client_closes_sends_nothing(waits_for: str, turns: int) -> None:
    """Closing sends nothing more, in any iteration of the event loop after a permit, a token or a body arrives."""
    comes, gate = asyncio.Event(), Gate(1)

    async def token() -> str:
        await (comes.wait() if waits_for == "a token" else asyncio.sleep(20.0))
        return "t-1"

    async def body() -> AsyncIterator[bytes]:
        yield b"{"
        await comes.wait()
        yield b"}"

    service = TidyingUp(200, latency=5.0)
    service.seconds = 0.0
    provider = token if "token" in waits_for else "t-1"
    transport = BackoffTransport(service, gate=gate, token=provider, policy=BackoffPolicy(deadline=60.0))
    permit = await gate.enter(gate.ticket(), max_wait=0.0, until=None) if "gate" in waits_for else None
    content = body() if waits_for == "its own body" else b"{}"
    call = asyncio.create_task(transport.handle_async_request(httpx.Request("POST", ADDRESS, content=content)))
    await asyncio.sleep(1.0)
    comes.set()
    if permit is not None:
        gate.abandoned(permit)
    for _ in range(turns):
        await asyncio.sleep(0)
    sent = len(service.requests)
    await transport.aclose()
    with pytest.raises(PlatformError, match=r"the client (was|is) closed"):
        await call
    assert len(service.requests) == sent
    assert (service.closed, gate.in_flight, asyncio.get_running_loop().time()) == (True, 0, 1.0)


RETRIED = "closed before a retry; 1 request was sent, and may have had an effect"


@pytest.mark.parametrize(
    ("method", "steps", "closed_at", "error", "message"),
    [
        ("GET", [503], 7.0, StateError, RETRIED),
        ("GET", [503], 35.0, StateError, RETRIED),
        ("PATCH", [httpx.ReadError("x")], 7.0, StateError, RETRIED),
        ("POST", [httpx.ConnectError("x")], 7.0, NotSentError, "the client was closed; nothing was sent"),
        ("POST", [httpx.ConnectError("x"), 429], 47.0, NotSentError, "closed; 1 request was sent, and rejected"),
        ("GET", [503], 37.0, OutcomeUnknownError, "the client was closed; 2 requests were sent"),
    ],
)
async def test_closing_ends_a_call_that_waits_or_is_in_flight(
    method: str, steps: list[int | Exception], closed_at: float, error: type[PlatformError], message: str
) -> None:
    """No request follows, and the error says how many were sent and whether they can have had an effect."""
    service = ScriptedTransport(*steps, 200, latency=5.0)
    transport = backoff(service, policy=BackoffPolicy(base_delay=30.0, max_delay=30.0))
    call = asyncio.create_task(send(transport, method))
    await asyncio.sleep(closed_at)
    sent = len(service.requests)
    await transport.aclose()
    with pytest.raises(error, match=message):
        await call
    assert len(service.requests) == sent


async def test_closing_waits_for_a_call_whose_deadline_has_passed() -> None:
    """The transport is closed once, after a call has cleaned up whose deadline has passed."""
    service, closed = TidyingUp(200, latency=3600.0), list[float]()

    async def aclose() -> None:
        closed.append(asyncio.get_running_loop().time())

    service.aclose = aclose  # type: ignore[method-assign]  # it records the time
    transport = backoff(service, policy=BackoffPolicy(deadline=1.0))
    call = asyncio.create_task(send(transport))
    await asyncio.sleep(2.0)
    await asyncio.gather(transport.aclose(), transport.aclose())
    assert closed == [6.0]
    with pytest.raises(DeadlineExceededError, match="the deadline of 1 s passed"):
        await call


def test_a_client_is_closed_in_its_own_event_loop() -> None:
    """Closing in another event loop is a UsageError and closes nothing; in the loop of the first call it works."""
    service = ScriptedTransport(200)
    transport = backoff(service)
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as own, asyncio.Runner(loop_factory=VirtualTimeLoop) as other:
        assert own.run(send(transport)).status_code == 200
        with pytest.raises(UsageError, match="close a client in the event loop of its first call"):
            other.run(transport.aclose())
        assert not service.closed
        own.run(transport.aclose())
    assert service.closed
