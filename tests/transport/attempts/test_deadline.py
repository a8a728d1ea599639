"""The deadline covers everything: attempts, waits, gate and token."""

import asyncio
import re
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
    Request,
    TransportError,
)

from tests.support.event_loops import in_virtual_time
from tests.support.examples import examples
from tests.support.services import (
    ADDRESS,
    START,
    PreparedResponse,
    ScriptedTransport,
    backoff,
    rate_limited,
    send,
    wall_clock,
)

POLICY = BackoffPolicy(deadline=10.0)


async def many(transport: BackoffTransport, count: int, method: str = "GET") -> list[httpx.Response | BaseException]:
    """Send so many requests at once."""
    return await asyncio.gather(*(send(transport, method) for _ in range(count)), return_exceptions=True)


def kinds(ended: list[httpx.Response | BaseException]) -> Counter[int | type[BaseException]]:
    """Count the statuses and the errors that calls ended with."""
    return Counter(each.status_code if isinstance(each, httpx.Response) else type(each) for each in ended)


async def test_it_ends_an_attempt_that_hangs() -> None:
    """A request without a response ends at the deadline, and its error says that it may have had an effect."""
    service = ScriptedTransport(200, latency=3600.0)
    said = r"GET /things: the deadline of 10 s passed; 1 request was sent"
    with pytest.raises(DeadlineExceededError, match=said) as raised:
        await send(backoff(service, policy=POLICY))
    assert asyncio.get_running_loop().time() == 10.0
    assert (raised.value.sent, raised.value.attempts, raised.value.retry_at) == (True, 1, None)
    assert service.in_flight == 0


async def test_each_of_many_calls_ends_at_its_own_deadline() -> None:
    """A call ends at its own deadline, also while a call with an earlier or a later one is in flight."""
    transport, loop = backoff(ScriptedTransport(200, latency=3600.0)), asyncio.get_running_loop()

    async def seconds_of(deadline: float) -> float:
        info = CallInfo(method="GET", route="/things", policy=BackoffPolicy(deadline=deadline))
        with pytest.raises(DeadlineExceededError):
            await transport.send(Request("GET", httpx.URL(f"{ADDRESS}/things"), [], b"", {}), info)
        return loop.time()

    assert await asyncio.gather(*map(seconds_of, (20.0, 10.0, 15.0, 10.0))) == [20.0, 10.0, 15.0, 10.0]


async def test_it_leaves_no_cancellation_behind() -> None:
    """After its deadline the task of a call counts as not cancelled, so that a later `asyncio.timeout` works."""
    with pytest.raises(DeadlineExceededError):
        await send(backoff(ScriptedTransport(200, latency=3600.0), policy=POLICY))
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_cancellation_at_the_deadline_is_no_timeout() -> None:
    """A task that is cancelled at the moment of the deadline ends as cancelled."""
    task = asyncio.create_task(send(backoff(ScriptedTransport(200, latency=3600.0), policy=POLICY)))
    asyncio.get_running_loop().call_at(10.0, task.cancel)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_it_tells_when_a_cooldown_ends_that_another_call_met() -> None:
    """A call that hangs while another one is rate limited ends with the deadline, and says when to retry."""
    service = ScriptedTransport(PreparedResponse(fault="hang"), rate_limited("30"))
    transport = BackoffTransport(service, policy=POLICY, random_number=lambda: 0.0, now=wall_clock)
    hanging, _ = await many(transport, 2)
    assert isinstance(hanging, DeadlineExceededError)
    assert (asyncio.get_running_loop().time(), hanging.retry_at) == (10.0, START + timedelta(seconds=30))


async def test_it_ends_the_wait_for_a_token() -> None:
    """A token provider that hangs ends with the deadline, and the place at the gate is free again."""

    async def hangs() -> str:
        await asyncio.sleep(3600.0)
        return "late"

    gate = Gate(1)
    transport = BackoffTransport(ScriptedTransport(200), policy=POLICY, gate=gate, token=hangs)
    with pytest.raises(DeadlineExceededError) as raised:
        await send(transport)
    assert asyncio.get_running_loop().time() == 10.0
    assert (raised.value.sent, gate.in_flight) == (False, 0)
    await transport.aclose()


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (BackoffPolicy(max_wait=20.0), "longer than max_wait=20 s"),
        (BackoffPolicy(deadline=10.0), "longer than deadline=10 s allows"),
        (BackoffPolicy(queue_timeout=2.0, deadline=10.0), "longer than deadline=10 s allows"),
    ],
    ids=["wait", "deadline", "queue"],
)
async def test_a_known_cooldown_that_is_too_long_fails_at_once(policy: BackoffPolicy, said: str) -> None:
    """A call that may not wait for a cooldown ends with the 429 that started it: nothing is sent, and it says when."""
    service = ScriptedTransport(rate_limited("30"))
    transport = BackoffTransport(service, policy=policy, random_number=lambda: 0.0, now=wall_clock)
    assert (await send(transport)).status_code == 429
    info = CallInfo(method="GET", route="/things", policy=policy)
    result = await transport.send(await Request.of(httpx.Request("GET", ADDRESS)), info)
    assert asyncio.get_running_loop().time() == 0.0
    assert (result.is_held_back, result.reason) == (True, said)
    assert (result.retry_after, result.retry_at) == (30.0, START + timedelta(seconds=30))
    assert result.response is not None
    assert (result.attempts, result.response.headers["retry-after"], len(service.requests)) == (0, "30", 1)
    # An ordinary client gets that 429.
    assert (await send(transport)).headers["retry-after"] == "30"
    assert len(service.requests) == 1


