"""The errors of a call that ends without a response, made from what is known of it."""

from datetime import datetime
from weakref import WeakKeyDictionary

from ..._errors import (
    DeadlineExceededError,
    NotSentError,
    OutcomeUnknownError,
    PlatformError,
    RateLimitError,
    TransportError,
    UsageError,
    counted,
    sent_so_far,
)
from ..connections.failures import kind_of_failure
from ..connections.lazy import Response, as_headers, route_of
from ..policy import GiveUp, Outcome, exceeded_limit
from ..status_errors import moment_after, sent_token, status_error
from .attempt import Attempt, Call


class LastRateLimit:
    """The last 429 that the clients of one gate got in this process, and when its cooldown ends, in the loop's time."""

    __slots__ = ("response", "until")

    def __init__(self) -> None:
        self.response: Response | None = None
        self.until = 0.0

    def at(self, now: float) -> Response | None:
        """Return the response while its cooldown lasts; a later cooldown has another reason."""
        return self.response if now <= self.until else None


_LAST: WeakKeyDictionary[object, LastRateLimit] = WeakKeyDictionary()


def last_rate_limit_of(gate: object) -> LastRateLimit:
    """Return what the clients of a gate share; a gate that cannot be referenced weakly shares nothing."""
    try:
        return _LAST.setdefault(gate, LastRateLimit())
    except TypeError:
        return LastRateLimit()


def given_up(call: Call, attempt: Attempt, decision: GiveUp) -> TransportError:
    """Make the error for a call whose last attempt got no response."""
    url, count = call.request.url, counted(call.sent, "attempt")
    origin = f"{url.scheme}://{url.netloc.decode('ascii')}"
    if attempt.outcome is Outcome.UNSENDABLE:
        what = "the request cannot be sent as HTTP; nothing was sent"
    elif decision.error is NotSentError:
        what = f"could not connect to {origin} after {count}; nothing was sent"
    else:
        what = f"no response from {origin} after {count}; the request may have had an effect"
    return decision.error(
        f"{_where(call)}: {what} ({kind_of_failure(attempt.error)}; {decision.reason})", attempts=call.sent
    )


def not_admitted(call: Call, failure: Exception) -> TransportError:
    """Make the error for a call whose next attempt the gate did not admit, because it is closed or has failed."""
    reason = str(failure) if isinstance(failure, UsageError) else f"the gate failed ({type(failure).__name__})"
    return _ended(call, reason)


def closed(call: Call) -> PlatformError:
    """Make the error for a call that closing the client has ended."""
    if call.is_in_flight or not call.progress.may_have_had_an_effect:
        reason = "the client was closed"
        return _ended(call, reason)
    # It waited for a retry that will not be sent, whatever the attempts before it did.
    what = f"{sent_so_far(call.sent)}, and may have had an effect"
    return UsageError(f"{_where(call)}: the client was closed before a retry; {what}")


def out_of_time(call: Call, seen: Response | None, *, seconds: float | None, now: datetime) -> PlatformError:
    """Make the error for a call that its limit has ended: the client was closed, or its time is over.

    Args:
        call: the call.
        seen: the last response with status 429 of this process; None when there was none.
        seconds: how long a cooldown still lasts; None when there is none.
        now: the wall clock.
    """
    if call.was_closed:
        return closed(call)
    if call.is_rate_limited:
        return held_back(call, seen, seconds=seconds, now=now)
    policy = call.policy
    is_queued = call.admitted_at is None
    what = f"queue_timeout of {policy.queue_timeout:g} s" if is_queued else f"deadline of {policy.deadline:g} s"
    return DeadlineExceededError(
        f"{_where(call)}: the {what} passed; {sent_so_far(call.sent)}",
        attempts=call.sent,
        sent=call.progress.may_have_had_an_effect,
        retry_at=moment_after(now, seconds),
    )


def held_back(call: Call, seen: Response | None, *, seconds: float | None, now: datetime) -> RateLimitError:
    """Make the error for a call that a known cooldown holds back for longer than the call may wait.

    Args:
        call: the call.
        seen: the last response with status 429 of this process; None when there was none.
        seconds: how long the cooldown lasts.
        now: the wall clock.
    """
    error = status_error(
        status=429,
        headers=as_headers({}) if seen is None else seen.headers,
        body=b"" if seen is None else seen.content,
        attempts=call.sent,
        retry_after=seconds,
        retry_at=moment_after(now, seconds),
        reason=exceeded_limit(seconds or 0.0, elapsed=call.elapsed, policy=call.policy),
        token=None if seen is None else sent_token(seen),
    )
    assert isinstance(error, RateLimitError)  # noqa: S101  # the class of the tree for status 429
    return error


def _ended(call: Call, reason: str) -> TransportError:
    kind = OutcomeUnknownError if call.progress.may_have_had_an_effect else NotSentError
    return kind(f"{_where(call)}: {reason}; {sent_so_far(call.sent)}", attempts=call.sent)


def _where(call: Call) -> str:
    return f"{call.request.method} {route_of(call.request)}"
