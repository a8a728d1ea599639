"""Secrets that are planted in tokens, authentication, bodies and queries, and looked for in all that is written."""

import asyncio
import io
import logging
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
from itwin_platform import BackoffEvent, BackoffPolicy, PlatformClient, PlatformError, fast_transport

from tests.support.captured_frames import shown
from tests.support.exchange import PreparedResponse, ReceivedRequest
from tests.support.raw_server import RawServer

from .calls import CALLS, SECRET, WORD
from .figure import Figure, exactly

#: What the service does with a request.
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


TRANSPORTS: dict[str, Callable[[], httpx.AsyncBaseTransport | None]] = {"httpx": lambda: None, "fast": fast_transport}


@contextmanager
def everything_logged() -> Iterator[io.StringIO]:
    """Take down what every logger writes, of whatever level, theirs included that send below us."""
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
    """Each operation with random responses, so many rounds of all eight through each transport."""
    return [await planted(name, make, rounds=rounds, seed=seed) for name, make in TRANSPORTS.items()]


async def planted(
    transport: str, make: Callable[[], httpx.AsyncBaseTransport | None], *, rounds: int, seed: int
) -> Figure:
    """Plant secrets and look for them in all that is written, and in each frame of each error."""
    chance = random.Random(seed)  # noqa: S311  # a schedule
    events: list[BackoffEvent] = []
    written: list[str] = []
    frames: list[str] = []
    sent = 0

    def respond(received: ReceivedRequest) -> PreparedResponse:
        nonlocal sent
        sent += "planted" in f"{received.headers}{received.body!r}{received.target}"
        return chance.choice(RESPONSES)

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
    # A frame may hold the address of its request. Where nothing was sent, finding nothing would prove nothing.
    found = sum(text.count(SECRET) for text in (*written, *frames)) + sum(text.count(WORD) for text in written)
    name = f"{transport}: planted secrets, sent {sent:,} times, {len(events):,} events"
    return exactly(f"{name}: found in logs, events, reprs, errors, frames", found if sent else -1, 0)
