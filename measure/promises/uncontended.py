"""The time that RedisGate adds to a call without contention."""

import statistics
import time
from itertools import repeat

from itwin_platform import RateLimit, RedisGate

from tests.support.redis_server import RedisServer

from .figure import Figure, at_most

#: Calls before the measurement: they connect, load the script and warm up the interpreter.
WARM_UP = 100
CALLS = 1000
#: A rate that delays no call, but which Redis counts.
RATE = RateLimit(100_000, 1.0)


async def enter(redis: RedisServer, *, rate: RateLimit | None = None) -> float:
    """Return the milliseconds of `enter`, for calls of one task, one after the other.

    The caller never awaits the report that a call has ended: it goes with the next `enter`, and its share of the script
    is measured.
    """
    seconds: list[float] = []
    async with RedisGate(redis.url, name="uncontended", rate=rate) as gate:
        for _ in repeat(None, WARM_UP + CALLS):
            ticket = gate.ticket()
            began = time.perf_counter()
            permit = await gate.enter(ticket, max_wait=60.0, until=None)
            seconds.append(time.perf_counter() - began)
            gate.responded(permit)
    return median(seconds)


def median(seconds: list[float]) -> float:
    """Return the median in milliseconds, without the warm-up."""
    return statistics.median(seconds[WARM_UP:]) * 1000


async def uncontended(redis: RedisServer) -> list[Figure]:
    """Measure `enter` in one task, and the commands to the server for it."""
    with redis.client as client:
        client.config_resetstat()
        milliseconds = await enter(redis)
        statistic = client.info("commandstats")["cmdstat_evalsha"]
    with_rate = await enter(redis, rate=RATE)
    return [
        at_most("uncontended enter, median", milliseconds, 0.3, unit=" ms"),
        at_most("uncontended enter with a rate, median", with_rate, 0.3, unit=" ms"),
        at_most("uncontended: commands to the server per call", statistic["calls"] / (WARM_UP + CALLS), 1.05),
        at_most("uncontended: the script itself, mean", statistic["usec_per_call"] / 1000, 0.2, unit=" ms"),
    ]
