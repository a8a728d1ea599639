"""Secrets in tokens, authentication, bodies and queries, and a search for them in everything that is written."""

import asyncio
import io
import logging
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
from itwin_platform import BackoffEvent, BackoffPolicy, PlatformClient, PlatformError

from tests.support.frames import shown
from tests.support.services import PreparedResponse, RawServer, ReceivedRequest

from .calls import CALLS, SEARCH_TERM, SECRET
from .connections import TRANSPORTS
from .figure import Figure, exactly

#: The responses and faults of the service.
RESPONSES = (
    PreparedResponse(),
    PreparedResponse(body=b"["),
    PreparedResponse(status=400),
    PreparedResponse(status=401),
    PreparedResponse(status=422, body=b'{"error": {"code": "InvalidValue", "message": "No."}}'),
    PreparedResponse(status=429, headers={"retry-after": "0.01"}),
    PreparedResponse(status=503),
    PreparedResponse(status=307, headers={"location": "/elsewhere"}),
    PreparedResponse(fault="reset"),
    PreparedResponse(fault="cut"),
    PreparedResponse(delay=1.0),
)


@contextmanager
def everything_logged() -> Iterator[io.StringIO]:
    """Collect what every logger writes at any level, including those of httpx."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield written
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


async def secrets(*, rounds: int = 50, seed: int = 1) -> list[Figure]:
    """Call all eight operations with random responses, `rounds` times through each transport."""
    return [await secrets_through(name, make, rounds=rounds, seed=seed) for name, make in TRANSPORTS.items()]


async def secrets_through(
    transport: str, make: Callable[[], httpx.AsyncBaseTransport | None], *, rounds: int, seed: int
) -> Figure:
    """Send secrets, and count them in everything that is written and in each frame of each error."""
    source = random.Random(seed)
    events: list[BackoffEvent] = []
    written: list[str] = []
    frames: list[str] = []
    sent = 0

    def respond(received: ReceivedRequest) -> PreparedResponse:
        nonlocal sent
        sent += "planted" in f"{received.headers}{received.body!r}{received.target}"
        return source.choice(RESPONSES)

    async with RawServer(respond) as server:
        with everything_logged() as log:

            async def run_round() -> None:
                policy = BackoffPolicy(deadline=0.75, base_delay=0.005)
                async with PlatformClient(
                    server.address,
                    vendor="acme",
                    token=lambda: f"token-{SECRET}",
                    transport=make(),
                    backoff=policy,
                    on_event=events.append,
                ) as platform:
                    for call in CALLS.values():
                        try:
                            await call(platform)
                        except PlatformError as error:
                            written.extend([str(error), repr(error)])
                            frames.append(shown(error))
                    written.append(repr(platform))

            for _ in range(0, rounds, 10):
                await asyncio.gather(*(run_round() for _ in range(10)))
        written.extend([log.getvalue(), repr(events)])
    # A frame may hold the address of its request. If no secret was sent, finding none would prove nothing.
    found = sum(text.count(SECRET) for text in (*written, *frames)) + sum(text.count(SEARCH_TERM) for text in written)
    name = f"{transport}: planted secrets, sent {sent:,} times, {len(events):,} events"
    return exactly(f"{name}: found in logs, events, reprs, errors, frames", found if sent else -1, 0)
