"""The public face: the sandbox from `async with` to its end."""

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self
from urllib.parse import urlsplit

from ._faults.catalogue import FaultName
from ._faults.plan import Fault
from ._server.gatekeeping import is_origin
from ._server.records import RecordedRequest
from ._server.running import RunningSandbox
from ._server.settings import Environment, Settings
from ._service.credentials import ALL_PERMISSIONS, ALL_SCOPES
from ._service.fields import LARGEST_NUMBER, FieldError
from ._service.rate_limit import RateLimitLike, rate_limit_of
from ._service.retry_after import RetryAfter
from ._service.seeding import SeedDocument, Seeded, platform_of_document, read_seed_file, seeded_platform
from ._service.state import Snapshot, source_of

DEFAULT_TOKEN = "sandbox-token"  # noqa: S105 - opens nothing but a sandbox


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Sandbox:
    """The service on the loopback interface, from `async with` to its end.

    Args:
        itwins: How many iTwins the default listing shows, at least 1, the Account among them; Inactive ones are extra.
        objects: How many objects the seeded scene has.
        seed: A number: the same number gives the same data. Or exactly the data that a test needs: a mapping, or the
            path of a JSON or YAML file, with any of `itwins`, `repositories`, `scenes`, `detectors` and `webhooks` as
            lists in the names of the wire; then `itwins` and `objects` have no meaning.
        rate: The limit for every token: `"100/60"`, a `RateLimit`, or any value with `requests` and `per` (seconds).
        latency: Seconds for which every response is held back.
        jitter: Up to so many seconds more.
        as_seen: Behave as the service has been seen to beyond its description.
        strict: Reject unknown and read-only fields and empty or implausible values; otherwise the records note them.
        path_prefix: A path such as `/api` below which the service lies.
        public_url: The base URL of a proxy in front of the sandbox, for links to further pages.
        any_token: False: only `token` and those from `add_token` are accepted.
        vendor: The only vendor word that Accept may name; None for any.
        host: The address to listen on.
        port: 0 for a free one.
        tls: Serve HTTPS with a certificate made for this run; `ca_file` verifies it. Needs the extra `tls`.
        cors: Origins such as `http://localhost:3000` whose pages may use the sandbox; `*` for every page.
        allow_hosts: Names that Host may have beside loopback names and addresses; `*` for every name.
        clock: Monotonic seconds for rate limits, token expiry and records.
        now: The aware time that dates what is stored and sent.
        sleep: How the sandbox waits.

    Raises:
        ValueError: An argument makes no sense.
        ImportError: A part of the sandbox is not installed; the message names it.
        OSError: From `async with`: the address is in use.

    Source: the whole description; sections 4 to 9 for the responses.
    """

    def __init__(
        self,
        *,
        itwins: int = 250,
        objects: int = 500,
        seed: int | str | os.PathLike[str] | SeedDocument = 1,
        rate: str | RateLimitLike | None = None,
        latency: float = 0.0,
        jitter: float = 0.0,
        as_seen: bool = False,
        strict: bool = False,
        path_prefix: str = "",
        public_url: str | None = None,
        any_token: bool = True,
        vendor: str | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: bool = False,
        cors: str | Iterable[str] = (),
        allow_hosts: str | Iterable[str] = (),
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = _utc_now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        _check_counts(itwins=itwins, objects=objects, port=port)
        _check_delay(latency, jitter)
        settings = Settings(
            host=host,
            port=port,
            path_prefix=_checked_prefix(path_prefix),
            public_url=_checked_public_url(public_url),
            any_token=any_token,
            token=DEFAULT_TOKEN,
            vendor=vendor,
            rate=None if rate is None else rate_limit_of(rate),
            latency=latency,
            jitter=jitter,
            as_seen=as_seen,
            strict=strict,
            tls=tls,
            cors=_checked_origins((cors,) if isinstance(cors, str) else tuple(cors)),
            allowed_hosts=(allow_hosts,) if isinstance(allow_hosts, str) else tuple(allow_hosts),
        )
        chance = source_of(seed if isinstance(seed, int) else 1, "jitter")
        environment = Environment(clock=clock, now=now, sleep=sleep, chance=chance)
        document = _document(seed)

        def seeded() -> Seeded:
            if document is not None:
                return platform_of_document(document, now=now)
            number = seed if isinstance(seed, int) else 1
            return seeded_platform(itwins=itwins, objects=objects, seed=number, as_seen=as_seen, now=now)

        self._running = RunningSandbox(seeded, environment, settings)
        self._ca_folder: tempfile.TemporaryDirectory[str] | None = None
        self.token = DEFAULT_TOKEN

    def __repr__(self) -> str:
        running = self._running
        return f"<Sandbox {running.address if running.server.port else 'not started'}>"

    async def __aenter__(self) -> Self:
        await self._running.server.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._running.server.stop()
        if self._ca_folder is not None:
            self._ca_folder.cleanup()
            self._ca_folder = None

    @property
    def base_url(self) -> str:
        """The base URL for clients, path prefix included, without a slash at its end; known once started."""
        if not self._running.server.port:
            raise RuntimeError("the sandbox has no address before `async with` has started it")
        return self._running.base_url

    @property
    def ca_file(self) -> str:
        """A PEM file with the authority of a `tls` sandbox, for `verify=` of a client; gone after `async with`."""
        if self._running.certificate is None:
            raise RuntimeError("only a sandbox with tls=True has a certificate")
        if self._ca_folder is None:
            self._ca_folder = tempfile.TemporaryDirectory(prefix="itwin-sandbox-")
            Path(self._ca_folder.name, "ca.pem").write_bytes(self._running.certificate.authority)
        return str(Path(self._ca_folder.name, "ca.pem"))

    @property
    def requests(self) -> list[RecordedRequest]:
        """The journal: every request so far as it ended. Clear the list to start over.

        Beyond about 16 MiB, which is some 20,000 requests without bodies, the older ones are dropped.
        """
        return self._running.recorder.records

    @property
    def account_id(self) -> str:
        """The primary Account iTwin."""
        return self._running.seeded.platform.account_id

    @property
    def itwin_id(self) -> str:
        """The iTwin that owns the seeded repositories and the seeded scene."""
        return self._running.seeded.itwin_id

    @property
    def repository_id(self) -> str:
        """A repository of class GeographicInformationSystem and sub class WebMapService, or the first one of a seed."""
        return _present("repository", next(iter(self._running.seeded.repository_ids.values()), None))

    @property
    def repository_ids(self) -> Mapping[str, str]:
        """The seeded repositories by sub class; those without one by class, such as `Storage`, which is read-only."""
        return MappingProxyType(dict(self._running.seeded.repository_ids))

    @property
    def scene_id(self) -> str:
        """The seeded scene."""
        return _present("scene", self._running.seeded.scene_id)

    @property
    def webhook_id(self) -> str:
        """A seeded webhook of `itwin_id`, not active yet."""
        return _present("webhook", self._running.seeded.webhook_id)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults that are still to come, with the counts that are left."""
        return self._running.faults()

    @property
    def unused_faults(self) -> tuple[Fault, ...]:
        """The faults that were requested and have never fired; a test with the fixture fails if there is one."""
        return self._running.unused_faults()

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
    ) -> None:
        """Accept `token` for a caller who may do everything that is not taken away here.

        Registering a token again replaces its rights and ends its expiry.

        Args:
            token: The text of a bearer token.
            organization_administrator: Holds every permission everywhere.
            service_application: May update webhooks.
            permissions: `itwins_modify`, `webhooks_maintainer`; for a caller without that role, where it is a member.
            scopes: `itwin-platform` and `webhooks:modify`.
            member_of: The iTwin ids that the caller lists; None for all.
            expires_in: After so many seconds of the sandbox's clock the token gives 401.

        Raises:
            ValueError: The text cannot be a bearer token.

        Source: section 5.
        """
        self._running.add_token(
            token,
            organization_administrator=organization_administrator,
            service_application=service_application,
            permissions=permissions,
            scopes=scopes,
            member_of=member_of,
            expires_in=expires_in,
        )

    def remove_token(self, token: str) -> None:
        """Forget a registered token; with `any_token` it is then accepted as any other one is."""
        self._running.tokens.remove(token)

    def set_rate(self, rate: str | RateLimitLike | None) -> None:
        """Set the rate limit of every token and begin to count anew; None for no limit."""
        self._running.set_rate(None if rate is None else rate_limit_of(rate))

    def set_latency(self, latency: float, jitter: float = 0.0) -> None:
        """Set for how many seconds every response is held back, and up to how many more."""
        _check_delay(latency, jitter)
        self._running.set_latency(latency, jitter)

    def snapshot(self) -> Snapshot:
        """Return a copy of the stored data for `restore`."""
        return self._running.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Store what the snapshot has; tokens, faults and the journal stay as they are."""
        self._running.restore(snapshot)

    def reset(self) -> None:
        """Go back to the start: data, tokens, faults, rate limit, latency, journal, snapshots."""
        self._running.reset()

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
    ) -> None:
        """Let a fault happen to the next `count` requests on which it has an effect, after `skip` others.

        Faults happen in the order in which they were requested. A request on which a fault has no effect does not
        count: a first page for `next_null`, for example.

        Args:
            name: A name of the table `itwin_platform_sandbox.FAULTS`, which says what each fault does.
            operation: Only requests for this operation, in the names that `requests` shows; None for any.
            count: To how many requests it happens; None for all.
            skip: How many requests pass before.
            seconds: How long `stall`, `trickle` and `refuse` last, and the wait that `rate_limited` and `unavailable`
                name.
            retry_after: The form in which they name it.
            origin: Where `next_foreign` leads.

        Raises:
            ValueError: A name or number makes no sense.
        """
        self.add_fault(
            Fault(
                name=name,
                operation=operation,
                count=count,
                skip=skip,
                seconds=seconds,
                retry_after=retry_after,
                origin=origin,
            )
        )

    def add_fault(self, fault: Fault) -> None:
        """Let a fault happen that is at hand as a value; `fault(...)` makes one and adds it."""
        self._running.add_fault(fault)

    def clear_faults(self) -> None:
        """Let no more faults happen: listen again after `refuse`, accept tokens again after `token_expires`."""
        self._running.clear_faults()


