"""Sends requests at a rate for a while, and reports errors, times and the memory of the sandbox.

Run as `python -m measure.conformance.soak [--seconds 60] [--rate 500]` on Linux. A request costs the sandbox about 0.6
ms of one core. Its memory grows with the journal, up to the limit of 8 MiB, and with nothing else.
"""

import argparse
import asyncio
import itertools
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

CONNECTIONS = 32
MOST_GROWTH = 20 * 2**20


@dataclass
class Result:
    """The measured statuses, seconds, and requests without a response."""

    statuses: dict[int, int] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    lost: int = 0


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def requests_of(overview: dict[str, dict[str, str]], host: str) -> list[bytes]:
    """Return the requests to cycle through: pages, single objects, changes, and deliberate errors."""
    ids = overview["ids"]
    repository = f"/itwins/{ids['itwin_id']}/repositories/{ids['repository_id']}"
    kinds: list[tuple[str, str, object]] = [
        ("GET", "/itwins/?$top=20", None),
        ("GET", "/itwins/myprimaryaccount", None),
        ("GET", f"/scenes/{ids['scene_id']}/objects?iTwinId={ids['itwin_id']}&$top=10", None),
        ("PATCH", f"/webhooks/{ids['webhook_id']}", {"active": True, "callbackUrl": "https://hooks.example.com/a"}),
        ("PATCH", repository, {"displayName": "City orthophotos"}),
        ("GET", "/itwins/?$filter=contains('bridge',displayName)%20and%20status%20eq%20'Active'&$top=5", None),
        ("GET", "/nowhere", None),
        ("PATCH", repository, {"uri": ""}),
    ]
    written = []
    for method, path, body in kinds:
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer a\r\nAccept: application/json\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        written.append(head.encode() + content)
    return written


class Connection(asyncio.Protocol):
    """One connection that sends one request at a time: without streams and tasks, so that the client costs little."""

    def __init__(self, finished: Callable[["Connection", int | None], None]) -> None:
        self.started = 0.0
        self.is_lost = False
        self._is_closing = False
        self._finished = finished
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = transport if isinstance(transport, asyncio.Transport) else None

    def send(self, request: bytes, started: float) -> None:
        """Send a request whose time began at `started`."""
        self.started = started
        if self._transport is not None:
            self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Collect a response; once it is complete, say so with its status."""
        self._received += data
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._received[:end]).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(self._received) >= end + 4 + length:
            self._received.clear()
            self._finished(self, int(head.split(b" ", 2)[1]))

    def connection_lost(self, exc: Exception | None) -> None:
        """Say that there is no response."""
        self.is_lost = True
        if not self._is_closing:
            self._finished(self, None)

    def close(self) -> None:
        """Close the connection."""
        self._is_closing = True
        if self._transport is not None:
            self._transport.close()


async def load(host: str, port: int, requests: list[bytes], *, seconds: float, rate: float) -> Result:
    """Send at the rate, however long the sandbox takes; the time of a request begins when it is due."""
    loop = asyncio.get_running_loop()
    result = Result()
    idle: asyncio.Queue[Connection] = asyncio.Queue()

    def finished(connection: Connection, status: int | None) -> None:
        if status is None:
            result.lost += 1
        else:
            result.statuses[status] = result.statuses.get(status, 0) + 1
            result.seconds.append(time.monotonic() - connection.started)
        idle.put_nowait(connection)

    async def connected() -> Connection:
        return (await loop.create_connection(lambda: Connection(finished), host, port))[1]

    for _ in range(CONNECTIONS):
        idle.put_nowait(await connected())
    began = time.monotonic()
    turns = itertools.cycle(requests)
    for number in range(int(seconds * rate)):
        due = began + number / rate
        if due > time.monotonic():
            await asyncio.sleep(due - time.monotonic())
        connection = await idle.get()
        if connection.is_lost:
            connection = await connected()
        connection.send(next(turns), due)
    for connection in [await idle.get() for _ in range(CONNECTIONS)]:
        connection.close()
    return result


async def main() -> bool:
    """Start the sandbox, warm it up, and print how it responded under load."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=float, default=500)
    arguments = parser.parse_args()
    command = [sys.executable, "-m", "itwin_platform_sandbox", "--port", "0", "--json", "--itwins", "1000"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, limit=2**20)
    assert process.stdout is not None  # noqa: S101  # a pipe was requested
    try:
        overview = json.loads(await process.stdout.readline())
        address = urlsplit(overview["base_url"])
        host, port = str(address.hostname), int(address.port or 0)
        requests = requests_of(overview, address.netloc)
        await load(host, port, requests, seconds=2, rate=arguments.rate)
        before = resident_bytes(process.pid)
        began = time.monotonic()
        result = await load(host, port, requests, seconds=arguments.seconds, rate=arguments.rate)
        took = time.monotonic() - began
        growth = resident_bytes(process.pid) - before
    finally:
        process.terminate()
        await process.wait()
    count = sum(result.statuses.values())
    ordered = sorted(result.seconds)
    failed = result.lost + sum(number for status, number in result.statuses.items() if status >= 500)
    print(f"{count} requests in {took:.1f} s: {count / took:.0f} a second, {failed} errors, statuses {result.statuses}")
    print(f"median {ordered[count // 2] * 1000:.1f} ms, 99th percentile {ordered[count * 99 // 100] * 1000:.1f} ms")
    print(f"memory: {before / 2**20:.1f} MiB before, {growth / 2**20:+.1f} MiB")
    return not failed and growth <= MOST_GROWTH


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(main()) else 1)
