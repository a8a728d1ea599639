"""The decision after an attempt, made from values alone."""

import enum
import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final, NamedTuple

from .errors import (
    NotSentError,
    OutcomeUnknownError,
    TransportError,
    check_integer,
    check_seconds,
    counted,
    in_seconds,
    sent_so_far,
)

#: The range of a time limit that may be absent.
OR_NONE = "of at least 0, or None"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackoffPolicy:
    """The limits of a call: attempts, delays and time.

    Args:
        max_attempts: attempts in total, at least 1; a response with status 429 uses none. While a circuit breaker is
            open, calls wait instead, for as long as their own attempts would have taken.
        max_wait: the longest single wait, in seconds; if it would take longer, the call fails immediately.
        deadline: seconds for one request with all its attempts and delays. Queueing before the first attempt does not
            count. None for no deadline.
        queue_timeout: seconds that a request may queue before its first attempt; None for no limit.
        base_delay: seconds before the first retry when the service names no delay; each further retry doubles it.
        max_delay: the longest delay that this doubling reaches, in seconds.
        max_in_flight: requests in flight at once, at least 1, of all tasks of a client; with `gate=`, the value of the
            gate applies.

    Raises:
        UsageError: a number is out of its range.
    """

    max_attempts: int = 7
    max_wait: float = 60.0
    deadline: float | None = 120.0
    queue_timeout: float | None = None
    base_delay: float = 0.5
    max_delay: float = 5.0
    max_in_flight: int = 20

    def __post_init__(self) -> None:
        assign = partial(object.__setattr__, self)
        assign("max_attempts", check_integer("max_attempts", self.max_attempts, least=1))
        assign("max_in_flight", check_integer("max_in_flight", self.max_in_flight, least=1))
        assign("max_wait", check_seconds("max_wait", self.max_wait))
        assign("base_delay", check_seconds("base_delay", self.base_delay))
        assign("max_delay", check_seconds("max_delay", self.max_delay))
        if self.deadline is not None:
            assign("deadline", check_seconds("deadline", self.deadline, bounds=OR_NONE))
        if self.queue_timeout is not None:
            assign("queue_timeout", check_seconds("queue_timeout", self.queue_timeout, bounds=OR_NONE))


