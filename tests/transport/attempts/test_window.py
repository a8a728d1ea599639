"""The window: cooldowns, slow start, probes and rates, decided without a clock of its own."""

import math
import tracemalloc

import pytest
from hypothesis import given, settings, strategies as st
from itwin_platform_transport import RateLimit
from itwin_platform_transport.gates.window import Limit, Permit, Window

from tests.support.examples import examples


def wait_of(window: Window, now: float) -> float:
    """Let time pass, and ask."""
    window.advance(now)
    return window.next_start(now)


def opened(window: Window, now: float) -> list[Permit]:
    """Start as many requests as the window allows now."""
    permits = []
    while wait_of(window, now) == 0:
        permits.append(window.begin(now))
    return permits


def rounds(window: Window, now: float, count: int) -> list[int]:
    """Return how many requests start in each round, where all of a round succeed before the next."""
    sizes = []
    for _ in range(count):
        permits = opened(window, now)
        sizes.append(len(permits))
        for permit in permits:
            window.responded(permit)
    return sizes


def limited_after(allowed: int, *, wait: float = 1.0) -> Window:
    """Return a window in which this many requests succeeded at 0 s, and the next one got a 429."""
    window = Window(max_in_flight=20)
    *successes, limited = [window.begin(0.0) for _ in range(allowed + 1)]
    for permit in successes:
        window.responded(permit)
    window.rate_limited(limited, Limit(now=0.0, wait=wait))
    return window


@pytest.mark.parametrize("allowed", range(8))
def test_after_a_429_the_window_opens_slowly(allowed: int) -> None:
    """No request starts until the cooldown ends; then 1, 2, 4, 8, 16 and at most `max_in_flight`.

    Up to seven successes before the 429 tell no rate: the slow start goes on past as many. Nor does a lost response.
    """
    window = limited_after(allowed, wait=5.0)
    assert (wait_of(window, 0.0), wait_of(window, 4.5)) == (5.0, 0.5)
    window.abandoned(window.begin(5.0))
    assert rounds(window, 5.0, 7) == [1, 2, 4, 8, 16, 20, 20]


def test_further_429s_of_a_cooldown_only_extend_it() -> None:
    """A 429 of a request from before the cooldown neither shortens it nor restarts the slow start, however late."""
    window = Window(max_in_flight=20)
    first, second, third, late, *others = opened(window, 0.0)
    window.rate_limited(first, Limit(now=1.0, wait=5.0))
    window.rate_limited(second, Limit(now=1.5, wait=1.0))
    assert window.cooldown.left(1.5) == 4.5
    window.rate_limited(third, Limit(now=2.0, wait=9.0))
    assert window.cooldown.left(2.0) == 9.0
    for other in others:
        window.responded(other)
    assert rounds(window, 11.0, 2) == [1, 2]
    window.rate_limited(late, Limit(now=11.0, wait=1.0))
    assert (wait_of(window, 11.5), window.slow_start.in_flight) == (0.5, 0)
    assert rounds(window, 12.0, 1) == [4]


def test_slow_requests_from_before_count_as_in_flight() -> None:
    """Requests from before the cooldown count against `max_in_flight`, and others may start after it."""
    window = Window(max_in_flight=4)
    permits = opened(window, 0.0)
    window.rate_limited(permits[0], Limit(now=0.0, wait=1.0))
    assert rounds(window, 1.0, 3) == [1, 1, 1]
    assert len(opened(window, 1.0)) == 1
    assert wait_of(window, 1.0) == math.inf
    window.responded(permits[1])
    assert rounds(window, 1.0, 1) == [1]


def test_an_unused_permit_frees_the_rate() -> None:
    """A permit counts against the rate until `per` after it was granted, or until it is returned unused."""
    window = Window(max_in_flight=20, rates=[RateLimit(2, 10.0)])
    first, _ = window.begin(0.0), window.begin(1.0)
    assert wait_of(window, 3.0) == pytest.approx(7.4)
    window.unused(first)
    assert wait_of(window, 3.0) == 0.0
    late = window.begin(3.0)
    assert wait_of(window, 12.0) == 0.0
    window.unused(late)  # it is too old to count
    assert wait_of(window, 20.0) == 0.0


