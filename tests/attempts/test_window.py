"""How many requests may be under way, with the time handed in: cooldown, slow start, steady rate."""

import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule
from itwin_platform import Permit, RateLimit
from itwin_platform._attempts.admission.window import Window

from tests.support.examples import examples


def opened(window: Window, now: float) -> list[Permit]:
    """Start as many as may begin now."""
    passes = []
    while window.wait(now) == 0:
        passes.append(window.begin(now))
    return passes


def send(window: Window, now: float) -> Permit:
    """Start a request and send it at once."""
    permit = window.begin(now)
    window.sending(permit, now=now)
    return permit


def rounds(window: Window, now: float, count: int) -> list[int]:
    """How many begin in each round, where all of a round are answered before the next."""
    sizes = []
    for _ in range(count):
        passes = opened(window, now)
        sizes.append(len(passes))
        for given_pass in passes:
            window.answered(given_pass)
    return sizes


def test_a_new_window_is_open() -> None:
    """Before the first 429 as many begin as are allowed at all."""
    window = Window(max_in_flight=20)
    assert len(opened(window, 0.0)) == 20
    assert window.in_flight == 20
    assert window.wait(0.0) is None


def test_after_a_429_the_window_opens_slowly() -> None:
    """Nobody begins until the cooldown ends; then 1, 2, 4, 8, 16 and no more than the most."""
    window = Window(max_in_flight=20)
    window.rate_limited(window.begin(0.0), now=0.0, wait=5.0)
    assert window.wait(0.0) == 5.0
    assert window.wait(4.5) == 0.5
    assert rounds(window, 5.0, 7) == [1, 2, 4, 8, 16, 20, 20]


def test_only_the_first_429_of_a_cooldown_closes_the_window() -> None:
    """Requests that were under way bring more 429: they can make the cooldown longer, and nothing else."""
    window = Window(max_in_flight=20)
    passes = opened(window, 0.0)
    window.rate_limited(passes[0], now=1.0, wait=5.0)
    window.rate_limited(passes[1], now=1.5, wait=1.0)
    assert window.cooldown_left(1.5) == 4.5
    window.rate_limited(passes[2], now=2.0, wait=9.0)
    assert window.cooldown_left(2.0) == 9.0
    for late in passes[3:]:
        window.answered(late)
    assert rounds(window, 11.0, 3) == [1, 2, 4]


def test_a_429_of_a_request_from_before_does_not_close_the_window_again() -> None:
    """A late 429 of a request that began before the cooldown delays, and the slow start goes on where it was."""
    window = Window(max_in_flight=20)
    first, late = window.begin(0.0), window.begin(0.0)
    window.rate_limited(first, now=0.0, wait=1.0)
    assert rounds(window, 1.0, 2) == [1, 2]
    assert window.in_flight == 1
    window.rate_limited(late, now=1.0, wait=1.0)
    assert window.wait(1.5) == 0.5
    assert rounds(window, 2.0, 1) == [4]


def test_slow_requests_from_before_count_to_the_most() -> None:
    """They do not keep the window shut after the cooldown, and no more are under way than the most."""
    window = Window(max_in_flight=4)
    passes = opened(window, 0.0)
    window.rate_limited(passes[0], now=0.0, wait=1.0)
    assert rounds(window, 1.0, 3) == [1, 1, 1]
    window.answered(passes[1])
    assert rounds(window, 1.0, 1) == [2]


def test_a_request_without_a_response_opens_nothing() -> None:
    """A lost response shows no room: the window stays as narrow as it was."""
    window = Window(max_in_flight=20)
    window.rate_limited(window.begin(0.0), now=0.0, wait=1.0)
    window.end(window.begin(1.0))
    assert len(opened(window, 1.0)) == 1


def test_the_window_probes_where_the_last_stretch_ended() -> None:
    """Past as many responses as the period before let through, the window opens from 1: a 429 costs one request."""
    window = Window(max_in_flight=20)
    passes = opened(window, 0.0)
    for answered in passes[:10]:
        window.answered(answered)
    for refused in passes[10:]:
        window.rate_limited(refused, now=0.0, wait=1.0)
    assert rounds(window, 1.0, 4) == [1, 2, 4, 3]
    [probe] = opened(window, 1.0)
    window.rate_limited(probe, now=1.0, wait=1.0)
    assert rounds(window, 2.0, 5) == [1, 2, 4, 3, 1]


