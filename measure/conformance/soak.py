"""Sends so many requests a second for a while, and reports errors, times and the memory of the sandbox.

Run as `python -m measure.conformance.soak [--seconds 60] [--rate 500]` on Linux.
"""

import argparse
import asyncio
import itertools
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

CONNECTIONS = 32
MOST_GROWTH = 20 * 2**20


@dataclass
class Result:
    """What was measured."""

    statuses: dict[int, int] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def resident_bytes(pid: int) -> int:
    """Returns the resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def requests_of(overview: dict[str, dict[str, str]], host: str) -> list[bytes]:
    """Returns the requests that take turns: pages, single objects, changes, and errors that are meant."""
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


async def worker(host: str, port: int, due: "asyncio.Queue[tuple[float, bytes] | None]", result: Result) -> None:
    """Sends what is due over one connection; the time of a request begins when it is due."""
    reader, writer = await asyncio.open_connection(host, port)
    while (entry := await due.get()) is not None:
        when, request = entry
        try:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.split(b":")[1]))
        except (OSError, asyncio.IncompleteReadError) as error:
            result.failures.append(repr(error))
            reader, writer = await asyncio.open_connection(host, port)
            continue
        status = int(head.split(b" ", 2)[1])
        result.statuses[status] = result.statuses.get(status, 0) + 1
        result.seconds.append(time.monotonic() - when)
    writer.close()


async def load(host: str, port: int, requests: list[bytes], *, seconds: float, rate: float) -> Result:
    """Sends at the rate, whatever the sandbox takes for it."""
    result = Result()
    due: asyncio.Queue[tuple[float, bytes] | None] = asyncio.Queue()
    workers = [asyncio.create_task(worker(host, port, due, result)) for _ in range(CONNECTIONS)]
    began = time.monotonic()
    turns = itertools.cycle(requests)
    for number in range(int(seconds * rate)):
        when = began + number / rate
        if when > time.monotonic():
            await asyncio.sleep(when - time.monotonic())
        due.put_nowait((when, next(turns)))
    for _ in workers:
        due.put_nowait(None)
    await asyncio.gather(*workers)
    return result


async def main() -> bool:
    """Starts the sandbox, warms it up, and prints what it did under load."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=float, default=500)
    arguments = parser.parse_args()
    command = [sys.executable, "-m", "itwin_platform_sandbox", "--port", "0", "--json", "--itwins", "1000"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, limit=2**20)
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
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
    failed = len(result.failures) + sum(number for status, number in result.statuses.items() if status >= 500)
    print(f"{count} requests in {took:.1f} s: {count / took:.0f} a second, {failed} errors, statuses {result.statuses}")
    print(f"median {ordered[count // 2] * 1000:.1f} ms, 99th percentile {ordered[count * 99 // 100] * 1000:.1f} ms")
    print(f"memory: {before / 2**20:.1f} MiB before, {growth / 2**20:+.1f} MiB")
    return not failed and growth <= MOST_GROWTH


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(main()) else 1)
