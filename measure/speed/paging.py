"""How much faster a listing is with n pages in flight, and what it costs in memory.

Run as `python -m measure.speed.paging [--rounds N]`. The numbers of pages in flight take turns in each round, and
figures are medians of the rounds, through `fast_transport()`; n = 1, which is nearly all latency, is measured in the
first round only. `of n` is the speed-up as a share of n, beside what is aimed at. `possible` is what n allows: the
first page comes alone, because it shows the step, and the others come in whole rounds of the latency; `of it` is how
much of that is reached. `busy` is the share of the time in which the client's processor works: the more of it, the less
to gain.
"""

import argparse
import asyncio
import gc
import json
import re
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import httpx
from itwin_platform import ITwin, Pager, PlatformClient, SceneObject, fast_transport
from itwin_platform._api import RequestValues
from itwin_platform._listings.page import Listing, PageContent
from rich.console import Console
from rich.table import Table

from .data import SCENE_ID, encoded, make_data
from .paging_server import SUMMARIES
from .run import Process

IN_FLIGHT = (1, 4, 8, 16)
AIMS = {4: 0.9, 8: 0.9, 16: 0.85}
LATENCIES = (0.02, 0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A listing to read completely."""

    name: str
    pages: int
    read: Callable[[PlatformClient, int], Pager[ITwin] | Pager[SceneObject]]


WORKS = (
    Work(
        name="10,000 iTwins, pages of 100",
        pages=100,
        read=lambda platform, n: platform.itwins.list(page_size=100, concurrency=n),
    ),
    Work(
        name="5,000 scene objects, pages of 100",
        pages=50,
        read=lambda platform, n: platform.scenes.list_objects(SCENE_ID, "i", concurrency=n),
    ),
    Work(
        name="5,000 scene objects, pages of 20",
        pages=250,
        read=lambda platform, n: platform.scenes.list_objects(SCENE_ID, "i", page_size=20, concurrency=n),
    ),
)


async def timed(work: Work, platform: PlatformClient, n: int) -> tuple[float, float]:
    """Read a listing once and return the seconds that passed, and those of the processor."""
    pager = work.read(platform, n)
    gc.collect()
    began, used = time.perf_counter(), time.process_time()
    async for _ in pager:
        pass
    passed, used = time.perf_counter() - began, time.process_time() - used
    assert pager.pages_read == work.pages  # an incomplete listing would be fast for nothing
    return passed, used


async def speed(console: Console, rounds: int) -> None:
    """Print the table of speed-ups."""
    table = Table("listing", "latency", "n", "seconds", "speed-up", "of n", "aim", "possible", "of it", "busy")
    for latency in LATENCIES:
        with Process("measure.speed.paging_server", "--latency", str(latency)) as server:
            address = f"http://127.0.0.1:{server.line().strip()}"
            began = time.perf_counter()
            async with PlatformClient(address, vendor="v", token="t", transport=fast_transport()) as platform:
                await timed(WORKS[0], platform, max(IN_FLIGHT))
                for work in WORKS:
                    measured: dict[int, list[tuple[float, float]]] = {n: [] for n in IN_FLIGHT}
                    for number in range(rounds):
                        for n in IN_FLIGHT[bool(number) :]:
                            measured[n].append(await timed(work, platform, n))
                    add_rows(table, work, latency, measured)
            share = float(server.close()) / (time.perf_counter() - began)
            table.add_row(f"[dim]the server was busy {share:.0%} of the time[/dim]", end_section=True)
    console.print(table)


def add_rows(table: Table, work: Work, latency: float, measured: dict[int, list[tuple[float, float]]]) -> None:
    """Add the figures of one listing."""
    seconds = {n: statistics.median(passed for passed, _ in runs) for n, runs in measured.items()}
    for n, runs in measured.items():
        faster = seconds[1] / seconds[n]
        possible = work.pages / (1 + -(-(work.pages - 1) // n))
        table.add_row(
            work.name if n == 1 else "",
            f"{latency * 1000:.0f} ms" if n == 1 else "",
            str(n),
            f"{seconds[n]:.3f}",
            f"{faster:.2f}",
            f"{faster / n:.2f}",
            "" if n == 1 else str(AIMS[n]),
            f"{possible:.2f}",
            f"{faster / possible:.2f}",
            f"{statistics.median(used / passed for passed, used in runs):.0%}",
            end_section=n == IN_FLIGHT[-1],
        )


async def eager(console: Console, rounds: int) -> None:
    """Print what it gains to request the first pages at once."""
    table = Table("10 in flight, 100 ms", "as usual", "eager", "requests wasted at most")
    with Process("measure.speed.paging_server", "--latency", "0.1") as server:
        address = f"http://127.0.0.1:{server.line().strip()}"
        async with PlatformClient(address, vendor="v", token="t", transport=fast_transport()) as platform:
            await timed(WORKS[0], platform, 10)
            for pages, limit in ((10, None), (1, 1000)):
                seconds: dict[bool, list[float]] = {False: [], True: []}
                for _ in range(max(3, rounds)):
                    for at_once, found in seconds.items():
                        began = time.perf_counter()
                        pager = platform.itwins.list(page_size=1000, concurrency=10, eager=at_once, limit=limit)
                        assert [page async for page in pager.pages()]
                        found.append(time.perf_counter() - began)
                medians = [f"{statistics.median(found):.3f} s" for found in seconds.values()]
                table.add_row(f"{pages} pages of 1,000", *medians, "9" if limit is None else "0 (limit)")
        server.close()
    console.print(table)


async def memory(console: Console) -> None:
    """Print the peak of memory above what was there before, in pages, while the caller is slow and while it is not."""
    table = Table("peak memory of 10,000 iTwins, pages of 100", "n", "pages above the start", "pages above n = 1")
    with Process("measure.speed.paging_server", "--latency", "0.002") as server:
        async with PlatformClient(f"http://127.0.0.1:{server.line().strip()}", vendor="v", token="t") as platform:
            await timed(WORKS[0], platform, max(IN_FLIGHT))
            tracemalloc.start()
            one_page = size_of_a_page()
            for name, work in (("caller takes no time", 0.0), ("caller takes 5 ms for a page", 0.005)):
                peaks = {n: await peak(platform, n, work) / one_page for n in IN_FLIGHT}
                for n in IN_FLIGHT:
                    table.add_row(name if n == 1 else "", str(n), f"{peaks[n]:.1f}", f"{peaks[n] - peaks[1]:.1f}")
            tracemalloc.stop()
        server.close()
    console.print(table)


def size_of_a_page() -> int:
    """Return the bytes that the models of one page take."""
    content = encoded({"items": SUMMARIES[:100]})
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    page = [ITwin.from_dict(item) for item in json.loads(content)["items"]]
    gc.collect()
    size = tracemalloc.get_traced_memory()[0] - before
    assert len(page) == 100  # keeps the page until it is measured
    return size


async def peak(platform: PlatformClient, n: int, work: float) -> int:
    """Read a listing page by page, keep none, and return the peak of memory above what was there before."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    async for _ in platform.itwins.list(page_size=100, concurrency=n).pages():
        await asyncio.sleep(work)
    return tracemalloc.get_traced_memory()[1] - before


async def empty_pages(console: Console, count: int = 100_000) -> None:
    """Walk empty pages in a row and print what that takes."""

    async def send(values: RequestValues) -> httpx.Response:
        skip = re.search(r"skip=(\d+)", str(values.query))
        return httpx.Response(
            200,
            request=httpx.Request("GET", "https://service.example/"),
            extensions={"following": int(skip[1]) + 1 if skip else 1},
        )

    def read(response: httpx.Response) -> PageContent[str]:
        following = response.extensions["following"]
        return PageContent(items=[], next_href=f"?$skip={following}" if following < count else None)

    first = RequestValues(method="GET", route="/itwins/", path="/itwins/", query={"$top": "1"}, headers={})
    address = "https://service.example/itwins/"
    listing: Listing[str] = Listing(first=first, address=address, name="empty", page_size=1, concurrency=8)
    pages = before = 0
    async for _ in Pager(listing, send=send, read=read).pages():
        pages += 1
        if pages == 2_000:
            before = sys.getallocatedblocks()
    grown = sys.getallocatedblocks() - before
    console.print(f"{pages:,} empty pages in a row: {grown:+} blocks of memory between page 2,000 and the last")


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="how often everything is measured")
    make_data()
    console = Console(width=140)
    await speed(console, parser.parse_args().rounds)
    await eager(console, parser.parse_args().rounds)
    await memory(console)
    await empty_pages(console)


if __name__ == "__main__":
    asyncio.run(main())