class Outcome(enum.Enum):
    """The result of an attempt, as far as a retry depends on it."""

    RATE_LIMITED = "status 429"
    UNAVAILABLE = "status 502, 503 or 504"
    NOT_SENT = "no response, certainly not sent"
    NEVER_REACHED = "nothing is at an address that has never responded"
    OUTCOME_UNKNOWN = "no response, possibly sent"
    UNSENDABLE = "it cannot be sent as HTTP"
    NOT_HTTP = "no sign of HTTP, from an address that has never sent HTTP"
    UNTRUSTED = "one side, or a proxy between both, does not accept the other"
    TIMED_OUT_IDLE = "status 408 on a connection that was idle before"
    FINAL = "any other response"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One row of `RULES`: how an outcome is retried.

    Args:
        any_method: whether every method is retried; else only those of `RETRYABLE_METHODS`.
        uses_attempt: whether the attempt counts against `max_attempts`.
        waits: whether there is a delay before the retry.
        most_attempts: the largest number of attempts.
    """

    any_method: bool
    uses_attempt: bool = True
    waits: bool = True
    most_attempts: float = math.inf


# Rules that every change of the table must keep:
#
# 1. A request that may have had an effect is retried only when it is idempotent: never a POST.
# 2. A delay that the service names is a lower bound: jitter only adds to it.
# 3. No wait starts that is longer than `max_wait` or ends past the deadline.
# 4. An outcome that is not in the table is not retried.
RULES: dict[Outcome, Rule] = {
    Outcome.RATE_LIMITED: Rule(any_method=True, uses_attempt=False),
    Outcome.UNAVAILABLE: Rule(any_method=False),
    Outcome.NOT_SENT: Rule(any_method=True),
    # Most likely the service has not been started, or the address is wrong: the call fails within two seconds.
    Outcome.NEVER_REACHED: Rule(any_method=True, most_attempts=3),
    Outcome.OUTCOME_UNKNOWN: Rule(any_method=False),
    # Most likely another kind of server is at this address, or it needs https.
    Outcome.NOT_HTTP: Rule(any_method=False, most_attempts=3),
    # The server had given up waiting for a request when this one was sent: a new connection works.
    # Source: RFC 9110, section 15.5.9.
    Outcome.TIMED_OUT_IDLE: Rule(any_method=False, waits=False),
}

#: After one of these statuses the same request may succeed later. A 429 is retried for every method, the others for
#: those in `RETRYABLE_METHODS`.
RETRYABLE_STATUS_CODES = frozenset({429, 502, 503, 504})

#: These methods are idempotent here, and any other method is treated as POST. DELETE is not one: a retry after a lost
#: response would get a 404, as if another client had deleted the object.
RETRYABLE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "PATCH", "PUT"})

#: How responses are classified by their status; every other status is final, and so is a 408 on a new connection.
OUTCOMES = {
    **dict.fromkeys(RETRYABLE_STATUS_CODES, Outcome.UNAVAILABLE),
    429: Outcome.RATE_LIMITED,
    408: Outcome.TIMED_OUT_IDLE,
}

#: After one of these the request may have had an effect.
EFFECT_POSSIBLE = (Outcome.UNAVAILABLE, Outcome.OUTCOME_UNKNOWN, Outcome.NOT_HTTP)

#: After one of these not a byte of the request was written.
NOT_WRITTEN = (Outcome.NOT_SENT, Outcome.NEVER_REACHED, Outcome.UNSENDABLE, Outcome.UNTRUSTED)

#: After one of these the operation is down, perhaps for all calls.
DOWN = (Outcome.UNAVAILABLE, Outcome.NOT_SENT, Outcome.OUTCOME_UNKNOWN)

#: The largest share of a delay that jitter adds.
JITTER_SHARE = 0.25
#: The most that jitter adds, in seconds.
JITTER_SECONDS = 0.5
#: The largest share that jitter adds to a delay that the service names. The gate spreads the requests after a cooldown.
RETRY_AFTER_JITTER_SHARE = 0.05


@dataclass(slots=True)
class Progress:
    """The attempts of a call so far.

    Args:
        attempts: attempts that count against `max_attempts`; a 429 does not.
        rate_limits: responses of 429.
        sent: requests that were written at least in part.
        may_have_had_an_effect: whether one of the requests may have had one.
    """

    attempts: Final[int] = 0
    rate_limits: Final[int] = 0
    sent: Final[int] = 0
    may_have_had_an_effect: Final[bool] = False

    def after(self, outcome: Outcome) -> "Progress":
        """Return the progress after one more attempt."""
        if self is NO_ATTEMPTS and outcome is Outcome.FINAL:  # see the row "GET" of docs/benchmarks.md
            return ONE_RESPONSE
        is_rate_limited = outcome is Outcome.RATE_LIMITED
        return Progress(
            self.attempts + (not is_rate_limited and outcome is not Outcome.UNTRUSTED),
            self.rate_limits + is_rate_limited,
            self.sent + (outcome not in NOT_WRITTEN),
            self.may_have_had_an_effect or outcome in EFFECT_POSSIBLE,
        )

    @property
    def made(self) -> int:
        """All attempts except the UNTRUSTED ones, in which one side did not accept the other."""
        return self.attempts + self.rate_limits

    @property
    def error(self) -> type[TransportError]:
        """The error of a call that ends without a response."""
        return OutcomeUnknownError if self.may_have_had_an_effect else NotSentError

    def __str__(self) -> str:
        if self.made and not self.sent:
            return f"nothing was sent in {counted(self.made, 'attempt')}"
        return sent_so_far(self.sent) + (", and rejected" if self.sent and not self.may_have_had_an_effect else "")


#: The progress of a call that has made no attempt.
NO_ATTEMPTS = Progress()
#: The progress of a call that the first attempt ends.
ONE_RESPONSE = Progress(attempts=1, sent=1)


class Retry(NamedTuple):
    """Send the request again after a delay, in seconds."""

    seconds: float


class GiveUp(NamedTuple):
    """Return the response, or raise. `reason` tells why no retry follows."""

    reason: str


def decide(
    method: str, outcome: Outcome, progress: Progress, *, delay: float, elapsed: float, policy: BackoffPolicy
) -> Retry | GiveUp:
    """Decide on a retry after an attempt.

    Args:
        method: the HTTP method.
        outcome: the result of the attempt.
        progress: the attempts so far, this one included.
        delay: the delay before a retry, in seconds; ignored if the rule of the outcome has none.
        elapsed: seconds since the deadline of the call started; 0 before that.
        policy: the limits.
    """
    rule = RULES.get(outcome)
    if rule is None:
        return GiveUp("a retry would not help")
    if not rule.any_method and method not in RETRYABLE_METHODS:
        return GiveUp(f"{method} is not idempotent: find out first whether it had an effect")
    if progress.attempts >= rule.most_attempts:
        return GiveUp("no response has ever come from this address: check it, and whether the service runs")
    if rule.uses_attempt and progress.attempts >= policy.max_attempts:
        return GiveUp(f"max_attempts={policy.max_attempts} reached")
    delay = delay if rule.waits else 0.0
    limit = exceeded_limit(delay, elapsed=elapsed, policy=policy)
    if limit is None:
        return Retry(delay)
    return GiveUp(limit if outcome is Outcome.RATE_LIMITED else f"the delay of {in_seconds(delay)} is {limit}")


def exceeded_limit(delay: float, *, elapsed: float, policy: BackoffPolicy) -> str | None:
    """Tell which limit of the policy a delay exceeds; None when it may be waited for."""
    if delay > policy.max_wait:
        return f"longer than max_wait={policy.max_wait:g} s"
    if policy.deadline is not None and elapsed + delay >= policy.deadline:
        return f"longer than deadline={policy.deadline:g} s allows"
    return None


def delay_before(*, retry_after: float | None, progress: Progress, policy: BackoffPolicy, jitter: float) -> float:
    """Return the delay in seconds: the one that the service named, else one that doubles, plus jitter.

    Jitter does not lift a delay above `max_wait`: a call with a `max_wait` of 60 s waits for a `retry-after` of 60.
    """
    doublings = min(max(progress.made - 1, 0), 63)
    wait = min(policy.base_delay * 2.0**doublings, policy.max_delay) if retry_after is None else retry_after
    share = JITTER_SHARE if retry_after is None else RETRY_AFTER_JITTER_SHARE
    return min(wait + jitter * min(share * wait, JITTER_SECONDS), max(wait, policy.max_wait))


def time_of_attempts(progress: Progress, *, policy: BackoffPolicy, retry_after: float) -> float:
    """Return the sum of the delays before the attempts that a call has left, in seconds, without jitter.

    Each delay is at least the `retry_after` of the service. A call that may not wait that long has no attempt left.
    """
    seconds = 0.0
    if retry_after > policy.max_wait:
        return seconds
    for attempts in range(progress.attempts + 1, policy.max_attempts):
        after = Progress(attempts=attempts)
        delay = delay_before(retry_after=None, progress=after, policy=policy, jitter=0.0)
        if delay >= policy.max_delay:
            return seconds + max(delay, retry_after) * (policy.max_attempts - attempts)
        seconds += max(delay, retry_after)
    return seconds


def moment_after(now: datetime, seconds: float | None) -> datetime | None:
    """Add seconds to a moment. Return None without seconds, and for a moment that no datetime can hold."""
    try:
        return None if seconds is None else now + timedelta(seconds=seconds)
    except OverflowError:
        return None
