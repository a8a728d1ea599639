"""Rate limits of one operation and of all: which operations a 429 stops, and how a wrong guess ends."""

import asyncio
from collections.abc import Callable

import httpx
import pytest
from itwin_platform_transport import BackoffPolicy, BackoffTransport, CallInfo, CallResult, Gate

from tests.support.requests import request_to
from tests.support.services import ReceivedRequest, ScriptedTransport, Step, backoff, now, response

#: The header with which a 429 names its operation.
NAMED = {"ITwinPlatform-RateLimited-Operation": "any"}
Is = Callable[[ReceivedRequest], bool]


def limited(*, retry_after: int = 5, named: bool = True) -> httpx.Response:
    """Return a 429 that names an operation, or none."""
    return response(429, headers={"retry-after": str(retry_after), **(NAMED if named else {})})


def service(is_limited: Is, *, retry_after: int = 5, named: bool = True) -> ScriptedTransport:
    """Return a service that limits some requests, and responds to the others after 20 ms."""

    def step(received: ReceivedRequest) -> Step:
        return limited(retry_after=retry_after, named=named) if is_limited(received) else 200

    return ScriptedTransport(step, latency=0.02)


def a_until(seconds: float) -> Is:
    """Return a condition that limits operation a until a time."""
    return lambda received: received.target.startswith("/a/") and received.at < seconds


async def call(transport: BackoffTransport, operation: str, *, policy: BackoffPolicy | None = None) -> CallResult:
    """Make a call of an operation."""
    request = request_to(f"https://service.example/{operation}/1")
    info = CallInfo(method="GET", route=f"/{operation}/{{id}}", policy=policy or BackoffPolicy())
    return await transport.send(request, info)


async def times(transport: BackoffTransport, *operations: str) -> list[float]:
    """Make calls at once; return how long each took."""

    async def timed(operation: str) -> float:
        began = now()
        assert (await call(transport, operation)).response is not None
        return now() - began

    return await asyncio.gather(*(timed(operation) for operation in operations))


async def test_a_429_that_names_its_operation_stops_that_one() -> None:
    """While others are in use, their calls do not wait, and those of the operation wait for its delay.

    So does another operation that is limited afterwards.
    """
    delays = iter([5, 7, 6, 5])

    def step(received: ReceivedRequest) -> Step:
        is_limited = received.target.startswith("/a/" if received.at < 4.0 else "/c/")
        return limited(retry_after=next(delays)) if is_limited else 200

    transport = backoff(ScriptedTransport(step, latency=0.02), jitter=0.1)
    await times(transport, "b")
    stopped = [asyncio.create_task(call(transport, "a")) for _ in range(3)]
    await asyncio.sleep(0.05)
    assert await times(transport, "b", "b", "c") == pytest.approx([0.02] * 3)
    for result in await asyncio.gather(*stopped):
        assert result.response is not None
        assert result.response.status_code == 200
    assert now() == pytest.approx(7.1, abs=0.05)
    await call(transport, "c", policy=BackoffPolicy(max_wait=0.0))
    assert await times(transport, "b") == pytest.approx([0.02])


@pytest.mark.parametrize(("later", "stops_all"), [(3_599.9, True), (3_600.1, False)])
async def test_a_limit_that_two_operations_meet_stops_all_for_an_hour(later: float, stops_all: bool) -> None:
    """After a 429 of another operation while the first one is stopped, each 429 of an hour stops all."""
    until = [1.0]
    sent = service(lambda received: received.at < until[0])
    gate = Gate(random_number=lambda: 0.0)
    transport = backoff(sent, gate=gate)
    tasks = [asyncio.create_task(call(transport, operation)) for operation in ("b", "a")]
    await asyncio.sleep(0.05)
    assert gate.cooldown_left() > 0
    await asyncio.gather(*tasks)
    await asyncio.sleep(later - now())
    await times(transport, "b")
    until[0] = now() + 0.03
    task = asyncio.create_task(call(transport, "a"))
    await asyncio.sleep(0.05)
    assert (gate.cooldown_left() > 0) is stops_all
    await task


async def test_a_429_that_names_nothing_stops_all_once() -> None:
    """If others succeed after the cooldown and the operation gets the next 429, that 429 stops only the operation."""
    sent, gate = service(a_until(20.0), named=False), Gate(random_number=lambda: 0.0)
    transport = backoff(sent, gate=gate)
    limited_call = asyncio.create_task(call(transport, "a"))
    await asyncio.sleep(0.05)
    assert gate.cooldown_left() > 0
    assert (await times(transport, "b"))[0] == pytest.approx(4.99, abs=0.05)  # before the call that was there first
    await asyncio.sleep(0.1)
    assert gate.cooldown_left() == 0
    assert await times(transport, "b", "b") == pytest.approx([0.02] * 2)
    await limited_call
    assert 20.0 < now() < 26.0


@pytest.mark.parametrize(
    "policy", [BackoffPolicy(max_wait=60.0), BackoffPolicy(max_wait=1e4, deadline=100.0)], ids=["max_wait", "deadline"]
)
async def test_a_cooldown_of_an_operation_that_is_too_long_ends_a_call_immediately(policy: BackoffPolicy) -> None:
    """The call sends nothing, and ends with the 429 that stopped the operation; other operations continue."""
    transport = backoff(service(a_until(1e9), retry_after=300))
    await times(transport, "b")
    assert (await call(transport, "a")).attempts == 1
    await asyncio.sleep(10.0)
    began, held_back = now(), await call(transport, "a", policy=policy)
    assert (held_back.ended_by_cooldown, held_back.attempts, now()) == (True, 0, began)
    assert held_back.retry_after == pytest.approx(290.0, abs=0.1)
    assert held_back.response is not None
    assert held_back.response.headers["retry-after"] == "300"
    assert await times(transport, "b") == pytest.approx([0.02])


async def test_a_cooldown_of_an_operation_is_probed_each_minute() -> None:
    """A hostile delay does not stop an operation for ever: one call a minute probes, and no other is sent."""
    sent = service(a_until(100.0), retry_after=100_000)
    transport = backoff(sent)
    await times(transport, "b")
    await call(transport, "a")
    await asyncio.sleep(110.0)
    probes, waits = await asyncio.gather(call(transport, "a"), call(transport, "a"))
    assert (probes.attempts, probes.ended_by_cooldown, waits.attempts, waits.ended_by_cooldown) == (1, False, 0, True)
    assert await times(transport, "a") == pytest.approx([0.02])


@pytest.mark.parametrize(
    ("operation", "status", "stops_all"),
    [("b", 200, False), ("b", 404, False), ("b", 503, False), ("b", None, True), ("a", 200, True)],
)
async def test_only_a_response_of_another_operation_shows_that_it_is_not_limited(
    operation: str, status: int | None, stops_all: bool
) -> None:
    """After any other response of another operation, a 429 that names no operation does not stop all again."""
    gate = Gate(random_number=lambda: 0.0)

    def step(received: ReceivedRequest) -> Step:
        if received.target.startswith("/a/") and not 2.0 < received.at < 2.03:
            return limited(named=False, retry_after=1)
        return httpx.ReadError("x") if status is None else status

    transport, once = backoff(ScriptedTransport(step, latency=0.02), gate=gate), BackoffPolicy(max_attempts=1)
    stopped = BackoffPolicy(max_wait=0.0)
    await call(transport, "a", policy=stopped)
    await asyncio.sleep(2.0)
    await asyncio.gather(call(transport, operation, policy=once), return_exceptions=True)
    await call(transport, "a", policy=stopped)
    assert (gate.cooldown_left() > 0) is stops_all
