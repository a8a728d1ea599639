"""Measure how the gate learns unknown limits of several kinds, at several latencies, in virtual time.

The ideal time is the shortest time that the limit and `max_in_flight` together allow.
"""

import asyncio
import math
import random
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass

from itwin_platform_transport import Gate

from tests.support.event_loops import in_virtual_time

from .figure import Figure, at_most, exactly
from .limits import AlignedWindow, FixedWindow, Limit, PunishingWindow, RisingLimit, SlidingWindow, TokenBucket

LATENCIES = (0.005, 0.1, 0.3)
#: Each rate as requests and seconds, with the number of calls.
RATES = ((10, 1.0, 200), (100, 1.0, 1000), (100, 60.0, 300))
SEEDS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The times at which the calls of a run were accepted, the requests per call, and the seconds of the run."""

    accepted: Sequence[float]
    per_call: float
    seconds: float


async def run(limit: Limit, *, calls: int, latency: float, is_whole: bool, seed: int, max_in_flight: int = 20) -> Run:
    """Start `calls` calls at once at a service that names delays in whole seconds, or in decimals."""
    chance = random.Random(seed)
    gate, loop = Gate(max_in_flight, random_number=chance.random), asyncio.get_running_loop()
    accepted: list[float] = []
    requests = 0

    async def call() -> None:
        nonlocal requests
        ticket = gate.ticket()
        while True:
            permit = await gate.enter(ticket, max_wait=math.inf, until=None)
            requests += 1
            await asyncio.sleep(latency / 2)
            is_accepted, left = limit.accepts(loop.time()), limit.left(loop.time())
            await asyncio.sleep(latency / 2)
            if is_accepted:
                accepted.append(loop.time())
                gate.responded(permit)
                return
            wait = max(1, math.ceil(left)) if is_whole else math.ceil(left * 1000) / 1000
            gate.rate_limited(permit, wait=wait + chance.random() * min(0.05 * wait, 0.5))

    await asyncio.gather(*(call() for _ in range(calls)))
    seconds = loop.time()
    await gate.aclose()
    return Run(accepted=accepted, per_call=requests / calls, seconds=seconds)


def worst(
    limits: Sequence[FixedWindow | TokenBucket], *, calls: int, latency: float, is_whole: bool
) -> tuple[int, float, float]:
    """Return the number of lost calls, the highest number of requests per call, and the highest ratio to the ideal."""
    undone, per_call, against = 0, 0.0, 0.0
    for seed, limit in enumerate(limits):
        result = in_virtual_time(run(limit, calls=calls, latency=latency, is_whole=is_whole, seed=seed))
        undone += calls - len(result.accepted)
        per_call = max(per_call, result.per_call)
        against = max(against, result.seconds / max(limit.ideal(calls), calls / 20 * latency))
    return undone, per_call, against


def limits_of(kind: type[FixedWindow | TokenBucket], requests: int, per: float) -> Sequence[FixedWindow | TokenBucket]:
    """Return a limit for each seed; the first aligned window begins at a different time for each."""
    if kind is AlignedWindow:
        return [AlignedWindow(requests, per, seed / SEEDS * per) for seed in range(SEEDS)]
    return [kind(requests, per) for _ in range(SEEDS)]


def learning() -> list[Figure]:
    """Measure windows, token buckets, bans that restart, rising limits, and limits that are not rates."""
    found: list[Figure] = []
    for kind in (FixedWindow, AlignedWindow, SlidingWindow, TokenBucket):
        for latency in LATENCIES:
            results = [
                worst(limits_of(kind, requests, per), calls=calls, latency=latency, is_whole=is_whole)
                for requests, per, calls in RATES
                for is_whole in (True, False)
            ]
            name = f"unknown limit, {kind.__name__}, {latency * 1000:g} ms"
            per_call, against = (max(result[part] for result in results) for part in (1, 2))
            found += [
                at_most(f"{name}: requests per call", per_call, 1.3),
                at_most(f"{name}: time against the ideal", against, 1.5, unit=" x"),
            ]
    for ban, says in ((1.0, 1.0), (5.0, 5.0), (5.0, 1.0)):
        for latency in LATENCIES:
            bans = [PunishingWindow(10, 1.0, ban=ban, says=says) for _ in range(SEEDS)]
            undone, _, against = worst(bans, calls=200, latency=latency, is_whole=True)
            name = f"ban of {ban:g} s that restarts, Retry-After {says:g}, {latency * 1000:g} ms"
            found += [
                exactly(f"{name}: calls that were not done", undone, 0),
                at_most(f"{name}: time against the ideal", against, 3.0, unit=" x"),
            ]
    return found + rising_limits() + other_limits()


def rising_limits() -> list[Figure]:
    """Measure the time until calls use a limit after it rises from 10 to 50 a second."""
    found: list[Figure] = []
    for kind in (FixedWindow, AlignedWindow, SlidingWindow, TokenBucket):
        results = [
            seconds_until_used(kind, at=60 + seed * 1.37, seed=seed, is_whole=is_whole)
            for is_whole in (True, False)
            for seed in range(SEEDS)
        ]
        found.append(
            at_most(f"limit that rises, {kind.__name__}: until 80 % of it is used", max(results), 60, unit=" s")
        )
    return found


def seconds_until_used(kind: type[FixedWindow | TokenBucket], *, at: float, seed: int, is_whole: bool) -> float:
    """Return the seconds until an interval of five seconds has 80 % of the calls that the higher limit allows."""
    limit = RisingLimit(kind(10, 1.0), kind(50, 1.0), at=at)
    accepted = in_virtual_time(run(limit, calls=4000, latency=0.02, is_whole=is_whole, seed=seed)).accepted
    times = (at + step / 2 for step in range(round(2 * (accepted[-1] - at))))
    return next((time - at for time in times if bisect(accepted, time + 5) - bisect(accepted, time) >= 200), math.inf)


def other_limits() -> list[Figure]:
    """Measure limits that are not rates: the gate learns a rate that is too slow."""
    found: list[Figure] = []
    for name, kind, requests, most in (
        ("5 at a time, which take 100 ms each", SlidingWindow, 5, 8.0),
        ("1 every 100 ms, without a burst", TokenBucket, 1, 4.0),
    ):
        undone, _, against = worst(limits_of(kind, requests, 0.1), calls=300, latency=0.2, is_whole=True)
        found += [
            exactly(f"limit that is no rate, {name}: calls that were not done", undone, 0),
            at_most(f"limit that is no rate, {name}: time against the ideal", against, most, unit=" x"),
        ]
    return found
