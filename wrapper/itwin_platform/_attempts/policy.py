"""What to do after an attempt, decided from values alone: repeat after a wait, or give up."""

import enum
import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from .._errors import NotSentError, OutcomeUnknownError, TransportError, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class BackoffPolicy:
    """How long and how often a request is repeated. Source: section 7 (429, `retry-after`).

    Args:
        max_attempts: attempts in all, at least 1; an answer with status 429 uses none.
        max_wait: the longest single wait in seconds; a longer one is not begun.
        deadline: seconds for one request in all, with waits, gate and token; None for no deadline.
        base_delay: seconds before the first repeat where the service names no wait; each further one doubles it.
        max_delay: the most seconds that this doubling reaches.
        max_in_flight: requests under way at once, at least 1, of all tasks that share the gate.
        retry_budget: what repeats may spend before successes refund it, so that an outage is not multiplied.

    Raises:
        UsageError: a number is out of its range.
    """

    max_attempts: int = 5
    max_wait: float = 60.0
    deadline: float | None = 120.0
    base_delay: float = 0.5
    max_delay: float = 20.0
    max_in_flight: int = 20
    retry_budget: int = 90

    def __post_init__(self) -> None:
        for name, least in (("max_attempts", 1), ("max_in_flight", 1), ("retry_budget", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise UsageError(f"BackoffPolicy: {name} must be an integer, {least} or more")
        for name in ("max_wait", "deadline", "base_delay", "max_delay"):
            value = getattr(self, name)
            if name == "deadline" and value is None:
                continue
            if not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
                raise UsageError(f"BackoffPolicy: {name} must be a finite number of seconds, 0 or more")


class Outcome(enum.Enum):
    """What an attempt ended in."""

    RATE_LIMITED = "status 429"
    UNAVAILABLE = "status 502, 503 or 504"
    NOT_SENT = "no answer, certainly not sent"
    OUTCOME_UNKNOWN = "no answer, possibly sent"
    UNSENDABLE = "it cannot be sent as HTTP"
    FINAL = "any other answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One row of the table: who repeats, whether it uses an attempt, and what it costs of the retry tokens."""

    any_method: bool
    uses_attempt: bool = True
    cost: int = 5


# Rules that must stay true, whatever the table says:
#
# 1. A request that may have had an effect is repeated only where repeating it cannot have another: never a POST.
# 2. A wait that the service asked for is a floor: jitter only adds to it.
# 3. No wait is begun that is longer than `max_wait` or ends past the deadline.
# 4. What is not in the table is not repeated.
RULES: dict[Outcome, Rule] = {
    Outcome.RATE_LIMITED: Rule(any_method=True, uses_attempt=False, cost=0),
    Outcome.UNAVAILABLE: Rule(any_method=False),
    Outcome.NOT_SENT: Rule(any_method=True),
    Outcome.OUTCOME_UNKNOWN: Rule(any_method=False, cost=10),
}

#: After one of these the request may have had an effect.
EFFECT_POSSIBLE = frozenset({Outcome.UNAVAILABLE, Outcome.OUTCOME_UNKNOWN})

#: Repeating one of these leaves the service as one of them left it; any other method is treated as POST.
REPEATABLE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "PATCH", "PUT", "DELETE"})

#: Jitter adds at most this part of a wait, and at most this many seconds.
JITTER_SHARE, JITTER_SECONDS = 0.25, 0.5
#: A wait named by the service ends the same cooldown for all tasks of a process: less jitter serves.
RETRY_AFTER_JITTER_SHARE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What one call has behind it: attempts used, 429 answers, seconds since it began, and a possible effect."""

    attempts: int = 0
    rate_limits: int = 0
    elapsed: float = 0.0
    may_have_had_an_effect: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Retry; `cost` is what that takes of the retry budget."""

    cost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUp:
    """Do not try again, for this reason: the answer stands; where none came, this error is raised."""

    reason: str
    error: type[TransportError]


