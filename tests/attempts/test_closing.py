"""Closing a backoff transport: while a call is let in, while one ends already, and in the wrong event loop."""

import asyncio

import httpx
import pytest
from itwin_platform import (
    BackoffPolicy,
    BackoffTransport,
    DeadlineExceededError,
    Gate,
    NotSentError,
    OutcomeUnknownError,
    TransportError,
    UsageError,
)

from tests.support.scripted_transport import ScriptedTransport, backoff, send
from tests.support.virtual_time import VirtualTimeLoop


async def test_a_call_that_is_let_in_while_the_client_closes_ends_too() -> None:
    """The deadline that starts with its admission does not replace the end that closing has set."""
    gate = Gate(1)
    permit = await gate.enter(gate.ticket(), max_wait=0.0, until=None)
    service = ScriptedTransport(200, latency=5.0)
    transport = backoff(service, gate=gate, policy=BackoffPolicy(deadline=60.0))
    call = asyncio.create_task(send(transport))
    await asyncio.sleep(1.0)
    gate.abandoned(permit)
    await transport.aclose()
    with pytest.raises(TransportError, match="the client was closed"):
        await call
    assert asyncio.get_running_loop().time() == 1.0
    assert service.closed


@pytest.mark.parametrize("method", ["GET", "PATCH"])
@pytest.mark.parametrize("lost", [503, httpx.ReadError("x")])
async def test_a_call_that_waits_for_a_retry_ends_with_a_usage_error(method: str, lost: int | Exception) -> None:
    """The retry is not sent: the error says that the client was closed, and that a request may have had an effect."""
    service = ScriptedTransport(lost, 200)
    transport = backoff(service, policy=BackoffPolicy(base_delay=30.0, max_delay=30.0))
    call = asyncio.create_task(send(transport, method))
    await asyncio.sleep(1.0)
    await transport.aclose()
    with pytest.raises(UsageError, match="closed before a retry; 1 request was sent, and may have had an effect"):
        await call
    assert len(service.requests) == 1


async def test_a_call_that_waits_after_certain_failures_was_not_sent() -> None:
    """No request can have had an effect, so the caller may send it again with another client."""
    transport = backoff(ScriptedTransport(httpx.ConnectError("x"), 200), policy=BackoffPolicy(base_delay=30.0))
    call = asyncio.create_task(send(transport, "POST"))
    await asyncio.sleep(1.0)
    await transport.aclose()
    with pytest.raises(NotSentError, match="the client was closed"):
        await call


async def test_a_call_in_flight_has_an_unknown_outcome() -> None:
    """Its request may arrive although the client was closed."""
    transport = backoff(ScriptedTransport(503, 200, latency=5.0), policy=BackoffPolicy(base_delay=0.5))
    call = asyncio.create_task(send(transport))
    await asyncio.sleep(6.0)
    await transport.aclose()
    with pytest.raises(OutcomeUnknownError, match="the client was closed; 2 requests were sent"):
        await call


async def test_closing_waits_for_a_call_whose_deadline_has_passed() -> None:
    """A call that tidies up after its deadline is not ended again: the transport is closed when it is done."""

    class TidyingUp(ScriptedTransport):
        cancels_cleanly = True  # as a transport of ours: a scope of anyio would cancel the tidying up as well

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            try:
                return await super().handle_async_request(request)
            finally:
                await asyncio.sleep(5.0)

    service = TidyingUp(200, latency=3600.0)
    transport = backoff(service, policy=BackoffPolicy(deadline=1.0))
    call = asyncio.create_task(send(transport))
    await asyncio.sleep(2.0)
    await transport.aclose()
    assert asyncio.get_running_loop().time() == 6.0
    assert service.closed
    with pytest.raises(DeadlineExceededError, match="the deadline of 1 s passed"):
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
