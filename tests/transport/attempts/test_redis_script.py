"""The script of RedisGate on a real server: leases, the queue, the clock, and the comparison with a window."""

import asyncio
import math
import random
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from typing import Any, Self

import pytest
import redis.asyncio
from itwin_platform_transport import RateLimit
from itwin_platform_transport.gates.redis import LEASE, RedisState, Reply, Report
from itwin_platform_transport.gates.window import Permit, TooManyRequests, Window
from redis.exceptions import NoScriptError

from measure.promises.limits import FixedWindow, PunishingWindow, TokenBucket
from tests.support.examples import examples
from tests.support.gates import enter, gates, needs_redis, until_queued
from tests.support.real_time import until
from tests.support.redis_server import RedisServer

pytestmark = needs_redis

NOW = 1_700_000_000.0


#: A prefix of the script that replaces TIME by the time under a key.
CLOCK = b"""
local server = redis
local redis = {call = function(command, ...)
  if command == 'TIME' then return {string.match(server.call('GET', 'clock'), '(%d+) (%d+)')} end
  return server.call(command, ...)
end}
"""


class ClockedRedis(redis.asyncio.Redis):
    """A client whose scripts run at the time of the test."""

    async def execute_command(self, *command: Any, **options: Any) -> Any:
        """Send a command; put the clock of the test before a script."""
        if command[0] == "EVALSHA":
            raise NoScriptError
        if command[0] == "EVAL":
            command = ("EVAL", CLOCK + command[1], *command[2:])
        return await super().execute_command(*command, **options)  # type: ignore[no-untyped-call]  # that of redis-py


class Processes:
    """Processes of one server, whose clock the test sets."""

    def __init__(self, server: RedisServer, *, max_in_flight: int = 1, rates: tuple[RateLimit, ...] = ()) -> None:
        self.client = ClockedRedis.from_url(server.url)
        self.state = RedisState(self.client, name="test", max_in_flight=max_in_flight, rates=rates)
        self.now = NOW
        #: The time that was stored on the server.
        self.clock = -1.0
        self.called: Counter[str] = Counter()
        self.listeners: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        for listener in self.listeners:
            listener.cancel()
        await asyncio.gather(*self.listeners, return_exceptions=True)
        await self.client.aclose()

    async def exchange(
        self,
        process: str,
        *reports: Report,
        wants: int = 0,
        listens: bool = False,
        kept: Sequence[Permit] = (),
        rejoins: bool = False,
    ) -> Reply:
        """Exchange at the time of the test."""
        if self.now != self.clock:
            await self.client.set("clock", f"{int(self.now)} {round(self.now % 1 * 1_000_000)}")
            self.clock = self.now
        numbers = tuple(permit.number for permit in kept)
        return await self.state.exchange(
            process=process, rejoins=rejoins, wants=wants, listens=listens, kept=numbers, reports=reports
        )

    async def queue(self, *processes: str, wants: int = 1) -> None:
        """Let processes subscribe and queue, and count the wake-ups of each."""
        for process in processes:
            calls = self.state.wake_ups(process)
            await anext(calls)
            self.listeners.append(asyncio.create_task(self._count(process, calls)))
            await self.exchange(process, wants=wants, listens=True)

    async def _count(self, process: str, calls: AsyncGenerator[None]) -> None:
        async for _ in calls:
            self.called[process] += 1


def ended(permit: Permit) -> Report:
    """Return the report of an abandoned permit."""
    return ("abandoned", permit.number, permit.at)


async def test_a_process_that_ignores_its_wake_up_gives_its_turn_to_the_next(empty_server: RedisServer) -> None:
    """A process that was woken and is silent keeps a permit free for 0.25 s, and keeps its place in the queue."""
    async with Processes(empty_server) as processes:
        (permit,) = (await processes.exchange("one", wants=1)).permits
        await processes.queue("two", "three")
        await processes.exchange("one", ended(permit))
        await until(lambda: processes.called == {"two": 1})  # it does not ask
        reply = await processes.exchange("three", wants=1, listens=True)
        assert not reply.permits
        assert reply.wait == pytest.approx(0.25)
        processes.now += 0.3
        (taken,) = (await processes.exchange("three", wants=1, listens=True)).permits
        await processes.exchange("three", ended(taken))
        await until(lambda: processes.called["two"] == 2)
        assert len((await processes.exchange("two", wants=1, listens=True)).permits) == 1


async def test_a_clock_that_is_set_back_stops_no_process(empty_server: RedisServer) -> None:
    """After a failover to a server whose clock is 30 s behind, cooldowns, leases and rates continue."""
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
    """Each learns of the difference, and requests of a process without a rate count against the rate of the other."""
    old, new = (Processes(empty_server, max_in_flight=9, rates=rates) for rates in ((), (RateLimit(3, 10.0),)))
    async with old, new:
        assert not (await old.exchange("one", wants=1)).differs
        assert (await new.exchange("two", wants=1)).differs
        assert not (await new.exchange("two", wants=1)).differs
        assert (await old.exchange("one", wants=1)).differs
        assert (await new.exchange("two", wants=1)).permits == []


