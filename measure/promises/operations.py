"""Measure an operation that shares its gate with another operation, which hangs or is rate limited, in virtual time."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from statistics import median

import httpx
from itwin_platform import BackoffTransport, Gate
from itwin_platform_transport import ServiceHeaders

from tests.support.event_loops import in_virtual_time
from tests.support.services import Outcome, PreparedResponse, ReceivedRequest

from .figure import Figure, at_most, exactly, for_comparison
from .limits import PunishingWindow
from .outage import LATENCY, Service, called

#: The duration of each case in seconds, and the calls of each operation in a second.
SECONDS, A_RATE, B_RATE = 120.0, 2.0, 5.0
#: The header in which a 429 names the rate-limited operation.
NAMED = "itwinplatform-ratelimited-operation"
HEADERS = ServiceHeaders(limit_operation=(NAMED,))


async def _beside(respond: Callable[[ReceivedRequest], Awaitable[Outcome]]) -> tuple[int, list[float]]:
    """Call both operations regularly; return the lost calls of the second one, and the seconds of its other calls."""
    loop = asyncio.get_running_loop()
    async with BackoffTransport(Service(respond), gate=Gate(20), headers=HEADERS) as transport:

        async def call_regularly(operation: str, rate: float) -> list[tuple[bool, float]]:
            calls = []
            for number in range(int(SECONDS * rate)):
                path, route = f"/{operation}/{number}", f"/{operation}/{{id}}"
                calls.append((loop.time(), asyncio.create_task(called(transport, path, route=route))))
                await asyncio.sleep(1 / rate)
            ends = [(began, *(await call)) for began, call in calls]
            return [(status == 200, at - began) for began, _, status, at in ends]

        _, found = await asyncio.gather(call_regularly("a", A_RATE), call_regularly("b", B_RATE))
    times = sorted(seconds for succeeds, seconds in found if succeeds)
    return len(found) - len(times), times


async def _hangs(received: ReceivedRequest) -> Outcome:
    is_first = received.target.startswith("/a")
    await asyncio.sleep(30.0 if is_first else LATENCY)
    return httpx.ReadTimeout("no response in time") if is_first else 200


def _limited(retry_after: int, **headers: str) -> Callable[[ReceivedRequest], Awaitable[Outcome]]:
    async def respond(received: ReceivedRequest) -> Outcome:
        await asyncio.sleep(LATENCY)
        limited = PreparedResponse(status=429, headers={"retry-after": str(retry_after), **headers})
        return limited if received.target.startswith("/a") else 200

    return respond


async def _herd(limit: PunishingWindow) -> tuple[int, float]:
    """Make 200 calls of each operation at once; return the lost calls and the requests per call of the limited one."""

    def respond(received: ReceivedRequest) -> Outcome:
        if received.target.startswith("/b") or limit.accepts(received.at):
            return 200
        return PreparedResponse(status=429, headers={"retry-after": "1", NAMED: "a"})

    service, random_number = Service(respond, latency=LATENCY), random.Random(1).random
    gate = Gate(20, random_number=random_number)
    async with BackoffTransport(service, gate=gate, random_number=random_number, headers=HEADERS) as transport:
        await called(transport, "/b/0", route="/b/{id}")
        paths = [f"/{operation}/{number}" for number in range(200) for operation in "ab"]
        found = await asyncio.gather(*(called(transport, path, route=f"{path[:2]}/{{id}}") for path in paths))
    done = [status == 200 for path, status, _ in found if path.startswith("/a")]
    return done.count(False), sum(each.target.startswith("/a") for each in service.requests) / len(done)


def operations() -> list[Figure]:
    """Measure the calls of an operation while another one hangs for 30 s, or gets a 429 each time."""
    lost, times = in_virtual_time(_beside(_hangs))
    figures = [
        exactly("one operation hangs: lost calls of another one", lost, 0),
        for_comparison("one operation hangs: the median call of another one", median(times), unit=" s"),
        at_most("one operation hangs: 99 % of the calls of another one", times[int(0.99 * len(times))], 2.0, unit=" s"),
    ]
    for name, headers, allowed in (("named", {NAMED: "a"}, (1.0, 1.0, 1.0)), ("not named", {}, (3.0, None, None))):
        for seconds, longest in zip((1, 30, 300), allowed, strict=True):
            lost, times = in_virtual_time(_beside(_limited(seconds, **headers)))
            case, middle = f"one operation is limited, {name}, Retry-After: {seconds}", median(times) if times else 0.0
            about = f"{case}: the median call of another one"
            if longest is None:
                figures.append(for_comparison(f"{case}: lost calls of another one", lost))
                figures.append(for_comparison(about, middle, unit=" s"))
            else:
                figures.append(exactly(f"{case}: lost calls of another one", lost, 0))
                figures.append(at_most(about, middle, longest, unit=" s"))
    for name, banned_for in (("10 a second", 0.0), ("10 a second and a ban of 5 s", 5.0)):
        lost, per_call = in_virtual_time(_herd(PunishingWindow(10, 1.0, ban=banned_for)))
        figures += [
            exactly(f"one operation has a limit of {name}: lost calls of its 200", lost, 0),
            at_most(f"one operation has a limit of {name}: requests per call", per_call, 1.2),
        ]
    return figures
