"""Cancel a call over real connections at each event loop iteration, and count the resources that it leaks."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import httpx2
from itwin_platform import AccessToken, BackoffPolicy, Gate, PlatformClient
from itwin_platform_transport.connections.engine import EngineTransport

from tests.support.event_loops import CountingLoop, cancelled_at_turn
from tests.support.services import ACCOUNT, PreparedResponse, RawServer, ReceivedRequest, plain_transport

from .figure import Figure, exactly

#: Responses to the attempts of one call, which cause a cooldown, a backoff, a reconnection and a token refresh.
SCRIPT = (
    PreparedResponse(status=429, headers={"retry-after": "0.002"}),
    PreparedResponse(status=503),
    PreparedResponse(fault="cut"),
    PreparedResponse(status=401),
    PreparedResponse(body=ACCOUNT, delay=0.001),
)

#: Consecutive calls that must end before their cancellation: over real connections, the number of iterations varies.
MISSES = 3

#: The default transport, and the transports of httpx and httpx2.
TRANSPORTS: dict[str, Callable[[], httpx.AsyncBaseTransport | httpx2.AsyncBaseTransport]] = {
    "the default transport": EngineTransport,
    "httpx": plain_transport,
    "httpx2": lambda: httpx2.AsyncHTTPTransport(verify=False),
}


def busy(transport: Any) -> int:
    """Count the busy connections in the pool of a transport."""
    pool = transport._pool
    if isinstance(transport, EngineTransport):
        return len(pool._open) - len(pool._idle)
    return sum(not connection.is_idle() for connection in pool.connections)


async def left_after(
    turn: int, make_transport: Callable[[], httpx.AsyncBaseTransport | httpx2.AsyncBaseTransport]
) -> tuple[bool, int, int, int]:
    """Cancel a call at an iteration; return whether it was in flight, and the leaked tasks, connections and permits."""
    script: Iterator[PreparedResponse] = iter(SCRIPT)
    gate, refreshes, before = Gate(1), 0, asyncio.all_tasks()

    async def token() -> AccessToken:
        nonlocal refreshes
        refreshes += 1
        await asyncio.sleep(0.001)
        return AccessToken(f"t-{refreshes}", datetime.now(UTC) + timedelta(hours=1))

    def respond(received: ReceivedRequest) -> PreparedResponse:
        return next(script, PreparedResponse(body=ACCOUNT))

    transport = make_transport()
    policy = BackoffPolicy(base_delay=0.001)
    async with RawServer(respond) as server:
        async with PlatformClient(
            server.address, vendor="acme", token=token, transport=transport, gate=gate, backoff=policy
        ) as platform:
            hit = await cancelled_at_turn(platform.itwins.get_primary_account(), turn=turn)
            permits = gate.in_flight
            held = busy(transport)
            # The next call on the same client must succeed.
            await platform.itwins.get_primary_account()
        with suppress(TimeoutError):  # open connections are counted below
            async with asyncio.timeout(1.0):
                await server.quiet()
    return hit, len(asyncio.all_tasks() - before), held + server.open_connections, permits


def cancellation() -> list[Figure]:
    """Cancel a call at every event loop iteration, through each transport."""
    return [figure for name in TRANSPORTS for figure in _cancelled(name)]


def _cancelled(transport: str) -> list[Figure]:
    points = tasks = connections = permits = 0
    turn = missed = 0
    while missed < MISSES:
        turn += 1
        with asyncio.Runner(loop_factory=CountingLoop) as runner:
            hit, *left = runner.run(left_after(turn, TRANSPORTS[transport]))
        points, missed = points + hit, 0 if hit else missed + 1
        tasks, connections, permits = tasks + left[0], connections + left[1], permits + left[2]
    name = f"a call through {transport} cancelled at each of {points} event loop iterations"
    return [
        exactly(f"{name}: tasks left", tasks, 0),
        exactly(f"{name}: connections left", connections, 0),
        exactly(f"{name}: permits at the gate left", permits, 0),
    ]
