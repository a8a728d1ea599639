"""Run the workloads with all clients in interleaved rounds, print ratios with their quartiles, and write the page.

Run as `python -m measure.speed.run [--quick]`. With `--quick`, it runs one round of the shorter workloads and does not
write the page. It compares the processor time of the client processes, and for workloads with latency the elapsed time.
Two runs have new processes each: the difference between them shows how far a repeated measurement may be off.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from . import report
from .data import make_certificate, make_data
from .importing import against_httpx
from .pages import write_page
from .process import PROJECT, STOCK_CLIENT, Process
from .report import Figures, Parts, print_table
from .width import rates, waiting
from .workloads import CLIENTS, FLOOR, OURS, PYREQWEST, QUICK, RY, SNIFFIO, STRUCTS, WORKLOADS, Workload, is_measured

#: Seconds of latency of the server for the workloads with latency.
LATENCY = 0.1
#: The number of runs. Each has new processes; the figures combine the rounds of all runs.
RUNS = 2
ROUNDS, QUICK_ROUNDS = 5, 1
#: The share of busy time above which a server counts as the bottleneck.
MOST_BUSY = 0.9
#: The folder of the programs in an environment.
SCRIPTS = "Scripts" if sys.platform == "win32" else "bin"


class Bench:
    """The servers with one data set, and a process of each client."""

    def __init__(self, stack: ExitStack, pythons: Mapping[str, str], data: str) -> None:
        self._pythons, self._data = pythons, data
        kinds = ((), ("--latency", str(LATENCY)), ("--tls",))
        self.servers = [stack.enter_context(Process("measure.speed.server", *options, data=data)) for options in kinds]
        self._addresses = [server.line().strip() for server in self.servers]
        self._workers = {client: stack.enter_context(self._worker(client)) for client in pythons}

    def _worker(self, client: str) -> Process:
        return Process("measure.speed.worker", client, *self._addresses, python=self._pythons[client], data=self._data)

    def cost(self, workload: Workload, client: str) -> float:
        """Run a workload once and return the seconds of one call or listing."""
        if workload.fresh:
            with self._worker(client) as worker:
                worker.ask("first call")
                cpu, wall = json.loads(worker.ask(workload.name))
        else:
            cpu, wall = json.loads(self._workers[client].ask(workload.name))
        return float(wall if workload.elapsed else cpu)


def measure(workloads: Sequence[Workload], rounds: int, pythons: Mapping[str, str]) -> tuple[Figures, str]:
    """Run all rounds of both runs, and return the figures and a sentence about the servers."""
    figures: Figures = {
        workload: {client: [] for client in pythons if is_measured(workload, client)} for workload in workloads
    }
    reports: list[Mapping[str, float]] = []
    for _ in range(RUNS):
        with ExitStack() as stack:
            benches = {data: Bench(stack, pythons, data) for data in {workload.data for workload in workloads}}
            for number in range(rounds + 1):
                run_round(benches, number, figures)
            reports += [json.loads(server.close()) for bench in benches.values() for server in bench.servers]
    return figures, server_load(reports)


def run_round(benches: Mapping[str, Bench], number: int, figures: Figures) -> None:
    """Run each workload with each client, in a different order in each round; round 0 is a warm-up."""
    for workload, costs in figures.items():
        if workload.fresh and not number:
            continue
        first = number % len(costs)
        clients = [*[*costs][first:], *[*costs][:first]]
        found: dict[str, list[float]] = {client: [] for client in clients}
        for client in clients * workload.repeats:
            found[client].append(benches[workload.data].cost(workload, client))
        if number:
            for client, repeats in found.items():
                costs[client].append(statistics.median(repeats))


def server_load(reports: Sequence[Mapping[str, float]]) -> str:
    """Return a sentence about the load of the servers.

    Raises:
        SystemExit: A server was the bottleneck, so the figures do not compare the clients.
    """
    reports = [report for report in reports if report["served"]]
    served = int(sum(report["served"] for report in reports))
    microseconds = sum(report["cpu"] for report in reports) / served * 1e6
    busy = max(report["cpu"] / report["wall"] for report in reports)
    load = f"The servers handled {served:,} requests at {microseconds:.0f} us each and were busy {busy:.0%} of the time"
    if busy > MOST_BUSY:
        raise SystemExit(f"{load}: they were the bottleneck, so the figures do not compare the clients")
    return f"{load}: they were not the bottleneck."


def has_package(python: str, name: str) -> bool:
    """Return whether an environment has a package: some packages have no wheel for this Python or system."""
    return subprocess.run([python, "-c", f"import {name}"], capture_output=True, check=False).returncode == 0


def python_of(pythons: Mapping[str, str]) -> str:
    """Return the version of the Python of all environments.

    Raises:
        SystemExit: The environments have different versions, so the figures do not compare the clients.
    """
    command = ("-c", "import platform; print(platform.python_version())")
    versions = {
        subprocess.run([python, *command], capture_output=True, text=True, check=True).stdout.strip()
        for python in sorted({*pythons.values()})
    }
    if len(versions) > 1:
        raise SystemExit(f"the environments have several Pythons ({', '.join(sorted(versions))}): remove .venv-bench-*")
    return versions.pop()


def measured_parts(pythons: Mapping[str, str]) -> Parts:
    """Measure import, memory and requests per second."""
    with (
        Process("measure.speed.server") as server,
        Process("measure.speed.memory", server.line().strip(), python=pythons[OURS]) as client,
    ):
        iterate, collect = json.loads(client.line())
    return Parts(
        python=python_of(pythons),
        importing=against_httpx(pythons[OURS], pythons.get(PYREQWEST)),
        iterate=iterate,
        collect=collect,
        rates=rates(pythons),
        waiting=waiting(pythons),
    )


def make_stock_client() -> None:
    """Generate a client with the default templates and the default configuration of the generator."""
    environment = os.environ | {"PATH": os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])}
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--overwrite"]
    command += ["--path", str(PROJECT / "openapi.yaml"), "--output-path", str(STOCK_CLIENT), "--fail-on-warning"]
    STOCK_CLIENT.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(command, env=environment, capture_output=True, check=True)


def environment(name: str) -> str:
    """Return the Python of an environment that `make bench` sets up."""
    return str(PROJECT / f".venv-bench-{name}" / SCRIPTS / "python")


def main() -> None:
    """Read the command line, measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round of the shorter workloads, and no page")
    is_quick = parser.parse_args().quick
    make_data()
    make_certificate()
    make_stock_client()
    rust = environment("rust")
    pythons = {
        **dict.fromkeys((*CLIENTS, FLOOR, STRUCTS), environment("peers")),
        OURS: environment("ours"),
        SNIFFIO: environment("sniffio"),
        **{name: rust for name in (PYREQWEST, RY) if has_package(rust, name.partition(" ")[0])},
    }
    figures, load = measure(QUICK, QUICK_ROUNDS, pythons) if is_quick else measure(WORKLOADS, ROUNDS, pythons)
    print_table("ratios to httpx + json: median [quartiles] of the rounds; less is better", report.table(figures))
    print_table("ratios to the floor", report.anchor_rows(figures))
    parts = None if is_quick else measured_parts(pythons)
    if parts is not None:
        print_table("requests per second", report.rate_rows(parts))
        print_table("1,000 calls at 20 ms", report.waiting_rows(parts))
        write_page(PROJECT / "docs" / "benchmarks.md", figures, parts, load)
    print_table("the targets", report.targets([*report.findings(figures, parts)]))
    print(load)


if __name__ == "__main__":
    main()
