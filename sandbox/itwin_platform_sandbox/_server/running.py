"""One sandbox: its stored data, service, faults, journal and server, and its controls."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from .._faults.catalogue import FaultName
from .._faults.faulty_service import FaultyService
from .._faults.plan import SEEN_FAULTS, Fault, FaultPlan
from .._service.credentials import Tokens
from .._service.json_values import JSON, FieldError
from .._service.rate_limit import RateLimit, RequestCounter
from .._service.service import Service
from .._service.state import Seeded, Snapshot, StoredWebhook, new_uuid, source_of, stored_webhook
from .deliveries import MOST_DELIVERIES, UPDATED, Delivery, post, signed_delivery, subscribers
from .journal import Recorder
from .server import LoopServer, ThrowawayCertificate, throwaway_certificate
from .settings import Environment, Settings

REFUSE: FaultName = "refuse"
MOST_SNAPSHOTS = 20


@dataclass(slots=True)
class _Delays:
    latency: float
    jitter: float


class RunningSandbox:
    """The implementation of `Sandbox`, of the control interface and of the page."""

    def __init__(self, seed: Callable[[], Seeded], environment: Environment, settings: Settings) -> None:
        self.seeded: Seeded = seed()
        self._start: Snapshot = self.seeded.platform.snapshot()
        self.settings: Settings = settings
        self.tokens: Tokens = Tokens(any_token=settings.any_token, clock=environment.clock)
        self.recorder: Recorder = Recorder(environment.clock, bodies=settings.bodies)
        self._environment = environment
        self._plan = FaultPlan()
        self._delays = _Delays(settings.latency, settings.jitter)
        self.snapshots: dict[str, Snapshot] = {}
        self.deliveries: list[Delivery] = []
        self._message_ids = source_of(1, "messages")
        self._service = Service(
            platform=self.seeded.platform,
            tokens=self.tokens,
            path_prefix=settings.path_prefix,
            vendor=settings.vendor,
            public_url=settings.public_url,
            strict=settings.strict,
            now=environment.now,
        )
        self.service: FaultyService = FaultyService(
            self._service,
            plan=self._plan,
            tokens=self.tokens,
            platform=self.seeded.platform,
            now=environment.now,
        )
        self.certificate: ThrowawayCertificate | None = throwaway_certificate(settings.host) if settings.tls else None
        self.sleep: Callable[[float], Awaitable[None]] = environment.sleep
        tls = self.certificate.server if self.certificate else None
        self.server: LoopServer = LoopServer(host=settings.host, port=settings.port, tls=tls)
        self._begin()

    @property
    def address(self) -> str:
        """Scheme, host and port."""
        host = self.settings.host
        scheme = "https" if self.settings.tls else "http"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.server.port}"

    @property
    def base_url(self) -> str:
        """The base URL that clients on this machine use."""
        return self.address + self.settings.path_prefix

    def reset(self) -> None:
        """Restore the state of the start: data, tokens, faults, rate limit, latency, journal, snapshots."""
        self.clear_faults()
        self._plan.clear()
        self.seeded.platform.restore(self._start)
        self.tokens.clear()
        self.recorder.records.clear()
        self.snapshots.clear()
        self.deliveries.clear()
        self._begin()

    def snapshot(self) -> Snapshot:
        """Return a copy of the stored data."""
        return self.seeded.platform.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Replace the stored data by that of a snapshot."""
        self.seeded.platform.restore(snapshot)

    def keep_snapshot(self, name: str) -> None:
        """Take a snapshot and keep it by name; `FieldError` when there are too many."""
        if not name:
            raise FieldError("name", "must not be empty")
        if name not in self.snapshots and len(self.snapshots) >= MOST_SNAPSHOTS:
            raise FieldError("name", f"there are {MOST_SNAPSHOTS} snapshots, which is the limit; reset removes them")
        self.snapshots[name] = self.snapshot()

    def clock(self) -> float:
        """Return the seconds of the sandbox's clock."""
        return self._environment.clock()

    @property
    def rate(self) -> RateLimit | None:
        """The rate limit of each token."""
        return self._service.counter.limit if self._service.counter else None

    def set_rate(self, rate: RateLimit | None) -> None:
        """Set the rate limit and restart the count; None for no limit."""
        self._service.counter = RequestCounter(rate, self._environment.clock) if rate else None

    @property
    def latency(self) -> tuple[float, float]:
        """Seconds of latency and jitter."""
        return self._delays.latency, self._delays.jitter

    def delivery(self, webhook_id: str, event_type: str, content: Mapping[str, JSON]) -> Delivery:
        """Return a signed delivery to a webhook; `FieldError` if there is no such webhook."""
        webhook = stored_webhook(self.seeded.platform, webhook_id)
        return self._signed(webhook, event_type, content, itwin_id=webhook.itwin_id)

    def deliver_change(self, itwin_id: str) -> None:
        """Post to the webhooks that subscribe to updates of an iTwin. Called within the loop."""
        if not self.settings.deliver:
            return
        for webhook in subscribers(self.seeded.platform, itwin_id):
            self.server.run_later(self._post(self._signed(webhook, UPDATED, {"iTwinId": itwin_id}, itwin_id=itwin_id)))

    def _signed(
        self, webhook: StoredWebhook, event_type: str, content: Mapping[str, JSON], *, itwin_id: str
    ) -> Delivery:
        message_id, now = new_uuid(self._message_ids), self._environment.now()
        return signed_delivery(webhook, event_type, content, itwin_id=itwin_id, message_id=message_id, now=now)

    async def _post(self, delivery: Delivery) -> None:
        self.deliveries.append(await post(delivery, self.sleep))
        del self.deliveries[:-MOST_DELIVERIES]

    def set_latency(self, latency: float, jitter: float) -> None:
        """Set by how many seconds every response is delayed."""
        self._delays = _Delays(latency, jitter)

    def faults(self) -> tuple[Fault, ...]:
        """Return the pending faults."""
        return self._plan.pending()

    def unused_faults(self) -> tuple[Fault, ...]:
        """Return the pending faults that have never fired."""
        return self._plan.unused()

    def add_fault(self, fault: Fault) -> None:
        """Add a fault."""
        if fault.name == REFUSE and fault.seconds is not None:
            seconds = fault.seconds
            self.server.run_in_loop(lambda: self._refuse(seconds))
        else:
            self._plan.add(fault)

    def clear_faults(self) -> None:
        """Remove all faults, listen again, and accept the tokens again that a fault has ended."""
        self._plan.clear()
        self.tokens.restore()
        if self.server.is_running:
            self.server.run_in_loop(self.server.accept_connections)

    def _begin(self) -> None:
        if self.settings.as_seen:
            for fault in SEEN_FAULTS:
                self._plan.add(fault, standing=True)
        self.tokens.register(self.settings.token)
        self.set_rate(self.settings.rate)
        self.set_latency(self.settings.latency, self.settings.jitter)

    def next_delay(self) -> float:
        """Return the seconds by which the next response is delayed."""
        return self._delays.latency + self._environment.random.random() * self._delays.jitter

    def _refuse(self, seconds: float) -> None:
        self.server.refuse_connections()
        self.server.run_later(self._listen_again(seconds))

    async def _listen_again(self, seconds: float) -> None:
        await self._environment.sleep(seconds)
        self.server.accept_connections()
