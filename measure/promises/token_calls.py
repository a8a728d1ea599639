"""A thousand tasks that need a token at once: how often the token endpoint is called."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import httpx
from itwin_platform import AccessToken, BackoffPolicy, Gate, PlatformClient, TokenError

from tests.support.services import ACCOUNT, PreparedResponse, RawServer, ReceivedRequest

from .figure import Figure, exactly

#: The count of a case whose calls ended otherwise than they should.
FAILED = -1


class Issuer:
    """A token endpoint that responds after 50 ms, and a service that accepts only the latest token."""

    def __init__(self) -> None:
        self.lifetime = 3600.0
        self.fails = False
        self.issued = 0

    def respond(self, received: ReceivedRequest) -> PreparedResponse:
        """Respond as the token endpoint and as the service."""
        if received.target == "/token":
            self.issued += 1
            return PreparedResponse(status=500 if self.fails else 200, body=f"t-{self.issued}".encode(), delay=0.05)
        if received.headers.get("authorization") != f"Bearer t-{self.issued}":
            return PreparedResponse(status=401)
        return PreparedResponse(body=ACCOUNT)


@asynccontextmanager
async def opened() -> AsyncIterator[tuple[Issuer, RawServer, PlatformClient]]:
    """Open a client whose token provider calls the issuer, and whose gate lets all calls start at once."""
    issuer = Issuer()
    async with RawServer(issuer.respond) as server, httpx.AsyncClient() as http:

        async def fetch_token() -> AccessToken:
            response = await http.get(f"{server.address}/token")
            response.raise_for_status()
            return AccessToken(response.text, datetime.now(UTC) + timedelta(seconds=issuer.lifetime))

        policy = BackoffPolicy(deadline=None)
        async with PlatformClient(
            server.address, vendor="acme", token=fetch_token, backoff=policy, gate=Gate(10_000), timeout=60.0
        ) as platform:
            yield issuer, server, platform


def token_requests(server: RawServer) -> int:
    """Return how many tokens were requested since the last call of this function."""
    count = sum(received.target == "/token" for received in server.requests)
    server.requests.clear()
    return count


async def token_calls(*, tasks: int = 1000) -> list[Figure]:
    """Measure with no token, a rejected and an expired one, a provider that fails or hangs, and cancelled calls."""
    fresh, rejected = await _fresh_and_rejected(tasks)
    # A provider that fails is called once more.
    counts = {
        "fresh": (fresh, 1),
        "rejected with 401": (rejected, 1),
        "expired": (await _expired(tasks), 1),
        "failing": (await _failing(tasks), 2),
        "hanging once": (await _hanging(tasks), 2),
        "all but one cancelled": (await _cancelled(tasks), 1),
    }
    return [exactly(f"token calls, {tasks:,} tasks: {name}", *counted) for name, counted in counts.items()]


async def results_of(platform: PlatformClient, tasks: int) -> list[object]:
    """Make one call in each task, and return the results and the errors."""
    calls = (platform.itwins.get_primary_account() for _ in range(tasks))
    return await asyncio.gather(*calls, return_exceptions=True)


def all_succeeded(results: Iterable[object]) -> bool:
    """Return whether no result is an error."""
    return not any(isinstance(result, BaseException) for result in results)


async def _fresh_and_rejected(tasks: int) -> tuple[int, int]:
    async with opened() as (issuer, server, platform):
        fresh = token_requests(server) if all_succeeded(await results_of(platform, tasks)) else FAILED
        issuer.issued += 1  # the service rejects the token that the client holds
        rejected = token_requests(server) if all_succeeded(await results_of(platform, tasks)) else FAILED
    return fresh, rejected


async def _expired(tasks: int) -> int:
    async with opened() as (issuer, server, platform):
        issuer.lifetime = 0.2
        await platform.itwins.get_primary_account()
        await asyncio.sleep(0.3)
        token_requests(server)
        issuer.lifetime = 3600.0
        return token_requests(server) if all_succeeded(await results_of(platform, tasks)) else FAILED


async def _failing(tasks: int) -> int:
    async with opened() as (issuer, server, platform):
        issuer.fails = True
        results = await results_of(platform, tasks)
        return token_requests(server) if all(isinstance(result, TokenError) for result in results) else FAILED


async def _hanging(tasks: int) -> int:
    """Hang in the first call of the provider, which ends after the time limit of the client."""
    asked = 0

    async def hanging_once() -> AccessToken:
        nonlocal asked
        asked += 1
        if asked == 1:
            await asyncio.Event().wait()
        return AccessToken("t-1", datetime.now(UTC) + timedelta(hours=1))

    async with (
        RawServer(lambda _: PreparedResponse(body=ACCOUNT)) as server,
        PlatformClient(server.address, vendor="acme", token=hanging_once, timeout=1.0, gate=Gate(10_000)) as platform,
    ):
        return asked if all_succeeded(await results_of(platform, tasks)) else FAILED


async def _cancelled(tasks: int) -> int:
    async with opened() as (_, server, platform):
        calls = [asyncio.create_task(platform.itwins.get_primary_account()) for _ in range(tasks)]
        await asyncio.sleep(0.03)
        for call in calls[:-1]:
            call.cancel()
        last, *_ = await asyncio.gather(calls[-1], *calls[:-1], return_exceptions=True)
        return token_requests(server) if all_succeeded([last]) else FAILED
