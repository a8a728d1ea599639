"""Nothing of one test is in the next: what a reset and `clear_faults` end."""

import asyncio
import functools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

from tests.support.real_time import LONGEST, until
from tests.support.sandboxes import client_of, requests_of, serving

pytestmark = pytest.mark.itwin_sandbox(itwins=3, objects=3)
DETECTOR = {"name": "cracks", "type": "PhotoObjectDetector"}


class Sleeps:
    """Sleep of a sandbox whose end a test decides, with the seconds of each."""

    def __init__(self) -> None:
        self.waiting: dict[float, asyncio.Event] = {}

    async def sleep(self, seconds: float) -> None:
        """Wait until the test ends the sleep of these seconds."""
        await self.waiting.setdefault(seconds, asyncio.Event()).wait()

    def end(self, seconds: float) -> None:
        """End the sleep of these seconds."""
        self.waiting[seconds].set()


async def is_refused(sandbox: Sandbox) -> bool:
    """Whether a new connection is refused."""
    async with client_of(sandbox) as http:
        try:
            await http.get("/sandbox")
        except httpx.ConnectError:
            return True
    return False


async def turns(count: int = 20) -> None:
    """Let everything happen that waits for nothing but the loop."""
    for _ in range(count):
        await asyncio.sleep(0)


@pytest.mark.parametrize("end", [Sandbox.reset, Sandbox.clear_faults])
async def test_the_timer_of_refuse_ends_with_it(end: Callable[[Sandbox], None]) -> None:
    """The timer of an earlier `refuse` that was ended does not end a later one."""
    sleeps = Sleeps()
    async with serving(sleep=sleeps.sleep) as (sandbox, _):
        sandbox.fault("refuse", seconds=0.5)
        await until(lambda: 0.5 in sleeps.waiting)
        end(sandbox)
        sandbox.fault("refuse", seconds=2)
        await until(lambda: 2 in sleeps.waiting)
        sleeps.end(0.5)
        await turns()
        assert await is_refused(sandbox)
        sleeps.end(2)
        await turns()
        assert not await is_refused(sandbox)


async def test_a_later_refuse_replaces_the_earlier_one() -> None:
    """There is one timer: that of the latest `refuse`, whether it ends before or after the earlier one would have."""
    for seconds in ((9, 1), (1, 9)):
        sleeps = Sleeps()
        async with serving(sleep=sleeps.sleep) as (sandbox, _):
            for each in seconds:
                sandbox.fault("refuse", seconds=each)
                await until(functools.partial(sleeps.waiting.__contains__, each))
            sleeps.end(seconds[0])
            await turns()
            assert await is_refused(sandbox)
            sleeps.end(seconds[1])
            await turns()
            assert not await is_refused(sandbox)


async def test_refuse_and_reset_in_one_turn_of_the_loop() -> None:
    """Refuse, reset and refuse again without a turn between them refuse; the sandbox ends at once."""

    async def run() -> None:
        async with serving() as (sandbox, http):
            await http.get("/itwins/")
            for _ in range(3):
                sandbox.fault("refuse", seconds=3600)
                sandbox.reset()
                sandbox.fault("refuse", seconds=3600)
            assert await is_refused(sandbox)
            sandbox.reset()
            assert not await is_refused(sandbox)
            sandbox.fault("refuse", seconds=3600)
            sandbox.reset()

    await asyncio.wait_for(run(), LONGEST)


@asynccontextmanager
async def sent(
    http: httpx.AsyncClient, method: str, url: str, body: object = None
) -> AsyncIterator[asyncio.Task[None]]:
    """A request under way, whose connection ends before its response."""

    async def send() -> None:
        with pytest.raises(httpx.TransportError):
            await http.request(method, url, json=body)

    task = asyncio.create_task(send())
    yield task
    await asyncio.wait_for(task, LONGEST)


@pytest.mark.parametrize(("name", "seconds"), [("stall", None), ("stall", 3600), ("trickle", 3600)])
async def test_a_reset_ends_what_a_fault_holds(sandbox: Sandbox, name: str, seconds: float | None) -> None:
    """A request that a fault holds is closed, counts as in flight no longer, and has no record after the reset."""
    async with client_of(sandbox) as http, client_of(sandbox) as other:
        sandbox.fault(name, seconds=seconds)  # type: ignore[arg-type] # names of faults
        async with sent(other, "GET", "/itwins/"):
            await until(lambda: sandbox.faults == ())
            sandbox.reset()
        await turns()
        assert sandbox.requests == []
        assert (await http.get("/itwins/")).status_code == 200
        assert [(record.status, record.in_flight) for record in sandbox.requests] == [(200, 1)]


async def test_clearing_faults_ends_what_a_fault_holds(sandbox: Sandbox) -> None:
    """A stalled request is closed and recorded without a status; one that no fault holds goes on."""
    async with client_of(sandbox) as other:
        sandbox.fault("stall")
        async with sent(other, "GET", "/itwins/"):
            await until(lambda: sandbox.faults == ())
            sandbox.clear_faults()
        assert [record.status for record in sandbox.requests] == [None]


async def test_a_request_that_began_before_a_reset_has_no_effect() -> None:
    """A POST that waits in the latency during a reset stores nothing and has no record."""
    sleeps = Sleeps()
    async with serving(latency=0, sleep=sleeps.sleep) as (sandbox, http), client_of(sandbox) as other:
        sandbox.set_latency(5)
        async with sent(other, *requests_of(sandbox)["create_detector"], DETECTOR):
            await until(lambda: 5 in sleeps.waiting)
            sandbox.reset()
            sleeps.end(5)
        await turns()
        overview = (await http.get("/sandbox")).json()
    assert (overview["counts"]["detectors"], sandbox.requests) == (0, [])


async def test_clearing_faults_lets_latency_go_on() -> None:
    """`clear_faults` does not end a request that waits in the latency."""
    sleeps = Sleeps()
    async with serving(latency=5, sleep=sleeps.sleep) as (sandbox, http):
        waiting = asyncio.create_task(http.get("/itwins/"))
        await until(lambda: 5 in sleeps.waiting)
        sandbox.clear_faults()
        sleeps.end(5)
        assert (await asyncio.wait_for(waiting, LONGEST)).status_code == 200


async def test_a_client_that_leaves_during_latency_has_no_status() -> None:
    """Nobody got the response, so the record has none, although the request had its effect."""
    sleeps = Sleeps()
    async with serving(latency=5, sleep=sleeps.sleep) as (sandbox, _):
        async with client_of(sandbox) as other:
            waiting = asyncio.create_task(other.request(*requests_of(sandbox)["create_detector"], json=DETECTOR))
            await until(lambda: 5 in sleeps.waiting)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        await turns()
        sleeps.end(5)
        await until(lambda: len(sandbox.requests) == 1)
        assert sandbox.requests[0].status is None
        assert sandbox.stored("detector", "cracks")["name"] == "cracks"
