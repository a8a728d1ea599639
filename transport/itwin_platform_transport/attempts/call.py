"""One call: what it carries to its attempts, where it is, and its time."""

import asyncio
import enum
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ..connections.messages import Request, Response
from ..policy import BackoffPolicy, Outcome

if TYPE_CHECKING:
    from .tracing import Trace


class CallInfo(NamedTuple):
    """What a call carries to its attempts.

    Args:
        method: the HTTP method.
        route: the template of the path; the path itself where no template is known.
        policy: the limits of this call.
        has_template: whether the route is a template.
    """

    method: str
    route: str
    policy: BackoffPolicy
    has_template: bool = True


class Attempt(NamedTuple):
    """What one attempt ended in.

    Args:
        outcome: how the policy sees it.
        delay: how long to wait before a retry, in seconds.
        response: the response, read; None when none came.
        error: what came instead of a response.
        retry_after: the delay that the service named, in seconds.
    """

    outcome: Outcome
    delay: float
    response: Response | None = None
    error: Exception | None = None
    retry_after: float | None = None

    @property
    def status(self) -> int | None:
        """The status of the response; None when none came."""
        return None if self.response is None else self.response.status_code

    @property
    def error_name(self) -> str | None:
        """The class of the error; None when a response came."""
        return None if self.error is None else type(self.error).__name__


class Place(enum.Enum):
    """Where a call is. It holds a permit only in flight, and keeps its ticket everywhere."""

    QUEUED = "in the gate's queue, or beside it, before its first attempt"
    WAITING = "in the queue again, beside the gate, or in the delay before a retry"
    FOR_TOKEN = "waits for a token"
    IN_FLIGHT = "an attempt has started and has not ended"


class Call:
    """A call as other tasks see it: one timer ends it, wherever it is.

    The timer is set three times: to the queue timeout when the call begins, to the deadline when the gate first admits
    it or it begins to wait for an operation that is down, and to now when the client is closed.
    """

    __slots__ = (
        "began_at",
        "clock",
        "handled",
        "info",
        "operation",
        "place",
        "request",
        "started_at",
        "ticket",
        "timer",
        "trace",
        "was_closed",
    )

    def __init__(self, request: Request, info: CallInfo, *, ticket: int, clock: Callable[[], float]) -> None:
        self.request, self.info, self.ticket, self.clock = request, info, ticket, clock
        #: What is down or limited together: the operation, or everything at a host when that is not known.
        self.operation: tuple[str, str] = (info.method, info.route if info.has_template else request.url.host)
        self.timer: asyncio.Timeout = asyncio.timeout(info.policy.queue_timeout)
        self.began_at: float = clock()
        #: What the application was handling when it made the call: its tracebacks are its own.
        self.handled: BaseException | None = sys.exception()
        #: When its deadline started.
        self.started_at: float | None = None
        self.place: Place = Place.QUEUED
        self.trace: Trace | None = None
        self.was_closed: bool = False

    @property
    def scopes(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What may be down: its path, and its operation."""
        return (*self.operation, self.request.url.path), self.operation

    @property
    def elapsed(self) -> float:
        """The seconds since its deadline started."""
        return 0.0 if self.started_at is None else self.clock() - self.started_at

    @property
    def longest_cooldown(self) -> float:
        """The longest cooldown, in seconds, that the call waits for."""
        policy = self.info.policy
        if self.started_at is not None or policy.deadline is None:
            return policy.max_wait
        # The gate gets the time of the deadline once it has started. Until then, its length limits the cooldown.
        return min(policy.max_wait, policy.deadline)

    def waited(self, what: str, *, since: float) -> None:
        """Tell the trace of a wait for the next attempt."""
        if self.trace is not None:
            self.trace.waited(what, self.clock() - since)

    def start_deadline(self, *, is_admitted: bool) -> None:
        """Start the deadline, once: queueing behind one's own tasks must not fail a call."""
        if self.place is not Place.QUEUED:
            return
        if is_admitted:
            self.place = Place.WAITING
        if self.started_at is None:
            self.started_at = self.clock()
        deadline, ends_at = self.info.policy.deadline, self.timer.when()
        due = None if deadline is None else self.started_at + deadline
        if not is_admitted and ends_at is not None:
            due = ends_at if due is None else min(ends_at, due)
        self.timer.reschedule(due)

    def close(self) -> None:
        """End the call because the client closes, unless its time is over already: the first cause is reported."""
        now, ends_at = self.clock(), self.timer.when()
        if not self.timer.expired() and (ends_at is None or ends_at > now):
            self.was_closed = True
            self.timer.reschedule(now)
