"""RedisGate in virtual time: a model of its script as the server, and processes that send calls through it."""

import asyncio
import math
import statistics
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from itwin_platform import RateLimit
from itwin_platform_transport import RedisGate
from itwin_platform_transport.gates.redis import RedisState, Reply, Report
from itwin_platform_transport.gates.window import Permit, Window

#: Seconds from a command to the reply of the server; the command takes effect immediately.
SERVER_LATENCY = 0.001


class Limit(Protocol):
    """A limit of the service."""

    def accepts(self, now: float) -> bool:
        """Count a request and return whether the limit allows it."""
        ...


class ModelWindow(Window):
    """The window, which also estimates the wait of a process further back in the queue."""

    __slots__ = ()

    def wait_of_rank(self, now: float, rank: int) -> float | None:
        """Return how long the process at this position of the queue waits."""
        wait = self.wait(now)
        rates = list(self._all_rates())
        if not wait or self.cooldown_left(now) > 0 or not rates:
            return wait
        first = max(0, len(self._granted) - rates[-1][0])
        return wait + self._granted[min(first + rank, len(self._granted) - 1)] - self._granted[first]


class ModelServer:
    """The server: the window, and the queue of processes."""

    def __init__(self, *, max_in_flight: int, rate: RateLimit | None) -> None:
        self.window = ModelWindow(max_in_flight=max_in_flight, rates=[rate] if rate else [])
        self.queue: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self.listeners: dict[str, Callable[[], None]] = {}
        self.called: set[str] = set()
        self.enqueued = self.commands = 0

    def exchange(self, now: float, *, process: str, wants: int, listens: bool, reports: Sequence[Report]) -> Reply:
        """Run one command as the script does."""
        self.commands += 1
        self._note(reports, now)
        if wants and process in self.queue:
            self.queue[process] = (self.queue[process][0], wants)
        elif wants:
            self._enqueue(process, wants)
        else:
            self.queue.pop(process, None)
        granted = self._distribute(process, wants, now)
        first = next(iter(self.queue.values()), (0, 0))[0]
        rank = min(self.queue.get(process, (first, 0))[0] - first, len(self.queue))
        wait = self.window.wait_of_rank(now, rank) or (None if self._room(now) == 0 else 0.25)
        if not listens:
            self.queue.pop(process, None)
        return Reply(
            wait=wait,
            rank=rank,
            cooldown=self.window.cooldown_left(now),
            is_contended=bool(self.queue),
            differs=False,
            permits=granted,
        )

    def _note(self, reports: Sequence[Report], now: float) -> None:
        for kind, number, at, *cooldown in reports:
            permit = Permit(number=number, at=at)
            if kind == "responded":
                self.window.responded(permit)
            elif kind == "rate_limited":
                wait, jitter = cooldown
                self.window.rate_limited(permit, now=now, wait=wait, jitter=jitter)
            elif kind == "abandoned":
                self.window.end(permit)
            elif kind == "unused":
                self.window.unused(permit)

    def _enqueue(self, process: str, wants: int) -> None:
        self.enqueued += 1
        self.queue.pop(process, None)
        self.queue[process] = (self.enqueued, wants)

    def _room(self, now: float) -> int:
        """Return how many permits are free."""
        window = self.window
        if window.wait(now) != 0:
            return 0
        free = min(window._open - window._in_period, window._most - window.in_flight)
        rates = list(window._all_rates())
        longest = max((seconds for _, seconds in rates), default=0.0)
        while window._granted and window._granted[0] + longest <= now:
            window._granted.popleft()
        for requests, seconds in rates:
            counted = sum(at + seconds > now for at in window._granted) if seconds < longest else len(window._granted)
            free = min(free, requests - counted)
        return free

    def _distribute(self, process: str, wants: int, now: float) -> list[Permit]:
        """Grant free permits to the process that asks if it has its turn, and call those whose turn it is."""
        granted = list[Permit]()
        share = max(1, self._room(now) // max(1, len(self.queue))) if process in self.called else 0
        self.called.discard(process)
        while wants and self._room(now) and (share or next(iter(self.queue)) == process):
            granted.append(self.window.begin(now))
            share, wants = max(0, share - 1), wants - 1
            if wants:
                self._enqueue(process, wants)
            else:
                self.queue.pop(process, None)
        silent = self.listeners.keys() - self.called - {process}
        for head in filter(silent.__contains__, list(self.queue)[: self._room(now)]):
            self.called.add(head)
            asyncio.get_running_loop().call_later(SERVER_LATENCY, self.listeners[head])
        return granted


class ModelState(RedisState):
    """The server as one process sees it."""

    def __init__(self, server: ModelServer) -> None:
        self._server = server

    async def exchange(
        self,
        *,
        process: str,
        rejoins: bool,
        wants: int,
        listens: bool,
        kept: Sequence[int],
        reports: Sequence[Report],
    ) -> Reply:
        """Run one command."""
        reply = self._server.exchange(
            asyncio.get_running_loop().time(), process=process, wants=wants, listens=listens, reports=reports
        )
        await asyncio.sleep(SERVER_LATENCY)
        return reply

    async def called(self, process: str) -> AsyncGenerator[None]:
        """Subscribe until cancelled."""
        await asyncio.sleep(SERVER_LATENCY)
        called = asyncio.Event()
        self._server.listeners[process] = called.set
        try:
            while True:
                yield
                await called.wait()
                called.clear()
        finally:
            del self._server.listeners[process]

    async def aclose(self) -> None:
        """Close nothing: a model has no connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRun:
    """The counts of the service and of the server, and the times.

    Args:
        requests: of all processes.
        per_call: requests for each call.
        commands: to the server, for each request.
        seconds: until the last process ended.
        slowest: the time of the slowest process against the median.
    """

    requests: int
    per_call: float
    commands: float
    seconds: float
    slowest: float


async def run_model(
    limit: Limit,
    *,
    processes: int,
    calls: int,
    latency: float,
    max_in_flight: int = 20,
    rate: RateLimit | None = None,
) -> ModelRun:
    """Start `calls` calls in each of `processes` processes at the same time; a request takes `latency` seconds."""
    loop = asyncio.get_running_loop()
    server = ModelServer(max_in_flight=max_in_flight, rate=rate)
    requests = 0

    async def call(gate: RedisGate) -> None:
        nonlocal requests
        ticket = gate.ticket()
        while True:
            permit = await gate.enter(ticket, max_wait=math.inf, until=None)
            requests += 1
            is_accepted = limit.accepts(loop.time())
            await asyncio.sleep(latency)
            if is_accepted:
                gate.responded(permit)
                return
            gate.rate_limited(permit, wait=1.0)

    async def process() -> float:
        gate = RedisGate("redis://model", name="model", max_in_flight=max_in_flight, rate=rate, workers=processes)
        gate._state = ModelState(server)
        await asyncio.gather(*(call(gate) for _ in range(calls)))
        finished_at = loop.time()
        await gate.aclose()
        return finished_at

    times = await asyncio.gather(*(process() for _ in range(processes)))
    return ModelRun(
        requests=requests,
        per_call=requests / (processes * calls),
        commands=server.commands / requests,
        seconds=max(times),
        slowest=max(times) / statistics.median(times),
    )
