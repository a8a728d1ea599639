"""Measure requests per second with 20, 100 and 1,000 in flight, and 1,000 tasks at a service with latency.

The server and each client have their own processes. The rounds of all cases alternate, so that a busy moment of the
machine affects all of them.
"""

import json
from collections.abc import Mapping, Sequence

from .process import Process
from .workloads import AIOHTTP, HTTPX, OURS, WAITING, WIDTHS

ROUNDS = 5
#: Seconds of latency of the service.
LATENCY = 0.02


def rates(pythons: Mapping[str, str]) -> dict[str, dict[int, list[float]]]:
    """Return the requests per second of each round, by client and requests in flight."""
    clients = (HTTPX, AIOHTTP, OURS)
    found = iter(_rounds([(name, width) for name in clients for width in WIDTHS], pythons))
    return {name: {width: next(found) for width in WIDTHS} for name in clients}


def waiting(pythons: Mapping[str, str]) -> list[list[float]]:
    """Return the seconds that the tasks take in each round, for each case of WAITING."""
    return _rounds(WAITING, pythons, "--tasks", latency=LATENCY)


def _rounds(
    cases: Sequence[tuple[str, int]], pythons: Mapping[str, str], *options: str, latency: float = 0.0
) -> list[list[float]]:
    """Return the figure of each round, for each client with its requests in flight."""
    found: list[list[float]] = [[] for _ in cases]
    with Process("measure.speed.server", "--latency", str(latency)) as server:
        address = server.line().strip()
        for _ in range(ROUNDS):
            for rounds, (name, width) in zip(found, cases, strict=True):
                # A new process for each case: the garbage collector would visit the objects of the previous one.
                arguments = ("measure.speed.width_process", name, str(width), address, *options)
                with Process(*arguments, python=pythons[name]) as client:
                    rounds.append(json.loads(client.line()))
    return found
