"""The errors of a call that ends without a response, made from what is known of it."""

from datetime import datetime

import httpx

from .._errors import NotSentError, OutcomeUnknownError, RateLimitError, TransportError
from .._transports.failures import kind_of_failure
from .._transports.status_errors import SENT_TOKEN, moment_after, status_error
from .attempt import Attempt, Call, route_of
from .policy import GiveUp


def given_up(call: Call, attempt: Attempt, decision: GiveUp) -> TransportError:
    """Make the error for a call whose last attempt got no response."""
    request = call.request
    effect = "it may have had an effect" if decision.error.sent else "it had no effect"
    return decision.error(
        f"{request.method} {route_of(request)}: no answer from {request.url.scheme}://"
        f"{request.url.netloc.decode('ascii')} after {call.sent} requests, {effect} "
        f"({kind_of_failure(attempt.error)}; {decision.reason})",
        attempts=call.sent,
    )


def no_response(call: Call, reason: str) -> TransportError:
    """Make the error for a call that ends before its next attempt."""
    kind = OutcomeUnknownError if call.may_have_had_an_effect else NotSentError
    return kind(
        f"{call.request.method} {route_of(call.request)}: {reason}; requests sent: {call.sent}", attempts=call.sent
    )


def held_back(call: Call, seen: httpx.Response | None, *, seconds: float | None, now: datetime) -> RateLimitError:
    """Make the error for a call that a known cooldown holds back for longer than the call may wait.

    Args:
        call: the call.
        seen: the last response with status 429 of this process; None when there was none.
        seconds: how long the cooldown lasts.
        now: the wall clock.
    """
    error = status_error(
        status=429,
        headers=httpx.Headers() if seen is None else seen.headers,
        body=b"" if seen is None else seen.content,
        attempts=call.sent,
        retry_after=seconds,
        retry_at=moment_after(now, seconds),
        token=None if seen is None else seen.extensions.get(SENT_TOKEN),
    )
    assert isinstance(error, RateLimitError)  # noqa: S101  # the class of the tree for status 429
    return error
