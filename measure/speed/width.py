"""Measure requests per second with 20, 100 and 1,000 in flight, for both transports of the client and for others.

Run as `make bench-width`; it takes about ten minutes. Two servers, without latency and with 20 ms, and each client have
their own processes. The rounds of all cases alternate, so that a busy moment of the machine affects all of them. The
best round of a case counts, because other work on the machine can only slow it down.

Plain aiohttp and a bare asyncio protocol have no bar. They show what the machine, the server and the event loop allow.
"""

import json
import sys

from .data import make_data
from .run import Process
from .workloads import AIOHTTP, DEFAULT, FAST, LIMIT

WIDTHS = (20, 100, 1_000)
LATENCIES = (0.0, 0.02)
ROUNDS = 3
#: The noise of the best of so few rounds.
TOLERANCE = 0.95
Case = tuple[str, float, int]
#: Requests per second, and per request: processor seconds, those of the garbage collector, and its runs.
Measured = tuple[float, float, float, float]


def best_of(rounds: list[Measured]) -> Measured:
    """Return the highest rate, and the round with the least processor time."""
    return max(each[0] for each in rounds), *min(each[1:] for each in rounds)


def measured(ports: dict[float, str]) -> dict[Case, Measured]:
    """Return the best of all rounds for each case."""
    cases = [
        (name, latency, width) for latency in ports for name in (DEFAULT, FAST, AIOHTTP, LIMIT) for width in WIDTHS
    ]
    found: dict[Case, list[Measured]] = {case: [] for case in cases}
    for _ in range(ROUNDS):
        for name, latency, width in cases:
            # A new process, because the garbage collector would spend time on the objects of another client.
            with Process("measure.speed.width_process", name, str(width), ports[latency]) as client:
                rate, cpu, collecting, runs = json.loads(client.line())
            found[name, latency, width].append((rate, cpu, collecting, runs))
    return {case: best_of(rounds) for case, rounds in found.items()}


def table(found: dict[Case, Measured]) -> list[str]:
    """Return the lines of the table: requests per second, and below them the processor time of a request."""
    lines = [f"{'':<30}" + "".join(f"{width:>14,}" for width in WIDTHS) + " in flight"]
    for name, latency in dict.fromkeys((name, latency) for name, latency, _ in found):
        row = [found[name, latency, width] for width in WIDTHS]
        lines += [
            f"{name}, {latency * 1000:.0f} ms",
            f"{'  requests a second':<30}" + "".join(f"{each[0]:>14,.0f}" for each in row),
            f"{'  us of the processor':<30}" + "".join(f"{each[1] * 1e6:>14,.0f}" for each in row),
            f"{'  us of these: collector':<30}" + "".join(f"{each[2] * 1e6:>14,.0f}" for each in row),
            f"{'  its runs in 1,000 requests':<30}" + "".join(f"{each[3] * 1e3:>14,.1f}" for each in row),
        ]
    return lines


def slower(found: dict[Case, Measured]) -> list[str]:
    """Return the cases of this client that are slower than with 20 in flight."""
    return [
        f"{name} at {latency * 1000:.0f} ms, {width:,} in flight: {rate / found[name, latency, WIDTHS[0]][0]:.2f}"
        for (name, latency, width), (rate, *_) in found.items()
        if name in (DEFAULT, FAST) and rate < TOLERANCE * found[name, latency, WIDTHS[0]][0]
    ]


def main() -> int:
    """Print the table and return 1 if the client is slower with more than 20 in flight."""
    make_data()
    with Process("measure.speed.server") as direct, Process("measure.speed.server", "--latency", "0.02") as delayed:
        servers = (direct, delayed)
        ports = {latency: server.line().strip() for latency, server in zip(LATENCIES, servers, strict=True)}
        found = measured(ports)
        served = [json.loads(server.close()) for server in servers]
    print("\n".join(table(found)))
    each = sum(server["cpu"] for server in served) / sum(server["served"] for server in served)
    print(f"the server used {each * 1e6:.0f} us of processor time for a request")
    too_slow = slower(found)
    print(
        "\n".join(["slower than with 20 in flight:", *too_slow])
        if too_slow
        else "no case is slower than with 20 in flight"
    )
    return int(bool(too_slow))


if __name__ == "__main__":
    sys.exit(main())
