"""Processes that start their calls together, after their imports and their first call."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass

#: Seconds after which a measurement that has not ended fails.
TIMEOUT = 240.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of each process: `workers` processes share the limit, and `processes` of them are started."""

    address: str
    calls: int
    redis: str
    workers: int
    processes: int | None = None


class Workers:
    """Processes that start their calls together."""

    def __init__(self, processes: Sequence[asyncio.subprocess.Process]) -> None:
        self.processes = processes

    def begin(self) -> None:
        """Let the processes send their calls."""
        for process in self.processes:
            assert process.stdin is not None  # it is a pipe
            process.stdin.write(b"\n")

    async def results(self) -> Counter[str]:
        """Wait for all processes and count the results of their calls; a killed process has no results."""
        outputs = [await process.communicate() for process in self.processes]
        return sum((Counter(json.loads(output or b"{}")) for output, _ in outputs), Counter[str]())


@asynccontextmanager
async def started(settings: Settings) -> AsyncIterator[Workers]:
    """Start the processes, wait until each is ready, and kill all running processes at the end."""
    arguments = [sys.executable, "-m", "measure.promises.worker", json.dumps(asdict(settings))]
    pipe, processes = asyncio.subprocess.PIPE, list[asyncio.subprocess.Process]()
    try:
        async with asyncio.timeout(TIMEOUT):
            for _ in range(settings.processes or settings.workers):
                processes.append(await asyncio.create_subprocess_exec(*arguments, stdin=pipe, stdout=pipe))
            for process in processes:
                assert process.stdout is not None  # it is a pipe
                await process.stdout.readline()
            yield Workers(processes)
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
                await process.wait()
