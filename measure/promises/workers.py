"""Processes that begin together, after their start, their imports and their first call."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass

#: Seconds after which a measurement fails.
TIMEOUT = 240.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of each process, of which `workers` share the limit, and `processes` of them start, or all."""

    address: str
    calls: int
    redis: str
    workers: int
    processes: int | None = None
    max_in_flight: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """How the calls of some processes ended, and their CPU seconds."""

    calls: Counter[str]
    cpu_seconds: float


class Workers:
    """Processes that begin together."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.processes: list[asyncio.subprocess.Process] = []

    async def start(self) -> None:
        """Start the processes, and wait until each is ready."""
        arguments = [sys.executable, "-m", "measure.promises.worker", json.dumps(asdict(self._settings))]
        pipe = asyncio.subprocess.PIPE
        for _ in range(self._settings.processes or self._settings.workers):
            self.processes.append(await asyncio.create_subprocess_exec(*arguments, stdin=pipe, stdout=pipe))
        for process in self.processes:
            assert process.stdout is not None  # it is a pipe
            await process.stdout.readline()

    def begin(self) -> None:
        """Let the processes send their calls."""
        for process in self.processes:
            assert process.stdin is not None  # it is a pipe
            process.stdin.write(b"\n")

    async def results(self) -> Results:
        """Wait for all processes and return their results; a killed process has none."""
        calls: Counter[str] = Counter()
        cpu_seconds = 0.0
        for process in self.processes:
            output, _ = await process.communicate()
            printed = json.loads(output or b'{"calls": {}, "cpu_seconds": 0}')
            calls.update(printed["calls"])
            cpu_seconds += printed["cpu_seconds"]
        return Results(calls=calls, cpu_seconds=cpu_seconds)

    async def stop(self) -> None:
        """Kill the processes that still run."""
        for process in self.processes:
            if process.returncode is None:
                process.kill()
                await process.wait()


@asynccontextmanager
async def started(settings: Settings) -> AsyncIterator[Workers]:
    """Start the processes, and kill those that still run at the end."""
    workers = Workers(settings)
    try:
        async with asyncio.timeout(TIMEOUT):
            await workers.start()
            yield workers
    finally:
        await workers.stop()
