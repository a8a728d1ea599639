"""Processes that share a gate, in virtual time: the cases of the real server, and more."""

from itwin_platform import RateLimit

from tests.support.event_loops import in_virtual_time

from .figure import Figure, at_most, exactly
from .gate_model import ModelRun, run_model
from .limits import FixedWindow, PunishingWindow, SlidingWindow

#: Seconds of a request on the loopback interface and on a network.
LOOPBACK_LATENCY, NETWORK_LATENCY = 0.005, 0.1


def modelled_processes() -> list[Figure]:
    """Measure the cases of `several_processes` with the same limits."""
    found: list[Figure] = []
    for workers, requests, calls, most, slowest in (
        *((workers, 100, 1000, 1.03, 1.3) for workers in (4, 8)),
        *((workers, 10, 200, 1.2, 1.2) for workers in (1, 2, 4, 8)),
    ):
        limit = FixedWindow(requests, 1.0)
        found += _figures(f"{requests}/s", limit, workers=workers, calls=calls, most=most, slowest=slowest)
    for workers in (4, 8):
        found += _figures("10/s, punished", PunishingWindow(10, 1.0), workers=workers, calls=200, most=1.3, slowest=2.0)
    return found


def _figures(name: str, limit: FixedWindow, *, workers: int, calls: int, most: float, slowest: float) -> list[Figure]:
    run = in_virtual_time(run_model(limit, processes=workers, calls=calls // workers, latency=LOOPBACK_LATENCY))
    name = f"model, {workers} processes, {name}, {calls:,} calls"
    return [
        at_most(f"{name}: requests per call", run.per_call, most),
        at_most(f"{name}: time against the ideal", run.seconds / limit.ideal(calls), slowest, unit=" x"),
    ]


def thousand_processes(*, processes: int = 1000, calls: int = 100) -> list[Figure]:
    """Measure a hundred calls in each process under a known rate of 5,000 a minute."""
    limit = SlidingWindow(5000, 60.0)
    run: ModelRun = in_virtual_time(
        run_model(
            limit,
            processes=processes,
            calls=calls,
            latency=NETWORK_LATENCY,
            max_in_flight=200,
            rate=RateLimit(5000, 60.0),
        )
    )
    name = f"model, {processes:,} processes x {calls} calls, 5,000 a minute"
    return [
        exactly(f"{name}: responses of 429", run.requests - processes * calls, 0),
        at_most(f"{name}: requests per call", run.per_call, 1.05),
        at_most(f"{name}: slowest process against the median", run.slowest, 2.0, unit=" x"),
        at_most(f"{name}: commands to the server per request", run.commands, 3.0),
        at_most(f"{name}: time", run.seconds, 1.05 * limit.ideal(processes * calls) + 10.0, unit=" s"),
    ]
