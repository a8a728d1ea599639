"""Whatever implements `RequestGate` can replace the gate, and learns of the end of each permit once."""

import asyncio
from collections import Counter

import httpx
import pytest
from itwin_platform import (
    BackoffPolicy,
    BackoffTransport,
    Gate,
    NotSentError,
    OutcomeUnknownError,
    Permit,
    PlatformClient,
    PlatformError,
    RateLimitError,
    RequestGate,
    UsageError,
    WaitTooLongError,
)
from itwin_platform._http.attempts.auth import TokenAuth
from itwin_platform._http.attempts.call_errors import last_rate_limit_of
from itwin_platform._http.gates.guarded_gate import GuardedGate

from tests.support.scripted_transport import ScriptedTransport, backoff, rate_limited, send


class LedgerGate:
    """Admits every call, and records its permits and how each ended."""

    def __init__(self) -> None:
        self.tickets: list[int] = []
        self.given = 0
        self.sent: list[Permit] = []
        self.ended: dict[Permit, str] = {}
        self.cooldown = 0.0

    def ticket(self) -> int:
        """Tickets count down here: only their order matters."""
        return -self.given

    async def enter(self, ticket: int, *, max_wait: float, until: float | None) -> Permit:
        """Wait for one iteration of the event loop."""
        await asyncio.sleep(self.cooldown)
        self.cooldown = 0.0
        self.tickets.append(ticket)
        self.given += 1
        return Permit(period=0, number=self.given)

    def cooldown_left(self) -> float:
        """What the last 429 said."""
        return self.cooldown

    def sending(self, permit: Permit) -> None:
        """Once, before the permit ends."""
        assert permit not in self.sent
        assert permit not in self.ended
        self.sent.append(permit)

    def answered(self, permit: Permit) -> None:
        """Once."""
        self._end(permit, "answered")

    def rate_limited(self, permit: Permit, *, wait: float) -> None:
        """Once, with the wait."""
        self._end(permit, f"rate limited for {wait:g} s")
        self.cooldown = wait

    def abandoned(self, permit: Permit) -> None:
        """Once."""
        self._end(permit, "abandoned")

    async def aclose(self) -> None:
        """Nobody waits here."""

    def _end(self, permit: Permit, how: str) -> None:
        assert permit not in self.ended
        self.ended[permit] = how


@pytest.mark.parametrize(
    ("steps", "ended"),
    [
        ((200,), ["answered"]),
        ((404,), ["answered"]),
        ((503, 200), ["answered", "answered"]),
        ((rate_limited("2"), 200), ["rate limited for 2 s", "answered"]),
        ((httpx.ReadError("x"), 200), ["abandoned", "answered"]),
        ((KeyError("a bug"),), ["abandoned"]),
        (
            (httpx.Response(200, headers={"content-encoding": "compress"}, stream=httpx.ByteStream(b"x")),),
            ["abandoned"],
        ),
    ],
)
async def test_each_pass_ends_once(steps: tuple[int | httpx.Response | Exception, ...], ended: list[str]) -> None:
    """Each permit ends once, as answered, rate limited or abandoned, and a call keeps its ticket."""
    gate = LedgerGate()
    try:
        await send(backoff(ScriptedTransport(*steps), gate=gate))
    except (PlatformError, KeyError):
        assert ended[-1] == "abandoned"
    assert list(gate.ended.values()) == ended
    assert set(gate.tickets) == {0}
    assert gate.sent == list(gate.ended)


async def test_a_pass_ends_also_without_a_request() -> None:
    """A token that cannot be had, or a deadline in the attempt, abandons it."""

    def source() -> str:
        raise ConnectionError

    gate = LedgerGate()
    for transport in (
        BackoffTransport(ScriptedTransport(200), gate=gate, auth=TokenAuth(source)),
        backoff(ScriptedTransport(200, latency=9.0), gate=gate, policy=BackoffPolicy(deadline=1.0)),
    ):
        with pytest.raises(PlatformError):
            await send(transport)
    assert Counter(gate.ended.values()) == {"abandoned": 2}
    assert gate.given == 2
    assert len(gate.sent) == 1  # the token failed before anything was sent


