"""One process of several that send with one credential: `python -m measure.promises.worker SETTINGS`, a JSON object.

It says `ready`, begins when it is told to by a line, and says how many calls were answered and how many failed.
"""

import asyncio
import json
import logging
import sys
from collections import Counter
from typing import Any

from itwin_platform import BackoffPolicy, Gate, PlatformClient, RateLimit, RedisGate, fast_transport

from tests.support.raw_server import plain_transport


async def work(settings: dict[str, Any]) -> dict[str, int]:
    """Send so many calls at once, and count how they end."""
    rate = RateLimit(*settings["rate"]) if settings["rate"] else None
    gate: Gate | None = None
    if settings["redis"] is not None:
        options: dict[str, Any] = {"workers": settings["workers"], "max_in_flight": settings["max_in_flight"]}
        gate = RedisGate(settings["redis"], name="measured", rate=rate, **options)
    async with PlatformClient(
        settings["address"],
        vendor="acme",
        token="t-1",  # made up
        transport=fast_transport() if settings["fast"] else plain_transport(),
        backoff=BackoffPolicy(deadline=settings["deadline"]),
        gate=gate,
    ) as platform:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        calls = (platform.itwins.get_primary_account() for _ in range(settings["calls"]))
        ended = await asyncio.gather(*calls, return_exceptions=True)
    if gate is not None:
        await gate.aclose()
    return Counter("done" if not isinstance(each, BaseException) else type(each).__name__ for each in ended)


if __name__ == "__main__":
    # Cooldowns and lost servers are what is measured here.
    logging.getLogger("itwin_platform").addHandler(logging.NullHandler())
    print(json.dumps(asyncio.run(work(json.loads(sys.argv[1])))), flush=True)
