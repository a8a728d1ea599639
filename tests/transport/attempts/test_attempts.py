"""The attempts of one call: how many the service receives, when, with which permits, and what the caller gets."""

import asyncio
import inspect
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx
import pytest
from itwin_platform import PlatformClient
from itwin_platform_transport import (
    AccessToken,
    BackoffPolicy,
    BackoffTransport,
    CallInfo,
    DeadlineExceededError,
    Gate,
    NotSentError,
    OutcomeUnknownError,
    Request,
    StateError,
    TokenProvider,
    TransportError,
    UsageError,
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
        ("GET", (*[rate_limited("1")] * 10, 200), [float(second) for second in range(11)]),
        ("GET", (rate_limited("61"), 200), [0.0]),
        ("GET", (500, 200), [0.0]),
        ("GET", (404, 200), [0.0]),
    ],
)
async def test_when_the_service_is_asked_again(
    method: str, steps: tuple[int | httpx.Response, ...], times: list[float]
) -> None:
    """Each retry comes when the service said, else after a doubled wait; a POST is not retried after 5xx.

    A 429 uses no attempt, and a wait above max_wait is not begun.
    """
    service = ScriptedTransport(*steps)
    response = await send(backoff(service), method)
    assert service.times == times
    last = steps[len(times) - 1]
    assert response.status_code == (last if isinstance(last, int) else last.status_code)
    assert asyncio.get_running_loop().time() == times[-1]


@pytest.mark.parametrize("began", [0.0, 107.07835250545195])
async def test_a_wait_as_long_as_the_longest_is_begun(began: float) -> None:
    """A `retry-after` of exactly `max_wait` is waited for, whatever the jitter and the rounding of the clock."""
    await asyncio.sleep(began)
    service = ScriptedTransport(rate_limited("60"), 200)
    transport = backoff(service, gate=Gate(1), jitter=1.0)
    responses = await asyncio.gather(*(send(transport) for _ in range(3)))
    assert [response.status_code for response in responses] == [200, 200, 200]
    assert service.times == pytest.approx([0.0, 60.0, 60.0, 60.0])


async def test_jitter_spreads_the_retries() -> None:
    """The random number that is handed in decides how much is added."""
    service = ScriptedTransport(503, rate_limited("10"), 200)
    await send(backoff(service, jitter=1.0))
    assert service.times == pytest.approx([0.0, 0.625, 0.625 + 10.5])


async def test_it_works_in_any_httpx_client_and_closes_what_is_beneath() -> None:
    """`httpx.AsyncClient(transport=BackoffTransport(...))` is all that others need; no gate and no policy are due."""
    service = ScriptedTransport(503, 200)
    async with httpx.AsyncClient(transport=BackoffTransport(service)) as client:
        response = await client.get("https://service.example/", params={"a": "b"})
    assert (response.status_code, len(service.requests), service.closed) == (200, 2, True)


REQUEST = httpx.Request("GET", "https://service.example/")
NOT_CONNECTED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
NOT_SENDABLE = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL)
LOST = (
    *(httpx.ReadError, httpx.ReadTimeout, httpx.WriteError, httpx.WriteTimeout, httpx.CloseError),
    *(httpx.RemoteProtocolError, httpx.ProtocolError, httpx.NetworkError, httpx.TimeoutException),
    *(httpx.TransportError, httpx.DecodingError, httpx.TooManyRedirects, httpx.RequestError, httpx.HTTPError),
    *(httpx.StreamError, httpx.CookieConflict, TimeoutError, ssl.SSLError, ConnectionResetError),
)
LOST_ERRORS = (
    *(httpx.StreamConsumed(), httpx.StreamClosed(), httpx.ResponseNotRead(), httpx.RequestNotRead()),
    httpx.HTTPStatusError("x", request=REQUEST, response=httpx.Response(500, request=REQUEST)),
)
#: Every exception that httpx has, and others of the network, by how often GET and POST send, and the error.
SORTED: list[tuple[Exception, int, int, type[TransportError]]] = [
    *((kind("x"), 7, 7, NotSentError) for kind in NOT_CONNECTED),
    *((kind("x"), 1, 1, NotSentError) for kind in NOT_SENDABLE),
    *((error, 7, 1, OutcomeUnknownError) for error in (*[kind("x") for kind in LOST], *LOST_ERRORS)),
]


def test_no_exception_of_httpx_is_forgotten() -> None:
    """The table above holds each exception class that httpx exports."""
    exported = {kind for _, kind in inspect.getmembers(httpx, inspect.isclass) if issubclass(kind, Exception)}
    assert exported <= {type(error) for error, *_ in SORTED}


