"""The time that RedisGate adds to a call without contention, beside a round trip to Redis on this machine."""

import asyncio
import socket
import statistics
import time
from itertools import repeat

from itwin_platform import RateLimit, RedisGate
from redis.asyncio import Redis

from tests.support.redis_server import RedisServer

from .figure import Figure, at_most, for_comparison

#: Calls before the measurement: they connect, load the script and warm up the interpreter.
WARM_UP = 100
CALLS = 1000
#: A rate that delays no call, but which Redis counts.
RATE = RateLimit(100_000, 1.0)
#: Seconds after which a gate has reported the end of a call by itself.
PAUSE = 0.02


def socket_ping(redis: RedisServer) -> float:
    """Return the milliseconds of a PING through a blocking socket: the time of the machine and the server."""
    seconds: list[float] = []
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(redis.url.removeprefix("unix://"))
        for _ in repeat(None, WARM_UP + CALLS):
            began = time.perf_counter()
            connection.sendall(b"PING\r\n")
            connection.recv(100)
            seconds.append(time.perf_counter() - began)
    return median(seconds)


async def client_ping(redis: RedisServer, *, calls: int = CALLS, pause: float = 0.0) -> float:
    """Return the milliseconds of a PING through redis-py and the event loop."""
    seconds: list[float] = []
    async with Redis.from_url(redis.url, socket_timeout=None) as client:  # as the gate connects
        for _ in repeat(None, WARM_UP + calls):
            await asyncio.sleep(pause)
            began = time.perf_counter()
            await client.ping()
            seconds.append(time.perf_counter() - began)
    return median(seconds)


async def enter(redis: RedisServer, *, rate: RateLimit | None = None, calls: int = CALLS, pause: float = 0.0) -> float:
    """Return the milliseconds of `enter`, for calls of one task, one after the other.

    The caller never awaits the report that a call has ended. Without a pause it goes with the next `enter`, and its
    share of the script is measured; with one, the gate sends it alone, and `enter` finds a gate at rest.
    """
    seconds: list[float] = []
    async with RedisGate(redis.url, name="uncontended", rate=rate) as gate:
        for _ in repeat(None, WARM_UP + calls):
            await asyncio.sleep(pause)
            ticket = gate.ticket()
            began = time.perf_counter()
            permit = await gate.enter(ticket, max_wait=60.0, until=None)
            seconds.append(time.perf_counter() - began)
            gate.answered(permit)
    return median(seconds)


def median(seconds: list[float]) -> float:
    """Return the median in milliseconds, without the warm-up."""
    return statistics.median(seconds[WARM_UP:]) * 1000


async def uncontended(redis: RedisServer) -> list[Figure]:
    """Measure `enter` in one task, and the commands of the engine for it."""
    with redis.client as client:
        client.config_resetstat()
        milliseconds = await enter(redis)
        statistic = client.info("commandstats")["cmdstat_evalsha"]
    comparisons = {
        "uncontended enter with a rate": await enter(redis, rate=RATE),
        "a PING through redis-py": await client_ping(redis),
        "a PING through a blocking socket": socket_ping(redis),
        "uncontended enter, 20 ms after the last call": await enter(redis, calls=200, pause=PAUSE),
        "a PING through redis-py, 20 ms after the last": await client_ping(redis, calls=200, pause=PAUSE),
    }
    return [
        at_most("uncontended enter, median", milliseconds, 0.3, unit=" ms"),
        *(for_comparison(f"{name}, median", each, unit=" ms") for name, each in comparisons.items()),
        at_most("uncontended: commands of the engine per call", statistic["calls"] / (WARM_UP + CALLS), 1.05),
        at_most("uncontended: the script itself, mean", statistic["usec_per_call"] / 1000, 0.2, unit=" ms"),
    ]
