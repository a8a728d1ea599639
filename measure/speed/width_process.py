"""Keep calls of one client in flight in its own process, and print requests per second and their cost.

Run as `python -m measure.speed.width_process CLIENT IN_FLIGHT PORT`. The measurement starts when each connection has
been used several times. The output has the requests per second, and per request the processor seconds of this process,
those of the garbage collector, and the runs of the collector.
"""

import asyncio
import gc
import json
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from .limit import Limit
from .other_clients import ACCEPT
from .workloads import AIOHTTP, LIMIT

#: Average uses of each connection before the measurement.
WAVES_BEFORE = 3
#: The least seconds of the measurement, and the least average uses of each connection.
SECONDS, WAVES = 2.0, 4

Get = Callable[[], Awaitable[object]]


async def get_of(name: str, in_flight: int, port: int, stack: AsyncExitStack) -> Get:
    """Return a client's small GET; the stack closes the client."""
    address = f"http://127.0.0.1:{port}"
    if name == LIMIT:
        limit = Limit(port)
        await limit.connect(in_flight)

        async def with_asyncio_alone() -> object:
            return json.loads(await limit.send(b"GET /itwins/myprimaryaccount"))

        return with_asyncio_alone
    if name == AIOHTTP:
        import aiohttp
        from yarl import URL

        connector = aiohttp.TCPConnector(limit=0)
        session = await stack.enter_async_context(aiohttp.ClientSession(headers=ACCEPT, connector=connector))
        url = URL(address + "/itwins/myprimaryaccount", encoded=True)

        async def with_aiohttp() -> object:
            async with session.get(url) as response:
                return await response.json()

        return with_aiohttp
    from itwin_platform import BackoffPolicy, PlatformClient

    platform = PlatformClient(
        address,
        vendor="v",
        token="t",
        backoff=BackoffPolicy(max_in_flight=in_flight),
        timeout=60.0,
    )
    return (await stack.enter_async_context(platform)).itwins.get_primary_account


class Collections:
    """The processor seconds and the runs of the garbage collector."""

    def __init__(self) -> None:
        self.seconds = self._began = 0.0
        self.runs = 0
        gc.callbacks.append(self._note)

    def _note(self, phase: str, _: object) -> None:
        now = time.process_time()
        if phase == "start":
            self._began = now
        else:
            self.seconds += now - self._began
            self.runs += 1


async def sustained(get: Get, in_flight: int) -> tuple[float, ...]:
    """Keep `in_flight` calls in flight; return requests per second and the cost of a request."""
    collections = Collections()
    done = 0
    began: tuple[float, ...] | None = None
    found: tuple[float, ...] | None = None

    def note() -> None:
        """Begin and end the measurement at the end of a call."""
        nonlocal began, found
        now = (done, time.perf_counter(), time.process_time(), collections.seconds, collections.runs)
        if began is None:
            if done >= WAVES_BEFORE * in_flight:
                began = now
            return
        number, wall, *used = (after - before for after, before in zip(now, began, strict=True))
        if wall >= SECONDS and number >= WAVES * in_flight:
            found = number / wall, *(each / number for each in used)

    async def call_until_the_end() -> None:
        nonlocal done
        while found is None:
            await get()
            done += 1
            if found is None:
                note()

    await asyncio.gather(*(call_until_the_end() for _ in range(in_flight)))
    assert found is not None  # the tasks end when it is set
    return found


async def main() -> None:
    """Read the command line, measure and print."""
    name, in_flight, port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    async with AsyncExitStack() as stack:
        print(json.dumps(await sustained(await get_of(name, in_flight, port, stack), in_flight)))


if __name__ == "__main__":
    asyncio.run(main())
