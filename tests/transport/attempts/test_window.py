"""The window: cooldowns, slow start, probes and rates. It receives the time as an argument."""

import math
import tracemalloc
from collections import Counter

import pytest
from hypothesis import given, strategies as st
from itwin_platform_transport import RateLimit
from itwin_platform_transport.gates.learned_rate import LearnedRate
from itwin_platform_transport.gates.window import Permit, TooManyRequests, Window

from measure.promises.limits import FixedWindow, Limit as Limiter, PunishingWindow, RisingLimit, TokenBucket


def wait_of(window: Window, now: float) -> float:
    """Let time pass, and return the seconds until the next start."""
    window.advance(now)
    return window.next_start(now)


def opened(window: Window, now: float) -> list[Permit]:
    """Start as many requests as the window allows."""
    permits = []
    while wait_of(window, now) == 0:
        permits.append(window.begin(now))
    return permits


def rounds(window: Window, now: float, count: int) -> list[int]:
    """Return the number of requests of each round. All requests of a round succeed before the next round."""
    sizes = []
    for _ in range(count):
        permits = opened(window, now)
        sizes.append(len(permits))
        for permit in permits:
            window.responded(permit)
    return sizes


def test_further_429s_of_a_cooldown_only_extend_it() -> None:
    """A 429 of a request from before the cooldown neither shortens it nor restarts the slow start, however late."""
    window = Window(max_in_flight=5)
    first, second, third, late, other = opened(window, 0.0)
    window.rate_limited(first, TooManyRequests(now=1.0, wait=5.0))
    window.rate_limited(second, TooManyRequests(now=1.5, wait=1.0))
    assert window.cooldown.left(1.5) == 4.5
    window.rate_limited(third, TooManyRequests(now=2.0, wait=9.0))
    assert window.cooldown.left(2.0) == 9.0
    window.responded(other)
    assert rounds(window, 11.0, 4) == [1, 2, 4, 4]
    window.rate_limited(late, TooManyRequests(now=11.0, wait=1.0))
    assert (wait_of(window, 11.5), window.slow_start.in_flight, window.cooldown.rejecting_since) == (0.5, 0, 11.0)
    assert rounds(window, 12.0, 1) == [5]


@given(st.lists(st.floats(min_value=0.0, max_value=3.0), max_size=60), st.integers(1, 5), st.floats(0.1, 10.0))
def test_no_period_exceeds_a_rate(steps: list[float], requests: int, per: float) -> None:
    """No period of `per` seconds has more requests than the rate allows, at any times, also with two rates."""
    rates = [RateLimit(requests, per), RateLimit(2 * requests, 4 * per)]
    window = Window(max_in_flight=1000, rates=rates)
    now, started = 0.0, list[float]()
    for step in steps:
        now += step
        if wait_of(window, now) == 0:
            window.begin(now)
            started.append(now)
    for rate in rates:
        for first, beyond in zip(started, started[rate.requests :], strict=False):
            assert beyond - first >= rate.per - 1e-9


def test_a_long_cooldown_is_probed_each_minute() -> None:
    """One request a minute probes a long cooldown: a 429 sets a new end, any other response ends it.

    An older request that gets a response or is not sent neither ends it nor makes another probe due.
    """
    window = Window(max_in_flight=20)
    limited, unsent, late = [window.begin(0.0) for _ in range(3)]
    window.rate_limited(limited, TooManyRequests(now=0.0, wait=86_400.0))
    assert (wait_of(window, 0.0), wait_of(window, 59.5)) == (60.0, 0.5)
    window.responded(late)
    probe = window.begin(60.0)
    window.unused(unsent)
    assert window.cooldown.allows(probe)
    assert (wait_of(window, 61.0), window.cooldown.left(61.0), wait_of(window, 120.0)) == (59.0, 86_339.0, math.inf)
    window.rate_limited(probe, TooManyRequests(now=120.0, wait=80_000.0))
    assert (wait_of(window, 120.0), window.cooldown.left(120.0)) == (60.0, 80_000.0)
    window.responded(window.begin(180.0))
    assert rounds(window, 180.0, 3) == [2, 4, 8]


@pytest.mark.parametrize("rates", [(), (RateLimit(2, 1.0),)], ids=["none", "one"])
def test_the_memory_of_a_rate_is_bounded(rates: tuple[RateLimit, ...]) -> None:
    """A rate stores the times of the requests that it counts; without a rate, no times are stored."""
    window = Window(max_in_flight=20, rates=rates)
    tracemalloc.start()
    try:
        for second in range(5_000):  # 160 kB, if a time were kept of each
            window.responded(window.begin(second * 0.6))
        assert tracemalloc.get_traced_memory()[0] < 50_000
    finally:
        tracemalloc.stop()


