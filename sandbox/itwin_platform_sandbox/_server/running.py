"""One sandbox: its stored data, service, faults, journal and server, and its controls."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated

import msgspec

from .._faults.catalogue import FaultName
from .._faults.faulty_service import Decision, FaultyService
from .._faults.plan import Fault, FaultPlan, HeaderName, HeaderValue, check_headers
from .._faults.scripted_responses import any_response, dated
from .._service.credentials import TokenRights, Tokens
from .._service.document import values_of
from .._service.json_values import JSON, FieldError, Seconds, check_choice, check_json
from .._service.messages import APIRequest, ServiceResponse
from .._service.rate_limit import RequestCounter, ServiceRateLimit
from .._service.service import Service
from .._service.state import Platform, Snapshot, new_uuid, source_of, stored_webhook
from .deliveries import Delivery, signed_delivery
from .journal import Recorder
from .server import LoopServer, throwaway_certificate
from .settings import CONTROL_PATH, ServiceClock, Settings, reachable_host

DEFAULT_TOKEN = "sandbox-token"  # noqa: S105 - opens nothing but a sandbox
REFUSE: FaultName = "refuse"


class Latency(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The delay of every response in seconds."""

    latency: Seconds


class Advance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The seconds to add to the clock of the service."""

    seconds: Seconds


class OtherRoute(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A route that the service does not have, and its response: the arguments of `Sandbox.respond`."""

    method: Annotated[str, msgspec.Meta(pattern=r"^[A-Z]+\Z")]
    path: Annotated[str, msgspec.Meta(pattern=r"^/[!-~]*\Z")]
    status: Annotated[int, msgspec.Meta(ge=200, le=599)] = 200
    json: object = None
    headers: dict[HeaderName, HeaderValue] = {}

    def __post_init__(self) -> None:
        if f"{self.path}/".startswith(f"{CONTROL_PATH}/") or {"?", "#"} & set(self.path):
            raise FieldError("path", "must be a path, without a query, outside of the control interface")
        check_headers(self.headers)
        check_json("json", self.json)


class RunningSandbox:
    """The implementation of `Sandbox` and of the control interface."""

    def __init__(
        self,
        platform: Platform,
        settings: Settings,
        *,
        clock: ServiceClock,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self.platform: Platform = platform
        self._start: Snapshot = self.platform.snapshot()
        self.settings: Settings = settings
        self.clock: ServiceClock = clock
        self.sleep: Callable[[float], Awaitable[None]] = sleep
        self.tokens: Tokens = Tokens(any_token=settings.any_token, clock=clock.seconds)
        self.recorder: Recorder = Recorder(clock.seconds)
        self._plan = FaultPlan(settings.path_prefix)
        self.other_routes: dict[tuple[str, str], OtherRoute] = {}
        self._service = Service(
            platform=platform,
            tokens=self.tokens,
            path_prefix=settings.path_prefix,
            vendor=settings.vendor,
            public_url=settings.public_url.rstrip("/") if settings.public_url else None,
            strict=settings.strict,
            now=clock.now,
        )
        self.service: FaultyService = FaultyService(
            service=self._service, plan=self._plan, tokens=self.tokens, platform=self.platform, now=clock.now
        )
        self.authority: bytes | None
        tls, self.authority = throwaway_certificate(reachable_host(settings.host)) if settings.tls else (None, None)
        self.server: LoopServer = LoopServer(host=settings.host, port=settings.port, tls=tls, sleep=sleep)
        self._begin()

    @property
    def address(self) -> str:
        """Scheme, host and port; a loopback host when the sandbox listens on every interface."""
        host = reachable_host(self.settings.host)
        scheme = "https" if self.settings.tls else "http"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.server.port}"

    @property
    def base_url(self) -> str:
        """The base URL that clients on this machine use."""
        return self.address + self.settings.path_prefix

    def reset(self) -> None:
        """Restore the state of the start, and end every request in flight. Called within the loop."""
        self._plan.clear()
        self.recorder.reset()
        self.server.accept_connections()
        self.platform.restore(self._start)
        self.tokens.clear()
        self.other_routes.clear()
        self.clock.advanced = 0.0
        self._begin()

    def _begin(self) -> None:
        # Message ids restart, so that each test gets the same ids.
        self._message_ids = source_of(1, "messages")
        self.tokens.register(TokenRights(token=DEFAULT_TOKEN))
        self.set_rate(self.settings.rate)
        self.latency: float = self.settings.latency

    def in_loop(self, action: Callable[[], None]) -> None:
        """Run an action within the loop of the server; if the server is not running, call it directly."""
        if self.server.is_running:
            self.server.run_in_loop(action)
        else:
            action()

    def add_token(self, rights: TokenRights) -> None:
        """Register a token; `FieldError` for a membership of an iTwin that is not stored."""
        for itwin_id in rights.member_of or ():
            if itwin_id.lower() not in self.platform.itwins:
                raise FieldError("member_of", f"no iTwin with the id {itwin_id[:60]!r} is stored")
        self.tokens.register(rights)

    @property
    def rate(self) -> ServiceRateLimit | None:
        """The rate limit of each token."""
        return self._service.counter.limit if self._service.counter else None

    def set_rate(self, rate: ServiceRateLimit | None) -> None:
        """Set the rate limit and restart the count; None for no limit."""
        self._service.counter = RequestCounter(rate, self.clock.seconds) if rate else None

    def add_route(self, route: OtherRoute) -> None:
        """Set the response of a route that the service does not have; `FieldError` for the route of an operation."""
        if self.service.route(APIRequest(method=route.method, path=route.path)) is not None:
            raise FieldError("path", "belongs to an operation: use the fault respond instead")
        self.other_routes[route.method, route.path] = route

    def decide_other(self, route: OtherRoute) -> Decision:
        """Return the response of a route that the service does not have."""
        response = any_response(route.status, route.json, route.headers, as_json=True)
        return Decision(dated(response, self.clock.now()), ServiceResponse(route.status, None))

    def delivery(self, webhook_id: str, event_type: str, content: Mapping[str, JSON]) -> Delivery:
        """Return a signed delivery to a webhook; `FieldError` for an unknown webhook or type of event."""
        webhook = stored_webhook(self.platform, webhook_id)
        check_choice("event_type", event_type, values_of("EventType"))
        message_id, now = new_uuid(self._message_ids), self.clock.now()
        return signed_delivery(webhook, event_type, content, itwin_id=webhook.itwin_id, message_id=message_id, now=now)

    def faults(self) -> tuple[Fault, ...]:
        """Return the pending faults."""
        return self._plan.pending()

    def unused_faults(self) -> tuple[Fault, ...]:
        """Return the pending faults that have never fired."""
        return self._plan.unused()

    def add_fault(self, fault: Fault) -> None:
        """Add a fault."""
        seconds = fault.seconds
        if fault.name == REFUSE and seconds is not None:
            self.server.run_in_loop(lambda: self.server.refuse_connections(seconds))
        else:
            self._plan.add(fault)

    def clear_faults(self) -> None:
        """Remove all faults, end refusals and held requests, and restore expired tokens. Called within the loop."""
        self._plan.clear()
        self.tokens.restore()
        self.recorder.end_held()
        self.server.accept_connections()
