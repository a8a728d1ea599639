"""Measure requests per second with 20, 100 and 1,000 in flight, and 1,000 tasks that wait for a service.

The server and each client have their own processes. The rounds of all cases alternate, so that a busy moment of the
machine affects all of them.
"""

import json
from collections.abc import Mapping

from .process import Process
from .workloads import AIOHTTP, HTTPX, OURS, WAITING, WIDTHS

ROUNDS = 5
#: The seconds after which the service responds to the tasks that wait for it.
LATENCY = 0.02
#: Requests per second in each round, by client and width.
Rates = dict[str, dict[int, list[float]]]


def rates(pythons: Mapping[str, str]) -> Rates:
    """Return the requests per second of each round, for each case."""
    found: Rates = {name: {width: [] for width in WIDTHS} for name in (HTTPX, AIOHTTP, OURS)}
    with Process("measure.speed.server") as server:
        address = server.line().strip()
        for _ in range(ROUNDS):
            for name, rounds in found.items():
                for width in WIDTHS:
                    # A new process, because the garbage collector would spend time on the objects of another case.
                    arguments = ("measure.speed.width_process", name, str(width), address)
                    with Process(*arguments, python=pythons[name]) as client:
                        rounds[width].append(json.loads(client.line()))
    return found


def waiting(pythons: Mapping[str, str]) -> list[list[float]]:
    """Return the seconds that the tasks take in each round, for each case."""
    found: list[list[float]] = [[] for _ in WAITING]
    with Process("measure.speed.server", "--latency", str(LATENCY)) as server:
        address = server.line().strip()
        for _ in range(ROUNDS):
            for rounds, (name, width) in zip(found, WAITING, strict=True):
                arguments = ("measure.speed.width_process", name, str(width), address, "--tasks")
                with Process(*arguments, python=pythons[name]) as client:
                    rounds.append(json.loads(client.line()))
    return found