def test_several_rates_hold_at_once() -> None:
    """With two rates, the stricter one decides: three in 10 s, and five in 100 s."""
    window = Window(max_in_flight=20, rates=[RateLimit(3, 10.0), RateLimit(5, 100.0)])
    now, sent = 0.0, list[float]()
    while len(sent) < 9:
        now += wait_of(window, now)
        window.responded(window.begin(now))
        sent.append(now)
    assert sent == pytest.approx([0.0, 0.0, 0.0, 10.4, 10.4, 101.0, 101.0, 101.0, 111.4])


@given(st.lists(st.floats(min_value=0.0, max_value=3.0), max_size=60), st.integers(1, 5), st.floats(0.1, 10.0))
def test_no_period_exceeds_the_rate(steps: list[float], requests: int, per: float) -> None:
    """Whenever requests start, no period of `per` seconds has more of them than the rate allows."""
    window = Window(max_in_flight=1000, rates=[RateLimit(requests, per)])
    now, started = 0.0, list[float]()
    for step in steps:
        now += step
        if wait_of(window, now) == 0:
            window.begin(now)
            started.append(now)
    for first, beyond in zip(started, started[requests:], strict=False):
        assert beyond - first >= per - 1e-9


def test_the_longest_delay_that_a_float_holds_is_probed_each_minute() -> None:
    """A service that names it in every 429 gets one request a minute, for hours."""
    window = Window(max_in_flight=20)
    for now in range(0, 6_000, 60):
        window.advance(now)
        assert window.next_start(now) == 0.0
        window.rate_limited(window.begin(now), Limit(now=now, wait=1e308, jitter=1.0))


def test_a_long_cooldown_is_probed_each_minute() -> None:
    """One request a minute probes a long cooldown: a 429 sets a new end, any other response ends it."""
    window = limited_after(0, wait=86_400.0)
    assert (wait_of(window, 0.0), wait_of(window, 59.5)) == (60.0, 0.5)
    probe = window.begin(60.0)
    assert window.cooldown.allows(probe, 60.0)
    assert wait_of(window, 61.0) == 59.0
    window.rate_limited(probe, Limit(now=61.0, wait=80_000.0))
    assert (wait_of(window, 61.0), window.cooldown.left(61.0)) == (60.0, 80_000.0)
    window.responded(window.begin(121.0))
    assert window.cooldown.left(121.0) == 0.0
    assert rounds(window, 121.0, 3) == [2, 4, 8]


def test_a_probe_that_was_not_sent_is_due_again() -> None:
    """When a probe is not sent, the next request may probe immediately; one without a response takes its turn."""
    window = limited_after(0, wait=600.0)
    window.unused(window.begin(60.0))
    assert wait_of(window, 60.0) == 0.0
    probe = window.begin(60.0)
    assert wait_of(window, 120.0) == math.inf  # until it ends
    window.abandoned(probe)
    assert wait_of(window, 70.0) == 50.0


def test_a_probe_goes_on_whatever_becomes_of_older_requests() -> None:
    """One that was not sent makes no other probe due; one that got a response ends no cooldown."""
    window = Window(max_in_flight=20)
    limited, unsent, answered = [window.begin(0.0) for _ in range(3)]
    window.rate_limited(limited, Limit(now=0.0, wait=600.0))
    assert not window.cooldown.allows(answered, 0.0)
    probe = window.begin(60.0)
    window.unused(unsent)
    window.responded(answered)
    assert (wait_of(window, 61.0), window.cooldown.left(61.0)) == (59.0, 539.0)
    assert [permit.number for permit in (limited, unsent, answered, probe)] == [1, 2, 3, 4]


