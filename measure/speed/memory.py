"""Measure the peak memory of 10,000 full iTwins in pages of 1,000, iterated and collected.

Run as `python -m measure.speed.memory`. It prints bytes and pages, where a page is the bytes of a response, which the
client keeps until it decodes them, and its models.
"""

import asyncio
import gc
import json
import tracemalloc

from itwin_platform import ITwin, PlatformClient

from .data import encoded, itwins, make_data
from .run import Process


def size_of_a_page() -> int:
    """Return the bytes of one page."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    content = encoded(itwins()[:1000])
    page = [ITwin.from_dict(item) for item in json.loads(content)]
    gc.collect()
    size = tracemalloc.get_traced_memory()[0] - before
    assert len(page) == 1000  # keeps the page until it is measured
    return size


async def peak(platform: PlatformClient, *, concurrency: int, collected: bool) -> int:
    """Read the listing and return the peak above the memory before."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    pager = platform.itwins.list(representation="full", limit=10_000, concurrency=concurrency)
    if collected:
        assert len(await pager.collect()) == 10_000
    else:
        async for _ in pager:
            pass
    return tracemalloc.get_traced_memory()[1] - before


async def lines() -> list[str]:
    """Measure and return the lines to print."""
    make_data()
    itwins()  # loaded before the measurement
    output: list[str] = []
    with Process("measure.speed.server") as server:
        address = f"http://127.0.0.1:{server.line().strip()}"
        async with PlatformClient(address, vendor="v", token="t") as platform:
            await platform.itwins.list(limit=1).collect()
            tracemalloc.start()
            page = size_of_a_page()
            output.append(f"peak memory of 10,000 full iTwins in pages of 1,000; a page takes {page / 1e6:.1f} MB")
            for concurrency, collected in ((1, False), (8, False), (1, True)):
                most = await peak(platform, concurrency=concurrency, collected=collected)
                mode = "collected" if collected else "iterated"
                output.append(f"  {mode}, concurrency {concurrency}: {most / 1e6:.1f} MB, {most / page:.1f} pages")
            tracemalloc.stop()
    return output


if __name__ == "__main__":
    print("\n".join(asyncio.run(lines())))
