"""The result of a call, or an error that says how much of the call was sent."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple

from ..connections.failures import SettingError, kind_of_failure
from ..connections.messages import Response
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
from ..policy import Outcome, Progress, exceeded_limit, moment_after
from .call import Attempt, Call, CallInfo
from .tokens import AccessToken, hide_token

#: Most bytes of a too large body that stay on the error.
KEPT_OF_TOO_LARGE = 65_536


@dataclass(slots=True, eq=False)
class CallResult:
    """The result of a call: its final response, and a summary of its attempts.

    Args:
        response: the final response, read. When a known cooldown ended the call, the 429 that started the cooldown;
            None when this process did not get that 429.
        progress: its attempts.
        seconds: how long the call took, with queueing, retries and delays.
        retry_after: the delay that the service asks for, in seconds.
        retry_at: when that delay ends.
        reason: why the client does not retry.
        token: the token of the last request, which a service may echo in its response; `repr` hides its value.
        ended_by_cooldown: whether a known cooldown ended the call: the response belongs to a request of another call.
    """

    response: Final[Response | None]
    progress: Final[Progress]
    seconds: Final[float]
    retry_after: Final[float | None]
    retry_at: Final[datetime | None]
    reason: Final[str | None]
    token: Final[AccessToken | None]
    ended_by_cooldown: Final[bool] = False

    @property
    def attempts(self) -> int:
        """How many attempts were made."""
        return self.progress.made

    def hide_token(self, text: str) -> str:
        """Redact the token of the last request in a text of the service."""
        return hide_token(self.token, text)

    def returned(self, info: CallInfo, *, correlation_id: str | None) -> Response:
        """Return the response for an httpx client, which gets no typed errors for statuses.

        Raises:
            NotSentError, OutcomeUnknownError: a known cooldown ended the call, and this process did not get the 429
                that started it.
            ResponseDecodeError: a success that is too large.
        """
        response = self.response
        if response is None:
            advice = when_to_retry(self.retry_after, reason=self.reason)
            text = ": ".join(filter(None, (f"{info.method} {info.route}", "rate limited", advice)))
            raise self.progress.error(f"{text}; {self.progress}", attempts=self.attempts)
        if response.fault is not None and response.status_code < 300:
            body = self.hide_token(response.content[:KEPT_OF_TOO_LARGE].decode("latin-1")).encode("latin-1")
            error = ResponseDecodeError(
                response.status_code, response.headers, body, reason=response.fault, correlation_id=correlation_id
            )
            error.attempts = self.attempts
            raise error
        return response


class SharedAttempt(NamedTuple):
    """An attempt that started a cooldown or opened a circuit breaker. Other calls that it ends return its response.

    Args:
        attempt: its result.
        token: the token of its request.
        at: when it ended, in the event loop's time.
    """

    attempt: Attempt
    token: AccessToken | None
    at: float


def result_of(
    call: Call,
    progress: Progress,
    attempt: Attempt,
    *,
    reason: str | None = None,
    token: AccessToken | None,
    now: Callable[[], datetime],
) -> CallResult:
    """Return the final response with a summary of the attempts, and the reason if a possible retry is not made.

    Raises:
        NotSentError, OutcomeUnknownError: no response.
    """
    if attempt.response is None:
        raise _without_response(call, progress, attempt, reason) from attempt.error
    seconds, retry_after = call.clock() - call.began_at, attempt.retry_after
    retry_at = None if retry_after is None else moment_after(now(), retry_after)
    return CallResult(attempt.response, progress, seconds, retry_after, retry_at, reason, token)


def circuit_open(
    call: Call, progress: Progress, shared: SharedAttempt, *, token: AccessToken | None, now: Callable[[], datetime]
) -> CallResult:
    """End a call that may not wait longer for a circuit breaker, with the response or the error of the last probe.

    Raises:
        NotSentError, OutcomeUnknownError: no response.
    """
    attempt = shared.attempt
    if attempt.response is None:
        failure = kind_of_failure(attempt.error)
        raise _error(call, progress, f"a circuit breaker is open ({failure})")
    if attempt.retry_after is not None:
        left = shared.at + attempt.retry_after - call.clock()
        attempt = replace(attempt, retry_after=left if left > 0 else None)
    reason = f"a circuit breaker is open; of this call {progress}"
    return result_of(call, progress, attempt, reason=reason, token=shared.token or token, now=now)


def cooling_down(
    call: Call, progress: Progress, shared: SharedAttempt | None, *, seconds: float | None, now: Callable[[], datetime]
) -> CallResult:
    """End a call that may not wait for the end of a known cooldown.

    Args:
        call: the call.
        progress: its attempts.
        shared: the 429 that started the cooldown; None when this process did not get it.
        seconds: how long the cooldown still lasts.
        now: the wall clock.
    """
    return CallResult(
        response=None if shared is None else shared.attempt.response,
        progress=progress,
        seconds=call.clock() - call.began_at,
        retry_after=seconds,
        retry_at=moment_after(now(), seconds),
        reason=exceeded_limit(seconds or 0.0, elapsed=call.elapsed, policy=call.info.policy),
        token=None if shared is None else shared.token,
        ended_by_cooldown=True,
    )


def not_admitted(call: Call, progress: Progress, failure: BaseException) -> TransportError:
    """Return the error of a call that the gate did not admit, because the gate is closed or failed."""
    reason = str(failure) if isinstance(failure, UsageError) else f"the gate failed ({type(failure).__name__})"
    return _error(call, progress, reason)


def closed(call: Call, progress: Progress, *, is_in_flight: bool) -> PlatformError:
    """Return the error of a call that closing the client has ended, perhaps while its request was in flight."""
    if is_in_flight or not progress.may_have_had_an_effect:
        return _error(call, progress, "the client was closed")
    # No attempt is in flight, but an earlier one may have had an effect.
    return StateError(f"{_name(call)}: the client was closed before a retry; {progress}, and may have had an effect")


def out_of_time(
    call: Call, progress: Progress, *, is_in_flight: bool, seconds: float | None, now: Callable[[], datetime]
) -> PlatformError:
    """Return the error of a call that `OpenCalls` has ended: the client was closed, or a time limit has passed.

    Args:
        call: the call.
        progress: its attempts before the present one.
        is_in_flight: whether a request may have been written that has neither a response nor an error.
        seconds: how long a cooldown still lasts; None when there is none.
        now: the wall clock.
    """
    if is_in_flight:
        progress = progress.after(Outcome.OUTCOME_UNKNOWN)
    if call.was_closed:
        return closed(call, progress, is_in_flight=is_in_flight)
    queue_timeout, deadline = call.info.policy.queue_timeout, call.info.policy.deadline
    limit = f"queue_timeout of {queue_timeout:g} s" if _was_queued(call) else f"deadline of {deadline:g} s"
    doing = " while the token provider was called" if call.waits_for_token else ""
    return DeadlineExceededError(
        f"{_name(call)}: the {limit} passed{doing}; {progress}",
        attempts=progress.made,
        sent=progress.may_have_had_an_effect,
        retry_at=moment_after(now(), seconds),
    )


def _was_queued(call: Call) -> bool:
    """Return whether the queue timeout has ended a call, and not its deadline."""
    queue_timeout, deadline = call.info.policy.queue_timeout, call.info.policy.deadline
    if call.was_admitted or queue_timeout is None:
        return False
    return deadline is None or call.started_at is None or call.began_at + queue_timeout <= call.started_at + deadline


def _without_response(call: Call, progress: Progress, attempt: Attempt, reason: str | None) -> TransportError:
    origin, kind = call.request.origin, progress.error
    if isinstance(attempt.error, SettingError):
        return kind(f"{_name(call)}: {attempt.error}; {sent_so_far(progress.sent)}", attempts=progress.made)
    may_need_https = origin.scheme == b"http" and attempt.outcome is Outcome.NOT_HTTP
    failure = kind_of_failure(attempt.error, may_need_https=may_need_https)
    count = counted(progress.made, "attempt")
    if attempt.outcome is Outcome.UNSENDABLE:
        text = "the request cannot be sent as HTTP; nothing was sent"
    elif kind is NotSentError:
        tried = f" after {count}" if progress.made else ""
        so_far = "the request had no effect" if progress.sent else "nothing was sent"
        text = f"could not connect to {origin}{tried}; {so_far}"
    else:
        text = f"no response from {origin} after {count}; the request may have had an effect"
    return kind(f"{_name(call)}: {text} ({failure}; {reason})", attempts=progress.made)


def _error(call: Call, progress: Progress, reason: str) -> TransportError:
    return progress.error(f"{_name(call)}: {reason}; {progress}", attempts=progress.made)


def _name(call: Call) -> str:
    return f"{call.info.method} {call.info.route}"
