"""Runs the works with all clients in interleaved rounds, prints ratios with their spread, and writes the report.

Run as `python -m benchmarks.run [--rounds N] [--quick] [--report]`. What is compared is the processor time of the
client's own process; only the works with latency compare elapsed time.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Self

from .report import Figures, print_table, write_report
from .stock import make_stock

PROJECT = Path(__file__).resolve().parents[1]
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
]
QUICK = [work for work in WORKS if "pages of 1,000" not in work]


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
        assert self._process.stdout is not None  # noqa: S101  # a pipe was asked for
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self._process.args} ended with status {self._process.wait()}")
        return line

    def say(self, text: str) -> str:
        """Writes a line and reads one."""
        assert self._process.stdin is not None  # noqa: S101  # a pipe was asked for
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
    with Process("benchmarks.server") as server, Process("benchmarks.server", "--latency", "0.02") as slow:
        ports = (server.line().strip(), slow.line().strip())
        workers = {
            client: Process(
                "benchmarks.worker", client, *ports, python=sys.executable if client.startswith("ours") else peers
            )
            for client in CLIENTS
        }
        for number in range(rounds + 1):
            for work in works:
                for client, worker in workers.items():
                    cpu, wall = json.loads(worker.say(work))
                    if number:
                        figures[work][client].append(wall if "at 20 ms" in work else cpu)
        for worker in workers.values():
            worker.close()
        used = json.loads(server.close())
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
    parser.add_argument("--quick", action="store_true", help="three rounds, without the longest work")
    parser.add_argument("--report", action="store_true", help="write docs/benchmarks.md and its plot")
    parser.add_argument("--peers", default=sys.executable, help="the python whose environment the others run in")
    arguments = parser.parse_args()
    make_stock(PROJECT / ".cache" / "stock")
    works, rounds = (QUICK, 3) if arguments.quick else (WORKS, arguments.rounds)
    figures, said = measure(works, rounds, arguments.peers)
    print_table(figures, against="limit")
    print_table(figures, against="httpx + json")
    print(said)
    if arguments.report:
        write_report(PROJECT / "docs", figures, said, rounds)


if __name__ == "__main__":
    main()