def test_a_response_from_before_a_cooldown_does_not_end_it() -> None:
    """Nor does one to a request that was granted as the cooldown ended, and was overtaken by another 429."""
    window = Window(max_in_flight=20)
    limited, late, answered = [window.begin(0.0) for _ in range(3)]
    window.rate_limited(limited, Limit(now=0.0, wait=600.0))
    window.responded(answered)
    assert window.cooldown.left(0.0) == 600.0
    overtaken = window.begin(600.0)
    window.rate_limited(late, Limit(now=600.0, wait=3.0))
    assert not window.cooldown.allows(overtaken, 600.0)
    window.responded(overtaken)
    assert window.cooldown.left(600.0) == 3.0


def test_a_permit_holds_unless_a_cooldown_has_started() -> None:
    """Also a short one; after it, the permit holds again."""
    window = Window(max_in_flight=20)
    first, second = window.begin(0.0), window.begin(0.0)
    assert window.cooldown.allows(second, 0.0)
    window.rate_limited(first, Limit(now=0.0, wait=0.5))
    assert (window.cooldown.allows(second, 0.0), window.cooldown.allows(second, 0.5)) == (False, True)


@pytest.mark.parametrize("rates", [(), (RateLimit(2, 1.0),)], ids=["none", "one"])
def test_a_rate_remembers_only_what_it_counts(rates: tuple[RateLimit, ...]) -> None:
    """However many requests there were, and nothing without a rate."""
    window = Window(max_in_flight=20, rates=rates)
    tracemalloc.start()
    try:
        for second in range(2_000):
            window.responded(window.begin(second * 0.6))
        assert tracemalloc.get_traced_memory()[0] < 10_000
    finally:
        tracemalloc.stop()


def test_cooldowns_grow_while_each_ends_in_a_429() -> None:
    """The range of added jitter doubles up to 20 s until the first success; the next cooldown lasts as long."""
    window = Window(max_in_flight=20)
    now, waits = 0.0, list[float]()
    for _ in range(7):
        window.rate_limited(window.begin(now), Limit(now=now, wait=1.0, jitter=1.0))
        waits.append(window.cooldown.left(now))
        now += waits[-1]
    assert waits == pytest.approx([1.0, 2.0, 4.0, 8.0, 16.0, 20.0, 20.0])
    for jitter, grown in ((0.0, 1.0), (0.5, 10.5)):
        window.rate_limited(window.begin(now), Limit(now=now, wait=1.0, jitter=jitter))
        assert window.cooldown.left(now) == pytest.approx(grown)
        now += grown
    window.responded(window.begin(now))
    for kept in (10.5, 10.5 * 0.9, 10.5 * 0.81):  # as long as the last time, and less and less
        window.rate_limited(window.begin(now), Limit(now=now, wait=1.0, jitter=1.0))
        assert window.cooldown.left(now) == pytest.approx(kept)
        now += kept
        window.responded(window.begin(now))


def test_a_long_cooldown_is_not_extended() -> None:
    """A `retry-after` longer than the range of the jitter is kept as it is."""
    window = Window(max_in_flight=20)
    for now in (0.0, 30.0, 60.0):
        window.rate_limited(window.begin(now), Limit(now=now, wait=30.0, jitter=1.0))
        assert window.cooldown.left(now) == 30.0


def used_up(window: Window, now: float) -> int:
    """Return how many requests succeed one after the other until the window holds one back."""
    count = 0
    while wait_of(window, now) == 0:
        window.responded(window.begin(now))
        count += 1
    return count


@pytest.mark.parametrize(("named", "learned"), [(0.4, 0.4), (1.0, 1.04), (1.6, 1.04), (5.3, 5.2)])
def test_a_429_tells_a_rate(named: float, learned: float) -> None:
    """Ten requests got through before a 429: from then on, ten start in the whole seconds that it asks for, and 4 %."""
    window = limited_after(10, wait=named)
    assert used_up(window, named) == 10
    assert wait_of(window, named) == pytest.approx(learned)
    assert used_up(window, named + learned) == 10


