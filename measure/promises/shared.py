"""Measure processes that share a RedisGate on a real Redis server, and count their requests at the service."""

import asyncio
import signal
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, repeat

from itwin_platform import RateLimit, RedisGate

from tests.support.redis_server import RedisServer, server_programs
from tests.support.services import ACCOUNT, PreparedResponse, RawServer, ReceivedRequest

from .figure import Figure, at_most, exactly, for_comparison, not_measured
from .limits import FixedWindow, PunishingWindow
from .workers import Settings, started

#: The number of calls that connect, load the script and warm up the interpreter, and the number of measured calls.
WARM_UP, CALLS = 100, 1000
#: A rate that Redis counts, but that never delays a call.
HIGH_RATE = RateLimit(100_000, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A rate limit with its processes: `most` bounds the requests per call, `slowest` the ratio to the ideal time."""

    processes: int
    limit: type[FixedWindow]
    requests: int
    calls: int
    most: float
    slowest: float

    def __str__(self) -> str:
        punished = ", early requests punished" if self.limit is PunishingWindow else ""
        return f"{self.processes} processes, {self.requests}/s{punished}, {self.calls:,} calls"


CASES = (
    Case(processes=8, limit=FixedWindow, requests=100, calls=1000, most=1.03, slowest=1.3),
    Case(processes=2, limit=FixedWindow, requests=10, calls=200, most=1.2, slowest=1.2),
    Case(processes=8, limit=FixedWindow, requests=10, calls=200, most=1.2, slowest=1.2),
    Case(processes=8, limit=PunishingWindow, requests=10, calls=200, most=1.3, slowest=2.0),
)


def service_with(limit: FixedWindow) -> Callable[[ReceivedRequest], PreparedResponse]:
    """Return the responses of a service with this limit."""

    def respond(received: ReceivedRequest) -> PreparedResponse:
        if limit.accepts(received.at):
            return PreparedResponse(body=ACCOUNT)
        return PreparedResponse(status=429, headers={"retry-after": "1"})

    return respond


async def limited(redis: RedisServer, *, case: Case) -> list[Figure]:
    """Make the calls of a case, an equal number in each process."""
    limit = case.limit(case.requests, 1.0)
    async with RawServer(service_with(limit)) as server:
        settings = Settings(
            address=server.address, calls=case.calls // case.processes, redis=redis.url, workers=case.processes
        )
        async with started(settings) as processes:
            began = asyncio.get_running_loop().time()
            processes.begin()
            results = await processes.results()
        received = len(server.requests)
        seconds = max(each.at for each in server.requests) - began
    with redis.client as client:
        commands = client.info("commandstats")["cmdstat_evalsha"]["calls"]
    return [
        exactly(f"{case}: calls done", results["done"], case.calls),
        at_most(f"{case}: requests per call", received / case.calls, case.most),
        at_most(f"{case}: time against the ideal", seconds / limit.ideal(case.calls), case.slowest, unit=" x"),
        for_comparison(f"{case}: commands to the server per request", commands / received),
    ]


async def interrupted(redis: RedisServer) -> list[Figure]:
    """Measure with Redis killed at one third of the run, and started at two thirds."""
    calls = 1000
    async with RawServer(service_with(FixedWindow(100, 1.0))) as server:
        settings = Settings(address=server.address, calls=calls // 4, redis=redis.url, workers=4)
        async with started(settings) as processes:
            processes.begin()
            finishing = asyncio.create_task(processes.results())
            for share, change in ((1 / 3, redis.kill), (2 / 3, redis.start)):
                await server.received(round(share * calls))
                await asyncio.to_thread(change)
            results = await finishing
    return [
        exactly("Redis gone for a third, 4 processes: calls done", results["done"], calls),
        at_most("Redis gone for a third, 4 processes: requests per call", len(server.requests) / calls, 1.15),
    ]


async def killed_worker(redis: RedisServer) -> list[Figure]:
    """Kill a process that holds every permit; the others continue when its lease expires."""
    loop = asyncio.get_running_loop()
    hangs = True

    def respond(received: ReceivedRequest) -> PreparedResponse:
        return PreparedResponse(fault="hang") if hangs else PreparedResponse(body=ACCOUNT)

    async with RawServer(respond) as server:
        holder = Settings(address=server.address, calls=20, redis=redis.url, workers=1)
        others = Settings(address=server.address, calls=50, redis=redis.url, workers=3)
        async with started(holder) as holding, started(others) as waiting:
            holding.begin()
            await server.received(20)
            hangs = False
            waiting.begin()
            await asyncio.sleep(0.5)
            holding.processes[0].kill()
            began = loop.time()
            await server.received(len(server.requests) + 1)
            seconds = loop.time() - began
            done = (await waiting.results())["done"]
    return [
        exactly("kill -9 of the worker that holds every permit: calls of the others done", done, 150),
        at_most("kill -9 of the worker that holds every permit: until the others go on", seconds, 10.0, unit=" s"),
    ]


async def stopped_worker(redis: RedisServer) -> list[Figure]:
    """Stop one of four processes in the middle of its calls; the others continue without its permits."""
    loop = asyncio.get_running_loop()
    async with RawServer(service_with(FixedWindow(100, 1.0))) as server:
        settings = Settings(address=server.address, calls=100, redis=redis.url, workers=4)
        async with (
            started(replace(settings, processes=1)) as stopping,
            started(replace(settings, processes=3)) as others,
        ):
            stopping.begin()
            others.begin()
            await server.received(50)
            stopping.processes[0].send_signal(signal.SIGSTOP)
            stopped_at = loop.time()
            done = (await others.results())["done"]
        times = [received.at for received in server.requests if received.at >= stopped_at]
    name = "SIGSTOP of one of four workers, 100/s"
    return [
        exactly(f"{name}: calls of the others done", done, 300),
        at_most(f"{name}: longest pause of the others", max(b - a for a, b in pairwise(times)), 2.0, unit=" s"),
    ]


async def enter(redis: RedisServer, *, rate: RateLimit | None = None) -> float:
    """Return the median milliseconds of `enter` for the calls of one task, one after the other.

    The next `enter` reports the end of a call, so the figure includes the report.
    """
    seconds: list[float] = []
    async with RedisGate(redis.url, name="uncontended", rate=rate) as gate:
        for _ in repeat(None, WARM_UP + CALLS):
            ticket = gate.ticket()
            began = time.perf_counter()
            permit = await gate.enter(ticket, max_wait=60.0, until=None)
            seconds.append(time.perf_counter() - began)
            gate.responded(permit)
    return statistics.median(seconds[WARM_UP:]) * 1000


async def uncontended(redis: RedisServer) -> list[Figure]:
    """Measure the time that the gate adds to a call of one task."""
    return [
        at_most("uncontended enter, median", await enter(redis), 0.3, unit=" ms"),
        at_most("uncontended enter with a rate, median", await enter(redis, rate=HIGH_RATE), 0.3, unit=" ms"),
    ]


async def shared() -> list[Figure]:
    """Measure each case with a new process of each installed server: Redis, Valkey."""
    if not (programs := server_programs()):
        return [not_measured("RedisGate on a real server", "no redis-server or valkey-server was found")]
    found: list[Figure] = []
    measurements: tuple[Callable[[RedisServer], Awaitable[list[Figure]]], ...] = (
        *(uncontended, interrupted, killed_worker, stopped_worker),
        *(partial(limited, case=case) for case in CASES),
    )
    for program in programs:
        for measurement in measurements:
            # A new server for each measurement, without the state of the previous one.
            with RedisServer(program) as redis:
                version, figures = redis.version, await measurement(redis)
            found += [replace(each, promise=f"{version}: {each.promise}") for each in figures]
    return found
