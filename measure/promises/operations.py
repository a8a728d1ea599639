"""Two operations behind one gate, of which one hangs or is limited: what the other one notices, in virtual time."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from statistics import median

import httpx
from itwin_platform import BackoffPolicy, BackoffTransport, DeadlineExceededError, Gate, PlatformError
from itwin_platform_transport import CallInfo, Request

from tests.support.event_loops import in_virtual_time

from .figure import Figure, at_most, exactly, for_comparison

LATENCY = 0.02
#: How long each case lasts, and how often each operation is called in a second.
SECONDS, A_RATE, B_RATE = 120.0, 2.0, 5.0
#: How long a used-up quota lasts, and the seconds between two calls.
QUOTA_LASTS, QUOTA_ASKED = 48 * 3600.0, 300.0
#: The header in which a 429 names the operation that it met.
NAMED = "itwinplatform-ratelimited-operation"
Step = Callable[[str, float], tuple[httpx.Response, float]]


class TwoOperations(httpx.AsyncBaseTransport):
    """A service without a network that responds as a step says, by path and time, after as long as that says."""

    cancels_cleanly = True

    def __init__(self, step: Step) -> None:
        self._step = step
        self.requests: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Respond after the time of the step."""
        operation = request.url.path[1]
        self.requests.append(operation)
        response, seconds = self._step(operation, asyncio.get_running_loop().time())
        await asyncio.sleep(min(seconds, 30.0))
        if seconds > 30.0:
            raise httpx.ReadTimeout("no response in time")
        return response


async def _called(transport: BackoffTransport, operation: str, number: int) -> tuple[str, bool, float]:
    loop = asyncio.get_running_loop()
    began, route = loop.time(), f"/{operation}/{{id}}"
    request = Request("GET", httpx.URL(f"https://service.example/{operation}/{number}"), (), b"", {})
    try:
        result = await transport.send(request, CallInfo(method="GET", route=route, policy=BackoffPolicy()))
    except PlatformError:
        return operation, False, loop.time() - began
    return operation, result.response is not None and result.response.status_code == 200, loop.time() - began


async def _beside(step: Step) -> tuple[int, list[float]]:
    """Call both operations regularly; return the lost calls of the second one, and how long the others take."""
    async with BackoffTransport(TwoOperations(step), gate=Gate(20)) as transport:
        calls: list[asyncio.Task[tuple[str, bool, float]]] = []

        async def call_regularly(operation: str, rate: float) -> None:
            for number in range(int(SECONDS * rate)):
                calls.append(asyncio.create_task(_called(transport, operation, number)))
                await asyncio.sleep(1 / rate)

        await asyncio.gather(call_regularly("a", A_RATE), call_regularly("b", B_RATE))
        found = await asyncio.gather(*calls)
    times = sorted(seconds for operation, succeeds, seconds in found if operation == "b" and succeeds)
    return sum(operation == "b" and not succeeds for operation, succeeds, _ in found), times


def _hangs(operation: str, _: float) -> tuple[httpx.Response, float]:
    return httpx.Response(200, content=b"{}"), 1_000.0 if operation == "a" else LATENCY


def _limited(retry_after: int, **headers: str) -> Step:
    def step(operation: str, _: float) -> tuple[httpx.Response, float]:
        if operation == "a":
            return httpx.Response(429, headers={"retry-after": str(retry_after), **headers}), LATENCY
        return httpx.Response(200, content=b"{}"), LATENCY

    return step


def _own_limit(banned_for: float) -> Step:
    """Allow operation a ten requests a second; a ban of some seconds begins with each one more, and each in a ban."""
    times: list[float] = []
    banned_until = 0.0

    def step(operation: str, now: float) -> tuple[httpx.Response, float]:
        nonlocal banned_until, times
        if operation == "b":
            return httpx.Response(200, content=b"{}"), LATENCY
        times = [at for at in times if at > now - 1.0]
        if now >= banned_until and len(times) < 10:
            times.append(now)
            return httpx.Response(200, content=b"{}"), LATENCY
        banned_until = now + banned_for
        return httpx.Response(429, headers={"retry-after": "1", NAMED: "a"}), LATENCY

    return step


