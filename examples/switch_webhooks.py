"""Switches thousands of webhooks on with bounded concurrency, and reports at the end those that could not be switched.

Run it with `python examples/switch_webhooks.py` against the local sandbox, or name a file of lines `id,secret` to
switch those on the platform that ITWIN_PLATFORM_BASE_URL, ITWIN_PLATFORM_VENDOR and ITWIN_PLATFORM_TOKEN name.

Twenty workers share one iterator, so there are twenty tasks however many webhooks come. A task for each of them would
be no faster, because the client lets 20 requests be in flight, and would only wait in memory.

Each update carries the secret that the receiver of the events knows. Without one the service generates another (section
4.8) and does not return it.
"""

import asyncio
import csv
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from itwin_platform import AuthenticationError, PlatformClient, PlatformError, TokenError
from itwin_platform_sandbox import Sandbox


@dataclass
class Outcome:
    """How many were switched, and what became of the others, by id."""

    switched: int = 0
    failed: dict[str, PlatformError] = field(default_factory=dict)


async def switch(
    platform: PlatformClient, webhooks: Iterable[tuple[str, str]], *, active: bool, workers: int = 20
) -> Outcome:
    """Switches webhooks, given as pairs of id and secret; a refused token ends the run, as all others would be refused.

    Raises:
        ExceptionGroup: of AuthenticationError or TokenError.
    """
    outcome, remaining = Outcome(), iter(webhooks)

    async def work() -> None:
        # Each pair goes to one worker: nothing is awaited between asking the iterator and having its answer.
        for webhook_id, secret in remaining:
            try:
                await platform.webhooks.update(webhook_id, active=active, secret=secret)
            except (AuthenticationError, TokenError):
                raise
            except PlatformError as error:
                outcome.failed[webhook_id] = error
            else:
                outcome.switched += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(work())
    return outcome


def report(outcome: Outcome) -> int:
    """Prints what became of them; returns 1 where some have to be looked at."""
    print(f"{outcome.switched} webhooks switched on, {len(outcome.failed)} not:")
    for webhook_id, error in outcome.failed.items():
        print(f"  {webhook_id}: {error}".replace("\n", "\n    "))
    return 1 if outcome.failed else 0


async def against_the_platform(path: Path) -> int:
    """Switches the webhooks of a file."""
    with path.open(newline="", encoding="utf-8") as file:
        async with PlatformClient() as platform:
            pairs = ((webhook_id, secret) for webhook_id, secret in csv.reader(file))
            return report(await switch(platform, pairs, active=True))


async def against_the_sandbox() -> None:
    """Switches 2,000 webhooks while a rate limit strikes. Its one webhook stands for all but two."""
    async with (
        Sandbox(latency=0.02) as sandbox,
        PlatformClient(sandbox.base_url, vendor="sandbox", token=sandbox.token) as platform,
    ):
        sandbox.fault("rate_limited", skip=1_000, seconds=1)
        ids = [f"lost-{number}" if number % 700 == 699 else sandbox.webhook_id for number in range(2_000)]
        report(await switch(platform, ((webhook_id, f"secret of {webhook_id}") for webhook_id in ids), active=True))
        refused = sum(request.status == 429 for request in sandbox.requests)
        most = max(request.in_flight for request in sandbox.requests)
        print(f"{len(sandbox.requests)} requests, at most {most} in flight; refused with 429 and repeated: {refused}")


if __name__ == "__main__":
    try:
        if len(sys.argv) > 1:
            sys.exit(asyncio.run(against_the_platform(Path(sys.argv[1]))))
        asyncio.run(against_the_sandbox())
    except* (AuthenticationError, TokenError) as refused:
        print(f"The token is refused: {refused.exceptions[0]}", file=sys.stderr)
        sys.exit(2)
