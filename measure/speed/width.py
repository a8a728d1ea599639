"""Requests a second at 20, 100 and 1,000 in flight, for the default and the fast transport.

Run as `make bench-width`; it takes about a minute. The server runs in a process of its own, without
latency and with 20 ms. The rounds of all cases take turns, so that a busy moment of the machine meets each of them.
"""

import asyncio
import sys
import time
from statistics import median

from itwin_platform import BackoffPolicy, PlatformClient, fast_transport

from .data import make_data
from .run import Process

WIDTHS = (20, 100, 1_000)
LATENCIES = (0.0, 0.02)
ROUNDS, SECONDS = 3, 1.0
#: A wider client may be slower by the noise of the median of so few rounds.
TOLERANCE = 0.95
Case = tuple[str, float, int]


async def rate_of(platform: PlatformClient, *, in_flight: int, seconds: float) -> float:
    """Keep so many calls in flight for so many seconds, and return how many ended in one."""
    done, began = 0, time.perf_counter()
    ends = began + seconds

    async def call_until_the_end() -> None:
        nonlocal done
        while time.perf_counter() < ends:
            await platform.itwins.get_primary_account()
            done += 1

    await asyncio.gather(*(call_until_the_end() for _ in range(in_flight)))
    return done / (time.perf_counter() - began)


async def measured(ports: dict[float, str]) -> dict[Case, float]:
    """Return the median of all rounds for each case."""
    cases = [(name, latency, width) for latency in ports for name in ("default", "fast") for width in WIDTHS]
    rates: dict[Case, list[float]] = {case: [] for case in cases}
    for _ in range(ROUNDS):
        for name, latency, width in cases:
            # A client of its own: what the others hold would cost the garbage collector its time.
            async with PlatformClient(
                f"http://127.0.0.1:{ports[latency]}",
                vendor="v",
                token="t",
                transport=fast_transport() if name == "fast" else None,
                backoff=BackoffPolicy(max_in_flight=width),
                timeout=60.0,
            ) as platform:
                # The connections are opened before the time is taken.
                await asyncio.gather(*(platform.itwins.get_primary_account() for _ in range(width)))
                rates[name, latency, width].append(await rate_of(platform, in_flight=width, seconds=SECONDS))
    return {case: median(found) for case, found in rates.items()}


def main() -> int:
    """Print the table; the status is 1 where a wider client is slower than one with 20 in flight."""
    make_data()
    with Process("measure.speed.server") as direct, Process("measure.speed.server", "--latency", "0.02") as delayed:
        servers = (direct, delayed)
        ports = {latency: server.line().strip() for latency, server in zip(LATENCIES, servers, strict=True)}
        rates = asyncio.run(measured(ports))
    print("requests a second" + "".join(f"{width:>10,}" for width in WIDTHS) + " in flight")
    slower = False
    for latency in LATENCIES:
        for name in ("default", "fast"):
            row = [rates[name, latency, width] for width in WIDTHS]
            slower = slower or min(row) < TOLERANCE * row[0]
            print(f"{name:<9}{latency * 1000:>5.0f} ms" + "".join(f"{rate:>10,.0f}" for rate in row))
    print("a wider client is slower" if slower else "no wider client is slower")
    return int(slower)


if __name__ == "__main__":
    sys.exit(main())