def _present(what: str, found: str | None) -> str:
    if found is None:
        raise LookupError(f"the seed has no {what}")
    return found


def _document(seed: object) -> SeedDocument | None:
    if isinstance(seed, bool) or not isinstance(seed, int | str | os.PathLike | Mapping):
        raise FieldError("seed", "must be a number, the path of a file, or a mapping")
    if isinstance(seed, str | os.PathLike):
        return read_seed_file(Path(seed))
    return seed if isinstance(seed, Mapping) else None


def _check_counts(*, itwins: int, objects: int, port: int) -> None:
    if itwins < 1:
        raise FieldError("itwins", "counts the Account too, so it is at least 1; a token with member_of=() sees none")
    if objects < 0:
        raise FieldError("objects", "must not be negative")
    if not 0 <= port <= 65535:
        raise FieldError("port", f"must be between 0 and 65535, not {port}")


def _check_delay(latency: float, jitter: float) -> None:
    for name, seconds in (("latency", latency), ("jitter", jitter)):
        if not 0 <= seconds <= LARGEST_NUMBER:
            raise FieldError(name, f"must be between 0 and {LARGEST_NUMBER} seconds, not {seconds}")


def _checked_prefix(prefix: str) -> str:
    if prefix and (not prefix.startswith("/") or prefix.endswith("/")):
        raise FieldError("path_prefix", f"begins with a slash and ends without one, such as /api, not {prefix!r}")
    return prefix


def _checked_public_url(url: str | None) -> str | None:
    if url is None:
        return None
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise FieldError("public_url", f"must be a base URL such as https://proxy.example.com/api, not {url!r}")
    return url.rstrip("/")


def _checked_origins(origins: tuple[str, ...]) -> tuple[str, ...]:
    for origin in origins:
        if not is_origin(origin):
            raise FieldError("cors", f"must be origins such as http://localhost:3000, or *, not {origin!r}")
    return origins
