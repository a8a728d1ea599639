"""Closing a backoff transport: while a call is let in, while one ends already, and in the wrong event loop."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from itwin_platform import (
    BackoffPolicy,
    BackoffTransport,
    DeadlineExceededError,
    Gate,
    NotSentError,
    OutcomeUnknownError,
    PlatformError,
    StateError,
    TransportError,
    UsageError,
)

from tests.support.faces import TokenAuth
from tests.support.scripted_transport import ADDRESS, ScriptedTransport, backoff, send
from tests.support.virtual_time import VirtualTimeLoop


class Recording(ScriptedTransport):
    """Notes for each request whether the client was being closed when it came."""

    cancels_cleanly = True  # so that a request is sent in the turn in which that is decided

    def __init__(self) -> None:
        super().__init__(200, latency=5.0)
        self.is_closing = False
        self.came_late: list[bool] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Note it."""
        self.came_late.append(self.is_closing)
        return await super().handle_async_request(request)


@pytest.mark.parametrize("turns", range(6))
@pytest.mark.parametrize("waits_for", ["the gate", "a token", "its own body"])
async def test_a_call_that_may_continue_as_the_client_closes_sends_nothing(waits_for: str, turns: int) -> None:
    """Closing sends nothing more, in whichever turn of the event loop a permit, a token or the body's rest comes."""
    comes, gate, service = asyncio.Event(), Gate(1), Recording()

    async def token() -> str:
        await comes.wait()
        return "t-1"

    async def body() -> AsyncIterator[bytes]:
        yield b"{"
        await comes.wait()
        yield b"}"

    auth = TokenAuth(token if waits_for == "a token" else "t-1")
    transport = BackoffTransport(service, gate=gate, auth=auth, policy=BackoffPolicy(deadline=60.0))
    permit = await gate.enter(gate.ticket(), max_wait=0.0, until=None) if waits_for == "the gate" else None
    content = body() if waits_for == "its own body" else b"{}"
    call = asyncio.create_task(transport.handle_async_request(httpx.Request("POST", ADDRESS, content=content)))
    await asyncio.sleep(1.0)
    comes.set()
    if permit is not None:
        gate.abandoned(permit)
    for _ in range(turns):
        await asyncio.sleep(0)
    service.is_closing = True
    await transport.aclose()
    with pytest.raises(PlatformError, match=r"the client (was|is) closed"):
        await call
    assert not any(service.came_late)
    assert (service.closed, gate.in_flight, asyncio.get_running_loop().time()) == (True, 0, 1.0)


class TidyingUp(ScriptedTransport):
    """Takes five seconds to tidy up after a request that was cancelled."""

    cancels_cleanly = True  # as a transport of ours: a scope of anyio would cancel the tidying up as well

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Tidy up."""
        try:
            return await super().handle_async_request(request)
        finally:
            await asyncio.sleep(5.0)


RETRIED = "closed before a retry; 1 request was sent, and may have had an effect"


@pytest.mark.parametrize(
    ("method", "steps", "closed_at", "error", "said"),
    [
        ("GET", (503, 200), 7.0, StateError, RETRIED),
        ("PATCH", (503, 200), 7.0, StateError, RETRIED),
        ("GET", (httpx.ReadError("x"), 200), 7.0, StateError, RETRIED),
        ("PATCH", (httpx.ReadError("x"), 200), 7.0, StateError, RETRIED),
        ("POST", (httpx.ConnectError("x"), 200), 7.0, NotSentError, "the client was closed"),
        ("GET", (503, 200), 37.0, OutcomeUnknownError, "the client was closed; 2 requests were sent"),
    ],
)
async def test_closing_ends_a_call_that_waits_or_is_in_flight(
    method: str, steps: tuple[int | Exception, ...], closed_at: float, error: type[PlatformError], said: str
) -> None:
    """Nothing is sent any more, and the error says whether a request can have had an effect."""
    service = ScriptedTransport(*steps, latency=5.0)
    transport = backoff(service, policy=BackoffPolicy(base_delay=30.0, max_delay=30.0))
    call = asyncio.create_task(send(transport, method))
    await asyncio.sleep(closed_at)
    sent = len(service.requests)
    await transport.aclose()
    with pytest.raises(error, match=said):
        await call
    assert len(service.requests) == sent


async def test_closing_waits_for_a_call_whose_deadline_has_passed() -> None:
    """A call that tidies up after its deadline is not ended again: the transport is closed when it is done."""
    service = TidyingUp(200, latency=3600.0)
    transport = backoff(service, policy=BackoffPolicy(deadline=1.0))
    call = asyncio.create_task(send(transport))
    await asyncio.sleep(2.0)
    await transport.aclose()
    assert asyncio.get_running_loop().time() == 6.0
    assert service.closed
    with pytest.raises(DeadlineExceededError, match="the deadline of 1 s passed"):
        await call


async def test_closing_that_is_cancelled_closes_the_transport_too() -> None:
    """An application may limit how long closing waits for calls; the connections are closed all the same."""
    service = TidyingUp(200, latency=3600.0)
    transport = backoff(service)
    call = asyncio.create_task(send(transport))
    await asyncio.sleep(1.0)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1.0):
            await transport.aclose()
    assert service.closed
    with pytest.raises(TransportError, match="the client was closed"):
        await call


async def test_a_deadline_that_has_just_passed_came_before_closing() -> None:
    """The event loop was busy when the deadline passed, and the program closes the client before the loop looks."""
    transport = backoff(ScriptedTransport(200, latency=3600.0), policy=BackoffPolicy(deadline=1.0))
    call = asyncio.create_task(send(transport))
    await asyncio.sleep(0.5)
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop)
    loop.be_busy(1.0)
    await transport.aclose()
    with pytest.raises(DeadlineExceededError):
        await call


async def test_a_client_that_closes_leaves_a_shared_gate_to_the_others() -> None:
    """Its calls in flight and in the queue give their permits and places back at once, and the gate stays open."""
    gate = Gate(2)
    closing = backoff(ScriptedTransport(200, latency=3600.0), gate=gate)
    other = backoff(ScriptedTransport(200, latency=1.0), gate=gate)
    ended = [asyncio.create_task(send(closing)) for _ in range(6)]
    await asyncio.sleep(1.0)
    calls = [asyncio.create_task(send(other)) for _ in range(4)]
    await asyncio.sleep(1.0)
    await closing.aclose()
    assert {type(each) for each in await asyncio.gather(*ended, return_exceptions=True)} == {
        NotSentError,
        OutcomeUnknownError,
    }
    assert [(await call).status_code for call in calls] == [200] * 4
    assert (asyncio.get_running_loop().time(), gate.in_flight) == (4.0, 0)


async def test_a_timeout_of_the_application_is_not_the_deadline() -> None:
    """A TimeoutError that a function of the application raises comes out as it is."""

    def jitter() -> float:
        raise TimeoutError("of the application")

    transport = BackoffTransport(ScriptedTransport(503, 200), random_number=jitter)
    with pytest.raises(TimeoutError, match="of the application"):
        await send(transport)


def test_a_client_is_closed_in_its_own_event_loop() -> None:
    """Elsewhere closing is a UsageError that closes nothing; in the loop of the first call it still works."""
    service = ScriptedTransport(200)
    transport = backoff(service)
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as own, asyncio.Runner(loop_factory=VirtualTimeLoop) as other:
        assert own.run(send(transport)).status_code == 200
        with pytest.raises(UsageError, match="close a client in the event loop of its first call"):
            other.run(transport.aclose())
        assert not service.closed
        own.run(transport.aclose())
    assert service.closed
