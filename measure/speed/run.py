"""Runs the works with all clients in interleaved rounds, prints ratios with their spread, and writes the report.

Run as `python -m measure.speed.run [--rounds N] [--quick] [--report]`. What is compared is the processor time of the
client's own process; only the works with latency compare elapsed time.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from .report import Figures, aims, print_table, table, write_report
from .stock import make_stock

PROJECT = Path(__file__).resolve().parents[2]
CLIENTS = ["limit", "aiohttp + json", "httpx + json", "stock generated", "ours, default", "ours, fast"]
WORKS = [
    "one small GET",
    "PATCH",
    "POST a scene of 100 objects",
    "1,000 tasks, small GETs",
    "10,000 full iTwins, pages of 100",
    "10,000 full iTwins, pages of 1,000",
    "5,000 View3d scene objects, pages of 100",
    "1,000 tasks at 20 ms",
    "10,000 iTwins at 100 ms",
]
#: Works whose latency is most of what they take: elapsed time is compared, and httpx takes half a minute for a round.
ELAPSED = [work for work in WORKS if " ms" in work]
ELAPSED_ROUNDS = 3
QUICK = [work for work in WORKS if work not in ELAPSED and "pages of 1,000" not in work]
#: How often a round does a work that takes little: what is quick varies most.
REPEATS = dict.fromkeys(WORKS[:3], 3)
LATENCIES = (0.0, 0.02, 0.1)


class Process:
    """A benchmark process that is spoken to line by line."""

    def __init__(self, *arguments: str, python: str = sys.executable) -> None:
        path = os.pathsep.join([str(PROJECT / ".cache" / "stock"), os.environ.get("PYTHONPATH", "")])
        self._process = subprocess.Popen(
            [python, "-m", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=PROJECT,
            env=os.environ | {"PYTHONPATH": path},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def line(self) -> str:
        """Reads a line; an ended process ends the benchmark."""
        assert self._process.stdout is not None  # a pipe was asked for
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self._process.args!r} ended with status {self._process.wait()}")
        return line

    def say(self, text: str) -> str:
        """Writes a line and reads one."""
        assert self._process.stdin is not None  # a pipe was asked for
        self._process.stdin.write(text + "\n")
        self._process.stdin.flush()
        return self.line()

    def close(self) -> str:
        """Closes the input and returns what is said last."""
        if self._process.poll() is not None:
            return ""
        return self._process.communicate()[0]


def measure(works: list[str], rounds: int, peers: str) -> tuple[Figures, str]:
    """Does each work with each client in turn, round by round; the first round warms up and does not count."""
    figures: Figures = {work: {client: [] for client in CLIENTS} for work in works}
    with ExitStack() as stack:
        servers = [stack.enter_context(Process("measure.speed.server", "--latency", str(wait))) for wait in LATENCIES]
        ports = [server.line().strip() for server in servers]
        workers = {
            client: Process(
                "measure.speed.worker", client, *ports, python=sys.executable if client.startswith("ours") else peers
            )
            for client in CLIENTS
        }
        for number in range(rounds + 1):
            for work in works:
                if work in ELAPSED and number >= ELAPSED_ROUNDS:
                    continue
                for client, worker in [*workers.items()] * REPEATS.get(work, 1):
                    cpu, wall = json.loads(worker.say(work))
                    if number or work in ELAPSED:
                        figures[work][client].append(wall if work in ELAPSED else cpu)
        for worker in workers.values():
            worker.close()
        used = json.loads(servers[0].close())
    per_request = used["cpu"] / used["answered"] * 1e6
    said = (
        f"The server answered {used['answered']} requests at {per_request:.0f} us each and was busy "
        f"{used['cpu'] / used['wall']:.0%} of the time: it was not the bottleneck."
    )
    if used["cpu"] > 0.9 * used["wall"]:
        raise SystemExit(said.replace("not the", "THE"))
    return figures, said


def main() -> None:
    """Reads the command line, measures, prints and writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="rounds that count")
    parser.add_argument("--quick", action="store_true", help="two rounds, without the works that take longest")
    parser.add_argument("--report", action="store_true", help="write docs/benchmarks.md and its plot")
    parser.add_argument("--peers", default=sys.executable, help="the python whose environment the others run in")
    arguments = parser.parse_args()
    make_stock(PROJECT / ".cache" / "stock")
    works, rounds = (QUICK, 2) if arguments.quick else (WORKS, arguments.rounds)
    figures, said = measure(works, rounds, arguments.peers)
    for against in ("limit", "httpx + json"):
        title = f"client time against {against!r}: median (least-most) of the rounds; less is better"
        print_table(title, table(figures, against=against))
    print_table("what is aimed at", aims(figures))
    print(said)
    if arguments.report:
        from . import decoding, importing, memory  # they need what a quick run does not

        alone = [decoding.lines(), importing.lines(), asyncio.run(memory.lines())]
        for lines in alone:
            print("\n" + "\n".join(lines))
        write_report(PROJECT / "docs", figures, said, alone)


if __name__ == "__main__":
    main()
