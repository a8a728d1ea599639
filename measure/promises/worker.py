"""One process of several that send with one credential: `python -m measure.promises.worker SETTINGS`, a JSON object.

It makes a first call that is not counted, because that imports the modules that a call needs, and prints `ready`. It
starts its calls when it reads a line, and prints how many of them ended in which way.
"""

import asyncio
import json
import logging
import sys
from collections import Counter

from itwin_platform import BackoffPolicy, PlatformClient, RedisGate

from tests.support.services import ACCOUNT, PreparedResponse, RawServer

from .workers import Settings


async def warm_up() -> None:
    """Make one call to another service, so that the measurement includes no imports."""
    async with (
        RawServer(PreparedResponse(body=ACCOUNT)) as server,
        PlatformClient(server.address, vendor="acme", token="t-1") as platform,
    ):
        await platform.itwins.get_primary_account()


async def work(settings: Settings) -> Counter[str]:
    """Start all calls at the same time, and count their results."""
    await warm_up()
    gate = RedisGate(settings.redis, name="measured", workers=settings.workers)
    policy = BackoffPolicy(deadline=None)
    async with (
        gate,
        PlatformClient(settings.address, vendor="acme", token="t-1", backoff=policy, gate=gate) as platform,
    ):
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        calls = (platform.itwins.get_primary_account() for _ in range(settings.calls))
        results = await asyncio.gather(*calls, return_exceptions=True)
    return Counter("done" if not isinstance(each, BaseException) else type(each).__name__ for each in results)


if __name__ == "__main__":
    # The measurement causes cooldowns and kills servers, and the client would log a warning for each.
    logging.getLogger("itwin_platform").addHandler(logging.NullHandler())
    print(json.dumps(asyncio.run(work(Settings(**json.loads(sys.argv[1]))))), flush=True)