@pytest.mark.parametrize(("error", "gets", "posts", "expected"), SORTED, ids=lambda value: type(value).__name__)
async def test_every_exception_is_sorted(error: Exception, gets: int, posts: int, expected: type[Exception]) -> None:
    """Certainly not sent, or outcome unknown; the cause stays, and a POST is retried only in the first case."""
    for method, requests in (("GET", gets), ("POST", posts)):
        service = ScriptedTransport(error)
        with pytest.raises(TransportError) as raised:
            await send(backoff(service), method)
        assert (type(raised.value), raised.value.sent) == (expected, expected is OutcomeUnknownError)
        assert raised.value.attempts == len(service.requests) == requests
        assert raised.value.__cause__ is error
        assert type(error).__name__ in str(raised.value)


@pytest.mark.parametrize(
    ("lost", "expected", "attempts"),
    [
        (httpx.ReadTimeout("x"), OutcomeUnknownError, 1),
        (httpx.ConnectError("x"), NotSentError, 7),
        (PreparedResponse(fault="hang"), DeadlineExceededError, 1),
    ],
)
async def test_the_error_names_the_scene(lost: Outcome, expected: type[TransportError], attempts: int) -> None:
    """A lost scene can be looked for: its id is on the error and in its text, where one was given."""
    scene, service = "6a2d2381-6c57-4332-b87a-5b7c00000001", ScriptedTransport(lost)
    async with PlatformClient("https://service.example", vendor="acme", token="t-1", transport=service) as platform:
        with pytest.raises(expected, match=scene) as raised:
            await platform.scenes.create("i-1", display_name="A", id=scene)
        error = raised.value
        assert (error.scene_id, error.attempts, error.sent) == (scene, attempts, expected is not NotSentError)
        with pytest.raises(expected) as raised:
            await platform.scenes.create("i-1", display_name="A")
        assert raised.value.scene_id is None


class LedgerGate(Gate):
    """Records the tickets that enter, and how each permit ended."""

    def __init__(self, max_in_flight: int = 20) -> None:
        super().__init__(max_in_flight)
        self.tickets: list[int] = []
        self.ended: list[str] = []
        for name in ("responded", "rate_limited", "abandoned", "unused"):
            setattr(self, name, partial(self._end, name))

    async def enter(self, ticket: int, **limits: Any) -> Permit:
        """Note it."""
        self.tickets.append(ticket)
        return await super().enter(ticket, **limits)

    def _end(self, name: str, permit: Permit, **how: Any) -> None:
        self.ended.append(f"{name} {how['wait']}" if "wait" in how else name)
        getattr(super(), name)(permit, **how)


@pytest.mark.parametrize(
    ("step", "ended", "result"),
    [
        (200, ["responded"], httpx.Response),
        (404, ["responded"], httpx.Response),
        (503, ["responded", "responded"], httpx.Response),
        (rate_limited("2"), ["rate_limited 2.0", "responded"], httpx.Response),
        (httpx.ReadError("x"), ["abandoned", "responded"], httpx.Response),
        (PreparedResponse(fault="hang"), ["abandoned"], DeadlineExceededError),
        (KeyError("a bug"), ["abandoned"], KeyError),
    ],
)
async def test_each_permit_ends_once(step: Outcome, ended: list[str], result: type[object]) -> None:
    """Each permit ends once, as responded, rate limited or abandoned, and a call keeps its ticket.

    A bug in a transport is not dressed up as a lost response, and is not retried.
    """
    gate = LedgerGate()
    transport = backoff(ScriptedTransport(step, 200), gate=gate, policy=BackoffPolicy(deadline=9.0))
    found = await asyncio.gather(send(transport), return_exceptions=True)
    assert [type(each) for each in found] == [result]
    assert (gate.ended, set(gate.tickets), gate.in_flight) == (ended, {0}, 0)


async def test_a_gate_that_fails_ends_the_call_without_its_words() -> None:
    """They may hold the password of a server: the error names the class alone."""

    class FailingGate(Gate):
        async def enter(self, ticket: int, **limits: Any) -> Permit:
            raise ValueError("planted")

    with pytest.raises(NotSentError, match=r"the gate failed \(ValueError\)"):
        await send(backoff(ScriptedTransport(200), gate=FailingGate()))


