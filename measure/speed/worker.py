"""Run workloads with one client in its own process, and print their times.

Run as `python -m measure.speed.worker NAME ADDRESS ADDRESS_AT_100_MS ADDRESS_OVER_TLS`. Each line of input names a
workload, and each line of output has the processor seconds and the elapsed seconds of one call or listing.
"""

import asyncio
import gc
import json
import sys
import time
from collections.abc import Awaitable, Callable

from .clients import Client, connected
from .workloads import TASKS


async def _repeat(call: Callable[[], Awaitable[object]], count: int) -> int:
    for _ in range(count):
        await call()
    return count


async def _first(*clients: Client) -> int:
    for client in clients:
        await client.get()
    return len(clients)


async def _tasks(client: Client) -> int:
    await asyncio.gather(*(client.get() for _ in range(TASKS)))
    return TASKS


async def _once(listing: Awaitable[int], expected: int) -> int:
    found = await listing
    if found != expected:
        raise SystemExit(f"{found} items were read, not {expected}")
    return 1


async def run(name: str, client: Client, at_100_ms: Client, over_tls: Client) -> int:
    """Run a workload and return the number of its calls."""
    workloads: dict[str, Callable[[], Awaitable[int]]] = {
        "first call": lambda: _first(client, over_tls),
        "GET": lambda: _repeat(client.get, 200),
        "PATCH": lambda: _repeat(client.patch, 200),
        "POST 100 objects, small response": lambda: _repeat(lambda: client.post("small"), 20),
        "POST 100 objects, echoed": lambda: _repeat(lambda: client.post("echo"), 20),
        "POST 100 objects as models, small response": lambda: _repeat(lambda: client.post_models("small"), 20),
        "POST 100 objects as models, echoed": lambda: _repeat(lambda: client.post_models("echo"), 20),
        "10,000 iTwins, pages of 100": lambda: _once(client.itwins(100), 10_000),
        "10,000 iTwins, pages of 1,000": lambda: _once(client.itwins(1000), 10_000),
        "5,000 scene objects, pages of 100": lambda: _once(client.objects(), 5_000),
        "5,000 scene objects, the data of each read": lambda: _once(client.objects_with_data(), 5_000),
        "1,000 tasks": lambda: _tasks(client),
        "1,000 tasks over TLS": lambda: _tasks(over_tls),
        "10,000 iTwins at 100 ms, pages in turn": lambda: _once(at_100_ms.itwins(1000), 10_000),
        "10,000 iTwins at 100 ms, ten pages in flight": lambda: _once(at_100_ms.itwins_concurrently(), 10_000),
    }
    return await workloads[name]()


async def main() -> None:
    """Run the workloads of the input until it closes."""
    name, *addresses = sys.argv[1:]
    clients = [connected(name, address) for address in addresses]
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        gc.collect()  # otherwise a workload would pay for the garbage of the one before it
        cpu, wall = time.process_time(), time.perf_counter()
        calls = await run(line.strip(), *clients)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        print(json.dumps([cpu / calls, wall / calls]), flush=True)
    for client in clients:
        await client.aclose()


if __name__ == "__main__":
    asyncio.run(main())
