"""Measure the peak memory of 10,000 full iTwins in pages of 1,000, iterated and collected, and print megabytes.

Run as `python -m measure.speed.memory ADDRESS` in the environment of the client.
"""

import asyncio
import gc
import json
import sys
import tracemalloc

from itwin_platform import PlatformClient


async def peak(platform: PlatformClient, *, collected: bool) -> float:
    """Read the listing and return its peak memory in megabytes, without the memory in use before."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    pager = platform.itwins.list(representation="full", limit=10_000, max_return=10_000)
    if collected:
        assert len(await pager.collect()) == 10_000
    else:
        async for _ in pager:
            pass
    return (tracemalloc.get_traced_memory()[1] - before) / 1e6


async def main() -> None:
    """Measure and print."""
    async with PlatformClient(sys.argv[1], vendor="v", token="t") as platform:
        await platform.itwins.list(limit=1).collect()
        tracemalloc.start()
        print(json.dumps([await peak(platform, collected=False), await peak(platform, collected=True)]))


if __name__ == "__main__":
    asyncio.run(main())
