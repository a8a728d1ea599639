"""The deadline covers everything: attempts, waits, gate and token."""

import asyncio
from datetime import UTC, datetime

import httpx
import pytest
from hypothesis import given, settings, strategies as st
from itwin_platform import (
    BackoffPolicy,
    BackoffTransport,
    DeadlineExceededError,
    Gate,
    Permit,
    PlatformError,
    RateLimitError,
    TransportError,
)
from itwin_platform._attempts.auth import TokenAuth

from tests.support.scripted_service import ScriptedService, backoff, refusal, send
from tests.support.virtual_time import in_virtual_time

POLICY = BackoffPolicy(deadline=10.0)


async def test_it_ends_an_attempt_that_hangs() -> None:
    """A request that is never answered ends with the deadline; it may have had an effect."""
    service = ScriptedService(200, latency=3600.0)
    with pytest.raises(
        DeadlineExceededError, match=r"GET /things: the deadline of 10 s passed; requests sent: 1"
    ) as raised:
        await send(backoff(service, policy=POLICY))
    assert asyncio.get_running_loop().time() == 10.0
    assert (raised.value.sent, raised.value.attempts, raised.value.retry_at) == (True, 1, None)
    assert service.in_flight == 0


async def test_the_queue_does_not_count() -> None:
    """Queueing at the gate does not fail a call, however long: its deadline starts when it is admitted."""
    gate = Gate(1)
    service = ScriptedService(200, 200, latency=8.0)
    calls = [asyncio.create_task(send(backoff(service, gate=gate, policy=POLICY))) for _ in range(5)]
    assert [response.status_code for response in await asyncio.gather(*calls)] == [200] * 5
    assert asyncio.get_running_loop().time() == 40.0


async def test_it_ends_the_wait_for_a_token() -> None:
    """A token source that hangs ends with the deadline, and the place at the gate is free again."""

    async def hangs() -> str:
        await asyncio.sleep(3600.0)
        return "late"

    gate, auth = Gate(1), TokenAuth(hangs)
    transport = BackoffTransport(ScriptedService(200), policy=POLICY, gate=gate, auth=auth)
    with pytest.raises(DeadlineExceededError) as raised:
        await send(transport)
    assert asyncio.get_running_loop().time() == 10.0
    assert (raised.value.sent, gate.in_flight) == (False, 0)
    await auth.aclose()


async def test_a_wait_that_would_pass_it_is_not_begun() -> None:
    """The last answer is returned at once, when the wait for a repeat would end past the deadline."""
    service = ScriptedService(503, 503, 503, 503)
    response = await send(backoff(service, policy=BackoffPolicy(deadline=3.0)))
    assert response.status_code == 503
    assert service.times == [0.0, 0.5, 1.5]
    assert asyncio.get_running_loop().time() == 1.5


async def test_a_known_cooldown_that_is_too_long_fails_at_once() -> None:
    """A cooldown longer than a call may wait is a rate limit: nothing is sent, and the error says when."""
    gate, service = Gate(), ScriptedService(refusal("30"))
    now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    policy = BackoffPolicy(max_wait=20.0)
    transport = BackoffTransport(service, policy=policy, gate=gate, random_number=lambda: 0.0, now=lambda: now)
    assert (await send(transport)).status_code == 429
    with pytest.raises(RateLimitError) as raised:
        await send(transport)
    assert asyncio.get_running_loop().time() == 0.0
    assert (raised.value.retry_after, raised.value.retry_at) == (30.0, datetime(2026, 3, 1, 12, 0, 30, tzinfo=UTC))
    assert (raised.value.attempts, raised.value.headers["retry-after"], len(service.seen)) == (0, "30", 1)


async def test_a_hostile_wait_does_not_stop_the_client_for_ever() -> None:
    """A retry-after of a million years closes the gate for an hour."""
    gate, service = Gate(), ScriptedService(refusal("99999999999999"), 200)
    assert (await send(backoff(service, gate=gate))).status_code == 429
    assert gate.cooldown_left() == 3600.0


async def test_the_time_out_of_somebody_else_is_not_the_deadline() -> None:
    """A TimeoutError that comes from the gate passes as it is."""

    class TimingOut(Gate):
        async def enter(self, ticket: int, *, max_wait: float, until: float | None) -> Permit:
            raise TimeoutError("of its own")

    with pytest.raises(TimeoutError, match="of its own"):
        await send(BackoffTransport(ScriptedService(200), gate=TimingOut()))


steps = st.lists(
    st.sampled_from([503, 429, 502]) | st.builds(refusal, st.sampled_from([None, "1", "2.5", "30", "x"])), min_size=1
)


@settings(max_examples=200, deadline=None)
@given(steps, st.floats(0.0, 20.0), st.floats(0.0, 5.0), st.floats(0.0, 1.0), st.sampled_from(["GET", "POST"]))
def test_no_call_lasts_longer(
    script: list[int | httpx.Response], deadline: float, latency: float, jitter: float, method: str
) -> None:
    """Whatever the service answers and however slowly: three calls at once each end by the deadline."""

    async def call() -> None:
        transport = backoff(
            ScriptedService(*script, latency=latency), policy=BackoffPolicy(deadline=deadline), jitter=jitter
        )
        ended = await asyncio.gather(*(send(transport, method) for _ in range(3)), return_exceptions=True)
        assert asyncio.get_running_loop().time() <= deadline + 1e-6
        assert all(isinstance(each, httpx.Response | TransportError | RateLimitError) for each in ended)
        assert not any(isinstance(each, Exception) and not isinstance(each, PlatformError) for each in ended)

    in_virtual_time(call())
