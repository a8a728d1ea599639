"""How much later than its deadline a call ends, under all kinds of faults."""

import asyncio
import random
from collections.abc import Hashable

from itwin_platform import BackoffPolicy, Gate, PlatformClient, PlatformError
from itwin_platform_transport.gates.window import Permit

from tests.support.services import PreparedResponse, RawServer, ReceivedRequest

from .figure import Figure, at_most, exactly
from .services import Service

#: The responses and faults of the service.
RESPONSES = (
    PreparedResponse(fault="hang"),
    PreparedResponse(delay=0.2),
    PreparedResponse(status=429, headers={"retry-after": "0.1"}),
    PreparedResponse(status=429, headers={"retry-after": "60"}),
    PreparedResponse(status=503),
    PreparedResponse(fault="reset"),
    PreparedResponse(fault="cut"),
)
PARALLEL_CALLS = 10


class AdmissionGate(Gate):
    """A gate that records when it first admits a call, because the deadline starts there."""

    admitted_at: float | None = None

    async def enter(self, ticket: int, *, max_wait: float, until: float | None, operation: Hashable = None) -> Permit:
        """Admit an attempt, and record the time of the first one."""
        permit = await super().enter(ticket, max_wait=max_wait, until=until, operation=operation)
        if self.admitted_at is None:
            self.admitted_at = asyncio.get_running_loop().time()
        return permit


async def deadlines(*, calls: int = 1000, seed: int = 1, service: Service = RawServer) -> list[Figure]:
    """Make `calls` calls, ten at a time, each with a deadline between 50 and 300 ms and its own fault."""
    source = random.Random(seed)
    overshoots: list[float] = []
    unexpected = 0

    def respond(received: ReceivedRequest) -> PreparedResponse:
        return source.choice(RESPONSES)

    clock = asyncio.get_running_loop().time
    async with service(respond) as server:

        async def call() -> None:
            nonlocal unexpected
            deadline = source.uniform(0.05, 0.3)
            policy, gate = BackoffPolicy(deadline=deadline, base_delay=0.02), AdmissionGate()
            async with PlatformClient(
                server.address, vendor="acme", token="t-1", backoff=policy, gate=gate, transport=server.transport
            ) as platform:
                # The first call meets a fault, the second one also a cooldown of the gate.
                for _ in range(2):
                    gate.admitted_at, began = None, clock()
                    try:
                        await platform.webhooks.update("w-1", active=True)
                    except PlatformError:
                        now = clock()
                        admitted_at = gate.admitted_at or now
                        # No other call is in the queue, so only a cooldown can delay it, and by the deadline at most.
                        overshoots.append(max(now - admitted_at, admitted_at - began) - deadline)
                    except Exception:  # noqa: BLE001  # it is counted
                        unexpected += 1

        while len(overshoots) < calls:
            await asyncio.gather(*(call() for _ in range(PARALLEL_CALLS)))
    worst = max(overshoots[:calls]) * 1000
    return [
        at_most(f"deadline: overshoot, worst of {calls:,}", max(0.0, worst), 50.0, unit=" ms"),
        exactly(f"deadline: errors of {calls:,} that are not ours", unexpected, 0),
    ]
