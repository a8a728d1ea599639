"""The public face: the sandbox from `async with` to its end."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType, TracebackType
from typing import Self

from ._faults.plan import Fault, FaultName
from ._server.composition import Behavior, Composition, Environment
from ._server.records import RecordedRequest
from ._service.credentials import ALL_PERMISSIONS, ALL_SCOPES
from ._service.rate_limit import RateLimitLike, rate_limit_of
from ._service.retry_after import RetryAfter
from ._service.seeding import seeded_platform
from ._service.state import source_of

DEFAULT_TOKEN = "sandbox-token"  # noqa: S105 - opens nothing but a sandbox


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Sandbox:
    """The service on the loopback interface, from `async with` to its end.

    `itwins` is how many iTwins the default listing shows, at least 1, the Account among them; Inactive ones come on
    top. `objects` is how many objects the seeded scene has. The same `seed` gives the same data.

    `rate` limits every token: `"100/60"`, a `RateLimit`, or any value with `requests` and `per` (seconds); None for no
    limit. Every response is held back for `latency` seconds and up to `jitter` seconds more. With `as_seen` the service
    behaves as it has been seen to beyond its description. `path_prefix` is a path such as `/api` that the
    service lies below. With `any_token=False` only `token` and those from `add_token` are taken; `vendor` is
    the only vendor word that Accept may name, None for any. `port` 0 takes a free one.

    `clock` (monotonic seconds) measures rate limits, token expiry and records, `now` (aware) dates what is stored and
    sent, `sleep` waits. `ValueError` for an argument that makes no sense; `OSError` when the address is taken.

    Source: the whole description; sections 4 to 9 for what is returned.
    """

    def __init__(
        self,
        *,
        itwins: int = 250,
        objects: int = 500,
        seed: int = 1,
        rate: str | RateLimitLike | None = None,
        latency: float = 0.0,
        jitter: float = 0.0,
        as_seen: bool = False,
        path_prefix: str = "",
        any_token: bool = True,
        vendor: str | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = _utc_now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        _check_arguments(itwins=itwins, objects=objects, latency=latency, jitter=jitter, path_prefix=path_prefix)
        seeded = seeded_platform(itwins=itwins, objects=objects, seed=seed, as_seen=as_seen, now=now)
        environment = Environment(
            clock=clock, now=now, sleep=sleep, chance=source_of(seed, "jitter"), host=host, port=port
        )
        behavior = Behavior(
            path_prefix=path_prefix,
            any_token=any_token,
            vendor=vendor,
            rate=None if rate is None else rate_limit_of(rate),
            latency=latency,
            jitter=jitter,
            as_seen=as_seen,
        )
        self._path_prefix = path_prefix
        self._seeded = seeded
        self._composition = Composition(seeded, environment, behavior)
        self.token = DEFAULT_TOKEN
        self.add_token(self.token)

    def __repr__(self) -> str:
        composition = self._composition
        return f"<Sandbox {composition.address if composition.server.port else 'not started'}>"

    async def __aenter__(self) -> Self:
        await self._composition.server.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._composition.server.stop()

    @property
    def base_url(self) -> str:
        """The base address for clients, path prefix included, without a slash at its end; known once started."""
        if not self._composition.server.port:
            raise RuntimeError("the sandbox has no address before `async with` has started it")
        return self._composition.address + self._path_prefix

    @property
    def requests(self) -> list[RecordedRequest]:
        """Every request so far as it ended; beyond 100,000 the older half goes. Clear the list to start over."""
        return self._composition.recorder.records

    @property
    def account_id(self) -> str:
        """The primary Account iTwin."""
        return self._seeded.platform.account_id

    @property
    def itwin_id(self) -> str:
        """The iTwin that owns the seeded repositories and the seeded scene."""
        return self._seeded.itwin_id

    @property
    def repository_id(self) -> str:
        """A repository of class GeographicInformationSystem and sub class WebMapService."""
        return self._seeded.repository_ids["WebMapService"]

    @property
    def repository_ids(self) -> Mapping[str, str]:
        """The seeded repositories by sub class; `Storage`, which cannot be updated, by its class."""
        return MappingProxyType(dict(self._seeded.repository_ids))

    @property
    def scene_id(self) -> str:
        """The seeded scene."""
        return self._seeded.scene_id

    @property
    def webhook_id(self) -> str:
        """A seeded webhook of `itwin_id`, not active yet."""
        return self._seeded.webhook_id

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults that are still to come, with the counts that are left."""
        return self._composition.faults()

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
        """Take `token` for a caller who may do everything that is not taken away here.

        An organization administrator holds every permission everywhere, so `permissions` (`itwins_modify`,
        `webhooks_maintainer`) decide only without that role, and where the caller is a member; `member_of` (iTwin ids,
        None for all) decides what the caller lists. `scopes` are `itwin-platform` and `webhooks:modify`. After
        `expires_in` seconds of the sandbox's clock the token gives 401. Registering a token again replaces what it
        entitled to; `ValueError` when the text cannot be a bearer token.

        Source: section 5.
        """
        self._composition.tokens.register(
            token,
            organization_administrator=organization_administrator,
            service_application=service_application,
            permissions=permissions,
            scopes=scopes,
            member_of=member_of,
            expires_in=expires_in,
        )

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
        """Let the next `count` requests (None: all) to `operation` (None: to any) meet a fault, after `skip` others.

        The names, and what each does, are the table `itwin_platform_sandbox.FAULTS`; operations have the names
        that `sandbox.requests` shows. `seconds` is how long `stall`, `trickle` and `refuse` last, and what
        `rate_limited` and `unavailable` say to wait in the form `retry_after`. `origin` is where `next_foreign` leads.
        Faults happen in the order in which they were asked for. `ValueError` for a name or number that makes no sense.
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
        self._composition.add_fault(fault)

    def clear_faults(self) -> None:
        """Let no more faults happen; a service that rejects connections takes them again."""
        self._composition.clear_faults()


def _check_arguments(*, itwins: int, objects: int, latency: float, jitter: float, path_prefix: str) -> None:
    if itwins < 1:
        raise ValueError("itwins counts the Account too, so it is at least 1; a token with member_of=() sees none")
    if objects < 0 or latency < 0 or jitter < 0:
        raise ValueError("objects, latency and jitter are not negative")
    if path_prefix and (not path_prefix.startswith("/") or path_prefix.endswith("/")):
        raise ValueError(f"a path prefix begins with a slash and ends without one, such as /api, not {path_prefix!r}")
