"""The attempts of one call: their number, times and permits, and the result of the call."""

import asyncio
import ssl
import weakref
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

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
    ResponseDecodeError,
    ServiceHeaders,
    StateError,
    TransportError,
)
from itwin_platform_transport.gates.window import Permit

from tests.support.services import Outcome, PreparedResponse, ScriptedTransport, backoff, rate_limited, response, send


@pytest.mark.parametrize(
    ("method", "steps", "times"),
    [
        ("GET", (200,), [0.0]),
        ("GET", (503, 503, 200), [0.0, 0.5, 1.5]),
        ("PATCH", (502, 504, 200), [0.0, 0.5, 1.5]),
        ("GET", (503,) * 7, [0.0, 0.5, 1.5, 3.5, 7.5, 12.5, 17.5]),
        ("POST", (503, 200), [0.0]),
        ("POST", (rate_limited("3"), 201), [0.0, 3.0]),
        ("POST", (rate_limited(), rate_limited(), 201), [0.0, 0.5, 1.5]),
        ("GET", (rate_limited("3"), 503, rate_limited("0.5"), 200), [0.0, 3.0, 4.0, 4.5]),
        ("GET", (response(503, headers={"retry-after": "7"}), 200), [0.0, 7.0]),
        ("GET", (response(503, headers={"retry-after": "soon"}), 200), [0.0, 0.5]),
        ("GET", (*[response(503, headers={"retry-after": "60"})] * 2, 200), [0.0, 60.0]),
        ("GET", (*[rate_limited("1")] * 10, 200), [float(second) for second in range(11)]),
        ("GET", (rate_limited("61"), 200), [0.0]),
        ("GET", (500, 200), [0.0]),
        ("GET", (404, 200), [0.0]),
    ],
)
async def test_the_times_of_retries(method: str, steps: tuple[int | httpx.Response, ...], times: list[float]) -> None:
    """A retry comes after the delay that the service names, else after a doubled delay; after 5xx no POST is retried.

    A 429 uses no attempt. If the delay would exceed `max_wait` or the deadline, the call ends immediately.
    """
    service = ScriptedTransport(*steps)
    response = await send(backoff(service), method)
    assert service.times == times
    last = steps[len(times) - 1]
    assert response.status_code == (last if isinstance(last, int) else last.status_code)
    assert asyncio.get_running_loop().time() == times[-1]


@pytest.mark.parametrize("began", [0.0, 107.07835250545195])
async def test_a_delay_of_exactly_max_wait_is_waited_for(began: float) -> None:
    """Neither jitter nor the rounding of the clock makes a `retry-after` of `max_wait` too long."""
    await asyncio.sleep(began)
    service = ScriptedTransport(rate_limited("60"), 200)
    transport = backoff(service, gate=Gate(1), jitter=1.0)
    responses = await asyncio.gather(*(send(transport) for _ in range(3)))
    assert [response.status_code for response in responses] == [200, 200, 200]
    assert service.times == pytest.approx([0.0, 60.0, 60.0, 60.0])


async def test_jitter_spreads_the_retries() -> None:
    """The `random_number` of the transport decides how much jitter is added to a delay."""
    service = ScriptedTransport(503, rate_limited("2"), rate_limited("30"), 200)
    await send(backoff(service, gate=Gate(random_number=lambda: 0.0), jitter=1.0))
    assert service.times == pytest.approx([0.0, 0.625, 0.625 + 2.1, 0.625 + 2.1 + 30.5])


NOT_CONNECTED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
NOT_SENDABLE = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL)
LOST = (
    *(httpx.ReadError, httpx.ReadTimeout, httpx.WriteError, httpx.WriteTimeout, httpx.RemoteProtocolError),
    *(httpx.DecodingError, httpx.StreamError, httpx.CookieConflict, TimeoutError, ssl.SSLError, ConnectionResetError),
)
#: An exception of a transport, the attempts of a GET and of a POST, and the error.
SORTED: list[tuple[Exception, int, int, type[TransportError]]] = [
    *((kind("x"), 7, 7, NotSentError) for kind in NOT_CONNECTED),
    *((kind("x"), 1, 1, NotSentError) for kind in NOT_SENDABLE),
    *((kind("x"), 7, 1, OutcomeUnknownError) for kind in LOST),
]


