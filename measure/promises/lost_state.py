"""What processes notice when Redis loses keys or connections, or when one of them hears nothing."""

import asyncio
from bisect import bisect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from itertools import count, pairwise
from tempfile import TemporaryDirectory

from tests.support.redis_server import RedisServer, server_programs
from tests.support.services import ACCOUNT, PreparedResponse, RawServer

from .figure import Figure, at_most, exactly, for_comparison, not_measured
from .workers import Settings, started

#: Requests take so many seconds, so that processes wait for each other's permits.
CALLS, PROCESSES, IN_FLIGHT, LATENCY = 600, 4, 8, 0.1
#: Seconds between two losses.
INTERVAL = 1.5
#: The bytes that Redis may use beyond what it uses at the beginning, in a test of evictions.
SPACE = 300_000
Loss = Callable[[RedisServer, int], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a run came to: calls done, the longest silence at the service, and the most requests at once."""

    done: int
    silence: float
    at_once: int


async def _with_losses(redis: RedisServer, lose: Loss, *, interval: float) -> Run:
    """Call while something is lost again and again."""

    async def lose_regularly() -> None:
        for number in count():
            await asyncio.sleep(interval)
            await lose(redis, number)

    async with RawServer(PreparedResponse(body=ACCOUNT, delay=LATENCY)) as server:
        settings = Settings(
            address=server.address,
            calls=CALLS // PROCESSES,
            redis=redis.url,
            workers=PROCESSES,
            max_in_flight=IN_FLIGHT,
        )
        async with started(settings) as processes:
            processes.begin()
            losing = asyncio.create_task(lose_regularly())
            results = await processes.results()
            losing.cancel()
        times = [received.at for received in server.requests]
    return Run(
        done=results.calls["done"],
        silence=max(b - a for a, b in pairwise(times)),
        at_once=max(position - bisect(times, at - LATENCY) + 1 for position, at in enumerate(times)),
    )


def _deleted(key: str) -> Loss:
    async def lose(redis: RedisServer, _: int) -> None:
        with redis.client as client:
            client.delete(f"itwin-gate:{{measured}}:{key}")

    return lose


async def _evicted(redis: RedisServer, number: int) -> None:
    """Write what others write, so that the server runs out of memory and evicts."""
    with redis.client as client:
        client.set(f"page:{number}", "x" * 20_000, ex=60)


async def _killed(redis: RedisServer, _: int) -> None:
    with redis.client as client:
        for kind in ("normal", "pubsub"):
            client.execute_command("CLIENT", "KILL", "TYPE", kind)


def _figures(name: str, run: Run, *, at_once: int | None = IN_FLIGHT) -> list[Figure]:
    about = f"{name}: most requests at once"
    return [
        exactly(f"{name}: calls done", run.done, CALLS),
        at_most(f"{name}: longest silence", run.silence, 1.5, unit=" s"),
        for_comparison(about, run.at_once) if at_once is None else at_most(about, run.at_once, at_once),
    ]


async def deaf_process(redis: RedisServer) -> float:
    """Return how many times as much a fourth of all calls is as what a process gets of them that hears no message."""

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_deaf: bool) -> None:
        while data := await reader.read(65_536):
            if not (is_deaf and b"$7\r\nmessage\r\n" in data):
                writer.write(data)
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_unix_connection(redis.url.removeprefix("unix://"))
        await asyncio.gather(forward(reader, there_writer, is_deaf=False), forward(there_reader, writer, is_deaf=True))

    with TemporaryDirectory() as folder:
        address = f"{folder}/socket"
        async with (
            await asyncio.start_unix_server(connected, address),
            RawServer(PreparedResponse(body=ACCOUNT, delay=0.05)) as server,
        ):
            hearing = Settings(
                address=server.address, calls=100, redis=redis.url, workers=4, processes=3, max_in_flight=2
            )
            hears_nothing = replace(hearing, redis=f"unix://{address}", processes=1)
            async with started(hearing) as others, started(hears_nothing) as deaf:
                for processes in (others, deaf):
                    processes.begin()
                await others.results()
                made = len(server.requests)
                return made / 4 / (made - 3 * hearing.calls)


async def lost_state() -> list[Figure]:
    """Delete each key, evict, and kill connections, again and again; and let one process hear nothing."""
    if not server_programs():
        return [not_measured("RedisGate that loses its state", "no redis-server or valkey-server was found")]
    found: list[Figure] = []
    for key in ("state", "flight", "queue", "log"):
        with RedisServer() as redis:
            run = await _with_losses(redis, _deleted(key), interval=INTERVAL)
        # Nobody knows of the permits that were out, until their requests end or their processes renew the lease.
        at_once = 2 * IN_FLIGHT if key == "flight" else IN_FLIGHT
        found += _figures(f"key {key} is deleted every {INTERVAL:g} s, 4 processes", run, at_once=at_once)
    for policy in ("allkeys-lru", "allkeys-random", "volatile-random"):
        with RedisServer() as redis, redis.client as client:
            used = client.info("memory")["used_memory"]
            client.config_set("maxmemory-policy", policy)
            client.config_set("maxmemory", used + SPACE)
            run = await _with_losses(redis, _evicted, interval=0.05)
            evicted = client.info("stats")["evicted_keys"]
        found.append(for_comparison(f"{policy}: keys that were evicted", evicted))
        # The server evicts permits again and again before they end, so it cannot count them.
        found += _figures(f"{policy} in a full server, 4 processes", run, at_once=None)
    with RedisServer() as redis:
        run = await _with_losses(redis, _killed, interval=INTERVAL)
    found += _figures(f"all connections are killed every {INTERVAL:g} s, 4 processes", run)
    with RedisServer() as redis:
        found.append(
            at_most("one of 4 processes hears no message: its share by what it gets", await deaf_process(redis), 2)
        )
    return found
