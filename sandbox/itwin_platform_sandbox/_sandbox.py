"""The public class."""

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Literal, Self, cast

from anyio.from_thread import start_blocking_portal

from ._faults.catalogue import FAULTS, FaultName
from ._faults.plan import Fault, fault_of
from ._server.control import application
from ._server.deliveries import Delivery
from ._server.journal import RecordedRequest, redacted
from ._server.running import DEFAULT_TOKEN, Advance, Latency, OtherRoute, RunningSandbox
from ._server.settings import ServiceClock, as_strings, settings_of
from ._service.credentials import ALL_PERMISSIONS, ALL_SCOPES, TokenRights
from ._service.examples import seeded_platform
from ._service.json_values import JSON, FieldError, checked
from ._service.rate_limit import RetryAfter, ServiceRateLimit, rate_limit_of
from ._service.seed_document import SeedDocument, platform_of_document, read_seed_file
from ._service.state import has_authentication, has_secret, stored_item

__all__ = ["FAULTS", "Delivery", "Fault", "RecordedRequest", "Sandbox", "ServiceRateLimit"]
StoredKind = Literal["itwin", "repository", "resource", "scene", "scene_object", "detector", "webhook"]


def _utc_now() -> datetime:
    return datetime.now(UTC)


# Source: all sections; sections 4 to 9 for the responses.
class Sandbox:
    """The service on the loopback interface, running inside `async with`.

    Args:
        itwins: Number of iTwins in the default listing, at least 1. The Account counts; Inactive iTwins are extra.
        objects: Number of objects in the seeded scene.
        seed: A number: the same number gives the same data. Or the exact data to store: a mapping, or the path of a
            JSON file, with any of the lists `itwins`, `repositories`, `scenes` and `webhooks`, in the field names of
            the wire. Then `itwins` and `objects` are ignored.
        rate: The rate limit of each token: `"100/60"` or a `ServiceRateLimit`.
        latency: Seconds by which every response is delayed.
        strict: Reject query parameters and fields that the specification does not have. By default the journal notes
            them.
        path_prefix: The path of the service, such as `/api`.
        public_url: The base URL of a proxy in front of the sandbox, used in links to further pages.
        any_token: Accept every bearer token. With False, accept only `token` and tokens registered by `add_token`.
        vendor: The only vendor that Accept may name; None for any.
        host: The address to listen on. With 0.0.0.0 or ::, every interface, `base_url` names a loopback address.
        port: The port to listen on; 0 for a free one.
        tls: Serve HTTPS with a new certificate, which clients verify with `ca_file`. Needs the extra `tls`.
        allow_hosts: Names that Host may have besides loopback names and addresses; `*` for every name.
        clock: Monotonic seconds for rate limits, token expiry and the journal.
        now: The aware time of stored data and of the header Date.
        sleep: Called for every delay.

    Raises:
        ValueError: An argument has a wrong value; the message names it.
        ImportError: An extra is not installed; the message names the packages.
        OSError: From `async with`: the address is in use.

    Example:
        >>> async with Sandbox(itwins=250) as sandbox:  # doctest: +SKIP
        ...     sandbox.fault("unavailable", operation="list_itwins")
    """

    def __init__(
        self,
        *,
        itwins: int = 250,
        objects: int = 500,
        seed: int | str | os.PathLike[str] | SeedDocument = 1,
        rate: str | ServiceRateLimit | None = None,
        latency: float = 0.0,
        strict: bool = False,
        path_prefix: str = "",
        public_url: str | None = None,
        any_token: bool = True,
        vendor: str | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: bool = False,
        allow_hosts: str | Iterable[str] = (),
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = _utc_now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        arguments = dict(locals())
        settings = settings_of(arguments)
        for name in ("clock", "now", "sleep"):
            if not callable(arguments[name]):
                raise FieldError(name, f"must be callable, not {type(arguments[name]).__name__}")
        document, number = _document(seed), seed if isinstance(seed, int) else 1

        service_clock = ServiceClock(clock, now)
        platform = (
            seeded_platform(itwins=itwins, objects=objects, seed=number, now=service_clock.now)
            if document is None
            else platform_of_document(document, now=service_clock.now)
        )
        self._running = RunningSandbox(platform, settings, clock=service_clock, sleep=sleep)
        self._ca_folder: tempfile.TemporaryDirectory[str] | None = None
        self._thread = ExitStack()
        self.token = DEFAULT_TOKEN

    def __repr__(self) -> str:
        running = self._running
        return f"<Sandbox {running.address if running.server.port else 'not started'}>"

    async def __aenter__(self) -> Self:
        await self._running.server.start(application(self._running))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._running.server.stop()
        if self._ca_folder is not None:
            self._ca_folder.cleanup()
            self._ca_folder = None

    def __enter__(self) -> Self:
        with ExitStack() as thread:
            portal = thread.enter_context(start_blocking_portal())
            thread.enter_context(portal.wrap_async_context_manager(self))
            self._thread = thread.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.close()

    @property
    def base_url(self) -> str:
        """The base URL for clients, with the path prefix and without a slash at its end; only inside `async with`."""
        if not self._running.server.port:
            raise RuntimeError("the sandbox has no address before `async with` has started it")
        return self._running.base_url

    @property
    def ca_file(self) -> str:
        """A PEM file with the authority of a `tls` sandbox, for `verify=` of a client; deleted after `async with`."""
        if self._running.authority is None:
            raise RuntimeError("only a sandbox with tls=True has a certificate")
        if self._ca_folder is None:
            self._ca_folder = tempfile.TemporaryDirectory(prefix="itwin-sandbox-")
            Path(self._ca_folder.name, "ca.pem").write_bytes(self._running.authority)
        return str(Path(self._ca_folder.name, "ca.pem"))

    @property
    def requests(self) -> list[RecordedRequest]:
        """The journal: a record of every request, in the order in which they ended. Clear the list to start over.

        The journal keeps 20,000 requests, or 16 MiB of them; then it drops the older half.
        """
        return self._running.recorder.records

    @property
    def account_id(self) -> str:
        """The primary Account iTwin."""
        return self._running.platform.account_id

    @property
    def itwin_id(self) -> str:
        """The iTwin that owns the seeded repositories and the seeded scene."""
        return self._running.platform.itwin_id

    @property
    def repository_id(self) -> str:
        """A repository of class GeographicInformationSystem and subclass WebMapService, or the first one of a seed."""
        return _present("repository", self._running.platform.first_id("repository"))

    @property
    def repository_ids(self) -> Mapping[str, str]:
        """The seeded repositories by subclass, or by class without one, such as `Storage`, which is read-only."""
        return MappingProxyType(self._running.platform.repository_ids)

    @property
    def scene_id(self) -> str:
        """The seeded scene."""
        return _present("scene", self._running.platform.first_id("scene"))

    @property
    def webhook_id(self) -> str:
        """A seeded webhook of `itwin_id`, inactive at the start."""
        return _present("webhook", self._running.platform.first_id("webhook"))

    @property
    def webhook_ids(self) -> Mapping[str, str]:
        """The first webhook of each scope: `iTwin` and `Account`."""
        return MappingProxyType(self._running.platform.webhook_ids)

    def stored(self, kind: StoredKind, id: str) -> dict[str, object]:
        """Return a copy of a stored item, with `<hidden>` in place of secrets.

        Args:
            kind: Its kind. A scene has its objects, and a resource may belong to any repository.
            id: Its id, of a detector its name.

        Raises:
            LookupError: Nothing of this kind has this id.
            ValueError: The kind does not exist.
        """
        stored = stored_item(self._running.platform, kind, id)
        if stored is None:
            raise LookupError(f"no {kind} with the id {id!r} is stored")
        copied = redacted(stored)
        return {**copied} if isinstance(copied, dict) else {}

    def has_secret(self, webhook_id: str, secret: str) -> bool:
        """Return whether a webhook has this secret.

        Raises:
            ValueError: There is no such webhook.
        """
        return has_secret(self._running.platform, webhook_id, secret)

    def has_authentication(self, repository_id: str, authentication: Mapping[str, object] | None) -> bool:
        """Return whether a repository has this authentication, None for none.

        Args:
            repository_id: The repository.
            authentication: The whole object in the field names of the wire, such as
                `{"type": "Basic", "username": ..., "password": ...}`.

        Raises:
            ValueError: There is no such repository.
        """
        value = cast("JSON", None if authentication is None else dict(authentication))
        return has_authentication(self._running.platform, repository_id, value)

    def delivery(self, webhook_id: str, event_type: str, content: Mapping[str, object]) -> Delivery:
        """Return a delivery to a webhook, signed with its secret, to hand to a receiver under test.

        Args:
            webhook_id: The webhook.
            event_type: Such as `iTwins.iTwinUpdated.v1`.
            content: The event itself.

        Returns:
            `body`, `headers` and `url` of the POST. The header `Signature` is `sha256=` and the HMAC-SHA256 of `body`.

        Raises:
            ValueError: There is no such webhook, or no such type of event.
        """
        return self._running.delivery(webhook_id, event_type, cast("Mapping[str, JSON]", content))

    # Source: sections 4.4 and 5.
    def add_token(
        self,
        token: str,
        *,
        organization_administrator: bool = True,
        service_application: bool = True,
        permissions: Iterable[str] = ALL_PERMISSIONS,
        scopes: Iterable[str] = ALL_SCOPES,
        member_of: Iterable[str] | None = None,
        expires_in: float | None = None,
        organization: bool = True,
    ) -> None:
        """Register `token` for a caller with every right that no argument removes.

        Registering a token again replaces its rights and ends its expiry.

        Args:
            token: The bearer token.
            organization_administrator: Whether the caller holds every permission everywhere.
            service_application: Whether the caller may update webhooks.
            permissions: Any of `itwins_modify` and `webhooks_maintainer`. They apply to a caller who is not an
                organization administrator, in the iTwins that have the caller as a member.
            scopes: Any of `itwin-platform` and `webhooks:modify`.
            member_of: The ids of the iTwins that the caller lists; None for all.
            expires_in: Seconds of the sandbox's clock after which requests with the token get 401.
            organization: Whether the caller belongs to the organization. A caller without one has an Account iTwin of
                its own, is no organization administrator, and is a member of that Account and of `member_of` only.

        Raises:
            ValueError: The token cannot be a bearer token, or a permission does not exist.
        """
        arguments = {name: value for name, value in locals().items() if name != "self"}
        arguments.update({name: as_strings(arguments[name]) for name in ("permissions", "scopes", "member_of")})
        self._running.add_token(checked(TokenRights, arguments))

    def set_rate(self, rate: str | ServiceRateLimit | None) -> None:
        """Set the rate limit of every token and restart the count; None for no limit."""
        self._running.set_rate(None if rate is None else rate_limit_of(rate))

    def set_latency(self, latency: float) -> None:
        """Set the delay of every response in seconds."""
        self._running.latency = checked(Latency, {"latency": latency}).latency

    def advance(self, seconds: float) -> None:
        """Put the clock of the service forward: tokens expire, rate limits begin anew, and its time is later.

        A client that waits keeps waiting in real time, so let a 429 request a short delay. A reset puts the clock back.

        Raises:
            ValueError: The seconds are negative or no number.
        """
        self._running.clock.advance(checked(Advance, {"seconds": seconds}).seconds)

    def respond(
        self,
        method: str,
        path: str,
        *,
        status: int = 200,
        json: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Respond to a route that the service does not have, such as the token endpoint of an identity provider.

        The response holds until a reset; the journal has the requests. A later response of a route replaces it.

        Args:
            method: Such as `POST`.
            path: Such as `/connect/token`, at the root of the sandbox's address: no `path_prefix` is added.
            status: The status, from 200 to 599.
            json: The body, sent as JSON; None for no body.
            headers: The headers besides Date, Content-Length and, for JSON, Content-Type.

        Raises:
            ValueError: An argument is wrong, or the route belongs to an operation; the message names the argument.
        """
        values = {"method": method, "path": path, "status": status, "json": json, "headers": headers or {}}
        self._running.add_route(checked(OtherRoute, values))

    def reset(self) -> None:
        """Restore the state of the start: data, tokens, faults, rate limit, latency, clock and journal.

        Requests in flight end: their connections are closed, and they have no effect and no record.
        """
        self._running.in_loop(self._running.reset)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The pending faults, with the counts that remain."""
        return self._running.faults()

    @property
    def unused_faults(self) -> tuple[Fault, ...]:
        """The faults that were added and have never fired. With the pytest fixture, such a fault fails the test."""
        return self._running.unused_faults()

    def fault(
        self,
        name: FaultName,
        *,
        operation: str | None = None,
        count: int | None = 1,
        skip: int = 0,
        seconds: float | None = None,
        retry_after: RetryAfter = "seconds",
        origin: str = "http://foreign.invalid",
        match: Mapping[str, object] | None = None,
        status: int = 500,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Add a fault for the next `count` requests on which it has an effect, after `skip` others.

        Faults fire in the order in which they were added. A request on which a fault has no effect does not count: a
        first page for `next_null`, for example.

        Args:
            name: A name of the table `itwin_platform_sandbox.FAULTS`, which describes the effect of each fault.
            operation: Only requests for this operation, by its name in `requests`; None for any.
            count: How many requests the fault affects; None for all.
            skip: How many requests pass before.
            seconds: The duration of `stall`, `trickle` and `refuse`, and the delay that `rate_limited` and
                `unavailable` request.
            retry_after: The form in which `rate_limited` and `unavailable` request their delay.
            origin: The origin of the next link of `next_foreign`.
            match: Only requests with these parts: `path`, in which `*` matches any characters, `query`, a mapping of
                parameters, and `body`, a mapping of JSON fields, such as `{"body": {"displayName": "Roads"}}`.
            status: The status of `respond`, from 200 to 599.
            body: The body of `respond`: a string is sent unchanged, None means no body, and other values become JSON.
            headers: The headers of `respond`.

        Raises:
            ValueError: A name or number is wrong; the message names the argument.
        """
        arguments = {name: value for name, value in locals().items() if name != "self"}
        self._running.add_fault(fault_of({**arguments, "headers": headers or {}}))

    def clear_faults(self) -> None:
        """Remove all faults, end `refuse` and held requests, and accept tokens that `token_expires` has expired."""
        self._running.in_loop(self._running.clear_faults)


def _document(seed: object) -> SeedDocument | None:
    if isinstance(seed, bool) or not isinstance(seed, int | str | os.PathLike | Mapping):
        raise FieldError("seed", "must be a number, the path of a file, or a mapping")
    if isinstance(seed, str | os.PathLike):
        return read_seed_file(Path(seed))
    return seed if isinstance(seed, Mapping) else None


def _present(kind: str, found: str | None) -> str:
    if found is None:
        raise LookupError(f"the seed has no {kind}")
    return found
