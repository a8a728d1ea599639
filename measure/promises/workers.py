"""Processes that begin together: starting them, their imports and their first call are over when they begin."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass

#: Nothing here may take longer, in seconds.
PATIENCE = 240.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What each process does."""

    address: str
    calls: int
    redis: str | None
    workers: int
    max_in_flight: int = 20
    fast: bool = False
    rate: tuple[int, float] | None = None
    deadline: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How the calls of some processes ended, and the CPU seconds that they took."""

    calls: Counter[str]
    cpu_seconds: float


class Workers:
    """Processes that begin together."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.processes: list[asyncio.subprocess.Process] = []

    async def start(self) -> None:
        """Start them, and wait until each is ready."""
        arguments = [sys.executable, "-m", "measure.promises.worker", json.dumps(asdict(self._settings))]
        pipe = asyncio.subprocess.PIPE
        for _ in range(self._settings.workers):
            self.processes.append(await asyncio.create_subprocess_exec(*arguments, stdin=pipe, stdout=pipe))
        for process in self.processes:
            assert process.stdout is not None  # it is a pipe
            await process.stdout.readline()

    def begin(self) -> None:
        """Let them send."""
        for process in self.processes:
            assert process.stdin is not None  # it is a pipe
            process.stdin.write(b"\n")

    async def ended(self) -> Ended:
        """Wait for all, and return how their calls ended; nothing comes from one that was killed."""
        calls: Counter[str] = Counter()
        cpu_seconds = 0.0
        for process in self.processes:
            output, _ = await process.communicate()
            said = json.loads(output or b'{"calls": {}, "cpu_seconds": 0}')
            calls.update(said["calls"])
            cpu_seconds += said["cpu_seconds"]
        return Ended(calls=calls, cpu_seconds=cpu_seconds)

    async def stop(self) -> None:
        """End those that are left."""
        for process in self.processes:
            if process.returncode is None:
                process.kill()
                await process.wait()


@asynccontextmanager
async def started(settings: Settings) -> AsyncIterator[Workers]:
    """Start the processes, and end those that are left."""
    workers = Workers(settings)
    try:
        async with asyncio.timeout(PATIENCE):
            await workers.start()
            yield workers
    finally:
        await workers.stop()
