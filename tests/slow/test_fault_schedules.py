"""Random schedules of faults: calls start, fail and are cancelled in any order, in virtual time."""

import asyncio
import itertools
from collections import defaultdict, deque

import httpx
from hypothesis import Phase, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from itwin_platform import BackoffPolicy, BackoffTransport, Gate, PlatformError

from tests.support.event_loops import VirtualTimeLoop
from tests.support.examples import examples
from tests.support.services import Outcome, PreparedResponse, ReceivedRequest, ScriptedTransport


def rate_limited(seconds: int) -> PreparedResponse:
    """Return a 429 with its delay."""
    return PreparedResponse(status=429, headers={"retry-after": str(seconds)})


#: Faults before a request is sent.
NOT_SENT: list[Outcome] = [httpx.ConnectError("refused"), httpx.ConnectTimeout("timeout"), httpx.ProxyError("rejected")]
#: Responses of a service that has done nothing.
WITHOUT_EFFECT: list[Outcome] = [429, rate_limited(2), rate_limited(90), 401]
#: Faults after which the service may have done its work.
WITH_EFFECT: list[Outcome] = [
    *(200, 404, 500, 502, 503, PreparedResponse(status=503, headers={"retry-after": "1"})),
    *(httpx.RemoteProtocolError("reset"), httpx.ReadError("reset"), httpx.WriteError("reset")),
    httpx.ReadTimeout("timeout"),
    PreparedResponse(fault="cut"),
    PreparedResponse(headers={"content-encoding": "gzip"}, body=b"?"),
    PreparedResponse(delay=30.0),
]
FAULTS = [*NOT_SENT, *WITHOUT_EFFECT, *WITH_EFFECT]
METHODS = ("POST", "POST", "POST", "GET", "PATCH")
# One draw of bytes takes less time than many draws.
faults_in_a_row = st.binary(min_size=5, max_size=15).map(lambda drawn: [FAULTS[each % len(FAULTS)] for each in drawn])
methods_at_once = st.binary(min_size=2, max_size=6).map(lambda drawn: [METHODS[each % len(METHODS)] for each in drawn])


class FaultSchedule(RuleBasedStateMachine):
    """Plans faults, starts calls, advances the time and cancels calls in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = VirtualTimeLoop()
        self.plan = deque[Outcome]()
        #: For each POST, whether each of its requests may have had an effect, in the order of arrival.
        self.arrived = defaultdict[str, list[bool]](list)
        self.gate = Gate(5)
        self.calls: list[asyncio.Task[httpx.Response]] = []
        self.numbers = itertools.count()

    def respond(self, request: ReceivedRequest) -> Outcome:
        """Take the next fault of the plan."""
        fault = self.plan.popleft() if self.plan else 200
        if request.method == "POST" and fault not in NOT_SENT:
            self.arrived[request.headers["x-correlation-id"]].append(fault not in WITHOUT_EFFECT)
        # A new exception each time: one that is raised again would keep the traceback of another call.
        return type(fault)(*fault.args) if isinstance(fault, Exception) else fault

    @initialize(deadline=st.sampled_from([None, 3.0, 120.0]), faults=faults_in_a_row, methods=methods_at_once)
    def opens(self, deadline: float | None, faults: list[Outcome], methods: list[str]) -> None:
        """Open a client with a new token for each attempt, planned faults and first calls."""
        service = ScriptedTransport(self.respond, latency=0.01)
        policy = BackoffPolicy(deadline=deadline, max_wait=30.0)
        tokens = (f"t-{number}" for number in itertools.count())
        self.transport = BackoffTransport(service, policy=policy, gate=self.gate, token=lambda: next(tokens))
        self.plan.extend(faults)
        self.calls_begin(methods)

    @rule(faults=faults_in_a_row)
    def faults_are_planned(self, faults: list[Outcome]) -> None:
        """Plan faults for the next requests."""
        self.plan.extend(faults)

    @rule(methods=methods_at_once)
    def calls_begin(self, methods: list[str]) -> None:
        """Start calls at the same time."""
        for method in methods:
            headers = {"x-correlation-id": str(next(self.numbers))}
            content = None if method == "GET" else b"{}"
            request = httpx.Request(method, "https://service.example/", headers=headers, content=content)
            self.calls.append(self.loop.create_task(self.transport.handle_async_request(request)))

    @rule(seconds=st.sampled_from([0.0, 0.005, 0.02, 0.7, 5.0, 50.0]))
    def time_goes_on(self, seconds: float) -> None:
        """Advance the virtual time."""
        self.loop.run_until_complete(asyncio.sleep(seconds))

    @rule(index=st.integers(0, 5))
    def a_call_is_cancelled(self, index: int) -> None:
        """Cancel a call in its present state."""
        if index < len(self.calls):
            self.calls[index].cancel()

    @invariant()
    def no_post_is_sent_after_a_possible_effect(self) -> None:
        """Check the promise: only the last request of a POST may have had an effect."""
        assert not any(effect for effects in self.arrived.values() for effect in effects[:-1])

    def teardown(self) -> None:
        """Finish all calls: each has a response or an error of the client, and leaves no permit and no task."""
        self.loop.run_until_complete(self._end())
        self.loop.close()

    async def _end(self) -> None:
        await asyncio.sleep(300.0)
        for call in self.calls:
            call.cancel()
        results = await asyncio.gather(*self.calls, return_exceptions=True)
        await self.transport.aclose()
        kinds = (httpx.Response, PlatformError, asyncio.CancelledError)
        assert [each for each in results if not isinstance(each, kinds)] == []
        assert repr(self.gate).endswith("in_flight=0, waiting=0)")
        assert asyncio.all_tasks() == {asyncio.current_task()}


def test_no_post_is_sent_again_after_a_lost_response() -> None:
    """After any schedule of faults, no POST is sent after a possible effect, and no permit or task is left."""
    phases = [Phase.explicit, Phase.reuse, Phase.generate]  # to shrink a failure takes longer than a test may
    run_state_machine_as_test(
        FaultSchedule, settings=settings(max_examples=examples(100), stateful_step_count=6, phases=phases)
    )
