"""What Redis knows of the permits of a RedisGate: leases, lost messages, and requests whose responses take long."""

import asyncio

import pytest
from itwin_platform._http.gates.shared import LEASE, Reply, Report, Request
from itwin_platform._http.gates.window import Permit

from tests.support.real_time import until
from tests.support.redis_gates import ClockedEngine, clocked_gate, enter, needs_redis, run, set_clock
from tests.support.redis_server import RedisServer

pytestmark = needs_redis


class Processes:
    """Processes at one engine whose clock the test moves; `two` listens."""

    def __init__(self, server: RedisServer) -> None:
        self.engine = ClockedEngine(server.url, name="test", max_in_flight=1)
        self.now = 1_700_000_000.0
        self.received: asyncio.Queue[Permit] = asyncio.Queue()

    async def exchange(
        self, process: str, *reports: Report, wants: int = 0, listens: bool = False, holds: bool = False
    ) -> Reply:
        """Exchange at the time of the test."""
        request = Request(process=process, wants=wants, listens=listens, holds=holds, reports=reports)
        return await self.engine.exchange_at(self.now, request)

    async def listen(self) -> asyncio.Task[None]:
        """Subscribe as `two`."""
        ready = asyncio.Event()
        listener = asyncio.create_task(self.engine.listen("two", ready=ready.set, grant=self.received.put_nowait))
        await ready.wait()
        return listener


def ended(permit: Permit) -> Report:
    """Return the end of a permit."""
    return Report(kind="abandoned", permit=permit)


def test_a_waiting_process_needs_no_lease(empty_server: RedisServer) -> None:
    """A process that waits in silence for longer than a lease gets the next permit, and keeps it for a whole lease."""

    async def work() -> None:
        processes = Processes(empty_server)
        listener = await processes.listen()
        (permit,) = (await processes.exchange("one", wants=1)).permits
        await processes.exchange("two", wants=1, listens=True)
        for _ in range(10):
            processes.now += LEASE / 2
            assert (await processes.exchange("one", holds=True)).known
        await processes.exchange("one", ended(permit))
        await processes.received.get()
        processes.now += LEASE / 2
        assert (await processes.exchange("two", listens=True, holds=True)).known
        assert (await processes.exchange("one", wants=1)).permits == []
        listener.cancel()
        await asyncio.wait([listener])
        await processes.engine.aclose()

    run(work)


def test_a_permit_whose_message_was_lost_returns(empty_server: RedisServer) -> None:
    """A process that ends its subscription while a permit is on its way returns it with its next exchange."""

    async def work() -> None:
        processes = Processes(empty_server)
        listener = await processes.listen()
        (permit,) = (await processes.exchange("one", wants=1)).permits
        assert (await processes.exchange("two", wants=1, listens=True)).permits == []
        await processes.exchange("one", ended(permit))
        await processes.received.get()  # and the gate does not see it
        assert (await processes.exchange("three", wants=1)).permits == []
        await processes.exchange("two")
        assert len((await processes.exchange("three", wants=1)).permits) == 1
        listener.cancel()
        await asyncio.wait([listener])
        await processes.engine.aclose()

    run(work)


def test_a_process_forgets_permits_whose_lease_expired(empty_server: RedisServer) -> None:
    """A process that was silent for too long does not report the ends of permits that others hold now."""

    async def work() -> None:
        async with (
            clocked_gate(empty_server, max_in_flight=2) as one,
            clocked_gate(empty_server, max_in_flight=2) as two,
        ):
            set_clock(empty_server, 0)
            late = [await enter(one) for _ in range(2)]
            set_clock(empty_server, 2 * LEASE)
            held = [await enter(two) for _ in range(2)]
            one.abandoned(late[0])
            await until(lambda: not one._reports.holds)
            one.abandoned(late[1])
            waiting = asyncio.create_task(enter(one))
            await until(lambda: one._listens and one._asked == 1)
            assert not waiting.done()
            two.abandoned(held[0])
            one.abandoned(await waiting)
            two.abandoned(held[1])

    run(work)


def test_an_expired_lease_returns_its_permits_once(empty_server: RedisServer) -> None:
    """A process that asks after its lease has expired gets as many permits as are free, and no more."""

    async def work() -> None:
        processes = Processes(empty_server)
        await processes.exchange("one", wants=1)
        processes.now += 2 * LEASE
        reply = await processes.exchange("one", wants=3, holds=True)
        assert not reply.known
        assert len(reply.permits) == 1
        await processes.engine.aclose()

    run(work)


@pytest.mark.parametrize(
    ("cooldown", "life"), [(7200.0, 7200), (1e300, 1e8)], ids=["two hours", "longer than Redis counts"]
)
def test_the_state_outlives_a_long_cooldown(empty_server: RedisServer, cooldown: float, life: float) -> None:
    """What Redis knows of a cooldown, and of who holds permits, expires neither before it ends nor in years."""

    async def work() -> None:
        processes = Processes(empty_server)
        (permit,) = (await processes.exchange("one", wants=1)).permits
        await processes.exchange("one", Report(kind="rate_limited", permit=permit, value=cooldown))
        with empty_server.client as client:
            assert min(client.ttl(key) for key in client.keys("itwin-gate:*")) > life
        await processes.engine.aclose()

    run(work)
