"""Processes with one credential at one service, with and without RedisGate, counted at the service."""

import asyncio
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

from tests.support.redis_server import RedisServer
from tests.support.services import ACCOUNT, PreparedResponse, RawServer, ReceivedRequest

from .figure import Figure, at_most, exactly
from .limits import FixedWindow, PunishingWindow
from .workers import Results, Settings, started


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The requests of some processes at the service, and the results of their calls."""

    calls: int
    results: Results
    requests: int
    seconds: float


def service_with(limit: FixedWindow) -> Callable[[ReceivedRequest], PreparedResponse]:
    """Return the responses of a service with this limit."""

    def respond(received: ReceivedRequest) -> PreparedResponse:
        if limit.accepts(received.at):
            return PreparedResponse(body=ACCOUNT)
        return PreparedResponse(status=429, headers={"retry-after": "1"})

    return respond


async def run(
    respond: Callable[[ReceivedRequest], PreparedResponse],
    *,
    workers: int,
    calls: int,
    redis: RedisServer | None,
    fast: bool = False,
    rate: tuple[int, float] | None = None,
    deadline: float | None = None,
    is_interrupted: bool = False,
) -> Run:
    """Share the calls between processes; with an interruption Redis is down from one third of them to two thirds."""
    loop = asyncio.get_running_loop()
    async with RawServer(respond) as server:
        settings = Settings(
            address=server.address,
            calls=calls // workers,
            redis=None if redis is None else redis.url,
            workers=workers,
            fast=fast,
            rate=rate,
            deadline=deadline,
        )
        async with started(settings) as processes:
            began = loop.time()
            processes.begin()
            finishing = asyncio.create_task(processes.results())
            if is_interrupted and redis is not None:
                for share, change in ((1 / 3, redis.kill), (2 / 3, redis.start)):
                    await server.received(round(share * calls))
                    await asyncio.to_thread(change)
            results = await finishing
            seconds = max(received.at for received in server.requests) - began
        return Run(calls=calls, results=results, requests=len(server.requests), seconds=seconds)


def figures(name: str, result: Run, *, most: float, ideal: float = 0.0, slowest: float = 0.0) -> list[Figure]:
    """Return the figures: calls done, requests per call, and with an ideal, time and CPU."""
    found = [
        exactly(f"{name}: calls done", result.results.calls["done"], result.calls),
        at_most(f"{name}: requests per call", result.requests / result.calls, most),
    ]
    if slowest:
        found.append(at_most(f"{name}: time against the ideal", result.seconds / ideal, slowest, unit=" x"))
        found.append(
            at_most(f"{name}: CPU for each call", result.results.cpu_seconds / result.calls * 1000, 10.0, unit=" ms")
        )
    return found


async def eight_processes(redis: RedisServer, *, fast: bool) -> list[Figure]:
    """Measure a thousand calls of eight processes under a hundred a second."""
    limit = FixedWindow(100, 1.0)
    result = await run(service_with(limit), workers=8, calls=1000, redis=redis, fast=fast)
    name = f"8 processes, 100/s, 1,000 calls, {'default' if fast else 'httpx'}"
    return figures(name, result, most=1.03, ideal=limit.ideal(1000), slowest=1.3)


async def several_processes(redis: RedisServer, *, fast: bool) -> list[Figure]:
    """Measure ten a second, shared by 1 to 8 processes."""
    transport = "default" if fast else "httpx"
    found: list[Figure] = []
    for workers in (1, 2, 4, 8):
        limit = FixedWindow(10, 1.0)
        result = await run(service_with(limit), workers=workers, calls=200, redis=redis, fast=fast)
        name = f"{workers} processes, 10/s, 200 calls, {transport}"
        found += figures(name, result, most=1.2, ideal=limit.ideal(200), slowest=1.2)
    return found


async def punished_processes(redis: RedisServer, *, fast: bool) -> list[Figure]:
    """Measure a limiter that restarts its ban with each early request."""
    transport = "default" if fast else "httpx"
    found: list[Figure] = []
    for workers in (4, 8):
        limit = PunishingWindow(10, 1.0)
        result = await run(service_with(limit), workers=workers, calls=200, redis=redis, fast=fast)
        name = f"{workers} processes, 10/s, punished, {transport}"
        found += figures(name, result, most=1.3, ideal=limit.ideal(200), slowest=2.0)
    result = await run(service_with(PunishingWindow(10, 1.0)), workers=4, calls=200, redis=None, fast=fast)
    found.append(exactly(f"4 processes, punished, without Redis, {transport}: done", result.results.calls["done"], 200))
    return found


async def interrupted_processes(redis: RedisServer, *, fast: bool) -> list[Figure]:
    """Measure with Redis killed at one third of the run, and started at two thirds."""
    result = await run(
        service_with(FixedWindow(100, 1.0)), workers=4, calls=1000, redis=redis, fast=fast, is_interrupted=True
    )
    return figures(f"Redis gone for a third, 4 processes, {'default' if fast else 'httpx'}", result, most=1.15)


async def outage_of_processes(redis: RedisServer, *, fast: bool) -> list[Figure]:
    """Measure a service that responds only with 503: each process closes the operation."""
    result = await run(lambda _: PreparedResponse(status=503), workers=8, calls=400, redis=redis, fast=fast)
    name = f"outage of 503, 8 processes, 400 calls, {'default' if fast else 'httpx'}"
    return [
        exactly(f"{name}: ServerError each", result.results.calls["ServerError"], 400),
        at_most(f"{name}: requests per call", result.requests / 400, 1.0),
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
            early = len(server.requests) - 20
            holding.processes[0].kill()
            began = loop.time()
            await server.received(len(server.requests) + 1)
            seconds = loop.time() - began
            done = (await waiting.results()).calls["done"]
    return [
        exactly("kill -9 of the worker that holds every permit: sent before", early, 0),
        exactly("kill -9 of the worker that holds every permit: calls of the others done", done, 150),
        at_most("kill -9 of the worker that holds every permit: until the others go on", seconds, 10.0, unit=" s"),
    ]


async def stopped_worker(redis: RedisServer) -> list[Figure]:
    """Stop one of four processes in the middle of its calls; the others continue without the permits that it holds."""
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
            done = (await others.results()).calls["done"]
        times = [received.at for received in server.requests if received.at >= stopped_at]
    name = "SIGSTOP of one of four workers, 100/s"
    return [
        exactly(f"{name}: calls of the others done", done, 300),
        at_most(f"{name}: longest silence of the others", max(b - a for a, b in pairwise(times)), 2.0, unit=" s"),
    ]