def test_cooldowns_grow_while_each_ends_in_a_429() -> None:
    """The range of jitter doubles up to 20 s until a success. The next cooldown is as long, and a long one stays.

    A limit that holds for days has more 429s than a float has powers of two.
    """
    window = Window(max_in_flight=20)
    now, waits = 0.0, list[float]()
    for _ in range(1_100):
        window.rate_limited(window.begin(now), TooManyRequests(now=now, wait=1.0, jitter=1.0))
        waits.append(window.cooldown.left(now))
        now += waits[-1]
    assert waits == pytest.approx([1.0, 2.0, 4.0, 8.0, 16.0] + [20.0] * 1_095)
    window.responded(window.begin(now))
    for wait, kept in ((20.0, 20.0), (1.0, 20.0), (1.0, 18.0)):  # as long as the last one, and then shorter
        window.rate_limited(window.begin(now), TooManyRequests(now=now, wait=wait, jitter=1.0))
        assert window.cooldown.left(now) == pytest.approx(kept)
        now += kept
        window.responded(window.begin(now))
    for _ in range(2):  # longer than the growth allows: it stays as it is
        window.rate_limited(window.begin(now), TooManyRequests(now=now, wait=30.0, jitter=1.0))
        assert window.cooldown.left(now) == 30.0
        now += 30.0


def learned_from(*periods: tuple[int, int, float]) -> list[tuple[int, float, float]]:
    """Return the rates, and when the probe of each is due, after periods: whether of a probe, successes and seconds."""
    learned, found = LearnedRate(), list[tuple[int, float, float]]()
    for is_probe, count, span in periods:
        if is_probe and learned.limit is not None:
            learned.try_faster(*learned.limit, now=0.0, cost=10.0)
        learned.began, learned.accepted = 0.0 if count else None, count
        learned.rate_limited(0.0, wait=span)
        learned.settle(0.0, cost=10.0)
        if learned.limit is not None:
            found.append((learned.limit[0], round(learned.limit[1], 3), learned.probe_at / 10.0))
    return found


def test_a_429_slows_a_learned_rate() -> None:
    """A failed probe halves the share of the next one, to 1/32. A 429 before any success slows the rate to 95 %.

    One after successes shows a new rate, unless its period has no seconds or more than 20. The share of the next probe
    starts again if the rate has at least 1.5 s.
    """
    found = learned_from((0, 10, 0.0), (0, 10, 1.5), *[(1, 10, 1.5)] * 3, (0, 0, 1.5), *[(0, 10, 2.2)] * 2)
    assert found[3:] == [(10, 1.04, 32.0), (10, 1.095, 32.0), (8, 0.979, 32.0), (6, 0.773, 32.0)]
    assert learned_from((0, 10, 1.5), (0, 10, 20.0), (0, 10, 20.5))[1:] == [(8, 18.598, 2.0), (8, 19.576, 2.0)]
    assert learned_from((0, 14, 1.5 * 0.95**8), *[(0, 0, 1.5)] * 8)[7:] == [(14, 1.425, 10.0), (14, 1.5, 2.0)]


def test_a_cooldown_that_another_process_reports_has_no_429_of_this_one() -> None:
    """The last 429 of this process belongs to its own cooldown, also when the server prolongs that.

    It does not shorten a cooldown of the server.
    """
    window = Window(max_in_flight=20)
    permit = window.begin(0.0)
    window.follow_server(now=0.0, left=9.0, rejecting_for=0.0)
    window.rate_limited(permit, TooManyRequests(now=0.0, wait=1.0, record="own"))
    assert window.cooldown.left(0.0) == 9.0
    for now, left, since, record in [(0.5, 5.0, 0.5, "own"), (6.0, 0.0, None, "own"), (9.0, 5.0, 0.0, None)]:
        window.follow_server(now=now, left=left, rejecting_for=since)
        assert window.last_429 == record


@pytest.mark.parametrize(
    ("limit", "per_second", "rejected"),
    [
        (FixedWindow(10, 1.0), 10, 10),
        (TokenBucket(10, 1.0), 10, 10),
        (FixedWindow(3, 1.0), 3, 6),
        (FixedWindow(10, 5.0), 2, 3),
        (FixedWindow(100, 60.0), 100 / 60, 25),
        (PunishingWindow(10, 1.0, ban=5.0), 10, 5),
        (RisingLimit(FixedWindow(10, 1.0), FixedWindow(50, 1.0), at=60.0), 50, 15),
        (RisingLimit(FixedWindow(10, 5.0), FixedWindow(50, 5.0), at=60.0), 10, 10),
        (RisingLimit(FixedWindow(50, 1.0), FixedWindow(10, 1.0), at=60.0), 10, 10),
    ],
    ids=["window", "bucket", "few requests", "five seconds", "a minute", "ban", "rises", "long window rises", "falls"],
)
def test_an_unknown_limit_is_learned(limit: Limiter, per_second: float, rejected: int) -> None:
    """After two minutes, three quarters of the limit are used, and few requests of the next two get a 429."""
    window, found = Window(max_in_flight=20), Counter[bool]()
    for step in range(20 * 240):
        now = step / 20
        for permit in opened(window, now):
            is_accepted = limit.accepts(now)
            found[is_accepted] += now >= 120.0
            if is_accepted:
                window.responded(permit)
            else:
                wait = float(math.ceil(limit.left(now)))
                window.rate_limited(permit, TooManyRequests(now=now, wait=wait, jitter=0.5))
    assert found[True] >= 0.75 * 120.0 * per_second
    assert found[False] <= rejected
