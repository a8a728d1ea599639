"""How much later than its deadline a call ends, whatever the service does meanwhile."""

import asyncio
import random

from itwin_platform import BackoffPolicy, PlatformClient, PlatformError

from .counting_server import Answer, CountingServer, Received
from .figure import Figure, at_most, exactly
from .in_memory_service import InMemoryService

#: What the service does with a request: it hangs, is slow, refuses, fails, resets or cuts off.
TROUBLE = (
    Answer(fault="hang"),
    Answer(delay=0.2),
    Answer(status=429, headers={"retry-after": "0.1"}),
    Answer(status=429, headers={"retry-after": "60"}),
    Answer(status=503),
    Answer(fault="reset"),
    Answer(fault="cut"),
)
AT_ONCE = 10


async def deadlines(
    *, calls: int = 1000, seed: int = 1, service: type[CountingServer | InMemoryService] = CountingServer
) -> list[Figure]:
    """So many calls, ten at once, each with a deadline between 50 and 300 ms and a trouble of its own."""
    chance = random.Random(seed)  # noqa: S311  # a schedule of troubles
    overshoots: list[float] = []
    strangers = 0

    def answer(received: Received) -> Answer:
        return chance.choice(TROUBLE)

    clock = asyncio.get_running_loop().time
    async with service(answer) as server:

        async def call() -> None:
            nonlocal strangers
            deadline = chance.uniform(0.05, 0.3)
            policy = BackoffPolicy(deadline=deadline, base_delay=0.02)
            async with PlatformClient(
                server.address, vendor="acme", token="t-1", backoff=policy, transport=server.transport
            ) as platform:
                # The first call meets what the service does, the second one also what the gate has learned.
                for _ in range(2):
                    began = clock()
                    try:
                        await platform.webhooks.update("w-1", active=True)
                    except PlatformError:
                        overshoots.append(clock() - began - deadline)
                    except Exception:  # noqa: BLE001  # it is counted
                        strangers += 1

        while len(overshoots) < calls:
            await asyncio.gather(*(call() for _ in range(AT_ONCE)))
    worst = max(overshoots[:calls]) * 1000
    return [
        at_most(f"deadline: overshoot, worst of {calls:,}", max(0.0, worst), 50.0, unit=" ms"),
        exactly(f"deadline: errors of {calls:,} that are not ours", strangers, 0),
    ]
