"""Measure outages in virtual time: lost calls, requests, and the time until calls succeed again."""

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import mean, median

import httpx
from itwin_platform import BackoffPolicy, BackoffTransport, Gate, PlatformError
from itwin_platform_transport import CallInfo, Origin, Request
from itwin_platform_transport.gates import breaker

from tests.support.event_loops import in_virtual_time
from tests.support.services import InTaskOfCall, Outcome, PreparedResponse, ReceivedRequest, ScriptedTransport

from .figure import Figure, at_most, for_comparison

LATENCY = 0.02
#: Seconds in the header `Retry-After` of a service that is down.
NAMED = 1
HTML = {"content-type": "text/html"}
#: The outcome of a request during each kind of outage.
KINDS: dict[str, Callable[[], Outcome]] = {
    "reset": lambda: httpx.ReadError("reset"),
    "refused": lambda: httpx.ConnectError("refused"),
    "503": lambda: 503,
    "503 with Retry-After": lambda: PreparedResponse(status=503, headers={"retry-after": str(NAMED)}),
    "502 in HTML": lambda: PreparedResponse(status=502, headers=HTML, body=b"<html>Bad Gateway</html>"),
}


class Service(ScriptedTransport, InTaskOfCall):
    """A service without a network; like the default transport, it runs an attempt in the task of the call."""


def blip(kind: str, is_down: Callable[[str, float], bool]) -> Service:
    """Return a service that is down at the paths and times for which `is_down` is true."""

    async def respond(received: ReceivedRequest) -> Outcome:
        down = is_down(received.target, received.at)
        if not (down and kind == "refused"):
            await asyncio.sleep(LATENCY)
        # The outage also breaks connections that were opened before.
        return KINDS[kind]() if down else 200

    return Service(respond)


def until(seconds: float) -> Callable[[str, float], bool]:
    """Return an outage of all paths, of at least 30 ms."""
    return lambda _, now: now < max(seconds, 0.03)


async def called(
    transport: BackoffTransport, path: str, *, route: str = "/things/{id}"
) -> tuple[str, int | type[PlatformError], float]:
    """Make a call; return its path, its status or its error, and the time of its end."""
    info = CallInfo(method="GET", route=route, policy=BackoffPolicy())
    request = Request("GET", Origin(b"https", b"service.example", None), path.encode(), (), b"", {})
    try:
        result = await transport.send(request, info)
    except PlatformError as error:
        return path, type(error), asyncio.get_running_loop().time()
    assert result.response is not None
    return path, result.response.status_code, asyncio.get_running_loop().time()


async def at_once(service: Service, *, calls: int) -> list[tuple[str, int | type[PlatformError], float]]:
    """Make a call of each of several objects at once."""
    async with BackoffTransport(service, gate=Gate(20)) as transport:
        return await asyncio.gather(*(called(transport, f"/things/{n}") for n in range(calls)))


def lost(kind: str, *, seconds: float, calls: int) -> tuple[int, list[float]]:
    """Return the number of GETs that a blip loses, and the seconds from its end to the success of each other GET."""
    found = in_virtual_time(at_once(blip(kind, until(seconds)), calls=calls))
    # A client that obeys `Retry-After` retries no sooner.
    ends_at = max(seconds, NAMED) if kind == "503 with Retry-After" else seconds
    return sum(status != 200 for _, status, _ in found), [max(0.0, at - ends_at) for *_, at in found]


def blips() -> list[Figure]:
    """Count lost GETs for each kind and length of a blip, and measure the recovery after its end."""
    figures = []
    for kind in KINDS:
        for seconds in (0.0, 0.3, 1.0, 3.0, 10.0):
            found = [lost(kind, seconds=seconds, calls=calls) for calls in (20, 100, 1000)]
            name, counts = f"{kind} for {seconds:g} s", [count for count, _ in found]
            figures.append(
                Figure(
                    promise=f"{name}: lost of 20, 100, 1,000 GETs",
                    allowed="0, 0, 0",
                    measured=", ".join(map(str, counts)),
                    holds=not any(counts),
                )
            )
            for calls, (_, seconds_after) in zip((20, 1000), (found[0], found[-1]), strict=True):
                middle, last = median(seconds_after), max(seconds_after)
                figures.append(at_most(f"{name}: the median one of {calls:,} succeeds after", middle, 1.5, unit=" s"))
                figures.append(at_most(f"{name}: the last one of {calls:,} succeeds after", last, 2.5, unit=" s"))
    return figures


