"""Measure how much faster a listing is with n pages in flight, and its memory.

Run as `make bench ONLY=paging`. The numbers of pages in flight alternate in each round.
Figures are medians of the rounds, through the default transport. With n = 1 a listing is nearly all latency, so it is
measured once.

`of n` is the speed-up divided by n, and `aim` its target. `possible` is the speed-up that n allows: the first page
comes alone, because it shows the step, and the others come in complete rounds of the latency. `of it` is the speed-up
divided by the possible one. `busy` is the share of the time in which the client uses the processor.
"""

import asyncio
import gc
import json
import statistics
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

from itwin_platform import ITwin, Pager, PlatformClient, SceneObject
from rich.console import Console
from rich.table import Table

from .data import SCENE_ID, encoded, make_data
from .paging_server import summaries
from .process import Process

IN_FLIGHT = (1, 4, 8, 16)
AIMS = {4: 0.9, 8: 0.9, 16: 0.85}
LATENCIES = (0.02, 0.1)
ROUNDS = 3
#: The elapsed and processor seconds of each reading, by the number of pages in flight.
Times = dict[int, list[tuple[float, float]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A listing to read completely."""

    name: str
    pages: int
    read: Callable[[PlatformClient, int], Pager[ITwin] | Pager[SceneObject]]


WORKLOADS = (
    Workload(
        name="10,000 iTwins, pages of 100",
        pages=100,
        read=lambda platform, concurrency: platform.itwins.list(
            page_size=100, max_return=10_000, concurrency=concurrency
        ),
    ),
    Workload(
        name="5,000 scene objects, pages of 100",
        pages=50,
        read=lambda platform, concurrency: platform.scenes.list_objects(SCENE_ID, "i", concurrency=concurrency),
    ),
    Workload(
        name="5,000 scene objects, pages of 20",
        pages=250,
        read=lambda platform, concurrency: platform.scenes.list_objects(
            SCENE_ID, "i", page_size=20, concurrency=concurrency
        ),
    ),
)


async def timed(workload: Workload, platform: PlatformClient, concurrency: int) -> tuple[float, float]:
    """Read a listing once and return elapsed and processor seconds."""
    pager = workload.read(platform, concurrency)
    gc.collect()
    began, used = time.perf_counter(), time.process_time()
    async for _ in pager:
        pass
    passed, used = time.perf_counter() - began, time.process_time() - used
    assert pager.pages_read == workload.pages  # an incomplete listing would be faster
    return passed, used


async def timed_rounds(workload: Workload, platform: PlatformClient) -> Times:
    """Read a listing with each number of pages in flight in each round; one page in flight only in the first."""
    times: Times = {concurrency: [] for concurrency in IN_FLIGHT}
    for number in range(ROUNDS):
        for concurrency in IN_FLIGHT[bool(number) :]:
            times[concurrency].append(await timed(workload, platform, concurrency))
    return times


async def speed(console: Console) -> None:
    """Print the table of speed-ups."""
    table = Table("listing", "latency", "n", "seconds", "speed-up", "of n", "aim", "possible", "of it", "busy")
    for latency in LATENCIES:
        with Process("measure.speed.paging_server", "--latency", str(latency)) as server:
            address = f"http://127.0.0.1:{server.line().strip()}"
            began = time.perf_counter()
            async with PlatformClient(address, vendor="v", token="t") as platform:
                await timed(WORKLOADS[0], platform, max(IN_FLIGHT))
                for workload in WORKLOADS:
                    add_rows(table, workload, latency, await timed_rounds(workload, platform))
            share = float(server.close()) / (time.perf_counter() - began)
            table.add_row(f"[dim]the server was busy {share:.0%} of the time[/dim]", end_section=True)
    console.print(table)


def add_rows(table: Table, workload: Workload, latency: float, measured: Times) -> None:
    """Add the figures of one listing."""
    seconds = {concurrency: statistics.median(passed for passed, _ in runs) for concurrency, runs in measured.items()}
    for concurrency, runs in measured.items():
        faster = seconds[1] / seconds[concurrency]
        possible = workload.pages / (1 + -(-(workload.pages - 1) // concurrency))
        table.add_row(
            workload.name if concurrency == 1 else "",
            f"{latency * 1000:.0f} ms" if concurrency == 1 else "",
            str(concurrency),
            f"{seconds[concurrency]:.3f}",
            f"{faster:.2f}",
            f"{faster / concurrency:.2f}",
            "" if concurrency == 1 else str(AIMS[concurrency]),
            f"{possible:.2f}",
            f"{faster / possible:.2f}",
            f"{statistics.median(used / passed for passed, used in runs):.0%}",
            end_section=concurrency == IN_FLIGHT[-1],
        )


async def memory(console: Console) -> None:
    """Print the peak memory in pages, for a fast and for a slow caller."""
    table = Table("peak memory of 10,000 iTwins, pages of 100", "n", "pages above the start", "pages above n = 1")
    with Process("measure.speed.paging_server", "--latency", "0.002") as server:
        async with PlatformClient(f"http://127.0.0.1:{server.line().strip()}", vendor="v", token="t") as platform:
            await timed(WORKLOADS[0], platform, max(IN_FLIGHT))
            tracemalloc.start()
            one_page = size_of_a_page()
            for name, pause in (("fast caller", 0.0), ("caller with 5 ms for each page", 0.005)):
                peaks = {concurrency: await peak(platform, concurrency, pause) / one_page for concurrency in IN_FLIGHT}
                for concurrency in IN_FLIGHT:
                    table.add_row(
                        name if concurrency == 1 else "",
                        str(concurrency),
                        f"{peaks[concurrency]:.1f}",
                        f"{peaks[concurrency] - peaks[1]:.1f}",
                    )
            tracemalloc.stop()
        server.close()
    console.print(table)


def size_of_a_page() -> int:
    """Return the bytes of the models of one page."""
    content = encoded({"items": summaries()[:100]})
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    page = [ITwin.from_dict(item) for item in json.loads(content)["items"]]
    gc.collect()
    size = tracemalloc.get_traced_memory()[0] - before
    assert len(page) == 100  # keeps the page until it is measured
    return size


async def peak(platform: PlatformClient, concurrency: int, pause: float) -> int:
    """Read a listing page by page, keep no page, and return the peak above the memory before."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    async for _ in platform.itwins.list(page_size=100, max_return=10_000, concurrency=concurrency).pages():
        await asyncio.sleep(pause)
    return tracemalloc.get_traced_memory()[1] - before


async def main() -> None:
    """Measure and print."""
    make_data()
    console = Console(width=140)
    await speed(console)
    await memory(console)


if __name__ == "__main__":
    asyncio.run(main())
