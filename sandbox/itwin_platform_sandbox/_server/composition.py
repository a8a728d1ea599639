"""The parts of one sandbox put together: what is stored, the service over it, its faults and its server."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from .._faults.faulty_service import FaultyService
from .._faults.plan import SEEN_FAULTS, Fault, FaultPlan
from .._service.credentials import Tokens
from .._service.rate_limit import RateLimit, RequestCounter
from .._service.seeding import Seeded
from .._service.service import Service
from .control import application
from .endpoint import ServiceEndpoint
from .loop_server import LoopServer
from .page import render_page
from .recorder import Recorder


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What the sandbox does not decide itself: time, waiting, chance and its address."""

    clock: Callable[[], float]
    now: Callable[[], datetime]
    sleep: Callable[[float], Awaitable[None]]
    chance: random.Random
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Behavior:
    """How the sandbox behaves from the start."""

    path_prefix: str
    any_token: bool
    vendor: str | None
    rate: RateLimit | None
    latency: float
    jitter: float
    as_seen: bool


class Composition:
    """Everything behind the public `Sandbox`; switched by it, by the control endpoint and by the page."""

    def __init__(self, seeded: Seeded, environment: Environment, behavior: Behavior) -> None:
        self.seeded = seeded
        self.tokens = Tokens(any_token=behavior.any_token, clock=environment.clock)
        self.recorder = Recorder(environment.clock)
        self._sleep = environment.sleep
        self._plan = FaultPlan()
        if behavior.as_seen:
            for fault in SEEN_FAULTS:
                self._plan.add(fault)
        service = Service(
            platform=seeded.platform,
            tokens=self.tokens,
            path_prefix=behavior.path_prefix,
            vendor=behavior.vendor,
            counter=RequestCounter(behavior.rate, environment.clock) if behavior.rate else None,
            now=environment.now,
        )
        self.service = FaultyService(
            service, plan=self._plan, tokens=self.tokens, platform=seeded.platform, now=environment.now
        )
        endpoint = ServiceEndpoint(
            self.service,
            recorder=self.recorder,
            sleep=environment.sleep,
            latency=lambda: behavior.latency + environment.chance.random() * behavior.jitter,
        )
        self.server = LoopServer(application(endpoint, self), host=environment.host, port=environment.port)
        self._host = environment.host

    @property
    def address(self) -> str:
        """Scheme, host and port."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.server.port}"

    def faults(self) -> tuple[Fault, ...]:
        """The faults that are to come."""
        return self._plan.pending()

    def add_fault(self, fault: Fault) -> None:
        """Let a fault happen."""
        if fault.name == "refuse" and fault.seconds is not None:
            seconds = fault.seconds
            self.server.run_in_loop(lambda: self._refuse(seconds))
        else:
            self._plan.add(fault)

    def clear_faults(self) -> None:
        """Let no more faults happen, and listen again."""
        self._plan.clear()
        if self.server.is_running:
            self.server.run_in_loop(self.server.accept_connections)

    def page(self) -> str:
        """The page as HTML."""
        return render_page(
            base_url=self.address,
            platform=self.seeded.platform,
            faults=self.faults(),
            requests=self.recorder.records,
        )

    def _refuse(self, seconds: float) -> None:
        self.server.refuse_connections()
        self.server.run_later(self._listen_again(seconds))

    async def _listen_again(self, seconds: float) -> None:
        await self._sleep(seconds)
        self.server.accept_connections()
