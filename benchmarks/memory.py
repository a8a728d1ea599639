"""Peak memory of iterating 10,000 full iTwins, in pages of 1,000, as pages held.

Run as `python -m benchmarks.memory`.
"""

import asyncio
import gc
import tracemalloc

from itwin_platform import ITwin, PlatformClient

from .answers import ITWINS, encoded
from .run import Process


async def main() -> None:
    """Measures one page held, then the peak of the listing above what was there before."""
    with Process("benchmarks.server") as server:
        base_url = f"http://127.0.0.1:{server.line().strip()}"
        async with PlatformClient(base_url, vendor="v", token="t") as platform:
            await platform.itwins.list(limit=1).collect()
            gc.collect()
            tracemalloc.start()
            page = [ITwin.from_dict(item) for item in __import__("json").loads(encoded(ITWINS[:1000]))]
            gc.collect()
            one_page = tracemalloc.get_traced_memory()[0]
            del page
            gc.collect()
            for concurrency in (1, 8):
                before = tracemalloc.get_traced_memory()[0]
                tracemalloc.reset_peak()
                pager = platform.itwins.list(representation="full", page_size=1000, concurrency=concurrency)
                count = 0
                async for _ in pager:
                    count += 1
                peak = tracemalloc.get_traced_memory()[1] - before
                print(
                    f"  concurrency {concurrency}: peak {peak / 1e6:.1f} MB for {count} iTwins, "
                    f"{peak / one_page:.1f} pages of {one_page / 1e6:.1f} MB"
                )


if __name__ == "__main__":
    asyncio.run(main())
