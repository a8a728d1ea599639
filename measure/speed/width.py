"""Measure requests per second with 20, 100 and 1,000 in flight, and 1,000 tasks that wait for a service.

The server and each client have their own processes. The rounds of all cases alternate, so that a busy moment of the
machine affects all of them. The best round of a case counts, because other work on the machine can only slow it down.
"""

import json
from collections.abc import Mapping

from .process import Process
from .workloads import AIOHTTP, HTTPX, OURS, WAITING, WIDTHS

ROUNDS = 3
#: The seconds after which the service responds to the tasks that wait for it.
LATENCY = 0.02
#: Requests per second, by client and width.
Rates = dict[str, dict[int, float]]


def rates(pythons: Mapping[str, str]) -> Rates:
    """Return the most requests per second of all rounds, for each case."""
    found: Rates = {name: dict.fromkeys(WIDTHS, 0.0) for name in (HTTPX, AIOHTTP, OURS)}
    with Process("measure.speed.server") as server:
        port = server.line().strip()
        for _ in range(ROUNDS):
            for name, best in found.items():
                for width in WIDTHS:
                    # A new process, because the garbage collector would spend time on the objects of another case.
                    arguments = ("measure.speed.width_process", name, str(width), port)
                    with Process(*arguments, python=pythons[name]) as client:
                        best[width] = max(best[width], json.loads(client.line()))
    return found


def waiting(pythons: Mapping[str, str]) -> list[float]:
    """Return the least seconds of all rounds that the tasks take, for each case."""
    found = [float("inf")] * len(WAITING)
    with Process("measure.speed.server", "--latency", str(LATENCY)) as server:
        port = server.line().strip()
        for _ in range(ROUNDS):
            for index, (name, width) in enumerate(WAITING):
                arguments = ("measure.speed.width_process", name, str(width), port, "--tasks")
                with Process(*arguments, python=pythons[name]) as client:
                    found[index] = min(found[index], json.loads(client.line()))
    return found
