"""Properties of the window: no period exceeds the rate, and no history of attempts leaves it stuck."""

from hypothesis import given, settings, strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule
from itwin_platform import RateLimit

from tests.support.examples import examples
from tests.support.faces import Permit, Window


@given(st.lists(st.floats(min_value=0.0, max_value=3.0), max_size=60), st.integers(1, 5), st.floats(0.1, 10.0))
def test_no_period_exceeds_the_rate(steps: list[float], requests: int, per: float) -> None:
    """Whenever requests start, no period of `per` seconds has more of them than the rate allows."""
    window = Window(max_in_flight=1000, rates=[RateLimit(requests, per)])
    now, started = 0.0, list[float]()
    for step in steps:
        now += step
        if window.wait(now) == 0:
            window.begin(now)
            started.append(now)
    for first, beyond in zip(started, started[requests:], strict=False):
        assert beyond - first >= per - 1e-9


class WindowMachine(RuleBasedStateMachine):
    """Requests start, succeed, are rate limited and are lost in any order, while time passes."""

    in_flight: Bundle[Permit] = Bundle("in_flight")

    def __init__(self) -> None:
        super().__init__()
        self.window = Window(max_in_flight=4)
        self.now = 0.0
        self.count = 0
        self.cooldown_until = 0.0

    @rule(seconds=st.floats(0.0, 3.0))
    def time_passes(self, seconds: float) -> None:
        """Advance the time that the window receives."""
        self.now += seconds

    @precondition(lambda self: self.window.wait(self.now) == 0)
    @rule(target=in_flight)
    def starts(self) -> Permit:
        """Start a request: only outside a cooldown, and never more than four in flight."""
        assert self.now >= self.cooldown_until
        self.count += 1
        assert self.count <= 4
        return self.window.begin(self.now)

    @rule(permit=consumes(in_flight))
    def succeeds(self, permit: Permit) -> None:
        """End a request with a response other than 429."""
        self.window.responded(permit)
        self.count -= 1

    @rule(permit=consumes(in_flight))
    def is_lost(self, permit: Permit) -> None:
        """End a request without a response."""
        self.window.end(permit)
        self.count -= 1

    @rule(permit=consumes(in_flight), wait=st.floats(0.0, 5.0))
    def is_rate_limited(self, permit: Permit, wait: float) -> None:
        """End a request with a 429."""
        self.window.rate_limited(permit, now=self.now, wait=wait)
        self.cooldown_until = max(self.cooldown_until, self.now + wait)
        self.count -= 1

    @invariant()
    def never_stuck(self) -> None:
        """With nothing in flight and no cooldown, the next request may start, or when the learned rate allows it."""
        assert self.window.in_flight == self.count
        if self.count == 0 and self.now >= self.cooldown_until:
            wait = self.window.wait(self.now)
            assert wait is not None
            assert wait < 60.0


TestWindowMachine = WindowMachine.TestCase
TestWindowMachine.settings = settings(max_examples=examples(40), stateful_step_count=30)
