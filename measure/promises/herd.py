"""Many tasks at a service that takes ten requests a second; what arrives while a cooldown is known."""

import asyncio
import math
from dataclasses import dataclass

from itwin_platform import BackoffEvent, BackoffPolicy, CooldownStarted, PlatformClient, fast_transport

from tests.support.exchange import PreparedResponse, ReceivedRequest
from tests.support.raw_server import RawServer

from .figure import Figure, at_most, exactly
from .services import Service

ACCOUNT = b'{"iTwin": {"id": "a-1", "class": "Account"}}'
#: What a request that was under way may take until the server notices it. A task that does not know of a cooldown
#: sends all through it, so the count does not depend on this number.
UNDER_WAY = 0.1


class FixedWindow:
    """Takes `requests` in each window of `per` seconds, which begins with its first request."""

    def __init__(self, requests: int, per: float) -> None:
        self._requests, self._per = requests, per
        self._start, self._count = -math.inf, 0

    def takes(self, now: float) -> bool:
        """Count a request and tell whether it may go on."""
        if now - self._start >= self._per:
            self._start, self._count = now, 0
        self._count += 1
        return self._count <= self._requests

    def ideal(self, calls: int) -> float:
        """The shortest time in which so many can be taken."""
        return (math.ceil(calls / self._requests) - 1) * self._per


class TokenBucket:
    """Holds `requests`, and is filled again evenly in `per` seconds."""

    def __init__(self, requests: int, per: float) -> None:
        self._requests, self._per = requests, per
        self._level, self._seen = float(requests), -math.inf

    def takes(self, now: float) -> bool:
        """Count a request and tell whether it may go on."""
        rate = self._requests / self._per
        self._level = min(self._requests, self._level + (now - self._seen) * rate)
        self._seen = now
        if self._level < 1:
            return False
        self._level -= 1
        return True

    def ideal(self, calls: int) -> float:
        """The shortest time in which so many can be taken."""
        return max(0.0, (calls - self._requests) * self._per / self._requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What the server saw of a herd, and how long it took."""

    calls: int
    answered: int
    requests: int
    seconds: float
    ideal: float
    in_cooldowns: int


async def run_herd(
    limit: FixedWindow | TokenBucket, *, calls: int, service: Service = RawServer, fast: bool = False
) -> Run:
    """Send so many calls at once, and count at the server."""
    loop = asyncio.get_running_loop()
    cooldowns: list[tuple[float, float]] = []

    def answer(received: ReceivedRequest) -> PreparedResponse:
        if limit.takes(received.at):
            return PreparedResponse(body=ACCOUNT)
        return PreparedResponse(status=429, headers={"retry-after": "1"})

    def note(event: BackoffEvent) -> None:
        if isinstance(event, CooldownStarted):
            cooldowns.append((loop.time(), loop.time() + event.seconds))

    async with service(answer) as server:
        policy = BackoffPolicy(deadline=None)
        transport = fast_transport() if fast else server.transport
        async with PlatformClient(
            server.address, vendor="acme", token="t-1", backoff=policy, on_event=note, transport=transport
        ) as platform:
            began = loop.time()
            answers = await asyncio.gather(*(platform.itwins.get_primary_account() for _ in range(calls)))
            seconds = loop.time() - began
        late = [
            received
            for received in server.requests
            if any(known + UNDER_WAY < received.at < end - 0.001 for known, end in cooldowns)
        ]
        return Run(
            calls=calls,
            answered=sum(answer.id == "a-1" for answer in answers),
            requests=len(server.requests),
            seconds=seconds,
            ideal=limit.ideal(calls),
            in_cooldowns=len(late),
        )


def herd_figures(run: Run, name: str) -> list[Figure]:
    """All succeed, few requests more than calls, little time more than the limit allows, silence in cooldowns."""
    return [
        exactly(f"{name}: calls answered", run.answered, run.calls),
        at_most(f"{name}: requests per call", run.requests / run.calls, 1.2),
        at_most(f"{name}: time against the ideal", run.seconds / run.ideal, 1.1, unit=" x"),
        exactly(f"{name}: requests begun while a cooldown was known", run.in_cooldowns, 0),
    ]


async def herd(*, calls: int = 100, service: Service = RawServer) -> list[Figure]:
    """A hundred tasks at ten a second, Retry-After 1, by both ways of counting that services have."""
    figures = []
    for fast in (False, True) if service is RawServer else (False,):
        for name, limit in (("fixed window", FixedWindow(10, 1.0)), ("token bucket", TokenBucket(10, 1.0))):
            run = await run_herd(limit, calls=calls, service=service, fast=fast)
            figures += herd_figures(run, f"herd of {calls}, 10/s, {name}, {'aiohttp' if fast else 'httpx'}")
    return figures
