"""What a test reads and controls while the sandbox runs."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ._faults.catalogue import FaultName
from ._faults.plan import Fault
from ._server.argument_checks import check_delay
from ._server.records import RecordedRequest
from ._server.running import RunningSandbox
from ._service.credentials import ALL_PERMISSIONS, ALL_SCOPES
from ._service.rate_limit import RateLimitLike, rate_limit_of
from ._service.retry_after import RetryAfter
from ._service.state import Snapshot


class SandboxControls:
    """The journal, the ids of the seeded data, and the controls of a sandbox."""

    def __init__(self, running: RunningSandbox) -> None:
        self._running = running

    @property
    def requests(self) -> list[RecordedRequest]:
        """The journal: a record of every request, in the order in which they ended. Clear the list to start over.

        The journal keeps about 8 MiB, which is some 15,000 requests without bodies; then it drops the older half.
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
        """A repository of class GeographicInformationSystem and subclass WebMapService, or the first one of a seed."""
        return _present("repository", next(iter(self._running.seeded.repository_ids.values()), None))

    @property
    def repository_ids(self) -> Mapping[str, str]:
        """The seeded repositories by subclass; those without one by class, such as `Storage`, which is read-only."""
        return MappingProxyType(dict(self._running.seeded.repository_ids))

    @property
    def scene_id(self) -> str:
        """The seeded scene."""
        return _present("scene", self._running.seeded.scene_id)

    @property
    def webhook_id(self) -> str:
        """A seeded webhook of `itwin_id`, inactive at the start."""
        return _present("webhook", self._running.seeded.webhook_id)

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
        """Register `token` for a caller with every right that no argument removes.

        Registering a token again replaces its rights and ends its expiry.

        Args:
            token: The bearer token.
            organization_administrator: Whether the caller holds every permission everywhere.
            service_application: Whether the caller may update webhooks.
            permissions: Any of `itwins_modify` and `webhooks_maintainer`. They matter for a caller who is not an
                organization administrator, in the iTwins of which the caller is a member.
            scopes: Any of `itwin-platform` and `webhooks:modify`.
            member_of: The ids of the iTwins that the caller lists; None for all.
            expires_in: Seconds of the sandbox's clock after which requests with the token get 401.

        Raises:
            ValueError: The token cannot be a bearer token, or a permission does not exist.

        Source: section 5.
        """
        self._running.tokens.register(
            token,
            organization_administrator=organization_administrator,
            service_application=service_application,
            permissions=permissions,
            scopes=scopes,
            member_of=member_of,
            expires_in=expires_in,
        )

    def remove_token(self, token: str) -> None:
        """Remove a registered token; with `any_token` it is then accepted like any other."""
        self._running.tokens.remove(token)

    def set_rate(self, rate: str | RateLimitLike | None) -> None:
        """Set the rate limit of every token and restart the count; None for no limit."""
        self._running.set_rate(None if rate is None else rate_limit_of(rate))

    def set_latency(self, latency: float, jitter: float = 0.0) -> None:
        """Set by how many seconds every response is delayed, and the upper bound of a random extra delay."""
        check_delay(latency, jitter)
        self._running.set_latency(latency, jitter)

    def snapshot(self) -> Snapshot:
        """Return a copy of the stored data for `restore`."""
        return self._running.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Replace the stored data by that of a snapshot; tokens, faults and the journal do not change."""
        self._running.restore(snapshot)

    def reset(self) -> None:
        """Restore the state of the start: data, tokens, faults, rate limit, latency, journal and snapshots."""
        self._running.reset()

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
    ) -> None:
        """Add a fault for the next `count` requests on which it has an effect, after `skip` others.

        Faults fire in the order in which they were added. A request on which a fault has no effect does not count: a
        first page for `next_null`, for example.

        Args:
            name: A name of the table `itwin_platform_sandbox.FAULTS`, which says what each fault does.
            operation: Only requests for this operation, by its name in `requests`; None for any.
            count: How many requests the fault affects; None for all.
            skip: How many requests pass before.
            seconds: The duration of `stall`, `trickle` and `refuse`, and the delay that `rate_limited` and
                `unavailable` request.
            retry_after: The form in which `rate_limited` and `unavailable` request their delay.
            origin: The origin of the next link of `next_foreign`.

        Raises:
            ValueError: A name or number is wrong; the message names the argument.
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
        """Add a `Fault`; `fault(...)` makes one and adds it."""
        self._running.add_fault(fault)

    def clear_faults(self) -> None:
        """Remove all faults, end `refuse`, and accept the tokens again that `token_expires` has ended."""
        self._running.clear_faults()


def _present(kind: str, found: str | None) -> str:
    if found is None:
        raise LookupError(f"the seed has no {kind}")
    return found