@pytest.mark.parametrize(("error", "gets", "posts", "expected"), SORTED, ids=lambda value: type(value).__name__)
async def test_an_exception_tells_whether_there_may_be_an_effect(
    error: Exception, gets: int, posts: int, expected: type[Exception]
) -> None:
    """The request was certainly not sent, or its outcome is unknown. A POST is retried only in the first case."""
    for method, requests in (("GET", gets), ("POST", posts)):
        service = ScriptedTransport(error)
        with pytest.raises(TransportError) as raised:
            await send(backoff(service), method)
        assert (type(raised.value), raised.value.sent) == (expected, expected is OutcomeUnknownError)
        assert raised.value.attempts == len(service.requests) == requests
        assert raised.value.__cause__ is error
        assert type(error).__name__ in str(raised.value)


SENT_ONCE = "no response from https://service.example after 1 attempt; the request may have had an effect"


@pytest.mark.parametrize(
    ("method", "script", "kind", "message"),
    [
        ("POST", [httpx.LocalProtocolError], NotSentError, "the request cannot be sent as HTTP; nothing was sent"),
        ("POST", [429, httpx.ConnectError], NotSentError, "could not connect .* after 3 attempts; .* had no effect"),
        ("POST", [httpx.ReadError], OutcomeUnknownError, f"{SENT_ONCE} .ReadError; POST is not idempotent"),
        ("GET", [503, httpx.ConnectError], OutcomeUnknownError, ".* may have had an effect .*max_attempts=2 reached"),
    ],
)
async def test_a_call_without_a_response_says_what_happened(
    method: str, script: list[Any], kind: type[PlatformError], message: str
) -> None:
    """The error names the failure and a possible effect, without the text of the exception: it may be confidential."""
    steps = [each if isinstance(each, int) else each("planted") for each in script]
    transport = backoff(ScriptedTransport(*steps), policy=BackoffPolicy(max_attempts=2, base_delay=0.0))
    with pytest.raises(kind, match=f"{method} /things: {message}") as raised:
        await send(transport, method)
    assert "planted" not in str(raised.value)


async def test_a_success_that_is_too_large_is_an_error_without_the_token() -> None:
    """The error keeps the first 64 KiB of the body, and the correlation id, whose header the application names."""
    token, content = "planted-token-of-a-call", b"\xe9 planted-token-of-a-call " + b"x" * 100_000
    service = ScriptedTransport(503, *(response(each, headers={"x-id": "c-1"}, content=content) for each in (299, 300)))
    headers = ServiceHeaders(correlation_id="x-id")
    transport = BackoffTransport(service, token=token, headers=headers, max_response_bytes=80_000)
    with pytest.raises(ResponseDecodeError, match=r"larger than max_response_bytes, 80000 bytes.*id c-1") as raised:
        await send(transport)
    kept = raised.value.body
    assert (raised.value.attempts, raised.value.correlation_id) == (2, "c-1")
    assert (kept[:13], len(kept)) == (b"\xe9 [redacted] ", 65_536 - len(token) + 10)
    assert (await send(transport)).status_code == 300


@pytest.mark.parametrize(
    ("step", "result"),
    [
        (404, httpx.Response),
        (rate_limited("2"), httpx.Response),
        (httpx.ReadError("x"), httpx.Response),
        (PreparedResponse(fault="hang"), DeadlineExceededError),
        (KeyError("a bug"), KeyError),
    ],
)
async def test_however_an_attempt_ends_its_permit_is_free_again(step: Outcome, result: type[object]) -> None:
    """The permit is free after any end. A bug in a transport is raised as it is, and not retried."""
    gate = Gate(1)
    transport = backoff(ScriptedTransport(step, 200), gate=gate, policy=BackoffPolicy(deadline=9.0))
    (found,) = await asyncio.gather(send(transport), return_exceptions=True)
    assert (type(found), gate.in_flight) == (result, 0)
    assert (await send(transport)).status_code == 200


