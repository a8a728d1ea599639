"""POSTs under random faults in virtual time, of which none is retried after a possible side effect."""

import asyncio
import itertools
from typing import ClassVar

import httpx
from hypothesis import HealthCheck, Phase, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from itwin_platform import BackoffPolicy, BackoffTransport, Gate, PlatformError
from itwin_platform_transport.gates.window import WaitTooLongError

from tests.support.event_loops import VirtualTimeLoop
from tests.support.services import ScriptedTransport

from .faults import FAULTS, Fault, FaultPlan
from .figure import Figure, exactly

METHODS = ("POST", "POST", "POST", "GET", "PATCH")
# One draw of bytes instead of many draws, which would take most of the time.
faults_in_a_row = st.binary(min_size=5, max_size=15).map(lambda drawn: [FAULTS[each % len(FAULTS)] for each in drawn])
methods_at_once = st.binary(min_size=2, max_size=6).map(lambda drawn: [METHODS[each % len(METHODS)] for each in drawn])


class FaultSchedule(RuleBasedStateMachine):
    """A state machine that plans faults, starts calls, advances the time and cancels calls in any order."""

    schedules: ClassVar[int] = 0
    posts: ClassVar[int] = 0
    other_retries: ClassVar[int] = 0
    retried: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self.loop = VirtualTimeLoop()
        self.faults = FaultPlan()
        self.service = ScriptedTransport(self.faults, latency=0.01)
        self.gate = Gate(5)
        self.calls: list[asyncio.Task[httpx.Response]] = []
        self.numbers = itertools.count()
        tokens = (f"t-{number}" for number in itertools.count())
        self.provider = lambda: next(tokens)

    @initialize(deadline=st.sampled_from([None, 3.0, 120.0]), faults=faults_in_a_row, methods=methods_at_once)
    def opens(self, deadline: float | None, faults: list[Fault], methods: list[str]) -> None:
        """Open a client with planned faults, and start the first calls."""
        policy = BackoffPolicy(deadline=deadline, max_wait=30.0)
        self.transport = BackoffTransport(self.service, policy=policy, gate=self.gate, token=self.provider)
        self.faults.plan.extend(faults)
        self.calls_begin(methods)

    @rule(faults=faults_in_a_row)
    def faults_are_planned(self, faults: list[Fault]) -> None:
        """Plan faults for the next requests."""
        self.faults.plan.extend(faults)

    @rule(methods=methods_at_once)
    def calls_begin(self, methods: list[str]) -> None:
        """Start calls at the same time."""
        for method in methods:
            headers = {"x-correlation-id": str(next(self.numbers))}
            content = None if method == "GET" else b"{}"
            request = httpx.Request(method, "https://service.example/", headers=headers, content=content)
            self.calls.append(self.loop.create_task(self.transport.handle_async_request(request)))
            FaultSchedule.posts += method == "POST"

    @rule(seconds=st.sampled_from([0.0, 0.005, 0.02, 0.7, 5.0, 50.0]))
    def time_goes_on(self, seconds: float) -> None:
        """Advance the virtual time."""
        self.loop.run_until_complete(asyncio.sleep(seconds))

    @rule(index=st.integers(0, 5))
    def a_call_is_cancelled(self, index: int) -> None:
        """Cancel a call at its current state."""
        if index < len(self.calls):
            self.calls[index].cancel()

    @invariant()
    def no_post_has_a_second_effect(self) -> None:
        """Check the promise."""
        assert self.faults.retried_with_a_possible_effect("POST") == 0

    def teardown(self) -> None:
        """Finish all calls, and count."""
        self.loop.run_until_complete(self._end())
        self.loop.close()
        FaultSchedule.schedules += 1
        FaultSchedule.retried += self.faults.retried_with_a_possible_effect("POST")
        for method in ("GET", "PATCH"):
            FaultSchedule.other_retries += self.faults.retried_with_a_possible_effect(method)

    async def _end(self) -> None:
        await asyncio.sleep(300.0)
        for call in self.calls:
            call.cancel()
        results = await asyncio.gather(*self.calls, return_exceptions=True)
        await self.transport.aclose()
        assert repr(self.gate).endswith("in_flight=0, waiting=0)")
        assert asyncio.all_tasks() == {asyncio.current_task()}
        kinds = (httpx.Response, PlatformError, asyncio.CancelledError)
        assert all(isinstance(each, kinds) for each in results), [
            each for each in results if not isinstance(each, kinds)
        ]
        assert not any(isinstance(each, WaitTooLongError) for each in results)


def lost_responses(*, schedules: int = 10_000) -> list[Figure]:
    """Run `schedules` random schedules of faults."""
    FaultSchedule.schedules = FaultSchedule.posts = FaultSchedule.retried = FaultSchedule.other_retries = 0
    run_state_machine_as_test(
        FaultSchedule,
        settings=settings(
            max_examples=schedules,
            stateful_step_count=6,
            database=None,
            deadline=None,
            derandomize=False,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
        ),
    )
    posts, others = FaultSchedule.posts, FaultSchedule.other_retries
    name = f"{FaultSchedule.schedules:,} fault schedules, {posts:,} POSTs ({others:,} GETs and PATCHes retried)"
    return [exactly(f"{name}: POSTs retried after a lost response", FaultSchedule.retried, 0)]