@pytest.mark.parametrize("is_known", [True, False])
async def test_an_old_429_is_not_the_reason_of_a_later_cooldown(is_known: bool) -> None:
    """A call that is held back gets the 429 that started the cooldown, whichever client of the gate received it.

    Of a cooldown that another process met, which shares the gate, there is none: nothing was sent, as the error says.
    """
    gate = Gate()
    transport = backoff(ScriptedTransport(rate_limited("1"), 200), gate=gate)
    assert (await send(transport)).status_code == 200
    await asyncio.sleep(60.0)
    later = backoff(ScriptedTransport(rate_limited("300")), gate=gate)
    if is_known:
        assert (await send(later)).status_code == 429
    else:
        gate.rate_limited(await gate.enter(gate.ticket(), max_wait=0.0, until=None), wait=300.0)
    for held_back in (transport, later):
        if is_known:
            response = await send(held_back)
            assert (response.status_code, response.headers["retry-after"]) == (429, "300")
            assert await response.aread() == b"{}"
        else:
            said = "GET /things: rate limited: retry in 300 s (longer than max_wait=60 s); nothing was sent"
            with pytest.raises(NotSentError, match=re.escape(said)):
                await send(held_back)


async def test_a_hostile_wait_does_not_stop_the_client_for_ever() -> None:
    """A retry-after of a million years is a cooldown of which one call a minute finds the end."""
    gate, service = Gate(), ScriptedTransport(rate_limited("99999999999999"), 200)
    transport = backoff(service, gate=gate)
    assert (await send(transport)).status_code == 429
    await asyncio.sleep(60.0)
    assert kinds(await many(transport, 2)) == {200: 1, 429: 1}
    assert (await send(transport)).status_code == 200


async def test_queue_timeout_ends_the_wait_for_the_first_admission() -> None:
    """A call that is not admitted within `queue_timeout` was not sent, and an admitted one has its full deadline."""
    policy = BackoffPolicy(queue_timeout=2.0, deadline=5.0)
    transport = backoff(ScriptedTransport(200, latency=4.0), policy=policy, gate=Gate(1))
    sent, queued = await many(transport, 2)
    assert isinstance(sent, httpx.Response)
    assert isinstance(queued, DeadlineExceededError)
    assert (queued.attempts, queued.sent) == (0, False)
    assert str(queued) == "GET /things: the queue_timeout of 2 s passed; nothing was sent"
    with pytest.raises(DeadlineExceededError, match="the deadline of 5 s passed; 1 request was sent"):
        await send(backoff(ScriptedTransport(200, latency=6.0), policy=policy))


@pytest.mark.parametrize(
    ("queue_timeout", "deadline", "ends_at", "said"),
    [
        (2.0, 9.0, 2.0, "the queue_timeout of 2 s passed"),
        (4.0, 4.0, 4.0, "the queue_timeout of 4 s passed"),
        (9.0, 2.0, 9.0, "the queue_timeout of 9 s passed"),
        (2.0, None, 2.0, "the queue_timeout of 2 s passed"),
    ],
)
async def test_the_error_of_a_call_in_the_queue_names_what_ended_it(
    queue_timeout: float, deadline: float | None, ends_at: float, said: str
) -> None:
    """The queue timeout, whatever the deadline: that starts when the gate admits the call."""
    gate, policy = Gate(1), BackoffPolicy(queue_timeout=queue_timeout, deadline=deadline)
    await gate.enter(-1, max_wait=0.0, until=None)
    with pytest.raises(DeadlineExceededError, match=f"{said}; nothing was sent"):
        await send(backoff(ScriptedTransport(200), policy=policy, gate=gate))
    assert asyncio.get_running_loop().time() == ends_at


async def test_a_deadline_that_passes_in_a_rate_limit_is_a_rate_limit() -> None:
    """A call whose last response was 429 and which then only waited ends with that."""
    gate = Gate(1)
    service = ScriptedTransport(rate_limited("1"), 200, latency=0.5)
    transport = backoff(service, gate=gate, policy=BackoffPolicy(deadline=2.0))
    call = asyncio.create_task(send(transport))
    await asyncio.sleep(0.6)
    blocking = asyncio.create_task(gate.enter(-1, max_wait=60.0, until=None))  # it is admitted before the retry
    assert (await call).status_code == 429
    assert (asyncio.get_running_loop().time(), blocking.done(), len(service.requests)) == (2.0, True, 1)


steps = st.lists(
    st.sampled_from([503, 429, 502]) | st.builds(rate_limited, st.sampled_from([None, "1", "2.5", "30", "x"])),
    min_size=1,
)


@settings(max_examples=examples(80), deadline=None)
@given(steps, st.floats(0.0, 20.0), st.floats(0.0, 5.0), st.floats(0.0, 1.0), st.sampled_from(["GET", "POST"]))
def test_no_call_lasts_longer(
    script: list[int | httpx.Response], deadline: float, latency: float, jitter: float, method: str
) -> None:
    """Every call ends by the deadline, whatever the service responds and however slowly."""

    async def call() -> None:
        service, policy = ScriptedTransport(*script, latency=latency), BackoffPolicy(deadline=deadline)
        transport = backoff(service, policy=policy, jitter=jitter)
        ended = await many(transport, 3, method)
        assert asyncio.get_running_loop().time() <= deadline + 1e-6
        assert all(isinstance(each, httpx.Response | TransportError) for each in ended)

    in_virtual_time(call())


async def test_a_timeout_of_the_application_is_not_the_deadline() -> None:
    """A TimeoutError that a function of the application raises comes out as it is."""

    def jitter() -> float:
        raise TimeoutError("of the application")

    transport = BackoffTransport(ScriptedTransport(503, 200), random_number=jitter)
    with pytest.raises(TimeoutError, match="of the application"):
        await send(transport)
