"""The gate and the calls of a client: each permit ends once, and which gate a client has."""

import asyncio
from collections import Counter
from functools import partial

import httpx
import pytest
from itwin_platform import (
    BackoffPolicy,
    BackoffTransport,
    Gate,
    NotSentError,
    PlatformError,
    UsageError,
)

from tests.support.faces import Permit, TokenAuth
from tests.support.scripted_transport import ScriptedTransport, backoff, rate_limited, send


class LedgerGate(Gate):
    """Records the tickets that enter, and how each permit ended."""

    def __init__(self, max_in_flight: int = 20) -> None:
        super().__init__(max_in_flight)
        self.tickets: list[int] = []
        self.ended: list[str] = []

        for name in ("responded", "rate_limited", "abandoned", "unused"):
            setattr(self, name, partial(self._end, name))

    async def enter(self, ticket: int, *, max_wait: float, until: float | None) -> Permit:
        """Note it."""
        self.tickets.append(ticket)
        return await super().enter(ticket, max_wait=max_wait, until=until)

    def _end(self, name: str, permit: Permit, **wait: float) -> None:
        self.ended.append(" ".join([name, *map(str, wait.values())]))
        getattr(super(), name)(permit, **wait)


@pytest.mark.parametrize(
    ("steps", "ended"),
    [
        ((200,), ["responded"]),
        ((404,), ["responded"]),
        ((503, 200), ["responded", "responded"]),
        ((rate_limited("2"), 200), ["rate_limited 2.0", "responded"]),
        ((httpx.ReadError("x"), 200), ["abandoned", "responded"]),
        ((KeyError("a bug"),), ["abandoned"]),
    ],
)
async def test_each_permit_ends_once(steps: tuple[int | httpx.Response | Exception, ...], ended: list[str]) -> None:
    """Each permit ends once, as responded, rate limited or abandoned, and a call keeps its ticket."""
    gate = LedgerGate()
    try:
        await send(backoff(ScriptedTransport(*steps), gate=gate))
    except (PlatformError, KeyError):
        assert ended[-1] == "abandoned"
    assert gate.ended == ended
    assert set(gate.tickets) == {0}
    assert gate.in_flight == 0


async def test_a_call_holds_no_permit_while_its_token_takes_time() -> None:
    """A provider that hangs stops no call with a token, and a call whose provider fails leaves the gate as it was."""
    gate = LedgerGate(max_in_flight=1)
    go_on = asyncio.Event()

    async def provider() -> str:
        await go_on.wait()
        raise ConnectionError

    hanging = asyncio.create_task(send(BackoffTransport(ScriptedTransport(200), gate=gate, auth=TokenAuth(provider))))
    await asyncio.sleep(1.0)
    assert (await send(BackoffTransport(ScriptedTransport(200), gate=gate))).status_code == 200
    go_on.set()
    with pytest.raises(PlatformError, match="the token provider failed"):
        await hanging
    assert Counter(gate.ended) == {"unused": 1, "responded": 1}


async def test_a_call_whose_token_took_time_keeps_its_place() -> None:
    """It enters again with its ticket, and waits for a cooldown that started meanwhile."""
    gate = LedgerGate(max_in_flight=1)
    service = ScriptedTransport(200)

    async def provider() -> str:
        limited = await gate.enter(-1, max_wait=1.0, until=None)
        gate.rate_limited(limited, wait=5.0)
        return "t-1"

    await send(BackoffTransport(service, gate=gate, auth=TokenAuth(provider)))
    assert asyncio.get_running_loop().time() >= 5.0
    assert gate.tickets == [0, -1, 0]


@pytest.mark.parametrize(("cooldown", "sent"), [(4.0, "t-1"), (6.0, "t-2")])
async def test_a_token_that_has_waited_for_long_is_asked_for_again(cooldown: float, sent: str) -> None:
    """A call whose token took time waits for a permit again: after more than five seconds it sends a newer token."""
    gate, asked = Gate(1), 0

    async def provider() -> str:
        nonlocal asked
        asked += 1
        if asked == 1:
            gate.rate_limited(await gate.enter(-1, max_wait=0.0, until=None), wait=cooldown)
        return f"t-{asked}"

    service = ScriptedTransport(200)
    await send(BackoffTransport(service, gate=gate, auth=TokenAuth(provider)))
    assert [request.headers["authorization"] for request in service.requests] == [f"Bearer {sent}"]
    assert service.requests[0].at == pytest.approx(cooldown, rel=0.1)
    assert gate.in_flight == 0


async def test_a_deadline_within_an_attempt_abandons_its_permit() -> None:
    """The permit of a request that got no response in time is free again."""
    gate = LedgerGate()
    with pytest.raises(PlatformError):
        await send(backoff(ScriptedTransport(200, latency=9.0), gate=gate, policy=BackoffPolicy(deadline=1.0)))
    assert (gate.ended, gate.in_flight) == (["abandoned"], 0)


@pytest.mark.parametrize(("most", "expected"), [(None, 20), (3, 3)])
async def test_the_policy_limits_attempts_in_flight(most: int | None, expected: int) -> None:
    """Twenty as it comes; a gate that is given has the last word."""
    policy = BackoffPolicy() if most is None else BackoffPolicy(max_in_flight=most)
    for gate, allowed in ((None, expected), (Gate(7), 7)):
        service = ScriptedTransport(200, latency=1.0)
        transport = BackoffTransport(service, policy=policy, gate=gate)
        await asyncio.gather(*(send(transport) for _ in range(50)))
        assert service.most_in_flight == allowed


async def test_a_closed_gate_says_so() -> None:
    """Before anything is sent, that is a wrong use; the closing ends the calls that wait."""
    gate = Gate(1)
    transport = BackoffTransport(ScriptedTransport(200, latency=1.0), gate=gate)
    first, second = asyncio.create_task(send(transport)), asyncio.create_task(send(transport))
    await asyncio.sleep(0.5)
    await gate.aclose()
    assert (await first).status_code == 200
    with pytest.raises(UsageError, match="the gate is closed"):
        await second


async def test_a_gate_that_closes_before_a_retry_hides_no_effect() -> None:
    """A call that was rate limited and whose gate is closed was certainly not served: NotSentError."""
    gate = Gate()
    call = asyncio.create_task(send(backoff(ScriptedTransport(rate_limited("2"), 200), gate=gate)))
    await asyncio.sleep(1.0)
    await gate.aclose()
    with pytest.raises(NotSentError, match="the gate is closed"):
        await call


def test_another_object_is_no_gate() -> None:
    """What is neither a Gate nor a RedisGate is rejected where it is passed."""
    with pytest.raises(UsageError, match="gate must be a Gate or a RedisGate"):
        BackoffTransport(ScriptedTransport(200), gate=object())  # type: ignore[arg-type]
