"""Run the workloads with all clients in interleaved rounds, print ratios with their quartiles, and write the report.

Run as `python -m measure.speed.run [--rounds N] [--quick] [--only WORKLOAD] [--report]`. It compares the processor time
of the client processes, and for workloads with latency the elapsed time.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from .data import make_data
from .pages import write_pages
from .report import Figures, bars, print_table, table
from .stock import make_stock
from .workloads import CLIENTS, HTTPX, LIMIT, QUICK, WORKLOADS, Workload

PROJECT = Path(__file__).resolve().parents[2]
LATENCIES = (0.0, 0.02, 0.1)
#: Workloads that are mostly latency vary little between rounds, and httpx takes half a minute for each.
ELAPSED_ROUNDS = 3
#: The share of the time above which a server is the bottleneck.
MOST_BUSY = 0.9


def environment() -> dict[str, str]:
    """Return the environment of a benchmark process, in which it can import the stock client."""
    path = os.pathsep.join([str(PROJECT / ".cache" / "stock"), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PYTHONPATH": path}


class Process:
    """A benchmark process with input and output by line."""

    def __init__(self, *arguments: str, python: str = sys.executable) -> None:
        self._process = subprocess.Popen(
            [python, "-m", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=PROJECT,
            env=environment(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def line(self) -> str:
        """Read a line; an ended process ends the benchmark."""
        assert self._process.stdout is not None  # a pipe was requested
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self._process.args!r} ended with status {self._process.wait()}")
        return line

    def ask(self, text: str) -> str:
        """Write a line and return the line that follows."""
        assert self._process.stdin is not None  # a pipe was requested
        self._process.stdin.write(text + "\n")
        self._process.stdin.flush()
        return self.line()

    def close(self) -> str:
        """Close the input and return the last output."""
        if self._process.poll() is not None:
            return ""
        return self._process.communicate()[0]


class Bench:
    """The servers and one process for each client."""

    def __init__(self, stack: ExitStack, pythons: dict[str, str]) -> None:
        self._pythons = pythons
        self.servers = [stack.enter_context(Process("measure.speed.server", "--latency", str(t))) for t in LATENCIES]
        self._ports = [server.line().strip() for server in self.servers]
        self._workers = {client: stack.enter_context(self._worker(client)) for client in CLIENTS}

    def _worker(self, client: str) -> Process:
        return Process("measure.speed.worker", client, *self._ports, python=self._pythons[client])

    def cost(self, workload: Workload, client: str) -> float:
        """Run a workload once and return the seconds of one call or listing."""
        if workload.fresh:
            with self._worker(client) as worker:
                worker.ask("first call at 20 ms" if workload.elapsed else "first call")
                cpu, wall = json.loads(worker.ask(workload.name))
        else:
            cpu, wall = json.loads(self._workers[client].ask(workload.name))
        return float(wall if workload.elapsed else cpu)


def measure(workloads: Sequence[Workload], rounds: int, pythons: dict[str, str]) -> tuple[Figures, str]:
    """Run all rounds, and return the figures and a sentence about the servers."""
    figures: Figures = {workload: {client: [] for client in CLIENTS} for workload in workloads}
    with ExitStack() as stack:
        bench = Bench(stack, pythons)
        for number in range(rounds + 1):
            run_round(bench, number, figures)
        reports = [json.loads(server.close()) for server in bench.servers]
    return figures, server_load(reports)


def run_round(bench: Bench, number: int, figures: Figures) -> None:
    """Run each workload with each client, in an order that changes from round to round; round 0 only warms up."""
    first = number % len(CLIENTS)
    clients = [*CLIENTS[first:], *CLIENTS[:first]]
    for workload, costs in figures.items():
        if (workload.elapsed and number > ELAPSED_ROUNDS) or (workload.fresh and not number):
            continue
        for client in clients * workload.repeats:
            cost = bench.cost(workload, client)
            if number:
                costs[client].append(cost)


def server_load(reports: list[dict[str, float]]) -> str:
    """Return a sentence about the load of the servers.

    Raises:
        SystemExit: A server was busy nearly all the time, so the figures do not compare the clients.
    """
    served = int(sum(report["served"] for report in reports))
    microseconds = sum(report["cpu"] for report in reports) / served * 1e6
    busy = max(report["cpu"] / report["wall"] for report in reports)
    load = f"The servers handled {served} requests at {microseconds:.0f} us each and were busy {busy:.0%} of the time"
    if busy > MOST_BUSY:
        raise SystemExit(f"{load}: they were the bottleneck, so the figures do not compare the clients")
    return f"{load}: they were not the bottleneck."


def parts(ours: str) -> list[list[str]]:
    """Measure import and memory."""
    from . import importing, memory  # a quick run does not need their imports

    return [importing.lines(ours), asyncio.run(memory.lines())]


def main() -> None:
    """Read the command line, measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="rounds after the warm-up (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="two rounds of the shorter workloads")
    parser.add_argument("--only", action="append", help="run only this workload; repeat the option for several")
    parser.add_argument(
        "--report",
        action="store_true",
        help="write docs/benchmarks.md and docs/benchmark-bars.md; with --only without the figures of `parts`",
    )
    parser.add_argument("--ours", default=sys.executable, help="the Python of the environment with this client")
    parser.add_argument("--peers", default=sys.executable, help="the Python of the environment with the other clients")
    arguments = parser.parse_args()
    make_stock(PROJECT / ".cache" / "stock")
    make_data()
    workloads, rounds = (QUICK, 2) if arguments.quick else (WORKLOADS, arguments.rounds)
    if arguments.only:
        workloads = tuple(workload for workload in WORKLOADS if workload.name in arguments.only)
    pythons = {client: arguments.ours if client.startswith("ours") else arguments.peers for client in CLIENTS}
    figures, load = measure(workloads, rounds, pythons)
    for against in (LIMIT, HTTPX):
        title = f"client time against {against!r}: median [quartiles] of the rounds; less is better"
        print_table(title, table(figures, against=against))
    print_table("the bars, against 'httpx + json'", bars(figures))
    print(load)
    if arguments.report:
        alone = [] if arguments.only else parts(arguments.ours)
        for lines in alone:
            print("\n" + "\n".join(lines))
        write_pages(PROJECT / "docs", figures, load, alone)


if __name__ == "__main__":
    main()
