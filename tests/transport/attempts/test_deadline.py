"""The deadline includes attempts, delays, the gate and the token."""

import asyncio
from collections import Counter
from datetime import timedelta

import httpx
import pytest
from hypothesis import given, settings, strategies as st
from itwin_platform_transport import (
    BackoffPolicy,
    BackoffTransport,
    CallInfo,
    DeadlineExceededError,
    Gate,
    NotSentError,
    OutcomeUnknownError,
    RedisGate,
    Request,
    TransportError,
)
from itwin_platform_transport.gates.window import WaitTooLongError

from measure.promises.limits import FixedWindow
from tests.support.event_loops import VirtualTimeLoop, in_virtual_time
from tests.support.examples import examples
from tests.support.gates import end, enter, settle
from tests.support.redis_clients import PreparedRedis, reply
from tests.support.requests import request_to
from tests.support.services import (
    ADDRESS,
    START,
    PreparedResponse,
    ScriptedTransport,
    backoff,
    now,
    rate_limited,
    send,
    wall_clock,
)

POLICY = BackoffPolicy(deadline=10.0)


async def many(transport: BackoffTransport, count: int, method: str = "GET") -> list[httpx.Response | BaseException]:
    """Send a number of requests at once."""
    return await asyncio.gather(*(send(transport, method) for _ in range(count)), return_exceptions=True)


def kinds(ended: list[httpx.Response | BaseException]) -> Counter[int | type[BaseException]]:
    """Count the statuses and the errors of calls."""
    return Counter(each.status_code if isinstance(each, httpx.Response) else type(each) for each in ended)


async def test_it_ends_an_attempt_that_hangs() -> None:
    """A request without a response ends at the deadline, and its error says that it may have had an effect.

    Its task counts as not cancelled, so that a later `asyncio.timeout` works.
    """
    service = ScriptedTransport(200, latency=3600.0)
    with pytest.raises(DeadlineExceededError, match="GET /things: the deadline of 10 s passed; 1 request") as raised:
        await send(BackoffTransport(service, policy=POLICY, token=lambda: "t-1"))
    assert now() == 10.0
    assert (raised.value.sent, raised.value.attempts, raised.value.retry_at) == (True, 1, None)
    task = asyncio.current_task()
    assert task is not None
    assert (service.in_flight, task.cancelling()) == (0, 0)


async def test_each_of_many_calls_ends_at_its_own_deadline() -> None:
    """A call ends at its own deadline, also while a call with an earlier or a later one is in flight."""
    transport, loop = backoff(ScriptedTransport(200, latency=3600.0)), asyncio.get_running_loop()

    async def seconds_of(deadline: float) -> float:
        with pytest.raises(DeadlineExceededError):
            await transport.send(request_to(ADDRESS), CallInfo("GET", "/things", BackoffPolicy(deadline=deadline)))
        return loop.time()

    assert await asyncio.gather(*map(seconds_of, (20.0, 10.0, 15.0, 10.0))) == [20.0, 10.0, 15.0, 10.0]


async def test_a_cancellation_at_the_deadline_is_no_timeout() -> None:
    """A task that is cancelled at the moment of the deadline ends as cancelled."""
    task = asyncio.create_task(send(backoff(ScriptedTransport(200, latency=3600.0), policy=POLICY)))
    asyncio.get_running_loop().call_at(10.0, task.cancel)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_it_tells_when_a_cooldown_ends_that_another_call_met() -> None:
    """When a call hangs and another one is rate limited, the error of the deadline has the end of the cooldown."""
    service = ScriptedTransport(PreparedResponse(fault="hang"), rate_limited("30"))
    transport = BackoffTransport(service, policy=POLICY, random_number=lambda: 0.0, now=wall_clock)
    hanging, _ = await many(transport, 2)
    assert isinstance(hanging, DeadlineExceededError)
    assert (now(), hanging.retry_at) == (10.0, START + timedelta(seconds=30))


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (BackoffPolicy(max_wait=20.0), "longer than max_wait=20 s"),
        (BackoffPolicy(deadline=10.0), "longer than deadline=10 s allows"),
        (BackoffPolicy(queue_timeout=2.0, deadline=10.0), "longer than deadline=10 s allows"),
    ],
    ids=["wait", "deadline", "queue"],
)
async def test_a_known_cooldown_that_is_too_long_ends_a_call_immediately(policy: BackoffPolicy, message: str) -> None:
    """A call that may not wait for a cooldown sends nothing, and ends with the 429 that started the cooldown."""
    service = ScriptedTransport(rate_limited("30"))
    transport = BackoffTransport(service, policy=policy, random_number=lambda: 0.0, now=wall_clock, gate=Gate(1))
    assert kinds(await many(transport, 3)) == {429: 3}  # also the queued calls
    await asyncio.sleep(1.0)
    result = await transport.send(await Request.of(httpx.Request("GET", ADDRESS)), CallInfo("GET", "/things", policy))
    assert (now(), result.seconds, result.ended_by_cooldown, result.reason) == (1.0, 0.0, True, message)
    assert (result.retry_after, result.retry_at) == (29.0, START + timedelta(seconds=30))
    assert result.response is not None
    assert (result.attempts, result.response.headers["retry-after"], len(service.requests)) == (0, "30", 1)


