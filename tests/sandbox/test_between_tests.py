"""A reset and `clear_faults` end all that one test leaves to the next."""

import asyncio
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
    """The sleep function of a sandbox: a test ends each sleep, by its seconds."""

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


async def iterate_loop(count: int = 20) -> None:
    """Run the event loop for some iterations."""
    for _ in range(count):
        await asyncio.sleep(0)


@pytest.mark.parametrize("end", [Sandbox.reset, Sandbox.clear_faults, repr])
async def test_a_later_refuse_has_its_own_timer(end: Callable[[Sandbox], object]) -> None:
    """The timer of an earlier `refuse`, ended or not, does not end a later one."""
    sleeps = Sleeps()
    async with serving(sleep=sleeps.sleep) as (sandbox, _):
        sandbox.fault("refuse", seconds=0.5)
        await until(lambda: 0.5 in sleeps.waiting)
        end(sandbox)
        sandbox.fault("refuse", seconds=2)
        await until(lambda: 2 in sleeps.waiting)
        for seconds, refused in ((0.5, True), (2, False)):
            sleeps.end(seconds)
            await iterate_loop()
            assert await is_refused(sandbox) is refused


async def test_refuse_and_reset_in_one_iteration_of_the_loop() -> None:
    """Refuse, reset and refuse in one iteration of the event loop refuse open connections too, until a reset."""
    async with serving() as (sandbox, http):
        await http.get("/itwins/")
        for _ in range(3):
            sandbox.fault("refuse", seconds=3600)
            sandbox.reset()
            sandbox.fault("refuse", seconds=3600)
        with pytest.raises(httpx.ConnectError):
            await http.get("/itwins/")
        sandbox.reset()
        assert not await is_refused(sandbox)


@asynccontextmanager
async def sent(
    http: httpx.AsyncClient, method: str, url: str, body: object = None
) -> AsyncIterator[asyncio.Task[None]]:
    """Send a request whose connection is closed before its response."""

    async def send() -> None:
        with pytest.raises(httpx.TransportError):
            await http.request(method, url, json=body)

    task = asyncio.create_task(send())
    yield task
    await asyncio.wait_for(task, LONGEST)


@pytest.mark.parametrize(("name", "seconds"), [("stall", None), ("stall", 3600), ("trickle", 3600)])
@pytest.mark.parametrize(("end", "statuses"), [(Sandbox.reset, []), (Sandbox.clear_faults, [None])])
async def test_a_request_that_a_fault_holds_is_closed(
    sandbox: Sandbox, name: str, seconds: float | None, end: Callable[[Sandbox], None], statuses: list[None]
) -> None:
    """A closed request is no longer in flight; its record has no status, and a reset removes the record."""
    async with client_of(sandbox) as http, client_of(sandbox) as other:
        sandbox.fault(name, seconds=seconds)  # type: ignore[arg-type] # names of faults
        async with sent(other, "GET", "/itwins/"):
            await until(lambda: sandbox.faults == ())
            end(sandbox)
        await iterate_loop()
        assert [record.status for record in sandbox.requests] == statuses
        assert (await http.get("/itwins/")).status_code == 200
        assert (sandbox.requests[-1].status, sandbox.requests[-1].in_flight) == (200, 1)


async def test_a_request_that_began_before_a_reset_has_no_effect() -> None:
    """A POST that waits in the latency during a reset stores nothing and has no record."""
    sleeps = Sleeps()
    async with serving(latency=0, sleep=sleeps.sleep) as (sandbox, http), client_of(sandbox) as other:
        sandbox.set_latency(5)
        async with sent(other, *requests_of(sandbox)["create_detector"], DETECTOR):
            await until(lambda: 5 in sleeps.waiting)
            sandbox.reset()
            sleeps.end(5)
        await iterate_loop()
        overview = (await http.get("/sandbox")).json()
    assert (overview["counts"]["detectors"], sandbox.requests) == (0, [])


async def test_clearing_faults_keeps_a_request_in_the_latency() -> None:
    """`clear_faults` closes requests that a fault holds, and no request that waits in the latency."""
    sleeps = Sleeps()
    async with serving(latency=5, sleep=sleeps.sleep) as (sandbox, http):
        waiting = asyncio.create_task(http.get("/itwins/"))
        await until(lambda: 5 in sleeps.waiting)
        sandbox.clear_faults()
        sleeps.end(5)
        assert (await asyncio.wait_for(waiting, LONGEST)).status_code == 200
