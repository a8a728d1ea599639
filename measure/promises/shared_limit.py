"""All that is measured of RedisGate, on a real server; `python -m measure.promises shared` measures only this."""

import asyncio
import statistics
from dataclasses import replace

from itwin_platform import RedisGate

from tests.support.redis_server import RedisServer, server_program, system_programs

from .figure import Figure, at_most
from .several_processes import (
    eight_processes,
    interrupted_processes,
    killed_worker,
    outage_of_processes,
    punished_processes,
    several_processes,
)


async def uncontended(redis: RedisServer, *, calls: int = 1000) -> list[Figure]:
    """One process, one task: what the gate adds to a call, and what the engine does for it."""
    clock = asyncio.get_running_loop().time
    seconds: list[float] = []
    with redis.client as client:
        client.config_resetstat()
        async with RedisGate(redis.url, name="uncontended") as gate:
            for _ in range(calls):
                began = clock()
                permit = await gate.enter(gate.ticket(), max_wait=60.0, until=None)
                seconds.append(clock() - began)
                gate.sending(permit)
                gate.answered(permit)
        statistic = client.info("commandstats")["cmdstat_evalsha"]
    return [
        at_most("uncontended enter, median", statistics.median(seconds) * 1000, 0.3, unit=" ms"),
        at_most("uncontended: commands of the engine per call", statistic["calls"] / calls, 1.05),
        at_most("uncontended: the script itself, mean", statistic["usec_per_call"] / 1000, 0.2, unit=" ms"),
    ]


async def shared_limit() -> list[Figure]:
    """Every case with a server of its own, through httpx and aiohttp; nothing where no server is installed."""
    if server_program() is None:
        return []
    found: list[Figure] = []
    with RedisServer() as redis:
        found += await uncontended(redis)
    for measurement in (
        eight_processes,
        several_processes,
        punished_processes,
        interrupted_processes,
        outage_of_processes,
    ):
        for fast in (False, True):
            with RedisServer() as redis:
                found += await measurement(redis, fast=fast)
    with RedisServer() as redis:
        found += await killed_worker(redis)
    return found


async def shared_limit_of_the_system() -> list[Figure]:
    """The shorter cases again, on each server that the system has: Valkey, a newer Redis, or none."""
    found: list[Figure] = []
    for program in system_programs():
        with RedisServer(program) as redis:
            version, figures = redis.version, await uncontended(redis)
        for measurement in (outage_of_processes, eight_processes, interrupted_processes):
            # A server for each: an outage leaves an empty retry budget behind, also for the next case.
            with RedisServer(program) as redis:
                figures += await measurement(redis, fast=False)
        found += [replace(each, promise=f"{version}: {each.promise}") for each in figures]
    return found