async def lone_caller(service: Service, *, seconds: float) -> int:
    """Make one call after the other; return the number of requests in the last ten minutes."""
    loop, paths = asyncio.get_running_loop(), 0
    async with BackoffTransport(service, gate=Gate(20)) as transport:
        while loop.time() < seconds:
            paths += 1
            await called(transport, f"/things/{paths}")
    return sum(request.at > seconds - 600 for request in service.requests)


def lasting() -> list[Figure]:
    """Count the requests of an outage that does not end."""
    figures = []
    for kind in KINDS:
        for calls in (10, 20, 100, 1000):
            service = blip(kind, lambda _, __: True)
            found = in_virtual_time(at_once(service, calls=calls))
            assert all(status != 200 for _, status, _ in found)
            name, ended = f"lasting outage, {kind}, {calls:,} GETs", max(at for *_, at in found)
            figures.append(at_most(f"{name}: requests", len(service.requests), 50))
            figures.append(at_most(f"{name}: the last call ends after", ended, 25.0, unit=" s"))
        alone = in_virtual_time(lone_caller(blip(kind, lambda _, __: True), seconds=3_600.0))
        # A call makes seven attempts in at least 18 s, or in 7 s if the service names a delay of 1 s.
        allowed = 600 if kind == "503 with Retry-After" else 250
        figures.append(at_most(f"lasting outage, {kind}, one caller: requests in ten minutes", alone, allowed))
    return figures


def half_broken(*, seeds: int = 20) -> list[Figure]:
    """Count lost calls while a share of the attempts fails, with and without the circuit breaker."""
    figures = []
    for share, allowed in ((0.5, 2.0), (0.6, 5.0), (0.7, 12.0), (0.8, 30.0), (None, 12.0)):
        name = "up for 1 s and down for 3 s" if share is None else f"{share:.0%} of the attempts get 503"
        found = [in_virtual_time(arriving(share, seed=seed)) for seed in range(seeds)]
        figures.append(at_most(f"{name}, 1,000 GETs at 40/s: lost", mean(found), allowed, unit=" %"))
        figures.append(for_comparison(f"{name}: lost with the worst of {seeds} seeds", max(found), unit=" %"))
        with without_breakers():
            alone = [in_virtual_time(arriving(share, seed=seed)) for seed in range(min(seeds, 5))]
        figures.append(for_comparison(f"{name}: lost without a circuit breaker", mean(alone), unit=" %"))
    return figures


@contextmanager
def without_breakers() -> Iterator[None]:
    """Disable the circuit breaker."""
    opens_after, breaker.FAILURES_TO_OPEN = breaker.FAILURES_TO_OPEN, 1_000_000_000
    try:
        yield
    finally:
        breaker.FAILURES_TO_OPEN = opens_after


async def arriving(share: float | None, *, seed: int) -> float:
    """Make 1,000 calls at 40 a second; return the percentage of lost calls."""
    source = random.Random(seed)

    def is_down(_: str, now: float) -> bool:
        return now % 4 >= 1 if share is None else source.random() < share

    gate, jitter = Gate(20, random_number=random.Random(seed).random), random.Random(seed + 1).random
    async with BackoffTransport(blip("503", is_down), gate=gate, random_number=jitter) as transport:
        calls = []
        for number in range(1000):
            calls.append(asyncio.create_task(called(transport, f"/things/{number}")))
            await asyncio.sleep(0.025)
        found = await asyncio.gather(*calls)
    return 100 * sum(status != 200 for _, status, _ in found) / len(found)


async def after_silence(*, silence: float) -> float:
    """Make 20 calls in an outage that ends after them; return the seconds of the next call, `silence` seconds later."""
    loop = asyncio.get_running_loop()
    ends_at = 3_600.0
    async with BackoffTransport(blip("503", lambda _, now: now < ends_at), gate=Gate(20)) as transport:
        await asyncio.gather(*(called(transport, f"/things/{number}") for number in range(20)))
        ends_at = loop.time()
        await asyncio.sleep(silence)
        began = loop.time()
        assert (await called(transport, "/things/next"))[1] == 200
        return loop.time() - began


def silent_outages() -> list[Figure]:
    """Measure the first call after an outage that ended while no call waited."""
    figures = []
    for silence in (0.0, 0.5, 2.0, 5.0, 40.0):
        seconds = in_virtual_time(after_silence(silence=silence))
        name = f"an outage that ended {silence:g} s ago, while no call waited: the next call takes"
        figures.append(at_most(name, seconds, 1.5, unit=" s"))
    return figures


def outage() -> list[Figure]:
    """Measure short and long outages in virtual time."""
    measurements = (half_broken, blips, lasting, silent_outages)
    return [figure for measure in measurements for figure in measure()]
