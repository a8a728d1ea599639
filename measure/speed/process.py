"""Processes of the benchmarks, which exchange lines with the main program."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

PROJECT = Path(__file__).resolve().parents[2]
#: The client that the generator makes with its default templates.
STOCK_CLIENT = PROJECT / ".cache" / "speed" / "stock" / "stock_client"


@contextmanager
def on_core(*, is_server: bool = False) -> Iterator[None]:
    """Start processes on one core on Linux: the servers on the first core, the clients on the last core.

    A process that moves between cores, or shares a core with a server, is slower at random.
    """
    if sys.platform != "linux":
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores) if is_server else max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


class Process:
    """A module in a process of its own.

    Args:
        arguments: the module and its arguments.
        python: the Python of an environment.
        data: the data of the service, a key of DATA.
    """

    def __init__(self, *arguments: str, python: str = sys.executable, data: str = "real") -> None:
        with on_core(is_server=arguments[0].endswith("server")):
            self._process = subprocess.Popen(
                [python, "-m", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=PROJECT,
                env=os.environ | {"BENCH_DATA": data, "PYTHONPATH": str(STOCK_CLIENT.parent)},
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def line(self) -> str:
        """Read a line, and end the benchmark if the process has ended."""
        assert self._process.stdout is not None  # a pipe was requested
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self._process.args!r} ended with status {self._process.wait()}")
        return line

    def ask(self, text: str) -> str:
        """Write a line and return the line of the response."""
        assert self._process.stdin is not None  # a pipe was requested
        self._process.stdin.write(text + "\n")
        self._process.stdin.flush()
        return self.line()

    def close(self) -> str:
        """Close the input and return the last output."""
        if self._process.poll() is not None:
            return ""
        return self._process.communicate()[0]