async def test_a_gate_that_fails_ends_the_call_without_its_words() -> None:
    """The error names only the class of the exception, whose text may hold the password of a server."""

    class FailingGate(Gate):
        async def enter(self, ticket: int, **limits: Any) -> Permit:
            raise ValueError("planted")

    with pytest.raises(NotSentError, match=r"the gate failed \(ValueError\)"):
        await send(backoff(ScriptedTransport(200), gate=FailingGate()))


async def test_a_call_whose_token_took_time_keeps_its_place() -> None:
    """A call that waits for a token holds no permit, and then comes before later calls, after any cooldown."""

    async def provider() -> str:
        await asyncio.sleep(1.0)
        return "slow"

    gate, service = Gate(1), ScriptedTransport(rate_limited("6"), 200, latency=0.5)
    slow, quick = (BackoffTransport(service, gate=gate, token=token) for token in (provider, "quick"))
    await asyncio.gather(send(slow), send(quick), send(quick))
    assert [request.headers["authorization"][7:] for request in service.requests] == ["quick", "slow", "quick", "quick"]
    assert service.times[1] >= 6.0


async def test_twenty_attempts_are_in_flight_unless_a_gate_is_given() -> None:
    """The default is twenty attempts, and the limit of a `gate=` overrides the policy."""
    for gate, allowed in ((None, 20), (Gate(7), 7)):
        service = ScriptedTransport(200, latency=1.0)
        transport = BackoffTransport(service, policy=BackoffPolicy(), gate=gate)
        await asyncio.gather(*(send(transport) for _ in range(50)))
        assert service.most_in_flight == allowed


async def test_a_closed_gate_says_so() -> None:
    """A closed gate is a StateError before anything was sent, and a NotSentError after a 429."""
    gate = Gate(1)
    transport = backoff(ScriptedTransport(200, rate_limited("2"), 200, latency=1.0), gate=gate)
    calls = [asyncio.create_task(send(transport)) for _ in range(3)]
    await asyncio.sleep(2.5)
    await gate.aclose()
    served, limited, queued = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(served), type(limited), type(queued)] == [httpx.Response, NotSentError, StateError]
    with pytest.raises(StateError, match="the gate is closed"):
        await send(transport)
    assert all("the gate is closed" in str(error) for error in (limited, queued))
    assert (gate.in_flight, gate.waiting) == (0, 0)


async def test_a_cooldown_starts_before_the_body_of_its_429() -> None:
    """A 429 starts its cooldown when its head has arrived, so no call starts while its body is read."""

    async def slow_body() -> AsyncIterator[bytes]:
        await asyncio.sleep(10.0)
        yield b"{}"

    gate = Gate(random_number=lambda: 0.0)
    service = ScriptedTransport(httpx.Response(429, headers={"retry-after": "30"}, content=slow_body()), 200, 200)
    transport = backoff(service, gate=gate)
    first = asyncio.create_task(send(transport))
    await asyncio.sleep(1.0)
    assert gate.cooldown_left() == pytest.approx(29.0)
    assert (await send(transport)).status_code == (await first).status_code == 200
    assert [at >= 30.0 for at in service.times] == [False, True, True]


async def test_a_failed_call_is_not_kept_in_memory() -> None:
    """Its task is freed without the garbage collector: no frame of its error refers to it."""
    transport = backoff(ScriptedTransport(httpx.ReadError("x")), policy=BackoffPolicy(max_attempts=1))
    task = asyncio.create_task(send(transport))
    kept = weakref.ref(task)
    await asyncio.wait([task])
    assert isinstance(task.exception(), OutcomeUnknownError)
    del task
    assert kept() is None


async def test_a_clock_that_fails_leaves_the_gate_as_it_was() -> None:
    """When the wall clock of the application raises, the permit of the call is returned."""
    gate, times = Gate(), iter([datetime(2026, 3, 1, tzinfo=UTC)])
    token = AccessToken("t-1", datetime(2026, 3, 2, tzinfo=UTC))
    transport = BackoffTransport(ScriptedTransport(200), gate=gate, token=lambda: token, now=lambda: next(times))
    with pytest.raises(RuntimeError):  # a coroutine may not raise StopIteration
        await send(transport)
    assert gate.in_flight == 0