def test_the_window_opens_past_the_probe_when_there_is_room() -> None:
    """When the rate has risen, the probe is answered and the window opens from there."""
    window = Window(max_in_flight=20)
    first, second = window.begin(0.0), window.begin(0.0)
    window.answered(first)
    window.rate_limited(second, now=0.0, wait=1.0)
    assert rounds(window, 1.0, 5) == [1, 1, 2, 4, 8]


def test_a_steady_rate_is_kept_in_any_stretch_of_time() -> None:
    """At most two begin in any ten seconds, whenever they end."""
    window = Window(max_in_flight=20, rates=[RateLimit(2, 10.0)])
    send(window, 0.0)
    window.answered(send(window, 4.0))
    assert window.wait(5.0) == pytest.approx(5.4)
    assert window.wait(10.4) == 0.0
    send(window, 10.4)
    assert window.wait(10.4) == pytest.approx(4.0)


def test_a_permit_that_was_not_sent_uses_up_nothing_of_the_rate() -> None:
    """Permits hold a place until they are sent; one that is given back frees it at once, a sent one after `per`."""
    window = Window(max_in_flight=20, rates=[RateLimit(2, 10.0)])
    first, second = window.begin(0.0), window.begin(0.0)
    assert window.wait(3.0) is None
    window.end(first)
    third = window.begin(3.0)
    for permit in (second, third):
        window.sending(permit, now=4.0)
        window.answered(permit)
    assert window.wait(10.0) == pytest.approx(4.4)


def test_several_rates_hold_at_once() -> None:
    """The rate that is used up decides: three in 10 s here, and five in 100 s after them."""
    window = Window(max_in_flight=20, rates=[RateLimit(3, 10.0), RateLimit(5, 100.0)])
    now, sent = 0.0, list[float]()
    while len(sent) < 9:
        now += window.wait(now) or 0.0
        window.answered(send(window, now))
        sent.append(now)
    assert sent == pytest.approx([0.0, 0.0, 0.0, 10.4, 10.4, 101.0, 101.0, 101.0, 111.4])


def test_a_long_cooldown_is_probed_each_minute() -> None:
    """One request a minute shows whether it still holds: a 429 names a new end, any other response ends it."""
    window = Window(max_in_flight=20)
    window.rate_limited(send(window, 0.0), now=0.0, wait=86_400.0)
    assert window.wait(0.0) == 60.0
    probe = window.begin(60.0)
    assert window.is_probing
    window.sending(probe, now=60.0)
    assert (window.is_probing, window.wait(61.0)) == (False, 59.0)
    window.rate_limited(probe, now=61.0, wait=80_000.0)
    assert (window.wait(61.0), window.cooldown_left(61.0)) == (60.0, 80_000.0)
    window.answered(send(window, 121.0))
    assert window.cooldown_left(121.0) == 0.0
    assert rounds(window, 121.0, 3) == [2, 4, 8]


def test_a_probe_that_was_not_sent_is_due_again() -> None:
    """Its token failed, or its task was cancelled: the next one may try at once."""
    window = Window(max_in_flight=20)
    window.rate_limited(send(window, 0.0), now=0.0, wait=600.0)
    window.end(window.begin(60.0))
    assert window.wait(60.0) == 0.0
    window.end(send(window, 60.0))
    assert window.wait(70.0) == 50.0