async def _herd(step: Step) -> tuple[int, float]:
    """Make 200 calls of each operation at once; return those that the limited one loses, and its requests per call."""
    service, random_number = TwoOperations(step), random.Random(1).random
    gate = Gate(20, random_number=random_number)
    async with BackoffTransport(service, gate=gate, random_number=random_number) as transport:
        await _called(transport, "b", 0)
        found = await asyncio.gather(*(_called(transport, operation, n) for n in range(200) for operation in "ab"))
    done = [succeeds for operation, succeeds, _ in found if operation == "a"]
    return done.count(False), service.requests.count("a") / len(done)


def operations() -> list[Figure]:
    """Measure what an operation notices of another one that hangs for 30 s, or is rate limited without an end."""
    lost, times = in_virtual_time(_beside(_hangs))
    figures = [
        exactly("one operation hangs: lost calls of another one", lost, 0),
        for_comparison("one operation hangs: the middle call of another one", median(times), unit=" s"),
        at_most("one operation hangs: 99 % of the calls of another one", times[int(0.99 * len(times))], 2.0, unit=" s"),
    ]
    for name, headers, allowed in (("named", {NAMED: "a"}, (1.0, 1.0, 1.0)), ("not named", {}, (3.0, None, None))):
        for seconds, longest in zip((1, 30, 300), allowed, strict=True):
            lost, times = in_virtual_time(_beside(_limited(seconds, **headers)))
            case, middle = f"one operation is limited, {name}, Retry-After: {seconds}", median(times) if times else 0.0
            about = f"{case}: the middle call of another one"
            if longest is None:
                figures.append(for_comparison(f"{case}: lost calls of another one", lost))
                figures.append(for_comparison(about, middle, unit=" s"))
            else:
                figures.append(exactly(f"{case}: lost calls of another one", lost, 0))
                figures.append(at_most(about, middle, longest, unit=" s"))
    for name, banned_for in (("10 a second", 0.0), ("10 a second and a ban of 5 s", 5.0)):
        lost, per_call = in_virtual_time(_herd(_own_limit(banned_for)))
        figures += [
            exactly(f"one operation has a limit of {name}: lost of its 200 calls", lost, 0),
            at_most(f"one operation has a limit of {name}: requests per call", per_call, 1.2),
        ]
    for seconds in (1, 60):
        unexpected, requests = in_virtual_time(_used_up_quota(seconds))
        case = f"48 hours of 429s, Retry-After: {seconds}"
        figures += [
            exactly(f"{case}: calls that end in anything else, or fail afterwards", unexpected, 0),
            for_comparison(f"{case}: requests of 576 calls", requests),
        ]
    return figures


async def _used_up_quota(retry_after: int) -> tuple[int, int]:
    """Call every five minutes; return the calls that end in no 429, or in no success after the end, and requests.

    A call whose deadline passes while a request is in flight counts as one that ends in a 429.
    """
    now = asyncio.get_running_loop().time

    def step(_: str, at: float) -> tuple[httpx.Response, float]:
        if at < QUOTA_LASTS:
            return httpx.Response(429, headers={"retry-after": str(retry_after)}), LATENCY
        return httpx.Response(200, content=b"{}"), LATENCY

    service, statuses = TwoOperations(step), Counter[int]()
    async with httpx.AsyncClient(transport=BackoffTransport(service, gate=Gate(20))) as client:
        while now() < QUOTA_LASTS - QUOTA_ASKED:
            try:
                statuses[(await client.get("https://service.example/a/1")).status_code] += 1
            except DeadlineExceededError:
                statuses[429] += 1
            await asyncio.sleep(QUOTA_ASKED)
        await asyncio.sleep(2 * QUOTA_ASKED)
        after = (await client.get("https://service.example/a/1")).status_code
    return statuses.total() - statuses[429] + (after != 200), len(service.requests)
