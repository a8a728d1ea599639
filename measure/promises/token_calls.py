"""A thousand tasks that need a token at once: how often the server that gives tokens is asked."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import httpx
from itwin_platform import AccessToken, BackoffPolicy, Gate, PlatformClient, TokenError

from tests.support.exchange import PreparedResponse, ReceivedRequest
from tests.support.raw_server import RawServer

from .figure import Figure, exactly

ACCOUNT = b'{"iTwin": {"id": "a-1", "class": "Account"}}'


class Issuer:
    """Gives tokens that live for `life` seconds over HTTP, after 50 ms; the service takes only the last one given."""

    def __init__(self) -> None:
        self.life = 3600.0
        self.fails = False
        self.given = 0

    def respond(self, received: ReceivedRequest) -> PreparedResponse:
        """Play the issuer and the service on one server."""
        if received.target == "/token":
            self.given += 1
            return PreparedResponse(status=500 if self.fails else 200, body=f"t-{self.given}".encode(), delay=0.05)
        if received.headers.get("authorization") != f"Bearer t-{self.given}":
            return PreparedResponse(status=401)
        return PreparedResponse(body=ACCOUNT)


@asynccontextmanager
async def opened(now: Callable[[], datetime]) -> AsyncIterator[tuple[Issuer, RawServer, PlatformClient]]:
    """Return a client whose token provider calls the issuer, and whose gate lets all calls start at once."""
    issuer = Issuer()
    async with RawServer(issuer.respond) as server, httpx.AsyncClient() as http:

        async def source() -> AccessToken:
            response = await http.get(f"{server.address}/token")
            response.raise_for_status()
            return AccessToken(response.text, now() + timedelta(seconds=issuer.life))

        policy = BackoffPolicy(deadline=None)
        async with PlatformClient(
            server.address, vendor="acme", token=source, backoff=policy, gate=Gate(10_000), timeout=60.0
        ) as platform:
            yield issuer, server, platform


def asked(server: RawServer) -> int:
    """Return how many tokens the issuer was asked for since the last call of this function."""
    count = sum(received.target == "/token" for received in server.requests)
    server.requests.clear()
    return count


async def token_calls(*, tasks: int = 1000) -> list[Figure]:
    """Without a token, with an expired one, with one that the service takes no more, failing, and cancelled."""
    figures = []

    def figure(name: str, count: int) -> None:
        figures.append(exactly(f"token calls, {tasks:,} tasks: {name}", count, 1))

    def now() -> datetime:
        return datetime.now(UTC)

    async with opened(now) as (issuer, server, platform):

        async def herd() -> list[object]:
            calls = (platform.itwins.get_primary_account() for _ in range(tasks))
            return await asyncio.gather(*calls, return_exceptions=True)

        def all_answered(ended: list[object]) -> bool:
            return not any(isinstance(each, BaseException) for each in ended)

        figure("fresh", asked(server) if all_answered(await herd()) else -1)
        issuer.given += 1
        ended = await herd()
        figure("rejected with 401", asked(server) if all_answered(ended) else -1)

    async with opened(now) as (issuer, server, platform):
        issuer.life = 0.2
        await platform.itwins.get_primary_account()
        await asyncio.sleep(0.3)
        asked(server)
        issuer.life = 3600.0
        ended = await asyncio.gather(
            *(platform.itwins.get_primary_account() for _ in range(tasks)), return_exceptions=True
        )
        figure("expired", asked(server) if not any(isinstance(each, BaseException) for each in ended) else -1)

    async with opened(now) as (issuer, server, platform):
        issuer.fails = True
        ended = await asyncio.gather(
            *(platform.itwins.get_primary_account() for _ in range(tasks)), return_exceptions=True
        )
        figure("failing", asked(server) if all(isinstance(each, TokenError) for each in ended) else -1)

    async with opened(now) as (issuer, server, platform):
        calls = [asyncio.create_task(platform.itwins.get_primary_account()) for _ in range(tasks)]
        await asyncio.sleep(0.03)
        for call in calls[:-1]:
            call.cancel()
        last, *_ = await asyncio.gather(calls[-1], *calls[:-1], return_exceptions=True)
        figure("all but one cancelled", asked(server) if not isinstance(last, BaseException) else -1)
    return figures
