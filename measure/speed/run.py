"""Run the works with all clients in interleaved rounds, print ratios with their quartiles, and write the report.

Run as `python -m measure.speed.run [--rounds N] [--quick] [--only WORK] [--report]`. What is compared is the
processor time of the client's own process; only the works with latency compare elapsed time.
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

from . import per_call
from .data import make_data
from .pages import write_pages
from .report import Figures, bars, print_table, table
from .stock import make_stock
from .works import CLIENTS, FAST, HTTPX, LIMIT, QUICK, WORKS, Work

PROJECT = Path(__file__).resolve().parents[2]
LATENCIES = (0.0, 0.02, 0.1)
#: Where latency is most of what a work takes, rounds vary little, and httpx takes half a minute for each.
ELAPSED_ROUNDS = 3


def environment() -> dict[str, str]:
    """Return the environment of a benchmark process, which finds the stock client that the set-up made."""
    path = os.pathsep.join([str(PROJECT / ".cache" / "stock"), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PYTHONPATH": path}


class Process:
    """A benchmark process that is spoken to line by line."""

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
        assert self._process.stdout is not None  # a pipe was asked for
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self._process.args!r} ended with status {self._process.wait()}")
        return line

    def say(self, text: str) -> str:
        """Write a line and read one."""
        assert self._process.stdin is not None  # a pipe was asked for
        self._process.stdin.write(text + "\n")
        self._process.stdin.flush()
        return self.line()

    def close(self) -> str:
        """Close the input and return what is said last."""
        if self._process.poll() is not None:
            return ""
        return self._process.communicate()[0]


class Bench:
    """The servers and one process for each client, whose turns in a round change from round to round."""

    def __init__(self, stack: ExitStack, pythons: dict[str, str]) -> None:
        self._pythons = pythons
        self.servers = [stack.enter_context(Process("measure.speed.server", "--latency", str(t))) for t in LATENCIES]
        self._ports = [server.line().strip() for server in self.servers]
        self._workers = {client: stack.enter_context(self._worker(client)) for client in CLIENTS}

    def _worker(self, client: str) -> Process:
        return Process("measure.speed.worker", client, *self._ports, python=self._pythons[client])

    def cost(self, work: Work, client: str) -> float:
        """Do a work once and return the seconds of one call or listing."""
        if work.fresh:
            with self._worker(client) as worker:
                worker.say("first call at 20 ms" if work.elapsed else "first call")
                cpu, wall = json.loads(worker.say(work.name))
        else:
            cpu, wall = json.loads(self._workers[client].say(work.name))
        return float(wall if work.elapsed else cpu)


def measure(works: Sequence[Work], rounds: int, pythons: dict[str, str]) -> tuple[Figures, str]:
    """Do each work with each client in turn, round by round; the first round warms up and does not count."""
    figures: Figures = {work: {client: [] for client in CLIENTS} for work in works}
    with ExitStack() as stack:
        bench = Bench(stack, pythons)
        for number in range(rounds + 1):
            turns = [*CLIENTS[number % len(CLIENTS) :], *CLIENTS[: number % len(CLIENTS)]]
            for work in works:
                if (work.elapsed and number > ELAPSED_ROUNDS) or (work.fresh and not number):
                    continue
                for client in turns * work.repeats:
                    cost = bench.cost(work, client)
                    if number:
                        figures[work][client].append(cost)
        used = [json.loads(server.close()) for server in bench.servers]
    served = sum(each["served"] for each in used)
    busy = max(each["cpu"] / each["wall"] for each in used)
    said = (
        f"The servers handled {served} requests at {sum(each['cpu'] for each in used) / served * 1e6:.0f} us each and "
        f"were busy {busy:.0%} of the time: they were not the bottleneck."
    )
    if busy > 0.9:
        raise SystemExit(said.replace("not the", "THE"))
    return figures, said


def parts(pythons: dict[str, str], ours: str) -> list[list[str]]:
    """Measure what stands beside the works: instructions, first calls, import, decoding, memory."""
    from . import decoding, first_call, importing, instructions, memory  # they need what a quick run does not

    return [
        instructions.lines(pythons),
        first_call.lines(ours),
        importing.lines(ours),
        decoding.lines(),
        asyncio.run(memory.lines()),
    ]


def main() -> None:
    """Read the command line, measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="rounds that count")
    parser.add_argument("--quick", action="store_true", help="two rounds, without the works that take longest")
    parser.add_argument("--only", action="append", help="the works to do, by name; as often as there are works")
    parser.add_argument(
        "--report",
        action="store_true",
        help="write docs/benchmarks.md and docs/benchmark-bars.md; with --only, without the parts alone",
    )
    parser.add_argument("--ours", default=sys.executable, help="the python whose environment our client runs in")
    parser.add_argument("--peers", default=sys.executable, help="the python whose environment the others run in")
    arguments = parser.parse_args()
    make_stock(PROJECT / ".cache" / "stock")
    make_data()
    works, rounds = (QUICK, 2) if arguments.quick else (WORKS, arguments.rounds)
    if arguments.only:
        works = tuple(work for work in WORKS if work.name in arguments.only)
    pythons = {client: arguments.ours if client.startswith("ours") else arguments.peers for client in CLIENTS}
    figures, said = measure(works, rounds, pythons)
    for against in (LIMIT, HTTPX):
        title = f"client time against {against!r}: median [quartiles] of the rounds; less is better"
        print_table(title, table(figures, against=against))
    print_table("the bars, against 'httpx + json'", bars(figures))
    if (get := WORKS[0]) in figures:
        print("\n".join(per_call.lines(arguments.ours, get=min(figures[get][FAST]))) + "\n")
    print(said)
    if arguments.report:
        alone = [] if arguments.only else parts(pythons, arguments.ours)
        for lines in alone:
            print("\n" + "\n".join(lines))
        write_pages(PROJECT / "docs", figures, said, alone)


if __name__ == "__main__":
    main()
