"""Make the first call of one client in a new process, and print its cost.

Run as `python -m measure.speed.first_call_process NAME ADDRESS`. The package of the client is imported before the
measurement; further imports of the client and its first call count. The output has the elapsed seconds, the processor
seconds, and the longest time for which the event loop was blocked.
"""

import asyncio
import json
import sys
import time

from .workloads import FAST, HTTPX


async def call(name: str, address: str) -> tuple[float, float, float]:
    """Make a client and its first call; return elapsed and processor seconds, and the longest block of the loop."""
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - before - 0.001)

    if name == HTTPX:
        import httpx

        began, cpu = time.perf_counter(), time.process_time()
        client = httpx.AsyncClient(base_url=address)

        async def get() -> None:
            (await client.get("/itwins/myprimaryaccount")).json()

        close = client.aclose
    else:
        from itwin_platform import PlatformClient, fast_transport

        began, cpu = time.perf_counter(), time.process_time()
        transport = fast_transport() if name == FAST else None
        platform = PlatformClient(address, vendor="bench", token="t", transport=transport)

        async def get() -> None:
            await platform.itwins.get_primary_account()

        close = platform.aclose
    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0)
    await get()
    found = time.perf_counter() - began, time.process_time() - cpu, longest
    ticking.cancel()
    await close()
    return found


if __name__ == "__main__":
    print(json.dumps(asyncio.run(call(*sys.argv[1:]))))
