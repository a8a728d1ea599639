"""Keep calls of one client in flight in its own process, and print the requests per second.

Run as `python -m measure.speed.width_process CLIENT IN_FLIGHT ADDRESS [--tasks]`. The measurement starts when each
connection has been used several times. With `--tasks`, it prints the seconds of 1,000 calls that start at once.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial

from .clients import aiohttp_client, httpx_client
from .workloads import AIOHTTP, OURS, TASKS

#: Average number of uses of each connection before the measurement.
WAVES_BEFORE = 3
#: Minimum seconds of the measurement, and minimum of the average number of uses of each connection.
SECONDS, WAVES = 2.0, 4

Get = Callable[[], Awaitable[object]]


async def get_of(name: str, in_flight: int, address: str, stack: AsyncExitStack) -> Get:
    """Return a client's small GET; the stack closes the client."""
    if name != OURS:
        make = aiohttp_client if name == AIOHTTP else partial(httpx_client, library="httpx")
        client = make(address, in_flight=in_flight)
        stack.push_async_callback(client.aclose)
        return client.get
    from itwin_platform import BackoffPolicy, PlatformClient

    platform = PlatformClient(
        address,
        vendor="v",
        token="t",
        backoff=BackoffPolicy(max_in_flight=in_flight),
        timeout=60.0,
    )
    return (await stack.enter_async_context(platform)).itwins.get_primary_account


async def sustained(get: Get, in_flight: int) -> float:
    """Keep `in_flight` calls in flight, and return the requests per second."""
    done = 0
    began: tuple[int, float] | None = None
    found: float | None = None

    def note() -> None:
        """Start or finish the measurement at the end of a call."""
        nonlocal began, found
        now = time.perf_counter()
        if began is None:
            if done >= WAVES_BEFORE * in_flight:
                began = done, now
        elif now - began[1] >= SECONDS and done - began[0] >= WAVES * in_flight:
            found = (done - began[0]) / (now - began[1])

    async def call_until_the_end() -> None:
        nonlocal done
        while found is None:
            await get()
            done += 1
            if found is None:
                note()

    await asyncio.gather(*(call_until_the_end() for _ in range(in_flight)))
    assert found is not None  # set before the tasks end
    return found


async def at_once(get: Get, in_flight: int) -> float:
    """Start all calls at once, and return the seconds until the last has ended."""
    await asyncio.gather(*(get() for _ in range(in_flight)))
    began = time.perf_counter()
    await asyncio.gather(*(get() for _ in range(TASKS)))
    return time.perf_counter() - began


async def main() -> None:
    """Read the command line, measure and print."""
    name, in_flight, address = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    measure = at_once if "--tasks" in sys.argv else sustained
    async with AsyncExitStack() as stack:
        print(json.dumps(await measure(await get_of(name, in_flight, address, stack), in_flight)))


if __name__ == "__main__":
    asyncio.run(main())
