"""One client in a process of its own: does the works that it is told on its input, and says what they cost.

Run as `python -m measure.speed.worker NAME PORT PORT_AT_20_MS PORT_AT_100_MS`; each line of input names a work, each
line of output is the processor seconds and the seconds for one call or listing.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable

# The default client is measured as it is installed by default: without orjson.
if sys.argv[1] != "ours, fast":
    sys.modules["orjson"] = None  # type: ignore[assignment]  # makes an import fail

from .clients import Client, connected


async def _repeat(call: Callable[[], Awaitable[object]], count: int) -> int:
    for _ in range(count):
        await call()
    return count


async def _tasks(call: Callable[[], Awaitable[object]], count: int) -> int:
    await asyncio.gather(*(call() for _ in range(count)))
    return count


async def _once(listing: Awaitable[int], expected: int) -> int:
    found = await listing
    if found != expected:
        raise SystemExit(f"{found} items were read, not {expected}")
    return 1


async def work(name: str, client: Client, at_20_ms: Client, at_100_ms: Client) -> int:
    """Does a work and returns how many calls it took."""
    if name == "one small GET":
        return await _repeat(client.get, 200)
    if name == "PATCH":
        return await _repeat(client.patch, 200)
    if name == "POST a scene of 100 objects":
        return await _repeat(client.post, 20)
    if name == "1,000 tasks, small GETs":
        return await _tasks(client.get, 1000)
    if name == "1,000 tasks at 20 ms":
        return await _tasks(at_20_ms.get, 1000)
    if name == "10,000 iTwins at 100 ms":
        return await _once(at_100_ms.itwins_at_once(), 10_000)
    if name == "10,000 full iTwins, pages of 100":
        return await _once(client.itwins(100), 10_000)
    if name == "10,000 full iTwins, pages of 1,000":
        return await _once(client.itwins(1000), 10_000)
    return await _once(client.objects(), 5_000)


async def main() -> None:
    """Does what the input says until it closes."""
    name, *ports = sys.argv[1:]
    clients = [await connected(name, int(port)) for port in ports]
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        cpu, wall = time.process_time(), time.perf_counter()
        calls = await work(line.strip(), *clients)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        print(json.dumps([cpu / calls, wall / calls]), flush=True)
    for client in clients:
        await client.aclose()


if __name__ == "__main__":
    asyncio.run(main())