@pytest.mark.parametrize("is_late", [False, True])
def test_eight_requests_tell_a_rate(is_late: bool) -> None:
    """No fewer do; also if their responses come after the 429 of their period."""
    window = Window(max_in_flight=20)
    limited, *successes = [window.begin(0.0) for _ in range(9)]
    for permit in [] if is_late else successes:
        window.responded(permit)
    window.rate_limited(limited, Limit(now=0.0, wait=1.0))
    for permit in successes if is_late else []:
        window.responded(permit)
    assert used_up(window, 1.0) == 8
    assert wait_of(window, 1.0) == pytest.approx(1.04)


def test_a_rate_is_not_learned_from_a_long_period() -> None:
    """Ten requests in a minute tell nothing of how many a second allows."""
    window = Window(max_in_flight=20)
    for second in range(0, 60, 6):
        window.responded(window.begin(float(second)))
    window.rate_limited(window.begin(60.0), Limit(now=60.0, wait=1.0))
    assert rounds(window, 61.0, 5) == [1, 2, 4, 8, 16]


def test_after_a_long_period_the_next_one_is_measured_from_its_own_beginning() -> None:
    """What a minute let through says nothing of the ten requests in a second that come before the next 429."""
    window = Window(max_in_flight=20)
    for second in range(0, 60, 6):
        window.responded(window.begin(float(second)))
    window.rate_limited(window.begin(60.0), Limit(now=60.0, wait=1.0))
    assert sum(rounds(window, 61.0, 4)) == 15
    window.rate_limited(window.begin(61.0), Limit(now=61.0, wait=1.0))
    assert used_up(window, 62.0) == 15
    assert wait_of(window, 62.0) == pytest.approx(1.04)


def pauses(window: Window, now: float, count: int) -> tuple[list[float], float]:
    """Return how long the learned rate holds requests back, again and again, and the time at the end."""
    found = []
    for _ in range(count):
        used_up(window, now)
        found.append(round(wait_of(window, now), 3))
        now += found[-1]
    return found, now


@pytest.mark.parametrize(
    ("wait", "expected"),
    [
        (0.4, [0.4] * 11 + [0.36]),
        (1.0, [1.04] * 10 + [0.936] * 2),
        (5.0, [5.2] * 2 + [2.6] * 6 + [1.95] * 4),
    ],
)
def test_a_learned_rate_is_probed_when_it_holds_back(wait: float, expected: list[float]) -> None:
    """A probe comes when the rate has held ten times as long as a failure would cost, and not when idle.

    It takes a tenth off. Of a long period the first probes take half: ten requests in 5 s may be ten in 1 s.
    """
    window = limited_after(10, wait=wait)
    found, now = pauses(window, wait, 12)
    assert found == expected
    assert wait_of(window, now + 50.0) == 0.0


def test_while_nobody_is_held_back_nothing_is_probed() -> None:
    """However long that lasts, the next probe is as large as the first one; few requests start at once in it."""
    window = limited_after(10)
    used_up(window, 1.0)
    for now in (50.0, 100.0, 200.0):
        assert wait_of(window, now) == 0.0
    used_up(window, 200.0)
    assert wait_of(window, 200.0) == pytest.approx(0.936)
    assert len(opened(window, 201.0)) == 1


def test_a_limit_that_has_risen_is_found_by_larger_and_larger_probes() -> None:
    """After a probe that has held, the next one takes off twice as much, up to a quarter, 3 cooldowns later."""
    window = limited_after(10)
    _, now = pauses(window, 1.0, 10)
    found, now = pauses(window, now, 16)
    assert found == [0.936] * 4 + [0.749] * 5 + [0.562] * 6 + [0.421]


