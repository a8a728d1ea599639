"""Activate thousands of webhooks with bounded concurrency, and report the failures at the end.

Run it with `python examples/switch_webhooks.py` against the local sandbox. With a file of lines `id,secret` as its
argument, it activates those webhooks on the platform that ITWIN_PLATFORM_BASE_URL, ITWIN_PLATFORM_VENDOR and
ITWIN_PLATFORM_TOKEN name.

Twenty workers share one iterator, so there are twenty tasks for any number of webhooks. A task for each webhook would
not be faster, because the client keeps 20 requests in flight; the others would only wait in memory.

Each update sends the secret that the receiver of the events knows. Without a secret the service generates one and does
not return it.
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
    """The number of switched webhooks, and the errors of the others by id."""

    switched: int = 0
    failed: dict[str, PlatformError] = field(default_factory=dict)


async def switch(
    platform: PlatformClient, webhooks: Iterable[tuple[str, str]], *, active: bool, workers: int = 20
) -> Outcome:
    """Switch webhooks, which are pairs of id and secret.

    Raises:
        ExceptionGroup: of AuthenticationError or TokenError, because no other webhook could be switched either.
    """
    outcome, remaining = Outcome(), iter(webhooks)

    async def work() -> None:
        # Each pair goes to one worker, because `next` of the shared iterator awaits nothing.
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
    """Print the outcome and return 1 if a webhook was not switched."""
    print(f"{outcome.switched} webhooks activated, {len(outcome.failed)} failed:")
    for webhook_id, error in outcome.failed.items():
        print(f"  {webhook_id}: {error}".replace("\n", "\n    "))
    return 1 if outcome.failed else 0


async def against_the_platform(path: Path) -> int:
    """Activate the webhooks of a file."""
    with path.open(newline="", encoding="utf-8") as file:
        async with PlatformClient() as platform:
            pairs = ((webhook_id, secret) for webhook_id, secret in csv.reader(file))
            return report(await switch(platform, pairs, active=True))


async def against_the_sandbox() -> None:
    """Activate 2,000 webhooks through a rate limit; all but two of the ids name the one webhook of the sandbox."""
    async with (
        Sandbox(latency=0.02) as sandbox,
        PlatformClient(sandbox.base_url, vendor="sandbox", token=sandbox.token) as platform,
    ):
        sandbox.fault("rate_limited", skip=1_000, seconds=1)
        ids = [f"lost-{number}" if number % 700 == 699 else sandbox.webhook_id for number in range(2_000)]
        pairs = ((webhook_id, f"made-up-secret-of-32-characters! {webhook_id}") for webhook_id in ids)
        report(await switch(platform, pairs, active=True))
        rate_limited = sum(request.status == 429 for request in sandbox.requests)
        most = max(request.in_flight for request in sandbox.requests)
        print(f"{len(sandbox.requests)} requests, at most {most} in flight; rate limited and retried: {rate_limited}")


if __name__ == "__main__":
    try:
        if len(sys.argv) > 1:
            sys.exit(asyncio.run(against_the_platform(Path(sys.argv[1]))))
        asyncio.run(against_the_sandbox())
    except* (AuthenticationError, TokenError) as rejected:
        print(f"The token was rejected: {rejected.exceptions[0]}", file=sys.stderr)
        sys.exit(2)
