"""Show a progress bar of a listing of the local sandbox: the client calls `on_page` with each page.

Run it with `python examples/progress.py`.
"""

import asyncio

from itwin_platform import PlatformClient
from itwin_platform_sandbox import Sandbox
from rich.progress import Progress


async def main() -> None:
    """List 5,000 iTwins with four pages in flight, and show the progress."""
    async with (
        Sandbox(itwins=5_000, latency=0.1) as sandbox,
        PlatformClient(sandbox.base_url, vendor="sandbox", token=sandbox.token) as platform,
    ):
        with Progress() as progress:
            bar = progress.add_task("iTwins", total=5_000)
            pager = platform.itwins.list(
                page_size=100, concurrency=4, on_page=lambda page: progress.advance(bar, len(page.items))
            )
            itwins = await pager.collect()
        print(f"{len(itwins)} iTwins in {pager.pages_read} pages")


if __name__ == "__main__":
    asyncio.run(main())