@pytest.mark.parametrize(("jitter", "held"), [(0.0, 1), (1.0, 4)])
def test_a_probe_waits_as_long_as_a_failure_would_really_cost(jitter: float, held: int) -> None:
    """What counts is how long the gate had to wait, and not what the service named for it."""
    window = limited_after(10)
    for _ in range(2):
        window.rate_limited(window.begin(1.0), Limit(now=1.0, wait=1.0, jitter=jitter))
    found, _ = pauses(window, 10.0, 6)
    assert found.count(2.08) == held


def test_a_failed_probe_is_taken_back() -> None:
    """After a 429 in a probe, the last period holds that had none; the next probe is half as large, and comes later."""
    window = limited_after(10)
    _, now = pauses(window, 1.0, 11)
    window.rate_limited(window.begin(now), Limit(now=now, wait=1.0))
    found, now = pauses(window, now + 2.0, 22)
    assert found == [1.04] * 20 + [0.988] * 2
    # The smallest one takes a thirty-second off.
    for _ in range(2):
        window.rate_limited(window.begin(now), Limit(now=now, wait=1.0))
        found, now = pauses(window, now + 2.0, 32)
        assert found == [1.04] * 31 + [1.007]


def test_a_long_period_that_was_too_fast_is_probed_boldly_again() -> None:
    """A failed probe halves the next one; after a 429 without a probe, the next one takes half off."""
    window = limited_after(10, wait=5.0)
    _, now = pauses(window, 5.0, 2)
    used_up(window, now)
    for _ in range(2):
        window.rate_limited(window.begin(now), Limit(now=now, wait=5.0))
        now += 5.0
        wait_of(window, now)
    found, _ = pauses(window, now, 6)
    assert found[-2:] == pytest.approx([5.2 / 0.95 / 2] * 2, abs=0.001)


@pytest.mark.parametrize(
    ("succeeds", "sent_at", "named", "left", "seconds"),
    [(10, 3.0, 2.0, 8, 8 * 3.12 / 8.5), (10, 2.2, 1.0, 8, 8 * 1.04 / 8.5), (0, 1.0, 1.0, 10, 1.04 / 0.95)],
    ids=["in whole seconds", "in a second at least", "nothing to measure by"],
)
def test_a_learned_rate_that_was_too_fast_is_measured_again(
    succeeds: int, sent_at: float, named: float, left: int, seconds: float
) -> None:
    """Without a probe, a 429 slows the rate down to 85 % of what got through since the last one, or by a twentieth."""
    window = limited_after(10)
    assert (used_up(window, 1.0) if succeeds else wait_of(window, 1.0)) == succeeds
    window.rate_limited(window.begin(sent_at), Limit(now=sent_at, wait=named))
    assert used_up(window, 10.0) == left
    assert wait_of(window, 10.0) == pytest.approx(seconds)


STEPS = st.tuples(st.sampled_from(["begins", "responded", "lost", "limited"]), st.floats(0.0, 3.0), st.floats(0.0, 5.0))


@settings(max_examples=examples(80))
@given(st.lists(STEPS, max_size=60))
def test_no_history_leaves_the_window_stuck(steps: list[tuple[str, float, float]]) -> None:
    """Whatever ends in whichever way: at most four in flight, none starts in a cooldown, and one may after it."""
    window, in_flight = Window(max_in_flight=4), list[Permit]()
    now = cooldown_until = 0.0
    for what, passes, wait in steps:
        now += passes
        if what == "begins" and wait_of(window, now) == 0:
            assert now >= cooldown_until
            in_flight.append(window.begin(now))
        elif what == "limited" and in_flight:
            window.rate_limited(in_flight.pop(0), Limit(now=now, wait=wait))
            cooldown_until = max(cooldown_until, now + wait)
        elif what != "begins" and in_flight:
            (window.responded if what == "responded" else window.abandoned)(in_flight.pop(0))
        assert window.slow_start.in_flight == len(in_flight) <= 4
        if not in_flight and now >= cooldown_until:
            assert wait_of(window, now) < 60.0
