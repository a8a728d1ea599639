"""The parts of one sandbox put together: what is stored, the service over it, its faults and its server."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from ._control import application
from ._credentials import Tokens
from ._disturbed_service import DisturbedService
from ._endpoint import ServiceEndpoint
from ._faults import SEEN_FAULTS, Fault, FaultPlan
from ._page import render_page
from ._rate_limit import RateLimit, RequestCounter
from ._recorder import Recorder
from ._seeding import Seeded
from ._server import LoopServer
from ._service import Service


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the sandbox does not decide itself: time, waiting, chance and its address."""

    clock: Callable[[], float]
    now: Callable[[], datetime]
    sleep: Callable[[float], Awaitable[None]]
    chance: random.Random
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
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

    def __init__(self, seeded: Seeded, surroundings: Surroundings, manners: Manners) -> None:
        self.seeded = seeded
        self.tokens = Tokens(any_token=manners.any_token, clock=surroundings.clock)
        self.recorder = Recorder(surroundings.clock)
        self._sleep = surroundings.sleep
        self._plan = FaultPlan()
        if manners.as_seen:
            for fault in SEEN_FAULTS:
                self._plan.add(fault)
        service = Service(
            platform=seeded.platform,
            tokens=self.tokens,
            path_prefix=manners.path_prefix,
            vendor=manners.vendor,
            counter=RequestCounter(manners.rate, surroundings.clock) if manners.rate else None,
            now=surroundings.now,
        )
        self.service = DisturbedService(
            service, plan=self._plan, tokens=self.tokens, platform=seeded.platform, now=surroundings.now
        )
        endpoint = ServiceEndpoint(
            self.service,
            recorder=self.recorder,
            sleep=surroundings.sleep,
            latency=lambda: manners.latency + surroundings.chance.random() * manners.jitter,
        )
        self.server = LoopServer(application(endpoint, self), host=surroundings.host, port=surroundings.port)
        self._host = surroundings.host

    @property
    def address(self) -> str:
        """Scheme, host and port."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.server.port}"

    def faults(self) -> tuple[Fault, ...]:
        """The faults that are to come."""
        return self._plan.coming()

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
            self.server.run_in_loop(self.server.take_connections)

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
        self.server.take_connections()
