"""Listings beyond the cap: what a resume loses or repeats after kill -9, requests for each page, and memory.

Run as `python -m measure.promises.listings`: it takes a few minutes, and is therefore no part of `make reliability`.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .figure import Figure, at_most, exactly, print_figures

READER = (sys.executable, "-m", "measure.promises.itwin_reader")
SERVER = (sys.executable, "-m", "measure.promises.itwin_server")


class Server:
    """The service in a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.port = self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None  # it is piped
        return self._process.stdout.readline().strip()

    def counted(self) -> list[int]:
        """End it, and return how many requests were for pages, for pages that came before, and for times only."""
        assert self._process.stdin is not None  # it is piped
        self._process.stdin.close()
        counts: list[int] = json.loads(self._line())
        return counts


@contextmanager
def server(count: int) -> Iterator[Server]:
    """Serve so many iTwins."""
    with subprocess.Popen(  # noqa: S603  # our own program
        [*SERVER, str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Server(process)
        finally:
            process.kill()


def listings(itwins: int = 100_000, kills: int = 100, streamed: int = 1_000_000) -> list[Figure]:
    """Read with a kill -9 after so many items, once without, and once to the end of a long listing."""
    killed = (figure for concurrency in (1, 4) for figure in _killed(itwins, kills // 2, concurrency))
    return [*killed, *_requests(itwins), *_memory(streamed)]


def _killed(itwins: int, kills: int, concurrency: int) -> Iterator[Figure]:
    chance = random.Random(concurrency)  # noqa: S311  # a schedule
    points = sorted(chance.sample(range(1, itwins), kills))
    with tempfile.TemporaryDirectory() as folder, server(itwins) as service:
        path = Path(folder, "ids")
        for point in [*points, 0]:
            read = [*READER, service.port, str(path), str(point), str(concurrency)]
            subprocess.run(read, check=False, timeout=300)  # noqa: S603  # our own program
        ids = [line.split()[0] for line in path.read_text().splitlines()]
        _, again, _ = service.counted()
    name = f"{kills} kills -9, concurrency={concurrency}"
    yield exactly(f"{name}: of {itwins:,} iTwins missing", itwins - len(set(ids)), 0)
    yield exactly(f"{name}: iTwins twice", len(ids) - len(set(ids)), 0)
    # What was in flight when the process died was not read, and is requested again.
    yield at_most(f"{name}: pages requested again for each kill", again / kills, concurrency)


def _requests(itwins: int) -> Iterator[Figure]:
    with server(itwins) as service:
        subprocess.run([*READER, service.port], check=True, capture_output=True, timeout=300)  # noqa: S603  # our own
        pages, again, looks = service.counted()
    yield at_most(f"requests for each page needed, {itwins:,} iTwins", (pages + looks) / (itwins / 1000), 1.2)
    yield exactly("pages requested twice without a kill", again, 0)


def _memory(streamed: int) -> Iterator[Figure]:
    with server(streamed) as service:
        read = subprocess.run(  # noqa: S603  # our own program
            [*READER, service.port], check=True, capture_output=True, text=True, timeout=600
        )
    count, grown = read.stdout.split()
    yield exactly("iTwins streamed", int(count), streamed)
    yield at_most(f"growth of memory while {streamed:,} iTwins are streamed", float(grown), 30, unit=" MB")


if __name__ == "__main__":
    began = time.monotonic()
    measured = listings()
    print_figures(measured, seconds=time.monotonic() - began)
    sys.exit(0 if all(figure.holds for figure in measured) else 1)
