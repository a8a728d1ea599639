"""The same herd and the same outage for every client, one after the other, counted at the server.

Run as `make bench-backoff`; about three minutes, loopback only, each work is given up after 30 seconds.
"""

import argparse
import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from measure.promises.herd import UNDER_WAY
from measure.promises.limits import FixedWindow
from tests.support.exchange import PreparedResponse, ReceivedRequest
from tests.support.raw_server import RawServer

from .callers import CALLERS

PROJECT = Path(__file__).resolve().parents[3]
SECONDS = 30.0
#: A response that each client accepts: one body for all.
SUCCESS = b'{"iTwin": {"id": "a-1", "class": "Account"}, "object": "list", "data": [], "DocumentIdentifiers": []}'
REFUSAL = b'{"error": {"code": "RateLimitExceeded", "message": "Wait."}, "__type": "ThrottlingException"}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is asked of every client."""

    name: str
    calls: int
    most_retries: int | None
    outage: bool


WORKS = (
    Work(name="herd of 100, 10/s, Retry-After 1, as it comes", calls=100, most_retries=None, outage=False),
    Work(name="herd of 100, 10/s, Retry-After 1, 20 retries allowed", calls=100, most_retries=20, outage=False),
    Work(name="outage 503, 100 calls, as it comes", calls=100, most_retries=None, outage=True),
    Work(name="outage 503, 1,000 calls, as it comes", calls=1000, most_retries=None, outage=True),
)


async def run(work: Work, client: str, python: str) -> list[str]:
    """Let one client do the work, and return its row of the table."""
    limit = FixedWindow(10, 1.0)
    refused_at = float("-inf")
    early = 0

    def respond(received: ReceivedRequest) -> PreparedResponse:
        nonlocal refused_at, early
        if work.outage:
            return PreparedResponse(status=503)
        # A request within the second that the last refusal asked for, and not just under way when it was sent.
        early += refused_at + UNDER_WAY < received.at < refused_at + 0.99
        if limit.takes(received.at):
            return PreparedResponse(body=SUCCESS, headers={"content-type": "application/json"})
        if received.at >= refused_at + 0.99:
            refused_at = received.at
        return PreparedResponse(
            status=429, body=REFUSAL, headers={"retry-after": "1", "content-type": "application/json"}
        )

    async with RawServer(respond) as server:
        process = await asyncio.create_subprocess_exec(
            *(python, "-m", "measure.speed.backoff.client_process", client, server.address),
            *(str(work.calls), str(work.most_retries or "default"), str(SECONDS)),
            stdout=asyncio.subprocess.PIPE,
            cwd=PROJECT,
        )
        output, _ = await process.communicate()
        if process.returncode:
            raise SystemExit(f"{client} ended with status {process.returncode}")
        ended = json.loads(output)
        return [
            client,
            f"{ended['succeeded']}",
            f"{ended['failed']}",
            f"{ended['unfinished']}",
            f"{len(server.requests) / work.calls:.2f}",
            "" if work.outage else f"{early}",
            f"{ended['seconds']:.1f} s",
        ]


async def main(peers: str) -> None:
    """Print a table for each work."""
    for work in WORKS:
        table = Table(
            *("client", "succeeded", "failed", "unfinished", "requests per call", "in cooldowns", "time"),
            title=f"{work.name} (given up after {SECONDS:.0f} s)",
        )
        for client in CALLERS:
            table.add_row(*await run(work, client, sys.executable if client == "ours" else peers))
        Console(width=110).print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", required=True, help="the Python of the environment that has the other clients")
    asyncio.run(main(parser.parse_args().peers))
