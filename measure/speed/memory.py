"""Peak memory of iterating 10,000 full iTwins, in pages of 1,000.

Run as `python -m measure.speed.memory`. The unit is a page as it is held: the bytes of its answer, which stay
until they are decoded, and its models. orjson needs several times as much for a moment while it reads; json does not.
"""

import asyncio
import gc
import json
import tracemalloc

from itwin_platform import ITwin, PlatformClient, _json

from .answers import encoded, itwins
from .run import Process


def size_of_a_page() -> int:
    """Returns the bytes that one page takes."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    content = encoded(itwins()[:1000])
    page = [ITwin.from_dict(item) for item in json.loads(content)]
    gc.collect()
    size = tracemalloc.get_traced_memory()[0] - before
    assert len(page) == 1000  # keeps the page until it is measured
    return size


async def peak(platform: PlatformClient, *, limit: int, concurrency: int) -> int:
    """Iterates, keeps nothing, and returns the peak above what was there before."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    async for _ in platform.itwins.list(representation="full", limit=limit, concurrency=concurrency):
        pass
    return tracemalloc.get_traced_memory()[1] - before


async def lines() -> list[str]:
    """Measures and returns what was found."""
    said: list[str] = []
    quick = _json.orjson
    with Process("measure.speed.server") as server:
        address = f"http://127.0.0.1:{server.line().strip()}"
        async with PlatformClient(address, vendor="v", token="t") as platform:
            await platform.itwins.list(limit=1).collect()
            tracemalloc.start()
            page = size_of_a_page()
            said.append(
                f"peak memory in pages of 1,000 full iTwins, {page / 1e6:.1f} MB each with the bytes of its answer"
            )
            for reader, name in ((None, "json"), (quick, "orjson")):
                _json.orjson = reader
                alone = await peak(platform, limit=1_000, concurrency=1)
                for concurrency in (1, 8):
                    most = await peak(platform, limit=10_000, concurrency=concurrency)
                    said.append(
                        f"  10,000 iterated, {name}, concurrency {concurrency}: {most / page:.1f} pages; "
                        f"{most / alone:.2f} times the peak of reading one page alone"
                    )
            tracemalloc.stop()
            _json.orjson = quick
    return said


if __name__ == "__main__":
    print("\n".join(asyncio.run(lines())))
