"""The measurements of RedisGate on a real server; `python -m measure.promises shared` runs only these."""

from dataclasses import replace

from tests.support.redis_server import RedisServer, server_programs

from .figure import Figure, not_measured
from .several_processes import (
    eight_processes,
    interrupted_processes,
    killed_worker,
    outage_of_processes,
    punished_processes,
    several_processes,
    stopped_worker,
)
from .uncontended import uncontended


async def shared_limit() -> list[Figure]:
    """Measure every case with a new server, through both transports."""
    if not server_programs():
        return [not_measured("RedisGate on a real server", "no redis-server or valkey-server was found")]
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
    with RedisServer() as redis:
        found += await stopped_worker(redis)
    return found


async def shared_limit_of_other_servers() -> list[Figure]:
    """Repeat the shorter cases on each other server that is found: Valkey, or a newer Redis."""
    if not (programs := server_programs()[1:]):
        return [
            not_measured("RedisGate on another server", "no second one of redis-server and valkey-server was found")
        ]
    found: list[Figure] = []
    for program in programs:
        with RedisServer(program) as redis:
            version, figures = redis.version, await uncontended(redis)
        for measurement in (outage_of_processes, eight_processes, interrupted_processes):
            # A new server for each case: what one leaves in Redis must not help the next.
            with RedisServer(program) as redis:
                figures += await measurement(redis, fast=False)
        found += [replace(each, promise=f"{version}: {each.promise}") for each in figures]
    return found
