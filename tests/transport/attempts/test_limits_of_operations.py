"""A 429 that stops one operation, and one that stops all: whose limit it was, and what ends a wrong guess."""

import asyncio
from collections.abc import Callable

import httpx
import pytest
from itwin_platform_transport import BackoffPolicy, BackoffTransport, CallInfo, CallResult, Gate, NotSentError, Request

from tests.support.gates import enter, settle
from tests.support.services import Outcome, ReceivedRequest, ScriptedTransport, Step, backoff, now, response

#: The header in which a 429 names the operation that it met.
NAMED = {"ITwinPlatform-RateLimited-Operation": "any"}
Is = Callable[[ReceivedRequest], bool]


def limited(*, retry_after: int = 5, named: bool = True) -> httpx.Response:
    """A 429, which names an operation or does not."""
    return response(429, headers={"retry-after": str(retry_after), **(NAMED if named else {})})


def service(is_limited: Is, *, retry_after: int = 5, named: bool = True) -> ScriptedTransport:
    """A service that limits some requests, and responds to the others after 20 ms."""

    def step(received: ReceivedRequest) -> Step:
        return limited(retry_after=retry_after, named=named) if is_limited(received) else 200

    return ScriptedTransport(step, latency=0.02)


def a_until(seconds: float) -> Is:
    """Operation a is limited until a time."""
    return lambda received: received.target.startswith("/a/") and received.at < seconds


async def call(transport: BackoffTransport, operation: str, *, policy: BackoffPolicy | None = None) -> CallResult:
    """Make a call of an operation."""
    request = Request("GET", httpx.URL(f"https://service.example/{operation}/1"), (), b"", {})
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
    """While others are in use, these go on without a wait, and the operation does after its delay."""
    sent = service(a_until(4.0))
    transport = backoff(sent)
    await times(transport, "b")
    stopped = asyncio.create_task(call(transport, "a"))
    await asyncio.sleep(0.05)
    assert await times(transport, "b", "b", "c") == pytest.approx([0.02] * 3)
    result = await stopped
    assert result.response is not None
    assert result.response.status_code == 200
    assert now() == pytest.approx(5.06, abs=0.03)


@pytest.mark.parametrize(("later", "is_everybodys"), [(3_599.9, True), (3_600.1, False)])
async def test_a_limit_that_two_operations_meet_is_everybodys_for_an_hour(later: float, is_everybodys: bool) -> None:
    """A 429 of another operation, while the first one is stopped: from then on each 429 stops all."""
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
    assert (gate.cooldown_left() > 0) is is_everybodys
    await task


async def test_a_429_that_names_nothing_stops_all_once() -> None:
    """Others succeed after its cooldown, and the operation gets the next 429: from then on that stops it alone."""
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


async def test_alone_an_operation_is_limited_as_everybody() -> None:
    """While no other operation is in use, its limit is learned as any other, though the 429 names it."""
    gate = Gate(random_number=lambda: 0.0)
    task = asyncio.create_task(call(backoff(service(a_until(1.0)), gate=gate), "a"))
    await asyncio.sleep(0.05)
    assert gate.cooldown_left() > 0
    await task


@pytest.mark.parametrize(
    "policy", [BackoffPolicy(max_wait=60.0), BackoffPolicy(max_wait=1e4, deadline=100.0)], ids=["max_wait", "deadline"]
)
async def test_a_stop_that_is_too_long_ends_a_call_at_once(policy: BackoffPolicy) -> None:
    """With the 429 that stopped the operation, and nothing sent; other operations go on."""
    transport = backoff(service(a_until(1e9), retry_after=300))
    await times(transport, "b")
    assert (await call(transport, "a")).attempts == 1
    await asyncio.sleep(10.0)
    began, held_back = now(), await call(transport, "a", policy=policy)
    assert (held_back.is_held_back, held_back.attempts, now()) == (True, 0, began)
    assert held_back.retry_after == pytest.approx(290.0, abs=0.1)
    assert held_back.response is not None
    assert held_back.response.headers["retry-after"] == "300"
    assert await times(transport, "b") == pytest.approx([0.02])


async def test_a_stop_of_hours_is_probed_each_minute() -> None:
    """A hostile delay must not stop an operation for ever; no other call of it is sent meanwhile."""
    sent = service(a_until(100.0), retry_after=100_000)
    transport = backoff(sent)
    await times(transport, "b")
    await call(transport, "a")
    await asyncio.sleep(110.0)
    probes, waits = await asyncio.gather(call(transport, "a"), call(transport, "a"))
    assert (probes.attempts, probes.is_held_back, waits.attempts, waits.is_held_back) == (1, False, 0, True)
    assert await times(transport, "a") == pytest.approx([0.02])


async def test_a_delay_of_years_is_no_reason_to_ask_at_once() -> None:
    """Whoever may wait for days sends one request a minute, as for a shorter delay."""
    sent = service(a_until(1e9), retry_after=1_000_000_000)
    transport = backoff(sent)
    await times(transport, "b")
    patient = asyncio.create_task(call(transport, "a", policy=BackoffPolicy(max_wait=1e9, deadline=None)))
    await asyncio.sleep(150.0)
    assert [received.at for received in sent.requests[1:]] == pytest.approx([0.02, 60.04, 120.06])
    patient.cancel()
    await asyncio.gather(patient, return_exceptions=True)