def test_cooldowns_grow_while_each_ends_in_a_429() -> None:
    """The range doubles up to 20 s, jitter draws from it, and the first success resets it."""
    window = Window(max_in_flight=20)
    now, waits = 0.0, list[float]()
    for _ in range(7):
        window.rate_limited(send(window, now), now=now, wait=1.0, jitter=1.0)
        waits.append(window.cooldown_left(now))
        now += waits[-1]
    assert waits == pytest.approx([1.0, 2.0, 4.0, 8.0, 16.0, 20.0, 20.0])
    window.rate_limited(send(window, now), now=now, wait=1.0, jitter=0.5)
    assert window.cooldown_left(now) == pytest.approx(10.5)
    now += 10.5
    window.answered(send(window, now))
    window.rate_limited(send(window, now), now=now, wait=1.0, jitter=1.0)
    assert window.cooldown_left(now) == pytest.approx(1.0)


def test_a_long_cooldown_grows_no_further() -> None:
    """What the service names is kept where it is longer than what the gate would add."""
    window = Window(max_in_flight=20)
    for _ in range(3):
        window.rate_limited(send(window, 0.0), now=0.0, wait=30.0, jitter=1.0)
        assert window.cooldown_left(0.0) == 30.0
        window.hold(0.0)


def test_what_a_period_taught_outlives_a_failed_probe() -> None:
    """After a period without a success the window opens as far as the last one that had some."""
    window = Window(max_in_flight=20)
    permits = opened(window, 0.0)
    for permit in permits[:10]:
        window.answered(permit)
    for permit in permits[10:]:
        window.rate_limited(permit, now=0.0, wait=1.0)
    window.rate_limited(send(window, 1.0), now=1.0, wait=1.0)
    assert rounds(window, 2.0, 5) == [1, 2, 4, 3, 1]


@given(st.lists(st.floats(min_value=0.0, max_value=3.0), max_size=60), st.integers(1, 5), st.floats(0.1, 10.0))
def test_no_stretch_holds_more_than_the_rate(steps: list[float], requests: int, per: float) -> None:
    """However the requests come, no stretch of `per` seconds holds more beginnings than the rate allows."""
    window = Window(max_in_flight=1000, rates=[RateLimit(requests, per)])
    now, begun = 0.0, list[float]()
    for step in steps:
        now += step
        if window.wait(now) == 0:
            send(window, now)
            begun.append(now)
    for first, beyond in zip(begun, begun[requests:], strict=False):
        assert beyond - first >= per - 1e-9


class WindowMachine(RuleBasedStateMachine):
    """Requests begin, are answered, rate limited and lost in any order, while the clock goes on."""

    under_way: Bundle[Permit] = Bundle("under_way")

    def __init__(self) -> None:
        super().__init__()
        self.window = Window(max_in_flight=4)
        self.now = 0.0
        self.count = 0
        self.cooldown_until = 0.0

    @rule(seconds=st.floats(0.0, 3.0))
    def time_goes_on(self, seconds: float) -> None:
        """The clock is handed in."""
        self.now += seconds

    @precondition(lambda self: self.window.wait(self.now) == 0)
    @rule(target=under_way)
    def begins(self) -> Permit:
        """Only while no cooldown is known, and below the most."""
        assert self.now >= self.cooldown_until
        self.count += 1
        assert self.count <= 4
        return self.window.begin(self.now)

    @rule(given_pass=consumes(under_way))
    def is_answered(self, given_pass: Permit) -> None:
        """A response other than 429."""
        self.window.answered(given_pass)
        self.count -= 1

    @rule(given_pass=consumes(under_way))
    def is_lost(self, given_pass: Permit) -> None:
        """No response."""
        self.window.end(given_pass)
        self.count -= 1

    @rule(given_pass=consumes(under_way), wait=st.floats(0.0, 5.0))
    def is_refused(self, given_pass: Permit, wait: float) -> None:
        """A 429."""
        self.window.rate_limited(given_pass, now=self.now, wait=wait)
        self.cooldown_until = max(self.cooldown_until, self.now + wait)
        self.count -= 1

    @invariant()
    def never_stuck(self) -> None:
        """The count is right, and with nothing under way and no cooldown the next request may begin."""
        assert self.window.in_flight == self.count
        if self.count == 0 and self.now >= self.cooldown_until:
            assert self.window.wait(self.now) == 0


TestWindowMachine = WindowMachine.TestCase
TestWindowMachine.settings = settings(max_examples=examples(40), stateful_step_count=30)