async def test_an_old_429_is_not_the_reason_of_a_later_cooldown() -> None:
    """A call that a cooldown ends gets the 429 that started it, also one that another client of the gate received.

    If another process received the 429, the call has no response: the error says how much was sent.
    """
    transport = backoff(ScriptedTransport(rate_limited("1"), 200, 503, httpx.ConnectError("x")), gate=(gate := Gate()))
    assert (await send(transport)).status_code == 200
    await asyncio.sleep(60.0)
    assert (await send(backoff(ScriptedTransport(rate_limited("300")), gate=gate))).status_code == 429
    response = await send(transport)
    assert (response.status_code, response.headers["retry-after"], await response.aread()) == (429, "300", b"{}")
    for kind, sent in ((OutcomeUnknownError, "1 request was sent"), (NotSentError, "nothing was sent in 1 attempt")):
        await asyncio.sleep(400.0)
        call = asyncio.create_task(send(transport))
        await asyncio.sleep(0.1)
        gate.rate_limited(await gate.enter(gate.ticket(), max_wait=0.0, until=None), wait=300.0)
        with pytest.raises(kind, match=rf"GET /things: .* 300 s \(longer than max_wait=60 s\); {sent}$") as caught:
            await call
        assert caught.value.attempts == 1


async def test_a_hostile_wait_does_not_stop_the_client_for_ever() -> None:
    """In a cooldown of a million years, one call a minute probes, and its success ends the cooldown."""
    gate, service = Gate(), ScriptedTransport(rate_limited("99999999999999"), 200)
    transport = backoff(service, gate=gate)
    assert (await send(transport)).status_code == 429
    await asyncio.sleep(60.0)
    assert kinds(await many(transport, 2)) == {200: 1, 429: 1}
    assert (await send(transport)).status_code == 200


@pytest.mark.parametrize(("queue_timeout", "deadline"), [(2.0, 9.0), (9.0, 2.0), (2.0, None)])
async def test_the_queue_timeout_ends_a_call_in_the_queue(queue_timeout: float, deadline: float | None) -> None:
    """The error says that nothing was sent. The deadline starts when the gate admits the call."""
    gate, policy = Gate(1), BackoffPolicy(queue_timeout=queue_timeout, deadline=deadline)
    permit = await gate.enter(-1, max_wait=0.0, until=None)
    transport = backoff(ScriptedTransport(PreparedResponse(fault="hang")), policy=policy, gate=gate)
    message = f"GET /things: the queue_timeout of {queue_timeout:g} s passed; nothing was sent"
    with pytest.raises(DeadlineExceededError, match=message) as raised:
        await send(transport)
    assert now() == queue_timeout
    assert (raised.value.attempts, raised.value.sent) == (0, False)
    gate.unused(permit)
    if deadline is not None:
        with pytest.raises(DeadlineExceededError, match=f"the deadline of {deadline:g} s passed; 1 request was sent"):
            await send(transport)
        assert now() == queue_timeout + deadline


async def test_a_deadline_that_passes_in_a_rate_limit_is_a_rate_limit() -> None:
    """A call that only waits after a 429 until its deadline ends with the 429."""
    gate = Gate(1)
    service = ScriptedTransport(rate_limited("1"), 200, latency=0.5)
    transport = backoff(service, gate=gate, policy=BackoffPolicy(deadline=2.0))
    call = asyncio.create_task(send(transport))
    await asyncio.sleep(0.6)
    blocking = asyncio.create_task(gate.enter(-1, max_wait=60.0, until=None))  # it is admitted before the retry
    assert (await call).status_code == 429
    assert (now(), blocking.done(), len(service.requests)) == (2.0, True, 1)


async def test_a_deadline_in_an_attempt_after_a_429_is_a_deadline() -> None:
    """The 429 is not the response to the last request."""
    service = ScriptedTransport(rate_limited("1"), PreparedResponse(fault="hang"))
    with pytest.raises(DeadlineExceededError, match="the deadline of 9 s passed; 2 requests were sent"):
        await send(backoff(service, policy=BackoffPolicy(deadline=9.0)))


@pytest.mark.parametrize("every", [60.1, 1.01])
async def test_no_call_outlives_its_deadline_while_nothing_but_429s_comes(every: float) -> None:
    """With a used-up quota, the time in the queue counts: each call ends with the 429, and the queue does not grow."""
    gate, policy = Gate(), BackoffPolicy(deadline=60.0)
    transport, tasks = backoff(ScriptedTransport(rate_limited("1")), gate=gate, policy=policy, jitter=0.5), []
    for _ in range(40):
        tasks.append(asyncio.create_task(many(transport, 1)))
        await asyncio.sleep(every)
        assert gate.waiting <= 60.0 / every + 1
    last = now() - every
    assert {status for task in tasks for status in kinds(await task)} == {429}
    assert now() - last <= 60.0 + max(every, 0.1)


