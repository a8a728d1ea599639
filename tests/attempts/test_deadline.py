"""The deadline covers everything: attempts, waits, gate and token."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from hypothesis import given, settings, strategies as st
from itwin_platform import (
    BackoffPolicy,
    BackoffTransport,
    DeadlineExceededError,
    Gate,
    PlatformError,
    RateLimitError,
    TransportError,
)

from tests.support.examples import examples
from tests.support.exchange import PreparedResponse
from tests.support.faces import TokenAuth
from tests.support.scripted_transport import ScriptedTransport, backoff, rate_limited, response, send
from tests.support.virtual_time import in_virtual_time

POLICY = BackoffPolicy(deadline=10.0)


async def test_it_ends_an_attempt_that_hangs() -> None:
    """A request without a response ends at the deadline, and its error says that it may have had an effect."""
    service = ScriptedTransport(200, latency=3600.0)
    with pytest.raises(
        DeadlineExceededError, match=r"GET /things: the deadline of 10 s passed; 1 request was sent"
    ) as raised:
        await send(backoff(service, policy=POLICY))
    assert asyncio.get_running_loop().time() == 10.0
    assert (raised.value.sent, raised.value.attempts, raised.value.retry_at) == (True, 1, None)
    assert service.in_flight == 0


async def test_it_tells_when_a_cooldown_ends_that_another_call_met() -> None:
    """A call that hangs while another one is rate limited ends with the deadline, and says when to retry."""
    start = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    loop = asyncio.get_running_loop()
    transport = BackoffTransport(
        ScriptedTransport(PreparedResponse(fault="hang"), rate_limited("30")),
        policy=POLICY,
        gate=Gate(random_number=lambda: 0.0),
        random_number=lambda: 0.0,
        now=lambda: start + timedelta(seconds=loop.time()),
    )
    hanging, _ = await asyncio.gather(send(transport), send(transport), return_exceptions=True)
    assert isinstance(hanging, DeadlineExceededError)
    assert (loop.time(), hanging.retry_at) == (10.0, start + timedelta(seconds=30))


async def test_the_queue_does_not_count() -> None:
    """The deadline starts when the gate admits the call, so queueing never uses it up."""
    gate = Gate(1)
    service = ScriptedTransport(200, 200, latency=8.0)
    calls = [asyncio.create_task(send(backoff(service, gate=gate, policy=POLICY))) for _ in range(5)]
    assert [response.status_code for response in await asyncio.gather(*calls)] == [200] * 5
    assert asyncio.get_running_loop().time() == 40.0


async def test_it_ends_the_wait_for_a_token() -> None:
    """A token provider that hangs ends with the deadline, and the place at the gate is free again."""

    async def hangs() -> str:
        await asyncio.sleep(3600.0)
        return "late"

    gate, auth = Gate(1), TokenAuth(hangs)
    transport = BackoffTransport(ScriptedTransport(200), policy=POLICY, gate=gate, auth=auth)
    with pytest.raises(DeadlineExceededError) as raised:
        await send(transport)
    assert asyncio.get_running_loop().time() == 10.0
    assert (raised.value.sent, gate.in_flight) == (False, 0)
    await auth.aclose()


@pytest.mark.parametrize(
    "policy", [BackoffPolicy(max_wait=20.0), BackoffPolicy(queue_timeout=2.0, deadline=10.0)], ids=["wait", "queue"]
)
async def test_a_known_cooldown_that_is_too_long_fails_at_once(policy: BackoffPolicy) -> None:
    """A cooldown longer than a call may wait is a rate limit: nothing is sent, and the error says when."""
    gate, service = Gate(), ScriptedTransport(rate_limited("30"))
    now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    transport = BackoffTransport(service, policy=policy, gate=gate, random_number=lambda: 0.0, now=lambda: now)
    assert (await send(transport)).status_code == 429
    with pytest.raises(RateLimitError) as raised:
        await send(transport)
    assert asyncio.get_running_loop().time() == 0.0
    assert (raised.value.retry_after, raised.value.retry_at) == (30.0, datetime(2026, 3, 1, 12, 0, 30, tzinfo=UTC))
    assert (raised.value.attempts, raised.value.headers["retry-after"], len(service.requests)) == (0, "30", 1)


async def test_an_old_429_is_not_the_reason_of_a_later_cooldown() -> None:
    """The error shows the 429 that started the cooldown, whichever client of the gate received it."""
    gate = Gate()
    transport = backoff(ScriptedTransport(rate_limited("1"), 200), gate=gate)
    assert (await send(transport)).status_code == 200
    await asyncio.sleep(60.0)
    later = backoff(ScriptedTransport(rate_limited("300")), gate=gate)
    assert (await send(later)).status_code == 429
    for held_back in (transport, later):
        with pytest.raises(RateLimitError) as raised:
            await send(held_back)
        assert (raised.value.retry_after, raised.value.headers.get("retry-after")) == (300.0, "300")


async def test_a_cooldown_that_no_client_of_the_process_has_met_has_no_429() -> None:
    """The gate may be shared with other processes; the 429 before it is not its reason."""
    gate = Gate()
    transport = backoff(ScriptedTransport(rate_limited("1"), 200), gate=gate)
    assert (await send(transport)).status_code == 200
    await asyncio.sleep(60.0)
    gate.rate_limited(await gate.enter(gate.ticket(), max_wait=0.0, until=None), wait=300.0)
    with pytest.raises(RateLimitError) as raised:
        await send(transport)
    assert (raised.value.retry_after, dict(raised.value.headers), raised.value.body) == (300.0, {}, b"")


async def test_a_hostile_wait_does_not_stop_the_client_for_ever() -> None:
    """A retry-after of a million years is a cooldown of a day, of which one call a minute finds the end."""
    gate, service = Gate(), ScriptedTransport(rate_limited("99999999999999"), 200)
    transport = backoff(service, gate=gate)
    assert (await send(transport)).status_code == 429
    assert gate.cooldown_left() == 86_400.0
    await asyncio.sleep(60.0)
    probe, other = await asyncio.gather(send(transport), send(transport), return_exceptions=True)
    assert isinstance(probe, httpx.Response)
    assert probe.status_code == 200
    assert isinstance(other, RateLimitError)
    assert (await send(transport)).status_code == 200


async def test_queue_timeout_ends_the_wait_for_the_first_admission() -> None:
    """A call that is not admitted within `queue_timeout` was not sent, and an admitted one has its full deadline."""
    policy = BackoffPolicy(queue_timeout=2.0, deadline=5.0)
    transport = backoff(ScriptedTransport(200, latency=4.0), policy=policy, gate=Gate(1))
    sent, queued = await asyncio.gather(send(transport), send(transport), return_exceptions=True)
    assert isinstance(sent, httpx.Response)
    assert isinstance(queued, DeadlineExceededError)
    assert (queued.attempts, queued.sent) == (0, False)
    assert str(queued) == "GET /things: the queue_timeout of 2 s passed; nothing was sent"


async def test_every_call_that_a_rate_limit_ends_raises_that() -> None:
    """Forty tasks at a limit of 5 in 100 s: whether sent or held back, none fails for another reason."""
    sent = 0

    class Limited(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            nonlocal sent
            await asyncio.sleep(0.05)
            sent += 1
            return response(200) if sent <= 5 else rate_limited("100")

    transport = backoff(Limited(), policy=BackoffPolicy(max_wait=60.0))
    ended = await asyncio.gather(*(send(transport) for _ in range(40)), return_exceptions=True)
    kinds = Counter(each.status_code if isinstance(each, httpx.Response) else type(each) for each in ended)
    assert kinds == {200: 5, 429: 15, RateLimitError: 20}


async def test_a_new_call_does_not_wait_for_a_cooldown_longer_than_its_deadline() -> None:
    """Neither one that starts in the cooldown nor one that queues when it begins; a longer deadline waits."""
    service = ScriptedTransport(rate_limited("30"), 200, latency=0.5)
    gate = Gate(1)
    transport = backoff(service, gate=gate, policy=POLICY)
    queued = asyncio.gather(*(send(transport) for _ in range(2)), return_exceptions=True)
    assert [each.status_code if isinstance(each, httpx.Response) else type(each) for each in await queued] == [
        429,
        RateLimitError,
    ]
    with pytest.raises(RateLimitError, match="longer than deadline=10 s allows") as raised:
        await send(transport)
    assert (raised.value.attempts, asyncio.get_running_loop().time()) == (0, 0.5)
    patient = backoff(service, gate=gate, policy=BackoffPolicy(deadline=40.0))
    assert (await send(patient)).status_code == 200


async def test_a_deadline_that_passes_in_a_rate_limit_is_a_rate_limit() -> None:
    """A call whose last response was 429 and which then only waited failed because of that."""
    gate = Gate(1)
    service = ScriptedTransport(rate_limited("1"), 200, latency=0.5)
    transport = backoff(service, gate=gate, policy=BackoffPolicy(deadline=2.0))
    call = asyncio.create_task(send(transport))
    await asyncio.sleep(0.6)
    gate._window._most = 0  # no call is admitted from here on
    with pytest.raises(RateLimitError) as raised:
        await call
    assert (raised.value.attempts, asyncio.get_running_loop().time()) == (1, 2.0)


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
        transport = backoff(
            ScriptedTransport(*script, latency=latency), policy=BackoffPolicy(deadline=deadline), jitter=jitter
        )
        ended = await asyncio.gather(*(send(transport, method) for _ in range(3)), return_exceptions=True)
        assert asyncio.get_running_loop().time() <= deadline + 1e-6
        assert all(isinstance(each, httpx.Response | TransportError | RateLimitError) for each in ended)
        assert not any(isinstance(each, Exception) and not isinstance(each, PlatformError) for each in ended)

    in_virtual_time(call())
