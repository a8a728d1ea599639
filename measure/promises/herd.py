"""Many tasks at a service that accepts ten requests a second, and the requests during a known cooldown."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from itwin_platform import BackoffEvent, BackoffPolicy, CooldownStarted, PlatformClient
from itwin_platform_transport.connections.engine import EngineTransport

from tests.support.event_loops import in_virtual_time
from tests.support.services import ACCOUNT, PreparedResponse, RawServer, ReceivedRequest

from .figure import Figure, at_most, exactly
from .limits import FixedWindow, TokenBucket
from .services import Service, in_memory

#: Seconds until the server notices a request that was in flight when the cooldown began. A task that ignores a cooldown
#: sends requests all through it, so the count does not depend on this number.
IN_FLIGHT_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The requests that the server received from a herd, and how long it took."""

    calls: int
    succeeded: int
    requests: int
    seconds: float
    ideal: float
    in_cooldowns: int


async def run_herd(
    limit: FixedWindow | TokenBucket, *, calls: int, service: Service = RawServer, fast: bool = False
) -> Run:
    """Start `calls` calls at the same time, and count the requests at the server."""
    loop = asyncio.get_running_loop()
    cooldowns: list[tuple[float, float]] = []

    def respond(received: ReceivedRequest) -> PreparedResponse:
        if limit.accepts(received.at):
            return PreparedResponse(body=ACCOUNT)
        return PreparedResponse(status=429, headers={"retry-after": "1"})

    def note(event: BackoffEvent) -> None:
        if isinstance(event, CooldownStarted):
            cooldowns.append((loop.time(), loop.time() + event.seconds))

    async with service(respond) as server:
        policy = BackoffPolicy(deadline=None)
        transport = EngineTransport() if fast else server.transport
        async with PlatformClient(
            server.address, vendor="acme", token="t-1", backoff=policy, on_event=note, transport=transport
        ) as platform:
            began = loop.time()
            accounts = await asyncio.gather(*(platform.itwins.get_primary_account() for _ in range(calls)))
            seconds = loop.time() - began
        late = [
            received
            for received in server.requests
            if any(known + IN_FLIGHT_SECONDS < received.at < end - 0.001 for known, end in cooldowns)
        ]
        return Run(
            calls=calls,
            succeeded=sum(account.id == "a-1" for account in accounts),
            requests=len(server.requests),
            seconds=seconds,
            ideal=limit.ideal(calls),
            in_cooldowns=len(late),
        )


def herd_figures(runs: Sequence[Run], name: str) -> list[Figure]:
    """Return the figures: successes, requests per call, time against the ideal, requests during cooldowns."""
    return [
        exactly(f"{name}: calls succeeded", sum(run.succeeded for run in runs), sum(run.calls for run in runs)),
        at_most(f"{name}: requests per call", max(run.requests / run.calls for run in runs), 1.2),
        at_most(f"{name}: time against the ideal", max(run.seconds / run.ideal for run in runs), 1.1, unit=" x"),
        exactly(f"{name}: requests started while a cooldown was known", sum(run.in_cooldowns for run in runs), 0),
    ]


async def herd(*, calls: int = 100, runs: int = 1, service: Service = RawServer) -> list[Figure]:
    """Measure a hundred tasks at ten a second, Retry-After 1, with both ways of counting; the worst run counts."""
    figures = []
    for fast in (False, True) if service is RawServer else (False,):
        through = ("default" if fast else "httpx") if service is RawServer else "virtual time"
        for name, make in (("fixed window", FixedWindow), ("token bucket", TokenBucket)):
            herds = (run_herd(make(10, 1.0), calls=calls, service=service, fast=fast) for _ in range(runs))
            results = await asyncio.gather(*herds)
            figures += herd_figures(results, f"herd of {calls}, 10/s, {name}, {through}, worst of {runs}")
    return figures


def modelled_herd() -> list[Figure]:
    """Measure eight herds in virtual time, each with its own jitter."""
    return in_virtual_time(herd(runs=8, service=in_memory))