async def test_a_queue_that_moves_fails_no_call() -> None:
    """While other responses than 429 arrive, no queue of twice the deadline and no busy event loop fails a call."""
    limit, policy = FixedWindow(10, 1.0), BackoffPolicy(deadline=20.0)
    service = ScriptedTransport(lambda received: 200 if limit.accepts(received.at) else rate_limited("1"), latency=0.02)
    ended = kinds(await many(backoff(service, policy=policy, jitter=0.5), 400))
    assert (ended, now() > 2 * 19.0) == ({200: 400}, True)
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop)
    busy = backoff(ScriptedTransport(200), gate=Gate(1), policy=policy, on_event=lambda _: loop.be_busy(21.0))
    assert kinds(await many(busy, 2)) == {200: 2}


@pytest.mark.parametrize(("is_success", "ends_at"), [(True, 15.0), (False, 9.0)], ids=["success", "429"])
async def test_another_response_resets_the_time_in_the_queue(is_success: bool, ends_at: float) -> None:
    """After a success the whole deadline is left. Without one, a call ends as soon as its cooldown is too long."""
    gate = Gate(1, random_number=lambda: 0.0)
    held = await enter(gate)
    first, second, third = (enter(gate) for _ in range(3))
    last = enter(gate, deadline=10.0)
    await settle()
    gate.rate_limited(held, wait=6.0)
    permit = await first
    if is_success:
        gate.responded(permit)
        gate.rate_limited(await second, wait=6.0)
        gate.rate_limited(await third, wait=3.0)
        gate.responded(await last)
    else:
        gate.rate_limited(permit, wait=3.0)
        gate.rate_limited(await second, wait=3.0)
        with pytest.raises(WaitTooLongError, match="lasts 3 s more"):
            await last
    assert now() == ends_at
    await end([third])


async def test_a_call_without_time_left_gets_no_permit() -> None:
    """A permit that becomes free after a 429 goes to a call with time left, and the late call fails."""
    gate = Gate(1, random_number=lambda: 0.0)
    held = await enter(gate)
    hangs, late = enter(gate), enter(gate, deadline=10.0)
    await settle()
    gate.rate_limited(held, wait=1.0)
    permit = await hangs
    await asyncio.sleep(20.0)
    in_time = enter(gate, deadline=10.0)
    await asyncio.sleep(4.0)
    gate.abandoned(permit)
    gate.responded(await in_time)
    with pytest.raises(WaitTooLongError):
        await late


@pytest.mark.parametrize("is_given_up", [True, False], ids=["nothing but 429s", "other responses"])
async def test_the_responses_of_all_processes_count(is_given_up: bool) -> None:
    """A shared gate learns from its server whether any process gets other responses than 429."""
    replies = [reply(cooldown=1.0, rejecting_for=5.0 + second if is_given_up else None) for second in range(200)]
    server = PreparedRedis(steps=[*replies])
    async with RedisGate(server, name="n", random_number=lambda: 0.0) as gate:
        waiting = enter(gate, deadline=30.0)
        await asyncio.wait([waiting], timeout=100.0)
        assert waiting.done() is is_given_up
        if is_given_up:
            assert now() <= 31.0
            with pytest.raises(WaitTooLongError):
                await waiting
        await end([waiting])


steps = st.lists(
    st.sampled_from([503, 429, 502]) | st.builds(rate_limited, st.sampled_from([None, "1", "2.5", "30", "x"])),
    min_size=1,
)


@settings(max_examples=examples(80), deadline=None)
@given(steps, st.floats(0.0, 20.0), st.floats(0.0, 5.0), st.floats(0.0, 1.0), st.sampled_from(["GET", "POST"]))
def test_no_call_lasts_longer(
    script: list[int | httpx.Response], deadline: float, latency: float, jitter: float, method: str
) -> None:
    """Every call ends by the deadline, for any responses and any latency."""

    async def call() -> None:
        service, policy = ScriptedTransport(*script, latency=latency), BackoffPolicy(deadline=deadline)
        transport = backoff(service, policy=policy, jitter=jitter)
        ended = await many(transport, 3, method)
        assert now() <= deadline + 1e-6
        assert all(isinstance(each, httpx.Response | TransportError) for each in ended)

    in_virtual_time(call())


async def test_a_timeout_of_the_application_is_not_the_deadline() -> None:
    """A TimeoutError of a function of the application is raised as it is."""

    def jitter() -> float:
        raise TimeoutError("of the application")

    transport = BackoffTransport(ScriptedTransport(503, 200), random_number=jitter, gate=(gate := Gate()))
    with pytest.raises(TimeoutError, match="of the application"):
        await send(transport)
    assert gate.in_flight == 0
