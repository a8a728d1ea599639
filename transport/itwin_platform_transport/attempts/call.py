"""One call: what it carries to its attempts, what is known of it meanwhile, and what it ends in."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from ..connections.messages import Request, Response, SettingError, kind_of_failure
from ..errors import (
    DeadlineExceededError,
    NotSentError,
    PlatformError,
    ResponseDecodeError,
    StateError,
    TransportError,
    UsageError,
    counted,
    sent_so_far,
    when_to_retry,
)
from ..gates.gate import Gate
from ..gates.window import Permit
from ..policy import BackoffPolicy, Outcome, Progress, exceeded_limit, moment_after
from .tokens import AccessToken, ObtainedToken, hidden

#: So many bytes of a body that is too large stay on the error.
KEPT_OF_TOO_LARGE = 65_536


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


class CallResult(NamedTuple):
    """What the attempts of a call came to.

    Args:
        response: the final response, read. Of a call that a cooldown held back, it is the 429 that started it; None
            when this process got none.
        attempts: how many requests were sent.
        seconds: how long the call took, with queueing, retries and delays.
        retry_after: the delay that the service asks for, in seconds.
        retry_at: when that delay ends.
        reason: why the client does not retry.
        token: the token of the last request, which a service may echo in its response; `repr` hides its value.
        is_held_back: whether a known cooldown held the call back, so that the response is not one to its requests.
    """

    response: Response | None
    attempts: int
    seconds: float
    retry_after: float | None
    retry_at: datetime | None
    reason: str | None
    token: AccessToken | None
    is_held_back: bool = False

    def hide_token(self, text: str) -> str:
        """Redact the token of the last request in a text of the service."""
        return text if self.token is None else hidden(self.token, text)

    def returned(self, info: CallInfo) -> Response:
        """Return the response for a caller who gets no typed errors.

        Raises:
            NotSentError: a cooldown held the call back, of which this process got no response.
            ResponseDecodeError: a success that is too large.
        """
        response = self.response
        if response is None:
            advice = when_to_retry(self.retry_after, reason=self.reason)
            said = ": ".join(filter(None, (f"{info.method} {info.route}", "rate limited", advice)))
            raise NotSentError(f"{said}; {sent_so_far(self.attempts)}", attempts=self.attempts)
        if response.fault is not None and response.status_code < 300:
            body = self.hide_token(response.content[:KEPT_OF_TOO_LARGE].decode("latin-1")).encode("latin-1")
            error = ResponseDecodeError(response.status_code, response.headers, body, reason=response.fault)
            error.attempts = self.attempts
            raise error
        return response


class Attempt(NamedTuple):
    """What one attempt ended in, with everything that follows from it: computed once, when the head has arrived.

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


class Finding(NamedTuple):
    """What an attempt has found out for all calls: a cooldown has started, or an operation is down.

    Args:
        attempt: what it ended in.
        token: the token of its request.
        until: when the cooldown ends, or the delay that the service named, in the event loop's time.
    """

    attempt: Attempt
    token: ObtainedToken | None
    until: float


class OperationDownError(Exception):
    """A call may not wait any longer for an operation that is down; `found` is what another call found."""

    def __init__(self, found: Finding) -> None:
        super().__init__()
        self.found = found


