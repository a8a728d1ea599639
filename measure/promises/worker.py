"""One process of several that send with one credential: `python -m measure.promises.worker SETTINGS`, a JSON object.

It makes a first call that is not counted, because that imports what a call needs, and prints `ready`. It begins when it
reads a line. At the end it prints how many calls succeeded and failed, and its CPU seconds.
"""

import asyncio
import json
import logging
import sys
import time
from collections import Counter
from typing import Any

import httpx
from itwin_platform import BackoffPolicy, Gate, PlatformClient, RateLimit, RedisGate
from itwin_platform_transport.connections.engine import EngineTransport

from tests.support.services import ACCOUNT, PreparedResponse, RawServer, plain_transport


def transport_of(settings: dict[str, Any]) -> httpx.AsyncBaseTransport:
    """Return the transport of the calls."""
    return EngineTransport() if settings["fast"] else plain_transport()


async def warm_up(settings: dict[str, Any]) -> None:
    """Make one call to another service, so that no import is measured."""
    async with (
        RawServer(PreparedResponse(body=ACCOUNT)) as server,
        PlatformClient(server.address, vendor="acme", token="t-1", transport=transport_of(settings)) as platform,
    ):
        await platform.itwins.get_primary_account()


async def work(settings: dict[str, Any]) -> dict[str, Any]:
    """Start all calls at the same time, and count their results."""
    await warm_up(settings)
    rate = RateLimit(*settings["rate"]) if settings["rate"] else None
    gate: Gate | None = None
    if settings["redis"] is not None:
        options: dict[str, Any] = {"workers": settings["workers"], "max_in_flight": settings["max_in_flight"]}
        gate = RedisGate(settings["redis"], name="measured", rate=rate, **options)
    async with PlatformClient(
        settings["address"],
        vendor="acme",
        token="t-1",  # made up
        transport=transport_of(settings),
        backoff=BackoffPolicy(deadline=settings["deadline"]),
        gate=gate,
    ) as platform:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        began = time.process_time()
        calls = (platform.itwins.get_primary_account() for _ in range(settings["calls"]))
        results = await asyncio.gather(*calls, return_exceptions=True)
        cpu_seconds = time.process_time() - began
    if gate is not None:
        await gate.aclose()
    counted = Counter("done" if not isinstance(each, BaseException) else type(each).__name__ for each in results)
    return {"calls": counted, "cpu_seconds": cpu_seconds}


if __name__ == "__main__":
    # The measurement causes cooldowns and lost servers: the client would warn of each.
    logging.getLogger("itwin_platform").addHandler(logging.NullHandler())
    print(json.dumps(asyncio.run(work(json.loads(sys.argv[1])))), flush=True)
