"""RedisGate in virtual time: a model of its script as the engine, and processes that send calls through it."""

import asyncio
import math
import statistics
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from itwin_platform import RateLimit
from itwin_platform._http.gates.shared import Reply, Request, SharedGate
from itwin_platform._http.gates.window import Permit, Window

#: Seconds from a command to the reply of the engine; the command takes effect immediately.
ENGINE_LATENCY = 0.001


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
        counted = list(self._granted)[-rates[-1][0] :]
        return wait + counted[min(rank, len(counted) - 1)] - counted[0]


class ModelState:
    """The state in the server: the window, and the queue of processes."""

    def __init__(self, *, max_in_flight: int, rate: RateLimit | None) -> None:
        self.window = ModelWindow(max_in_flight=max_in_flight, rates=[rate] if rate else [])
        self.queue: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self.listeners: dict[str, Callable[[], None]] = {}
        self.called: set[str] = set()
        self.enqueued = self.commands = 0

    def exchange(self, request: Request, now: float) -> Reply:
        """Run one command as the script does."""
        self.commands += 1
        self._note(request, now)
        if request.wants and request.process in self.queue:
            self.queue[request.process] = (self.queue[request.process][0], request.wants)
        elif request.wants:
            self._enqueue(request.process, request.wants)
        else:
            self.queue.pop(request.process, None)
        granted = self._distribute(request, now)
        first = next(iter(self.queue.values()), (0, 0))[0]
        rank = min(self.queue.get(request.process, (first, 0))[0] - first, len(self.queue))
        wait = self.window.wait_of_rank(now, rank) or (None if self._room(now) == 0 else 0.25)
        if not request.listens:
            self.queue.pop(request.process, None)
        return Reply(
            known=True,
            wait=wait,
            rank=rank,
            cooldown=self.window.cooldown_left(now),
            is_contended=bool(self.queue),
            differs=False,
            permits=granted,
        )

    def _note(self, request: Request, now: float) -> None:
        for report in request.reports:
            permit = report.permit
            if report.kind == "answered":
                self.window.answered(permit)
            elif report.kind == "rate_limited":
                self.window.rate_limited(permit, now=now, wait=report.value, jitter=report.jitter)
            elif report.kind == "abandoned":
                self.window.end(permit)
            elif report.kind == "unused":
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
        free = min(window._open - window._in_period, window._most - window._in_flight)
        for requests, seconds in window._all_rates():
            free = min(free, requests - sum(at + seconds > now for at in window._granted))
        return free

    def _distribute(self, request: Request, now: float) -> list[Permit]:
        """Grant free permits to the process that asks if it has its turn, and call those whose turn it is."""
        process, granted = request.process, list[Permit]()
        wants = request.wants
        share = max(1, self._room(now) // max(1, len(self.queue))) if process in self.called else 0
        self.called.discard(process)
        while wants and self._room(now) and (share or next(iter(self.queue)) == process):
            granted.append(self.window.begin(now))
            share, wants = max(0, share - 1), wants - 1
            if wants:
                self._enqueue(process, wants)
            else:
                self.queue.pop(process, None)
        for head in list(self.queue)[: self._room(now)]:
            if head in self.listeners and head != process and head not in self.called:
                self.called.add(head)
                asyncio.get_running_loop().call_later(ENGINE_LATENCY, self.listeners[head])
        return granted


class ModelEngine:
    """The engine as one process sees it."""

    def __init__(self, state: ModelState) -> None:
        self._state = state

    async def exchange(self, request: Request) -> Reply:
        """Run one command."""
        reply = self._state.exchange(request, asyncio.get_running_loop().time())
        await asyncio.sleep(ENGINE_LATENCY)
        return reply

    async def listen(self, process: str, *, ready: Callable[[], None], called: Callable[[], None]) -> None:
        """Subscribe until cancelled."""
        await asyncio.sleep(ENGINE_LATENCY)
        self._state.listeners[process] = called
        ready()
        try:
            await asyncio.Event().wait()
        finally:
            del self._state.listeners[process]

    def leave_loop(self) -> None:
        """Nothing belongs to a loop."""

    async def aclose(self) -> None:
        """Close nothing: a model has no connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRun:
    """The counts of the service and of the engine, and the times.

    Args:
        requests: of all processes.
        per_call: requests for each call.
        commands: of the engine, for each request.
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
    state = ModelState(max_in_flight=max_in_flight, rate=rate)
    requests = 0

    async def call(gate: SharedGate) -> None:
        nonlocal requests
        ticket = gate.ticket()
        while True:
            permit = await gate.enter(ticket, max_wait=math.inf, until=None)
            requests += 1
            is_accepted = limit.accepts(loop.time())
            await asyncio.sleep(latency)
            if is_accepted:
                gate.answered(permit)
                return
            gate.rate_limited(permit, wait=1.0)

    async def process() -> float:
        gate = SharedGate(
            ModelEngine(state), name="model", max_in_flight=max_in_flight, rate=rate, workers=processes, on_event=None
        )
        await asyncio.gather(*(call(gate) for _ in range(calls)))
        finished_at = loop.time()
        await gate.aclose()
        return finished_at

    times = await asyncio.gather(*(process() for _ in range(processes)))
    return ModelRun(
        requests=requests,
        per_call=requests / (processes * calls),
        commands=state.commands / requests,
        seconds=max(times),
        slowest=max(times) / statistics.median(times),
    )
