"""The script of RedisGate against the window of one process as its model: the same rules, on a real server."""

import asyncio
import math
from collections import defaultdict

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from itwin_platform import RateLimit

from measure.promises.limits import FixedWindow, PunishingWindow, TokenBucket
from tests.support.examples import examples
from tests.support.faces import Permit, Reply, Report, Window
from tests.support.redis_gates import ClockedState, needs_redis
from tests.support.redis_server import RedisServer

pytestmark = needs_redis

PROCESSES = st.sampled_from(["one", "two"])
SECONDS = st.sampled_from([0.0, 0.001, 0.25, 0.6, 1.04, 2.4, 2.6])
#: How long a 429 asks to wait; the last one is long enough to be probed.
WAITS = st.sampled_from([0.0, 0.25, 0.6, 1.04, 100.0])
RATES = [RateLimit(3, 1.0), RateLimit(5, 2.5)]


class SharedWindow(RuleBasedStateMachine):
    """Two processes ask, send and end in any order, while the clock goes on."""

    server: RedisServer

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.now = 1_700_000_000.0
        self.held: dict[str, list[Permit]] = defaultdict(list)

    @initialize(most=st.integers(1, 6), has_rates=st.booleans())
    def begins(self, most: int, has_rates: bool) -> None:
        """An empty server, whose clock is handed in by a key."""
        self.client = self.server.client
        self.client.flushall()
        rates = RATES if has_rates else []
        self.state = ClockedState(self.server.url, name="model", max_in_flight=most, rates=tuple(rates))
        self.window = Window(max_in_flight=most, rates=rates)
        self.exchange("one")

    def exchange(self, process: str, *reports: Report, wants: int = 0) -> Reply:
        """Run the script at the time of the machine."""
        kept = tuple(permit.number for permit in self.held[process])
        return self.runner.run(self.state.exchange_at(self.now, process, *reports, wants=wants, kept=kept))

    @rule(seconds=SECONDS)
    def time_goes_on(self, seconds: float) -> None:
        """Both processes are heard of, so that neither loses its lease."""
        self.now = round(self.now + seconds, 3)
        for process in ("one", "two"):
            self.exchange(process)

    @rule()
    def a_minute_goes_on(self) -> None:
        """Long cooldowns are probed then."""
        for _ in range(25):
            self.time_goes_on(2.4)  # well within the part of a lease after which it is renewed

    @rule(process=PROCESSES, wants=st.integers(1, 5))
    def asks(self, process: str, wants: int) -> None:
        """As many permits, with the same numbers, and the same wait for the next one."""
        reply = self.exchange(process, wants=wants)
        expected: list[Permit] = []
        while len(expected) < wants and self.window.wait(self.now) == 0:
            expected.append(self.window.begin(self.now))
        assert [each.number for each in reply.permits] == [each.number for each in expected]
        wait = self.window.wait(self.now)
        assert reply.wait == (None if wait is None else pytest.approx(wait, abs=1e-5))
        assert reply.cooldown == pytest.approx(self.window.cooldown_left(self.now), abs=1e-5)
        self.held[process] += expected

    def picked(self, data: st.DataObject, process: str) -> Permit:
        """One of the permits that a process holds."""
        return self.held[process][data.draw(st.integers(0, len(self.held[process]) - 1))]

    @precondition(lambda self: any(self.held.values()))
    @rule(data=st.data(), kind=st.sampled_from(["responded", "rate_limited", "abandoned", "unused"]), wait=WAITS)
    def ends(self, data: st.DataObject, kind: str, wait: float) -> None:
        """What was sent ends in some way, what was not is returned."""
        process = data.draw(st.sampled_from([name for name, held in self.held.items() if held]))
        permit = self.picked(data, process)
        jitter = data.draw(st.sampled_from([0.0, 0.5, 1.0]))
        self.held[process].remove(permit)
        if kind == "rate_limited":
            self.window.rate_limited(permit, now=self.now, wait=wait, jitter=jitter)
        elif kind == "responded":
            self.window.responded(permit)
        elif kind == "abandoned":
            self.window.end(permit)
        else:
            self.window.unused(permit)
        self.exchange(process, (kind, permit.number, permit.at, wait, jitter))

    def teardown(self) -> None:
        """Close what was opened."""
        if hasattr(self, "state"):
            self.client.close()
            self.runner.run(self.state.aclose())
        self.runner.close()


@pytest.mark.parametrize("limit", [FixedWindow(10, 1.0), TokenBucket(30, 3.0), PunishingWindow(10, 1.0, ban=5.0)])
async def test_the_script_learns_what_the_window_learns(
    empty_server: RedisServer, limit: FixedWindow | TokenBucket
) -> None:
    """For forty seconds at an unknown limit, both let the same requests start each time."""
    state, window = ClockedState(empty_server.url, name="model", max_in_flight=20), Window(max_in_flight=20)
    for step in range(800):
        now = 1_700_000_000 + round(step / 19, 3) + 0.0004
        permits = (await state.exchange_at(now, "one", wants=20)).permits
        expected = [window.begin(now) for _ in range(20) if window.wait(now) == 0]
        assert [each.number for each in permits] == [each.number for each in expected]
        reports: list[Report] = []
        for permit, model in zip(permits, expected, strict=True):
            if limit.accepts(now):
                window.responded(model)
                reports.append(("responded", permit.number, permit.at))
            else:
                wait = math.ceil(limit.left(now))
                window.rate_limited(model, now=now, wait=wait, jitter=0.5)
                reports.append(("rate_limited", permit.number, permit.at, wait, 0.5))
        await state.exchange_at(now, "one", *reports)
    assert window._learned is not None
    await state.aclose()


def test_the_script_keeps_the_rules_of_the_window() -> None:
    """In no history of up to 25 steps do the script and the window differ."""
    with RedisServer() as server:
        SharedWindow.server = server
        run_state_machine_as_test(
            SharedWindow,
            settings=settings(
                max_examples=examples(15),
                stateful_step_count=25,
                deadline=None,
                suppress_health_check=[HealthCheck.too_slow],
            ),
        )