@dataclass(slots=True, eq=False, kw_only=True)
class Call:
    """One request on its way through its attempts.

    A call is in one of five places, and holds something different in each:

    - beside the gate, because its operation is down: nothing
    - in the gate's queue, or in that of its operation: its position there, `ticket`, which it keeps for all attempts
    - waiting for a token: nothing but `ticket`, because it returns a permit when the token takes time
    - in flight: a `permit` of each gate, which ends when the head of the response has come, or none will come
    - waiting before a retry: nothing

    One timer, `limit`, ends it wherever it is. It is set three times: to the queue timeout when the call begins, to the
    deadline when the gate first admits it or it begins to wait beside the gate, and to now when the client is closed.

    It ends with a result (`ended`, `found_down`, `held_back`), or with an error that says how much of it was sent
    (`_without_response`, `not_admitted`, `closed`, `out_of_time`). What a cancel leaves is in the package's README. Why
    it waits beside the gate: docs/decisions/outages.md and docs/decisions/limits-of-operations.md.

    Args:
        request: the request as the caller made it.
        info: what it carries.
        clock: the event loop's time.
        began_at: when it began, by this clock.
        limit: ends the call when its time is over, or when the client is closed.
        send: makes one attempt.
        now: the wall clock.
        ticket: its position in the gate's queue.
        token_failures: how often the token provider had failed when the call began.
        permit: the gate's permission for the present attempt, until that has ended.
        own: the same of its operation, where that has a gate of its own.
        started_at: when its deadline started, by the clock: the gate first admitted it, or it began to
            wait for an operation that is down.
        is_queued: whether the gate has not admitted it yet.
        token: the token of the last attempt.
        refreshed_token: the token for the next attempt, when the last one got a 401.
        has_refreshed_token: whether a 401 has led to a refresh; it does so once.
        progress: what its attempts have come to.
        sent: how many requests were sent.
        gate_wait: the seconds that it has waited at the gate for the next attempt.
        token_wait: the seconds that it has waited for the token of the next attempt.
        waits_for_token: whether it waits for the token of the next attempt.
        waits_since: when it began to wait beside the gate, by the clock, and what its attempts had come to.
        outage_wait: the seconds that it has waited beside the gate because its operation was down.
        is_in_flight: whether an attempt has started and has not ended.
        is_rate_limited: whether the last response was a 429, and nothing was sent since.
        was_closed: whether the client was closed before the call's time was over.
    """

    request: Request
    info: CallInfo
    clock: Callable[[], float]
    began_at: float
    limit: asyncio.Timeout
    send: Callable[[Request, "Call"], Awaitable[Attempt]]
    now: Callable[[], datetime]
    ticket: int
    token_failures: int
    permit: Permit | None = None
    own: tuple[Gate, Permit] | None = None
    started_at: float | None = None
    is_queued: bool = True
    token: ObtainedToken | None = None
    refreshed_token: ObtainedToken | None = None
    has_refreshed_token: bool = False
    progress: Progress = Progress()  # noqa: RUF009  # a frozen value
    sent: int = 0
    gate_wait: float = 0.0
    token_wait: float = 0.0
    outage_wait: float = 0.0
    waits_for_token: bool = False
    waits_since: tuple[float, Progress] | None = None
    is_in_flight: bool = False
    is_rate_limited: bool = False
    was_closed: bool = False

    def close(self) -> None:
        """End the call because the client closes, unless its time is over already: the first cause is reported."""
        now, ends_at = self.clock(), self.limit.when()
        if not self.limit.expired() and (ends_at is None or ends_at > now):
            self.was_closed = True
            self.limit.reschedule(now)

    @property
    def longest_cooldown(self) -> float:
        """The longest cooldown, in seconds, that the call waits for."""
        policy = self.info.policy
        if self.started_at is not None or policy.deadline is None:
            return policy.max_wait
        # The gate gets the time of the deadline once it has started. Until then, its length limits the cooldown.
        return min(policy.max_wait, policy.deadline)

    @property
    def elapsed(self) -> float:
        """The seconds since its deadline started."""
        return 0.0 if self.started_at is None else self.clock() - self.started_at

    @property
    def operation(self) -> tuple[str, str]:
        """What is down together: the operation, or everything at a host when that is not known."""
        return self.info.method, self.info.route if self.info.has_template else self.request.url.host

    def start_deadline(self, *, is_admitted: bool) -> None:
        """Start the deadline, once: queueing behind one's own tasks must not fail a call."""
        if not self.is_queued:
            return
        self.is_queued = not is_admitted
        if self.started_at is None:
            self.started_at = self.clock()
        deadline, ends_at = self.info.policy.deadline, self.limit.when()
        due = None if deadline is None else self.started_at + deadline
        if not is_admitted and ends_at is not None:
            due = ends_at if due is None else min(ends_at, due)
        self.limit.reschedule(due)

    def ended(self, attempt: Attempt, *, reason: str | None = None) -> CallResult:
        """Return the final response with what the attempts learned, and why there is no retry if one was possible.

        Raises:
            NotSentError, OutcomeUnknownError: no response.
        """
        if attempt.response is None:
            raise self._without_response(attempt, reason) from attempt.error
        return CallResult(
            response=attempt.response,
            attempts=self.sent,
            seconds=self.clock() - self.began_at,
            retry_after=attempt.retry_after,
            retry_at=self._moment_in(attempt.retry_after),
            reason=reason,
            token=None if self.token is None else self.token.token,
        )

    def found_down(self, found: Finding) -> CallResult:
        """End a call that has waited for an operation that is down, with what the last probe got.

        Raises:
            NotSentError, OutcomeUnknownError: no response.
        """
        attempt = found.attempt
        if attempt.response is None:
            failure = kind_of_failure(attempt.error, scheme=self.request.url.scheme)
            raise self._error(f"other calls found the operation down ({failure})")
        left = found.until - self.clock()
        retry_after = None if attempt.retry_after is None or left <= 0 else left
        reason = f"other calls found the operation down; of this one {sent_so_far(self.sent)}"
        self.token = found.token or self.token
        return self.ended(attempt._replace(retry_after=retry_after), reason=reason)

    def not_admitted(self, failure: Exception) -> TransportError:
        """Make the error for a next attempt that the gate did not admit, because it is closed or has failed."""
        reason = str(failure) if isinstance(failure, UsageError) else f"the gate failed ({type(failure).__name__})"
        return self._error(reason)

    def closed(self) -> PlatformError:
        """Make the error for a call that closing the client has ended."""
        if self.is_in_flight or not self.progress.may_have_had_an_effect:
            reason = "the client was closed"
            return self._error(reason)
        # It waited for a retry that will not be sent, whatever the attempts before it did.
        what = f"{sent_so_far(self.sent)}, and may have had an effect"
        return StateError(f"{self._where}: the client was closed before a retry; {what}")

    def out_of_time(self, *, seconds: float | None) -> PlatformError:
        """Make the error for a call that its limit has ended: the client was closed, or its time is over.

        Args:
            seconds: how long a cooldown still lasts; None when there is none.
        """
        if self.was_closed:
            return self.closed()
        policy = self.info.policy
        queued, deadline = policy.queue_timeout, policy.deadline
        is_queued = self.is_queued and queued is not None and (deadline is None or queued <= deadline)
        what = f"queue_timeout of {queued:g} s" if is_queued else f"deadline of {deadline:g} s"
        place = " while the token provider was called" if self.waits_for_token else ""
        return DeadlineExceededError(
            f"{self._where}: the {what} passed{place}; {sent_so_far(self.sent)}",
            attempts=self.sent,
            sent=self.progress.may_have_had_an_effect,
            retry_at=self._moment_in(seconds),
        )

    def held_back(self, seen: Finding | None, *, seconds: float | None) -> CallResult:
        """End a call that a known cooldown holds back for longer than the call may wait.

        Args:
            seen: the 429 that started the cooldown; None when this process got none.
            seconds: how long the cooldown lasts.
        """
        return CallResult(
            response=None if seen is None else seen.attempt.response,
            attempts=self.sent,
            seconds=self.clock() - self.began_at,
            retry_after=seconds,
            retry_at=self._moment_in(seconds),
            reason=exceeded_limit(seconds or 0.0, elapsed=self.elapsed, policy=self.info.policy),
            token=None if seen is None or seen.token is None else seen.token.token,
            is_held_back=True,
        )

    def _without_response(self, attempt: Attempt, reason: str | None) -> TransportError:
        url, count, kind = self.request.url, counted(self.sent, "attempt"), self.progress.error
        origin = f"{url.scheme}://{url.netloc.decode('ascii')}"
        if isinstance(attempt.error, SettingError):
            return kind(f"{self._where}: {attempt.error}; nothing was sent", attempts=self.sent)
        failure = kind_of_failure(attempt.error, scheme=url.scheme)
        if attempt.outcome is Outcome.UNSENDABLE:
            what = "the request cannot be sent as HTTP; nothing was sent"
        elif kind is NotSentError:
            tried = f" after {count}" if self.sent else ""
            what = f"could not connect to {origin}{tried}; nothing was sent"
        else:
            what = f"no response from {origin} after {count}; the request may have had an effect"
        return kind(f"{self._where}: {what} ({failure}; {reason})", attempts=self.sent)

    def _error(self, reason: str) -> TransportError:
        return self.progress.error(f"{self._where}: {reason}; {sent_so_far(self.sent)}", attempts=self.sent)

    @property
    def _where(self) -> str:
        return f"{self.info.method} {self.info.route}"

    def _moment_in(self, seconds: float | None) -> datetime | None:
        return None if seconds is None else moment_after(self.now(), seconds)