async def test_a_gate_that_turns_away_is_a_rate_limit() -> None:
    """WaitTooLongError is how a gate says that its cooldown is too long; no 429 of this process is known then."""

    class Closed(LedgerGate):
        async def enter(self, ticket: int, *, max_wait: float, until: float | None) -> Permit:
            raise WaitTooLongError(300.0)

    gate: RequestGate = Closed()
    service = ScriptedTransport(200)
    async with PlatformClient(
        "https://service.example", vendor="acme", token="t-1", gate=gate, transport=service
    ) as platform:
        with pytest.raises(RateLimitError, match=r"retry in 300 s \(longer than max_wait=60 s\)") as raised:
            await platform.itwins.get_primary_account()
    assert (raised.value.attempts, raised.value.code, raised.value.body) == (0, None, b"")
    assert service.requests == []


@pytest.mark.parametrize(("most", "expected"), [(None, 20), (3, 3)])
async def test_the_policy_limits_attempts_in_flight(most: int | None, expected: int) -> None:
    """Twenty as it comes; a gate that is given has the last word."""
    policy = BackoffPolicy() if most is None else BackoffPolicy(max_in_flight=most)
    for gate, allowed in ((None, expected), (Gate(7), 7)):
        service = ScriptedTransport(200, latency=1.0)
        transport = BackoffTransport(service, policy=policy, gate=gate)
        await asyncio.gather(*(send(transport) for _ in range(50)))
        assert service.most_in_flight == allowed


class FailingGate(LedgerGate):
    """Raises in one of its methods."""

    def __init__(self, failing: str) -> None:
        super().__init__()
        self.failing = failing

    def __getattribute__(self, name: str) -> object:
        if name == object.__getattribute__(self, "failing"):
            raise TimeoutError("of the gate")
        return object.__getattribute__(self, name)


@pytest.mark.parametrize("failing", ["sending", "answered", "rate_limited", "abandoned", "cooldown_left"])
async def test_a_gate_that_fails_loses_no_response(failing: str, caplog: pytest.LogCaptureFixture) -> None:
    """An exception of the gate is logged as a warning, and the call continues."""
    service = ScriptedTransport(httpx.ConnectError("x"), rate_limited("1"), 200)
    transport = BackoffTransport(
        service, gate=FailingGate(failing), auth=TokenAuth("t-1"), policy=BackoffPolicy(base_delay=0.0)
    )
    with caplog.at_level("WARNING", logger="itwin_platform"):
        assert (await send(transport)).status_code == 200
    assert f"the gate failed in {failing}()" in caplog.messages


async def test_the_guard_passes_its_gate_on() -> None:
    """It is shown as the gate that was given, and closing it closes that one."""
    gate = Gate(1)
    guard = GuardedGate(gate)
    assert repr(guard) == repr(gate)
    await guard.aclose()
    with pytest.raises(UsageError, match="the gate is closed"):
        await gate.enter(gate.ticket(), max_wait=1.0, until=None)


@pytest.mark.parametrize("failing", ["ticket", "enter"])
async def test_calls_that_the_gate_rejects_were_not_sent(failing: str) -> None:
    """When the gate fails, the error says that nothing was sent."""
    service = ScriptedTransport(200)
    with pytest.raises(NotSentError, match=r"the gate failed \(TimeoutError\); nothing was sent"):
        await send(BackoffTransport(service, gate=FailingGate(failing)))
    assert service.requests == []


@pytest.mark.parametrize("method", ["PATCH", "GET"])
async def test_a_gate_that_fails_before_a_retry_hides_no_effect(method: str) -> None:
    """A request that may have had an effect is not called unsent because its retry was not let in."""
    gate = FailingGate("nothing")

    class ClosingTheGate(ScriptedTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            gate.failing = "enter"
            return await super().handle_async_request(request)

    with pytest.raises(OutcomeUnknownError, match="the gate failed"):
        await send(BackoffTransport(ClosingTheGate(httpx.ReadError("x"), 200), gate=gate), method)


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


def test_a_gate_without_weak_references_shares_no_429() -> None:
    """Its clients know of their own 429s only, and nothing keeps the gate alive."""

    class Slotted:
        __slots__ = ()

    one, other = Slotted(), Gate()
    assert last_rate_limit_of(one) is not last_rate_limit_of(one)
    assert last_rate_limit_of(other) is last_rate_limit_of(other)
