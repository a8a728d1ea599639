"""A thousand processes under one rate, in virtual time: RedisGate with a model of its script as the engine."""

import asyncio
import math
import statistics
from collections import OrderedDict, deque
from collections.abc import Callable

from itwin_platform import Permit, RateLimit
from itwin_platform._attempts.admission.window import Window
from itwin_platform._gates.engine import Reply, Request
from itwin_platform._gates.shared import SharedGate

from tests.support.virtual_time import in_virtual_time

from .figure import Figure, at_most, exactly
from .herd import FixedWindow

#: What a command of the engine and a request of the service take, in seconds.
ENGINE_LATENCY, SERVICE_LATENCY = 0.001, 0.1
MAX_IN_FLIGHT = 200


class ModelWindow(Window):
    """The window, which also tells when a process further back in the queue has its turn."""

    __slots__ = ()

    def turn(self, now: float, rank: int) -> float | None:
        """Return how long the process of this rank waits."""
        wait = self.wait(now)
        if not wait or self.cooldown_left(now) > 0 or not self._rates:
            return wait
        sent = self._rates[0]._sent
        return wait + sent[min(rank, len(sent) - 1)] - sent[0]


class ModelState:
    """What the server holds: the window, and which processes wait in which order."""

    def __init__(self, rate: RateLimit | None) -> None:
        self.window = ModelWindow(max_in_flight=MAX_IN_FLIGHT, rates=[rate] if rate else [])
        self.queue: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self.listeners: dict[str, Callable[[int, int], None]] = {}
        self.turns = self.commands = 0

    def enqueue(self, process: str, wants: int) -> None:
        """Put a process behind all others."""
        self.turns += 1
        self.queue.pop(process, None)
        self.queue[process] = (self.turns, wants)

    def exchange(self, request: Request, now: float) -> Reply:
        """Do what the script does."""
        self.commands += 1
        for report in request.reports:
            permit = Permit(period=report.period, number=report.number)
            if report.kind == "sent":
                self.window.sending(permit, now=now - report.value)
            elif report.kind == "answered":
                self.window.answered(permit)
            elif report.kind == "rate_limited":
                self.window.rate_limited(permit, now=now, wait=report.value, jitter=report.jitter)
            elif report.kind in ("abandoned", "unused"):
                self.window.end(permit)
        if request.wants and request.process in self.queue:
            self.queue[request.process] = (self.queue[request.process][0], request.wants)
        elif request.wants:
            self.enqueue(request.process, request.wants)
        else:
            self.queue.pop(request.process, None)
        granted = self.distribute(request.process, now)
        first = next(iter(self.queue.values()), (0, 0))[0]
        rank = min(self.queue.get(request.process, (first, 0))[0] - first, len(self.queue))
        wait = self.window.turn(now, rank)
        if not request.listens:
            self.queue.pop(request.process, None)
        return Reply(
            known=True,
            wait=wait,
            rank=rank,
            cooldown=self.window.cooldown_left(now),
            is_contended=bool(self.queue),
            budget=90,
            permits=granted,
        )

    def distribute(self, process: str, now: float) -> list[tuple[int, int]]:
        """Hand out what is free, one permit to each that waits, in turn."""
        granted: list[tuple[int, int]] = []
        while self.queue and self.window.wait(now) == 0:
            head, (_, wants) = self.queue.popitem(last=False)
            if head != process and head not in self.listeners:
                continue
            permit = self.window.begin(now)
            if head == process:
                granted.append((permit.period, permit.number))
            else:
                loop = asyncio.get_running_loop()
                loop.call_later(ENGINE_LATENCY / 2, self.listeners[head], permit.period, permit.number)
            if wants > 1:
                self.enqueue(head, wants - 1)
        return granted


class ModelEngine:
    """The engine as one process sees it."""

    def __init__(self, state: ModelState) -> None:
        self._state = state

    async def exchange(self, request: Request) -> Reply:
        """One command, there and back."""
        await asyncio.sleep(ENGINE_LATENCY / 2)
        reply = self._state.exchange(request, asyncio.get_running_loop().time())
        await asyncio.sleep(ENGINE_LATENCY / 2)
        return reply

    async def listen(self, process: str, *, ready: Callable[[], None], permit: Callable[[int, int], None]) -> None:
        """Subscribe until cancelled."""
        await asyncio.sleep(ENGINE_LATENCY)
        self._state.listeners[process] = permit
        ready()
        try:
            await asyncio.Event().wait()
        finally:
            del self._state.listeners[process]

    async def aclose(self) -> None:
        """Nothing is open."""


class SlidingWindow(FixedWindow):
    """Takes at most `requests` in any `per` seconds."""

    def __init__(self, requests: int, per: float) -> None:
        super().__init__(requests, per)
        self._taken: deque[float] = deque(maxlen=requests)

    def takes(self, now: float) -> bool:
        """Counts a request and tells whether it may go on."""
        if len(self._taken) == self._requests and now - self._taken[0] < self._per:
            return False
        self._taken.append(now)
        return True


async def simulate(*, processes: int, calls: int, limit: FixedWindow, rate: RateLimit | None) -> dict[str, float]:
    """Let so many processes make so many calls each, and count."""
    loop = asyncio.get_running_loop()
    state = ModelState(rate)
    requests = 0

    async def call(gate: SharedGate) -> None:
        nonlocal requests
        ticket = gate.ticket()
        while True:
            permit = await gate.enter(ticket, max_wait=math.inf, until=None)
            gate.sending(permit)
            requests += 1
            await asyncio.sleep(SERVICE_LATENCY / 2)
            is_taken = limit.takes(loop.time())
            await asyncio.sleep(SERVICE_LATENCY / 2)
            if is_taken:
                gate.answered(permit)
                return
            gate.rate_limited(permit, wait=1.0)

    async def process() -> float:
        gate = SharedGate(
            ModelEngine(state), name="model", max_in_flight=MAX_IN_FLIGHT, rate=rate, workers=processes, on_event=None
        )
        await asyncio.gather(*(call(gate) for _ in range(calls)))
        ended = loop.time()
        await gate.aclose()
        return ended

    times = await asyncio.gather(*(process() for _ in range(processes)))
    return {
        "requests": requests / (processes * calls),
        "slowest": max(times) / statistics.median(times),
        "commands": state.commands / requests,
        "seconds": max(times),
    }


def thousand_processes(*, processes: int = 1000, calls: int = 100) -> list[Figure]:
    """A hundred calls each under 5,000 a minute, which is known."""
    limit = SlidingWindow(5000, 60.0)
    found = in_virtual_time(simulate(processes=processes, calls=calls, limit=limit, rate=RateLimit(5000, 60.0)))
    name = f"model, {processes:,} processes x {calls} calls, 5,000 a minute"
    return [
        at_most(f"{name}: requests per call", found["requests"], 1.05),
        at_most(f"{name}: slowest process against the median", found["slowest"], 2.0, unit=" x"),
        at_most(f"{name}: commands of the engine per request", found["commands"], 6.0),
        at_most(f"{name}: time", found["seconds"], 1.1 * limit.ideal(processes * calls) + 10.0, unit=" s"),
        exactly(f"{name}: 429", round((found["requests"] - 1) * processes * calls), 0),
    ]
