"""A process of the benchmarks, with input and output by line."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

PROJECT = Path(__file__).resolve().parents[2]
#: What the generator makes of the document with its own templates.
STOCK_CLIENT = PROJECT / ".cache" / "speed" / "stock" / "stock_client"


@contextmanager
def on_core(*, is_server: bool = False) -> Iterator[None]:
    """Start processes on one core where the system can: the servers on the first one, the clients on the last one.

    A process that moves between cores, or shares one with what measures it, is slower at random.
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
    """A module that runs in a process of its own.

    Args:
        arguments: the module and its arguments.
        python: the Python of an environment.
        data: the data of the service: see `Workload`.
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
