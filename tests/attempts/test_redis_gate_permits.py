"""What Redis knows of the permits of a RedisGate: leases, turns, its clock, and settings that differ."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Self

import pytest
from itwin_platform import RateLimit

from tests.support.faces import LEASE, Permit, Reply, Report
from tests.support.real_time import until
from tests.support.redis_gates import ClockedState, clocked_gate, enter, gates, needs_redis, set_clock
from tests.support.redis_server import RedisServer

pytestmark = needs_redis


class Processes:
    """Processes at one server whose clock the test moves."""

    def __init__(self, server: RedisServer, *, max_in_flight: int = 1, rates: tuple[RateLimit, ...] = ()) -> None:
        self.state = ClockedState(server.url, name="test", max_in_flight=max_in_flight, rates=rates)
        self.now = 1_700_000_000.0
        self.called: Counter[str] = Counter()
        self.listeners: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        for listener in self.listeners:
            listener.cancel()
        await asyncio.gather(*self.listeners, return_exceptions=True)
        await self.state.aclose()

    async def exchange(
        self, process: str, *reports: Report, wants: int = 0, listens: bool = False, kept: Sequence[Permit] = ()
    ) -> Reply:
        """Exchange at the time of the test."""
        numbers = tuple(permit.number for permit in kept)
        return await self.state.exchange_at(self.now, process, *reports, wants=wants, listens=listens, kept=numbers)

    async def listen(self, *processes: str) -> None:
        """Subscribe, and count how often each process is called."""
        for process in processes:
            ready = asyncio.Event()
            self.listeners.append(asyncio.create_task(self.count(process, ready)))
            await ready.wait()

    async def count(self, process: str, ready: asyncio.Event) -> None:
        """Count how often a process is called, from when it can be."""
        async for _ in self.state.called(process):
            if ready.is_set():
                self.called[process] += 1
            ready.set()


def ended(permit: Permit) -> Report:
    """Return the end of a permit."""
    return ("abandoned", permit.number, permit.at)


async def test_a_waiting_process_needs_no_lease(empty_server: RedisServer) -> None:
    """A process that waits in silence for longer than a lease is called, and keeps its permit for a whole lease."""
    async with Processes(empty_server) as processes:
        await processes.listen("two")
        (permit,) = (await processes.exchange("one", wants=1)).permits
        await processes.exchange("two", wants=1, listens=True)
        for _ in range(10):
            processes.now += LEASE / 2
            await processes.exchange("one", kept=[permit])
        await processes.exchange("one", ended(permit))
        await until(lambda: processes.called["two"] == 1)
        (taken,) = (await processes.exchange("two", wants=1, listens=True)).permits
        processes.now += LEASE / 2
        await processes.exchange("two", kept=[taken])
        processes.now += 0.9 * LEASE
        assert (await processes.exchange("one", wants=1)).permits == []


async def test_who_does_not_come_gives_its_turn_to_the_next(empty_server: RedisServer) -> None:
    """A process that was called and is silent holds a free permit back for a quarter of a second, and loses nothing."""
    async with Processes(empty_server) as processes:
        await processes.listen("two", "three")
        (permit,) = (await processes.exchange("one", wants=1)).permits
        for process in ("two", "three"):
            await processes.exchange(process, wants=1, listens=True)
        await processes.exchange("one", ended(permit))
        await until(lambda: processes.called == {"two": 1})  # and it does not come
        reply = await processes.exchange("three", wants=1, listens=True)
        assert not reply.permits
        assert reply.wait == pytest.approx(0.25)
        processes.now += 0.3
        (taken,) = (await processes.exchange("three", wants=1, listens=True)).permits
        await processes.exchange("three", ended(taken))
        await until(lambda: processes.called["two"] == 2)
        assert len((await processes.exchange("two", wants=1, listens=True)).permits) == 1


async def test_a_doubled_or_late_message_grants_nothing(empty_server: RedisServer) -> None:
    """A process that comes although it is not its turn gets no permit that another one was called for."""
    async with Processes(empty_server, max_in_flight=2) as processes:
        await processes.listen("two", "three")
        held = (await processes.exchange("one", wants=2)).permits
        for process in ("two", "three"):
            await processes.exchange(process, wants=2, listens=True)
        await processes.exchange("one", ended(held[0]), kept=held)
        await until(lambda: processes.called == {"two": 1})
        assert len((await processes.exchange("two", wants=2, listens=True)).permits) == 1
        assert (await processes.exchange("two", wants=1, listens=True)).permits == []
        await processes.exchange("one", ended(held[1]))
        await until(lambda: processes.called["three"] == 1)
        assert (await processes.exchange("two", wants=1, listens=True)).permits == []
        assert len((await processes.exchange("three", wants=2, listens=True)).permits) == 1


async def test_a_clock_that_goes_back_stops_nobody(empty_server: RedisServer) -> None:
    """After a failover to a server whose clock is 30 s behind, cooldowns, leases and rates go on as before."""
    async with Processes(empty_server, max_in_flight=9, rates=(RateLimit(2, 10.0),)) as processes:
        first, _ = (await processes.exchange("one", wants=2)).permits
        await processes.exchange("one", ("rate_limited", first.number, first.at, 5.0, 0.0))
        processes.now -= 30.0
        reply = await processes.exchange("two", wants=1)
        assert not reply.permits
        assert reply.cooldown == pytest.approx(5.0)
        processes.now += 5.0
        assert (await processes.exchange("two", wants=1)).wait == pytest.approx(5.4)
        processes.now += 5.4
        assert len((await processes.exchange("two", wants=1)).permits) == 1


async def test_processes_with_other_settings_keep_the_longest_rate(empty_server: RedisServer) -> None:
    """Each learns that settings differ, and what one without a rate sends counts against the rate of the other."""
    old, new = (
        Processes(empty_server, max_in_flight=9),
        Processes(empty_server, max_in_flight=9, rates=(RateLimit(3, 10.0),)),
    )
    async with old, new:
        assert not (await old.exchange("one", wants=1)).differs
        assert (await new.exchange("two", wants=1)).differs
        assert not (await new.exchange("two", wants=1)).differs
        assert (await old.exchange("one", wants=1)).differs
        assert (await new.exchange("two", wants=1)).permits == []


async def test_a_difference_of_settings_is_one_warning(
    empty_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    """During a rolling deployment each process says once that another one has other settings."""
    async with gates(empty_server.url, 1, max_in_flight=3) as (one,), gates(empty_server.url, 1) as (two,):
        for _ in range(3):
            for gate in (one, two):
                gate.responded(await enter(gate))
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        "gate 'test, app 7': another process gives other settings; max_in_flight and rate must be the same"
    ] * 2


async def test_an_exchange_touches_few_dead_processes(empty_server: RedisServer) -> None:
    """Of many processes that died with a permit, each exchange ends a hundred, and in the end all permits are free."""
    async with Processes(empty_server, max_in_flight=400) as processes:
        for process in range(400):
            await processes.exchange(f"dead-{process}", wants=1)
        processes.now += 2 * LEASE
        for left in (300, 200, 100, 0):
            await processes.exchange("one")
            with empty_server.client as client:
                assert client.zcard("itwin-gate:{test}:flight") == left
        assert len((await processes.exchange("one", wants=500)).permits) == 400


async def test_a_process_forgets_permits_whose_lease_expired(empty_server: RedisServer) -> None:
    """A process that was silent for too long does not report the ends of permits that others hold now."""
    async with (
        clocked_gate(empty_server, max_in_flight=2) as one,
        clocked_gate(empty_server, max_in_flight=2) as two,
    ):
        set_clock(empty_server, 0)
        late = [await enter(one) for _ in range(2)]
        set_clock(empty_server, 2 * LEASE)
        held = [await enter(two) for _ in range(2)]
        one.abandoned(late[0])
        await until(lambda: not one._reports)
        one.abandoned(late[1])
        waiting = asyncio.create_task(enter(one))
        await until(lambda: one._listens and one._asked == 1)
        assert not waiting.done()
        two.abandoned(held[0])
        one.abandoned(await waiting)
        two.abandoned(held[1])


@pytest.mark.parametrize(
    ("cooldown", "life"), [(7200.0, 7200), (1e300, 1e8)], ids=["two hours", "longer than Redis counts"]
)
async def test_the_state_outlives_a_long_cooldown(empty_server: RedisServer, cooldown: float, life: float) -> None:
    """What Redis knows of a cooldown, and of who holds permits, expires neither before it ends nor in years."""
    async with Processes(empty_server) as processes:
        (permit,) = (await processes.exchange("one", wants=1)).permits
        await processes.exchange("one", ("rate_limited", permit.number, permit.at, cooldown, 0.0))
        with empty_server.client as client:
            assert min(client.ttl(key) for key in client.keys("itwin-gate:*")) > life