async def test_a_difference_of_settings_is_one_warning(
    empty_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    """During a rolling deployment, each process warns once."""
    async with gates(empty_server.url, 1, max_in_flight=3) as (one,), gates(empty_server.url, 1) as (two,):
        for gate in (one, two) * 3:
            gate.responded(await enter(gate))
    message = "gate 'test, app 7': another process has other settings: pass it the same max_in_flight and rate"
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [message] * 2


async def test_a_process_forgets_permits_whose_lease_expired(empty_server: RedisServer) -> None:
    """A process that was silent for longer than a lease frees no permit of another process when it reports its own."""
    async with Processes(empty_server, max_in_flight=2) as processes:
        late = (await processes.exchange("one", wants=2)).permits
        processes.now += 2 * LEASE
        held = (await processes.exchange("two", wants=2)).permits
        assert len(late) == len(held) == 2
        reports = [ended(permit) for permit in late]
        assert (await processes.exchange("one", *reports, wants=1, listens=True)).permits == []
        await processes.exchange("two", ended(held[0]), kept=held[1:])
        assert len((await processes.exchange("one", wants=1, listens=True)).permits) == 1


@pytest.mark.parametrize(
    ("cooldown", "life"), [(7200.0, 7200), (1e300, 1e8)], ids=["two hours", "longer than Redis counts"]
)
async def test_the_state_outlives_a_long_cooldown(empty_server: RedisServer, cooldown: float, life: float) -> None:
    """The keys live as long as the cooldown, up to the longest life that Redis allows."""
    async with Processes(empty_server) as processes:
        (permit,) = (await processes.exchange("one", wants=1)).permits
        await processes.exchange("one", ("rate_limited", permit.number, permit.at, cooldown, 0.0))
        with empty_server.client as client:
            assert min(client.ttl(key) for key in client.keys("itwin-gate:*")) > life


async def test_keys_expire_and_name_only_the_gate(empty_server: RedisServer) -> None:
    """Every key has the hash tag of the gate's name, and expires after an hour without use."""
    async with gates(empty_server.url, 2, max_in_flight=1, rate=RateLimit(5, 60.0)) as (one, two):
        permit = await enter(one)
        waiting = enter(two)
        await until_queued(empty_server)
        with empty_server.client as client:
            keys = sorted(client.keys("*"))
            assert keys == [f"itwin-gate:{{test, app 7}}:{part}" for part in ("flight", "log", "queue", "state")]
            assert all(0 < client.ttl(key) <= 3600 for key in keys)
        one.abandoned(permit)
        two.abandoned(await waiting)


class Twins(Processes):
    """A server and a window that get the same events, and must give the same results."""

    def __init__(self, server: RedisServer, *, max_in_flight: int, rates: tuple[RateLimit, ...] = ()) -> None:
        super().__init__(server, max_in_flight=max_in_flight, rates=rates)
        self.window = Window(max_in_flight=max_in_flight, rates=rates)

    async def __aenter__(self) -> Self:
        self.now = 0.0
        await self.exchange("one")  # then the server counts permits as the window does
        self.now = NOW
        return self

    def next_start(self) -> float:
        """Return the seconds until the window lets a request start."""
        self.window.advance(self.now)
        return self.window.next_start(self.now)

    async def ask(self, process: str, wants: int, *, kept: Sequence[Permit] = ()) -> list[Permit]:
        """Request permits from both."""
        reply = await self.exchange(process, wants=wants, kept=kept, listens=True)
        await self.exchange(process, kept=kept)  # do not queue for the other permits
        granted, cooldown = list[Permit](), self.window.cooldown
        while len(granted) < wants and self.next_start() == 0:
            granted.append(self.window.begin(self.now))
        assert [each.number for each in reply.permits] == [each.number for each in granted]
        replied = (reply.wait, reply.cooldown, reply.rejecting_for)
        expected = (self.next_start(), cooldown.left(self.now), abs(self.now - cooldown.rejecting_since))
        assert [math.inf if each is None else each for each in replied] == pytest.approx(expected, abs=1e-5)
        return granted

    def ended(self, how: str, permit: Permit, *, wait: float, jitter: float = 0.5) -> Report:
        """End a permit of the window, and return the report for the server."""
        if how == "rate_limited":
            self.window.rate_limited(permit, TooManyRequests(now=self.now, wait=wait, jitter=jitter))
        else:
            getattr(self.window, how)(permit)
        return how, permit.number, permit.at, wait, jitter


EVENTS = ["time passes", "time passes", "asks", "asks", "asks", "responded", "rate_limited", "abandoned", "unused"]
RATES = (RateLimit(3, 1.0), RateLimit(5, 2.5))


@pytest.mark.parametrize("seed", range(4))
async def test_the_script_keeps_the_rules_of_the_window(empty_server: RedisServer, seed: int) -> None:
    """The script and the window agree on any sequence of requests, ends and pauses of two processes."""
    chance = random.Random(seed)  # noqa: S311  # a test's schedule
    held = {"one": list[Permit](), "two": list[Permit]()}
    async with Twins(empty_server, max_in_flight=chance.randint(1, 6), rates=chance.choice([(), RATES])) as twins:
        for event in chance.choices(EVENTS, k=examples(2000)):
            process, number = chance.choice(["one", "two"]), chance.randint(1, 5)
            kept = held[process]
            if event == "time passes":  # both processes renew their leases
                seconds = chance.choice([0.0, 0.001, 0.25, 0.6, 1.04, 2.4, 2.6])
                for _ in range(25 if seconds == 2.4 else 1):  # a minute, so that a probe of a long cooldown is due
                    twins.now = round(twins.now + seconds, 3)
                    for each, permits in held.items():
                        await twins.exchange(each, kept=permits)
            elif event == "asks":
                kept += await twins.ask(process, number, kept=kept)
            elif kept:
                permit, wait = kept.pop(number % len(kept)), chance.choice([0.0, 0.25, 0.6, 1.04, 100.0])
                report = twins.ended(event, permit, wait=wait, jitter=chance.choice([0.0, 0.5, 1.0]))
                await twins.exchange(process, report, kept=kept)


@pytest.mark.parametrize(
    ("limit", "decimals"),
    [
        (FixedWindow(8, 1.0), 0),
        (TokenBucket(30, 3.0), 0),
        (TokenBucket(10, 1.0), 2),
        (PunishingWindow(10, 1.0, ban=5.0), 0),
    ],
)
async def test_the_script_learns_what_the_window_learns(
    empty_server: RedisServer, limit: FixedWindow | TokenBucket, decimals: int
) -> None:
    """At an unknown limit, both let the same requests start for at least twenty seconds."""
    async with Twins(empty_server, max_in_flight=20) as twins:
        for step in range(examples(2000)):
            now = twins.now = NOW + round(step / 19, 3) + 0.0004
            reports: list[Report] = []
            for permit in await twins.ask("one", 20):
                how = "responded" if limit.accepts(now) else "rate_limited"
                reports.append(twins.ended(how, permit, wait=math.ceil(limit.left(now) * 10**decimals) / 10**decimals))
            await twins.exchange("one", *reports)


@pytest.mark.parametrize("key", ["state", "flight", "queue", "log"])
async def test_a_lost_key_keeps_the_limit(empty_server: RedisServer, key: str) -> None:
    """After a key was deleted or evicted while permits are out, the limit is right again within a lease."""
    async with Processes(empty_server, max_in_flight=3) as processes:
        held = (await processes.exchange("one", wants=3)).permits
        assert len(held) == 3
        await processes.exchange("two", wants=1, listens=True)
        processes.now += 0.01
        with empty_server.client as client:
            client.delete(f"itwin-gate:{{test}}:{key}")
        taken = (await processes.exchange("two", wants=3)).permits
        # The renewal of a lease adds a permit again whose key was lost.
        assert len(taken) == (3 if key == "flight" else 0)
        await processes.exchange("one", kept=held)
        assert (await processes.exchange("two", wants=1)).permits == []
        for process, permits in (("one", held), ("two", taken)):
            await processes.exchange(process, *(("responded", each.number, each.at) for each in permits))
        processes.now += LEASE
        again = (await processes.exchange("one", wants=4)).permits
        assert len(again) == 3
        numbers = [permit.number for permit in (*held, *taken, *again)]
        assert len(set(numbers)) == len(numbers)
        assert (await processes.exchange("three", wants=1)).permits == []


async def test_a_process_whose_wake_ups_are_lost_polls_often(empty_server: RedisServer) -> None:
    """It is subscribed, but no message arrives. After a missed turn it polls every 0.1 s, until a wake-up arrives."""
    async with Processes(empty_server) as processes:
        (permit,) = (await processes.exchange("one", wants=1)).permits
        await processes.queue("deaf")
        assert (await processes.exchange("deaf", wants=1, listens=True)).wait is None
        await processes.exchange("one", ended(permit))
        processes.now += 0.3
        (permit,) = (await processes.exchange("one", wants=1, listens=True)).permits
        assert (await processes.exchange("deaf", wants=1, listens=True)).wait == 0.1
        await processes.exchange("one", ended(permit))
        processes.now += 0.01
        (permit,) = (await processes.exchange("deaf", wants=1, listens=True)).permits
        await processes.queue("one")
        assert (await processes.exchange("deaf", ended(permit), wants=1, listens=True)).wait == 0.25


async def test_a_process_that_rejoins_keeps_its_permits(empty_server: RedisServer) -> None:
    """After the loss of the server, the permits that a process names stay, and its other permits end."""
    async with Processes(empty_server, max_in_flight=3) as processes:
        held = (await processes.exchange("one", wants=3)).permits
        await processes.exchange("two", wants=1, listens=True)
        reply = await processes.exchange("one", rejoins=True, kept=held[:2])
        assert reply.is_contended
        assert len((await processes.exchange("two", wants=2, listens=True)).permits) == 1
