"""One client in a process of its own, with so many calls in flight: prints what it sustains, and what that costs.

Run as `python -m measure.speed.width_process CLIENT IN_FLIGHT PORT`. All connections are open, and each has been used
several times, before the time is taken; all calls go on while it is taken. The line of output is the requests a
second, and for a request the processor seconds of this process, those of the garbage collector among them, and how
often the collector ran.
"""

import asyncio
import gc
import json
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from .clients import ACCEPT
from .limit import Limit
from .works import AIOHTTP, FAST, LIMIT

#: Before the time is taken, each connection is used so many times on average.
WAVES_BEFORE = 3
#: The time is taken for so many seconds, and until each connection was used so many times more.
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
    from itwin_platform import BackoffPolicy, PlatformClient, fast_transport

    platform = PlatformClient(
        address,
        vendor="v",
        token="t",
        transport=fast_transport() if name == FAST else None,
        backoff=BackoffPolicy(max_in_flight=in_flight),
        timeout=60.0,
    )
    return (await stack.enter_async_context(platform)).itwins.get_primary_account


class Collections:
    """The processor seconds that the garbage collector takes, and how often it runs."""

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
    """Keep so many calls in flight; return requests a second, and what a request takes."""
    collections = Collections()
    done = 0
    began: tuple[float, ...] | None = None
    found: tuple[float, ...] | None = None

    def note() -> None:
        """Take the time at the end of a call: with the first one that is late enough, and with the last one."""
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
    assert found is not None  # the tasks end when it is there
    return found


async def main() -> None:
    """Read the command line, measure and print."""
    name, in_flight, port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    async with AsyncExitStack() as stack:
        print(json.dumps(await sustained(await get_of(name, in_flight, port, stack), in_flight)))


if __name__ == "__main__":
    asyncio.run(main())
