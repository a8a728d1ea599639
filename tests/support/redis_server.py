"""A real Redis or Valkey server for tests and measurements. A test can kill it and start it again.

`python -m tests.support.redis_server` prints the server that is found, and exits with status 1 if there is none.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Self

import pytest
import redis

MISSING = (
    "need a Redis or Valkey server: install redis-server or valkey-server with the system's package manager, or run "
    "them with Python 3.11 or 3.12 on Linux, where a package brings one"
)


def server_programs() -> list[str]:
    """Return the programs on the PATH, and the one that a package has installed beside this Python."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])
    found = (shutil.which(name, path=path) for name in ("redis-server", "valkey-server"))
    return [program for program in found if program is not None]


needs_a_server = pytest.mark.skipif(not server_programs(), reason=f"these tests {MISSING}")


class RedisServer:
    """A server that runs within `with`, and stores nothing on disk."""

    def __init__(self, program: str | None = None) -> None:
        self._program = program or next(iter(server_programs()), None)
        self._folder = Path(tempfile.mkdtemp(prefix="gate-"))
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"unix://{self._folder}/socket"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def client(self) -> redis.Redis:
        """A client to inspect the server with."""
        return redis.Redis.from_url(self.url, decode_responses=True)

    @property
    def version(self) -> str:
        """The name and the version of the server."""
        with self.client as client:
            versions = client.info("server")
        name = "valkey" if "valkey_version" in versions else "redis"
        return f"{name.title()} {versions[f'{name}_version']}"

    def start(self) -> None:
        """Start an empty server, and wait until it responds."""
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
        """Kill the server. Its data is lost."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


if __name__ == "__main__":
    if not server_programs():
        raise SystemExit(f"The tests of RedisGate {MISSING}.")
    with RedisServer() as server:
        print(f"{server.version} is there for the tests of RedisGate.")  # noqa: T201  # a command prints