class Banning:
    """Ten requests a second of operation a; each one more is banned for five seconds, as is each that comes early."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._banned_until = 0.0

    def __call__(self, received: ReceivedRequest) -> bool:
        """Whether it rejects a request."""
        if not received.target.startswith("/a/"):
            return False
        self._times = [at for at in self._times if at > received.at - 1.0]
        if received.at < self._banned_until or len(self._times) >= 10:
            self._banned_until = received.at + 5.0
            return True
        self._times.append(received.at)
        return False


@pytest.mark.parametrize("named", [True, False])
async def test_an_operation_has_a_gate_of_its_own_while_it_is_limited(named: bool) -> None:
    """With cooldowns that grow, a slow start and a learned rate: all calls succeed, with few requests too many."""
    sent = service(Banning(), retry_after=1, named=named)
    transport = backoff(sent, jitter=0.5)
    await times(transport, "b")
    calls = [asyncio.create_task(call(transport, "a")) for _ in range(100)]
    await asyncio.sleep(3.0)
    await times(transport, "b")
    found = [result.response for result in await asyncio.gather(*calls)]
    assert {response.status_code for response in found if response is not None} == {200}
    assert len(sent.requests) < 120


async def test_a_call_that_waits_for_a_permit_learns_of_the_limit() -> None:
    """Its operation was limited since it began to wait: it gives the permit back, and nothing is sent."""
    sent = service(a_until(4.0))
    transport = backoff(sent, gate=Gate(1, random_number=lambda: 0.0))
    await times(transport, "b")
    calls = [asyncio.create_task(call(transport, "a")) for _ in range(3)]
    await asyncio.sleep(1.0)
    assert len(sent.requests) == 2
    await asyncio.gather(*calls)
    assert now() < 6.0


async def test_a_call_that_is_stopped_ends_with_its_time_and_leaves_nothing() -> None:
    """At its deadline with the 429, by a cancel without a trace, and when the client closes."""
    sent = service(a_until(1e9), retry_after=30)
    transport = backoff(sent)
    await times(transport, "b")
    policy = BackoffPolicy(deadline=40.0)
    ended = asyncio.create_task(call(transport, "a", policy=policy))
    cancelled, closed = (asyncio.create_task(call(transport, "a")) for _ in range(2))
    await asyncio.sleep(35.0)
    cancelled.cancel()
    result = await ended
    assert (result.is_held_back or result.response is not None, now() <= 41.0) == (True, True)
    await transport.aclose()
    found = await asyncio.gather(cancelled, closed, return_exceptions=True)
    assert type(found[0]) is asyncio.CancelledError
    assert isinstance(found[1], NotSentError | CallResult)


@pytest.mark.parametrize(("status", "stops_all"), [(200, False), (404, False), (503, False), (None, True)], ids=str)
async def test_only_a_response_of_another_operation_shows_that_it_is_not_limited(
    status: int | None, stops_all: bool
) -> None:
    """Whether a 429 that names no operation stops all again: not after another one got any other response."""
    gate = Gate(random_number=lambda: 0.0)

    def step(received: ReceivedRequest) -> Step:
        if received.target.startswith("/a/"):
            return limited(named=False, retry_after=1)
        return httpx.ReadError("x") if status is None else status

    transport, once = backoff(ScriptedTransport(step, latency=0.02), gate=gate), BackoffPolicy(max_attempts=1)
    stopped = BackoffPolicy(max_wait=0.0)
    await call(transport, "a", policy=stopped)
    await asyncio.sleep(2.0)
    await asyncio.gather(call(transport, "b", policy=once), return_exceptions=True)
    await call(transport, "a", policy=stopped)
    assert (gate.cooldown_left() > 0) is stops_all


async def test_a_429_of_an_operation_opens_and_closes_nothing_for_the_others() -> None:
    """The limit of an operation neither narrows what others may send at once, nor tells a rate for them."""
    transport = backoff(service(a_until(1.0)))
    await times(transport, "b")
    stopped = asyncio.create_task(call(transport, "a"))
    await asyncio.sleep(0.05)
    assert await times(transport, *("b" * 15)) == pytest.approx([0.02] * 15)
    await stopped


@pytest.mark.parametrize("ending", ["unused", "abandoned"])
async def test_without_a_response_a_limited_operation_starts_no_faster(ending: str) -> None:
    """Its slow start lets one request start after another one, as long as none gets a response."""
    gate = Gate(random_number=lambda: 0.0)
    gate.responded(await enter(gate, operation="b"))
    gate.rate_limited(await enter(gate, operation="a"), wait=1.0, is_named=True)
    waiting = [enter(gate, operation="a") for _ in range(3)]
    await asyncio.sleep(1.1)
    for number, task in enumerate(waiting, start=1):
        assert [each.done() for each in waiting].count(True) == number
        {"unused": gate.unused, "abandoned": gate.abandoned}[ending](task.result())
        await settle()
    assert gate.in_flight == 0


async def test_what_holds_a_call_back_is_the_cooldown_that_lasts() -> None:
    """A limit of its operation that is over is not the reason, where that of all goes on."""

    async def late() -> Outcome:
        await asyncio.sleep(0.1)
        return limited(retry_after=5)

    def step(received: ReceivedRequest) -> Step:
        if received.at < 1.0:
            return 200
        return late() if received.target.startswith("/a/") else limited(retry_after=300, named=False)

    transport, at_once = backoff(ScriptedTransport(step)), BackoffPolicy(max_wait=0.0)
    await times(transport, "b")
    await asyncio.sleep(1.0)
    await asyncio.gather(*(call(transport, operation, policy=at_once) for operation in "ab"))
    await asyncio.sleep(10.0)
    held_back = await call(transport, "a")
    assert held_back.response is not None
    assert held_back.response.headers["retry-after"] == "300"