class RetryBudget:
    """What repeats may still spend, so that an outage is not multiplied; a success gives back what its call spent."""

    __slots__ = ("_capacity", "left")

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self.left = capacity

    def spend(self, cost: int) -> None:
        """Takes the cost of one repeat."""
        self.left -= cost

    def refund(self, spent: int) -> None:
        """Gives back what the last repeat of a call spent that was answered, or one token where it spent none."""
        self.left = min(self._capacity, self.left + max(spent, 1))


def outcome_of_status(status: int) -> Outcome:
    """Classify a response by its status."""
    if status == 429:
        return Outcome.RATE_LIMITED
    return Outcome.UNAVAILABLE if status in (502, 503, 504) else Outcome.FINAL


def decide(
    *,
    method: str,
    outcome: Outcome,
    delay: float,
    progress: Progress,
    policy: BackoffPolicy,
    budget: int,
) -> Retry | GiveUp:
    """Decide what follows an attempt.

    Args:
        method: the HTTP method.
        outcome: what the attempt ended in.
        delay: how long to wait before a retry, in seconds.
        progress: the call so far, this attempt included.
        policy: the limits.
        budget: what is left of the retry budget.
    """
    rule = RULES.get(outcome)
    if rule is None:
        reason = f"{outcome.value}: a retry would not change that"
    elif not rule.any_method and method not in REPEATABLE_METHODS:
        reason = f"a {method} that may have had an effect is not retried"
    elif rule.uses_attempt and progress.attempts >= policy.max_attempts:
        reason = f"all {policy.max_attempts} attempts are used"
    elif rule.cost > budget:
        reason = "too many retries have failed lately: the retry budget is spent"
    elif delay > policy.max_wait:
        reason = f"the delay of {delay:g} s is longer than max_wait, {policy.max_wait:g} s"
    elif policy.deadline is not None and progress.elapsed + delay >= policy.deadline:
        reason = f"the delay of {delay:g} s would pass the deadline of {policy.deadline:g} s"
    else:
        return Retry(cost=rule.cost)
    return GiveUp(reason=reason, error=OutcomeUnknownError if progress.may_have_had_an_effect else NotSentError)


def delay_before(*, retry_after: float | None, progress: Progress, policy: BackoffPolicy, jitter: float) -> float:
    """Computes the wait in seconds: the one that the service named, else one that doubles, and jitter on top.

    Jitter makes no wait too long that is not: a service that says 60 with a `max_wait` of 60 is waited for.
    """
    doublings = min(max(progress.attempts + progress.rate_limits - 1, 0), 63)
    wait = min(policy.base_delay * 2.0**doublings, policy.max_delay) if retry_after is None else retry_after
    share = JITTER_SHARE if retry_after is None else RETRY_AFTER_JITTER_SHARE
    return min(wait + jitter * min(share * wait, JITTER_SECONDS), max(wait, policy.max_wait))


_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)
_HTTP_DATE = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[A-Za-z]*,? [ 0-9A-Za-z:-]+", re.ASCII)


def parse_retry_after(value: str | None, *, date: str | None, now: datetime) -> float | None:
    """Reads a `retry-after` header. Source: section 7.

    Args:
        value: seconds, with or without decimals, or an HTTP date; two of them in one header count as none.
        date: the answer's own Date header, against which an HTTP date is taken.
        now: the wall clock, used where the answer has no Date.

    Returns:
        The seconds to wait; None where nothing usable is said (absent, zero, past, or anything else).
    """
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        seconds = float(text)
        return seconds if 0 < seconds < math.inf else None
    until = _parse_http_date(text)
    if until is None:
        return None
    seconds = (until - (_parse_http_date((date or "").strip()) or now)).total_seconds()
    return seconds if seconds > 0 else None


def _parse_http_date(text: str) -> datetime | None:
    if not _HTTP_DATE.fullmatch(text):
        return None
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
