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

from itwin_platform import BackoffPolicy, PlatformClient, RedisGate

from tests.support.services import ACCOUNT, PreparedResponse, RawServer

from .workers import Settings


async def warm_up() -> None:
    """Make one call to another service, so that no import is measured."""
    async with (
        RawServer(PreparedResponse(body=ACCOUNT)) as server,
        PlatformClient(server.address, vendor="acme", token="t-1") as platform,
    ):
        await platform.itwins.get_primary_account()


async def work(settings: Settings) -> dict[str, Any]:
    """Start all calls at the same time, and count their results."""
    await warm_up()
    gate = RedisGate(settings.redis, name="measured", workers=settings.workers, max_in_flight=settings.max_in_flight)
    policy = BackoffPolicy(deadline=None)
    async with (
        gate,
        PlatformClient(settings.address, vendor="acme", token="t-1", backoff=policy, gate=gate) as platform,
    ):
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        began = time.process_time()
        calls = (platform.itwins.get_primary_account() for _ in range(settings.calls))
        results = await asyncio.gather(*calls, return_exceptions=True)
        cpu_seconds = time.process_time() - began
    counted = Counter("done" if not isinstance(each, BaseException) else type(each).__name__ for each in results)
    return {"calls": counted, "cpu_seconds": cpu_seconds}


if __name__ == "__main__":
    # The measurement causes cooldowns and lost servers: the client would warn of each.
    logging.getLogger("itwin_platform").addHandler(logging.NullHandler())
    print(json.dumps(asyncio.run(work(Settings(**json.loads(sys.argv[1]))))), flush=True)
