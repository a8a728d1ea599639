"""Measure all clients under the same rate limit and outage, one after the other, and count requests at the server.

Run as `make bench ONLY=backoff`. It takes about three minutes and uses loopback only.
"""

import argparse
import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from measure.promises.limits import FixedWindow
from tests.support.services import PreparedResponse, RawServer, ReceivedRequest

from .callers import CALLERS

PROJECT = Path(__file__).resolve().parents[3]
#: The maximum duration of a workload in seconds.
SECONDS = 30.0
#: A response that each client accepts.
SUCCESS = b'{"iTwin": {"id": "a-1", "class": "Account"}, "object": "list", "data": [], "DocumentIdentifiers": []}'
RATE_LIMITED = b'{"error": {"code": "RateLimitExceeded", "message": "Wait."}, "__type": "ThrottlingException"}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A workload for every client; `retries` is the maximum number of retries of a call, None for its default."""

    name: str
    calls: int
    retries: int | None
    outage: bool


WORKLOADS = (
    Workload(name="herd of 100, 10/s, Retry-After 1, by default", calls=100, retries=None, outage=False),
    Workload(name="herd of 100, 10/s, Retry-After 1, 20 retries allowed", calls=100, retries=20, outage=False),
    Workload(name="outage 503, 100 calls, by default", calls=100, retries=None, outage=True),
    Workload(name="outage 503, 1,000 calls, by default", calls=1000, retries=None, outage=True),
)


async def run(workload: Workload, client: str, python: str) -> list[str]:
    """Run the workload with one client, and return its row of the table."""
    limit = FixedWindow(10, 1.0)

    def respond(received: ReceivedRequest) -> PreparedResponse:
        if workload.outage:
            return PreparedResponse(status=503)
        if limit.accepts(received.at):
            return PreparedResponse(body=SUCCESS, headers={"content-type": "application/json"})
        headers = {"retry-after": "1", "content-type": "application/json"}
        return PreparedResponse(status=429, body=RATE_LIMITED, headers=headers)

    async with RawServer(respond) as server:
        process = await asyncio.create_subprocess_exec(
            *(python, "-m", "measure.speed.backoff.client_process", client, server.address),
            *(str(workload.calls), str(workload.retries or "default"), str(SECONDS)),
            stdout=asyncio.subprocess.PIPE,
            cwd=PROJECT,
        )
        output, _ = await process.communicate()
        if process.returncode:
            raise SystemExit(f"{client} ended with status {process.returncode}")
        done, seconds = json.loads(output)
        return [client, str(done), f"{len(server.requests) / workload.calls:.2f}", f"{seconds:.1f} s"]


async def main(peers: str) -> None:
    """Print a table for each workload."""
    for workload in WORKLOADS:
        table = Table(
            *("client", "calls done", "requests per call", "time"),
            title=f"{workload.name} (stopped after {SECONDS:.0f} s)",
        )
        for client in CALLERS:
            table.add_row(*await run(workload, client, sys.executable if client == "ours" else peers))
        Console(width=110).print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", required=True, help="the Python of the environment with the other clients")
    asyncio.run(main(parser.parse_args().peers))