async def test_a_call_whose_token_took_time_keeps_its_place() -> None:
    """It enters again with its ticket, and waits for a cooldown that started meanwhile; then it sends that token."""
    gate, service = LedgerGate(max_in_flight=1), ScriptedTransport(200)

    async def provider() -> str:
        gate.rate_limited(await gate.enter(-1, max_wait=0.0, until=None), wait=6.0)
        return "t-1"

    await asyncio.sleep(10.0)
    await send(BackoffTransport(service, gate=gate, token=provider))
    assert [request.headers["authorization"] for request in service.requests] == ["Bearer t-1"]
    assert service.requests[0].at == pytest.approx(16.0)
    assert (gate.tickets[:3], set(gate.tickets), gate.in_flight) == ([0, -1, 0], {0, -1}, 0)


@pytest.mark.parametrize(
    ("token", "first", "second"),
    [
        ("t-1", ["responded"], ["responded"]),
        (lambda: "t-1", ["unused", "responded"], ["unused", "responded"]),
        (lambda: AccessToken("t-1", expires_in=3600), ["unused", "responded"], ["responded"]),
    ],
)
async def test_a_call_gives_its_permit_back_only_while_its_token_takes_time(
    token: TokenProvider, first: list[str], second: list[str]
) -> None:
    """And not where the token is there: one that is given, or one with an expiry that another call got."""
    gate = LedgerGate()
    transport = BackoffTransport(ScriptedTransport(200), gate=gate, token=token)
    for _ in range(2):
        await send(transport)
    assert gate.ended == [*first, *second]
    assert gate.tickets == [0] * len(first) + [1] * len(second)


@pytest.mark.parametrize(("status", "seconds"), [(299, None), (300, 7.0)])
async def test_only_an_error_names_a_delay(status: int, seconds: float | None) -> None:
    """A success has nothing to wait for."""
    request = Request("GET", httpx.URL("https://service.example/a"), (), b"", {})
    service = ScriptedTransport(response(status, headers={"retry-after": "7"}))
    result = await backoff(service).send(request, CallInfo("GET", "/a", BackoffPolicy()))
    assert (result.response and result.response.status_code, result.retry_after) == (status, seconds)


async def test_after_a_429_and_a_request_more_a_deadline_is_a_deadline() -> None:
    """The 429 is not the response to what was sent last."""
    service = ScriptedTransport(rate_limited("1"), PreparedResponse(fault="hang"))
    with pytest.raises(DeadlineExceededError, match="the deadline of 9 s passed; 2 requests were sent"):
        await send(backoff(service, policy=BackoffPolicy(deadline=9.0)))


async def test_twenty_attempts_are_in_flight_unless_a_gate_is_given() -> None:
    """Twenty as it comes; a gate that is given has the last word."""
    assert repr(Gate(random_number=lambda: 0.0)) == repr(Gate())
    for gate, allowed in ((None, 20), (Gate(7), 7)):
        service = ScriptedTransport(200, latency=1.0)
        transport = BackoffTransport(service, policy=BackoffPolicy(), gate=gate)
        await asyncio.gather(*(send(transport) for _ in range(50)))
        assert service.most_in_flight == allowed


async def test_a_closed_gate_says_so() -> None:
    """Before anything is sent, that is a wrong use; a call that was rate limited was certainly not served."""
    gate = Gate(1)
    transport = backoff(ScriptedTransport(200, rate_limited("2"), 200, latency=1.0), gate=gate)
    calls = [asyncio.create_task(send(transport)) for _ in range(3)]
    await asyncio.sleep(2.5)
    await gate.aclose()
    served, limited, queued = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(served), type(limited), type(queued)] == [httpx.Response, NotSentError, StateError]
    assert all("the gate is closed" in str(error) for error in (limited, queued))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"gate": object()}, "gate must be a Gate or a RedisGate"),
        ({"max_response_bytes": 0}, "max_response_bytes must be an integer of at least 1"),
    ],
)
def test_what_cannot_be_used_is_rejected_where_it_is_passed(settings: dict[str, Any], said: str) -> None:
    """A gate of another class, or a limit that is none."""
    with pytest.raises(UsageError, match=said):
        BackoffTransport(ScriptedTransport(200), **settings)


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


async def test_a_clock_that_fails_leaves_the_gate_as_it_was() -> None:
    """The wall clock is a function of the application; the permit of the call is returned."""
    gate, times = LedgerGate(), iter([datetime(2026, 3, 1, tzinfo=UTC)])
    token = AccessToken("t-1", datetime(2026, 3, 2, tzinfo=UTC))
    transport = BackoffTransport(ScriptedTransport(200), gate=gate, token=lambda: token, now=lambda: next(times))
    found = await asyncio.gather(send(transport), return_exceptions=True)
    assert [type(each) for each in found] == [RuntimeError]  # a coroutine may not raise StopIteration
    assert (gate.ended, gate.in_flight) == (["unused", "unused"], 0)
