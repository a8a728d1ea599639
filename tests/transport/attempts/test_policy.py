"""The policy as values: which numbers it takes, what follows an attempt, and how long the wait before a retry is."""

import dataclasses
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st
from itwin_platform_transport import BackoffPolicy, NotSentError, OutcomeUnknownError, UsageError
from itwin_platform_transport.policy import (
    EFFECT_POSSIBLE,
    RULES,
    Outcome,
    Progress,
    Retry,
    decide,
    delay_before,
    moment_after,
    time_of_attempts,
)

POLICY = BackoffPolicy()


def test_the_defaults_are_the_documented_ones() -> None:
    """Seven attempts, waits of at most a minute, two minutes in all, twenty requests at once."""
    assert repr(POLICY) == (
        "BackoffPolicy(max_attempts=7, max_wait=60.0, deadline=120.0, queue_timeout=None, base_delay=0.5, "
        "max_delay=5.0, max_in_flight=20)"
    )


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("max_attempts", [0, 1.5, True, "3"]),
        ("max_in_flight", [0]),
        ("max_wait", [-1.0, float("nan"), None]),
        ("deadline", [float("inf"), "120", True]),
        ("queue_timeout", [False]),
        ("base_delay", [-0.1]),
        ("max_delay", [float("nan")]),
    ],
)
def test_a_number_out_of_range_is_rejected_by_name(name: str, wrong: list[Any]) -> None:
    """A wrong number is a UsageError that names it, before anything is sent."""
    for value in wrong:
        with pytest.raises(UsageError, match=f"{name} must be") as caught:
            dataclasses.replace(POLICY, **{name: value})
        assert caught.value.argument == name
        assert ("or None" in caught.value.rule) == (name in ("deadline", "queue_timeout"))


@pytest.mark.parametrize("policy", [{"max_wait": 0}, {"deadline": None}, {"deadline": 0.5}, {"max_in_flight": 1}])
def test_the_ends_of_the_ranges_are_taken(policy: dict[str, Any]) -> None:
    """Zero waits and no deadline are policies."""
    assert dataclasses.asdict(dataclasses.replace(POLICY, **policy)).items() >= policy.items()


def decided(
    method: str,
    what: Outcome,
    *,
    retry_after: float | None = None,
    progress: Progress = Progress(attempts=1),  # noqa: B008  # a frozen value
    elapsed: float = 0.0,
    policy: BackoffPolicy = POLICY,
    jitter: float = 0.0,
) -> str | None:
    """Why there is no retry after a first attempt, or a later one; None when there is one."""
    delay = delay_before(retry_after=retry_after, progress=progress, policy=policy, jitter=jitter)
    verdict = decide(method, what, progress, delay=delay, elapsed=elapsed, policy=policy)
    return None if isinstance(verdict, Retry) else verdict.reason or "nothing more to do"


@pytest.mark.parametrize(
    ("what", "idempotent", "other"),
    [
        (Outcome.RATE_LIMITED, True, True),
        (Outcome.UNAVAILABLE, True, False),
        (Outcome.OUTCOME_UNKNOWN, True, False),
        (Outcome.NOT_SENT, True, True),
        (Outcome.NEVER_REACHED, True, True),
        (Outcome.UNSENDABLE, False, False),
        (Outcome.UNTRUSTED, False, False),
        (Outcome.FINAL, False, False),
    ],
)
def test_who_retries_what(what: Outcome, idempotent: bool, other: bool) -> None:
    """A POST is retried only where it certainly had no effect; GET and PATCH also after a lost response."""
    expected = {**dict.fromkeys(("GET", "HEAD", "OPTIONS", "PATCH", "PUT"), idempotent), "POST": other, "DELETE": other}
    assert {method: decided(method, what) is None for method in expected} == expected


@pytest.mark.parametrize(
    ("what", "attempts", "rate_limits", "repeats"),
    [
        (Outcome.UNAVAILABLE, 6, 0, True),
        (Outcome.UNAVAILABLE, 7, 0, False),
        (Outcome.NOT_SENT, 7, 0, False),
        (Outcome.NEVER_REACHED, 2, 0, True),
        (Outcome.NEVER_REACHED, 3, 0, False),
        (Outcome.OUTCOME_UNKNOWN, 7, 9, False),
        (Outcome.RATE_LIMITED, 7, 9, True),
        (Outcome.RATE_LIMITED, 0, 1000, True),
    ],
)
def test_attempts_are_counted_without_429(what: Outcome, attempts: int, rate_limits: int, repeats: bool) -> None:
    """Seven attempts in all; a 429 uses none, and is retried when they are used."""
    progress = Progress(attempts=attempts, rate_limits=rate_limits)
    assert (decided("GET", what, progress=progress) is None) is repeats


@pytest.mark.parametrize(
    ("policy", "attempts", "seconds"),
    [
        (POLICY, 0, 17.5),
        (POLICY, 1, 17.0),
        (POLICY, 2, 16.0),
        (POLICY, 6, 0.0),
        (POLICY, 7, 0.0),
        (BackoffPolicy(max_attempts=1), 0, 0.0),
        (BackoffPolicy(max_attempts=1_000_000), 0, 4_999_982.5),
        (BackoffPolicy(base_delay=0.0), 0, 0.0),
        (BackoffPolicy(base_delay=9.0), 0, 30.0),
    ],
)
def test_the_time_of_the_attempts_that_are_left_is_that_of_their_delays(
    policy: BackoffPolicy, attempts: int, seconds: float
) -> None:
    """Delays that double up to the longest, without jitter; of a million attempts it is known at once."""
    assert time_of_attempts(Progress(attempts=attempts), policy=policy) == seconds


@pytest.mark.parametrize(
    ("retry_after", "seconds"), [(0.0, 17.5), (1.0, 18.0), (7.0, 42.0), (60.0, 360.0), (60.1, 0.0)]
)
def test_a_named_delay_takes_the_place_of_a_shorter_one(retry_after: float, seconds: float) -> None:
    """One that is longer than `max_wait` leaves no attempt."""
    assert time_of_attempts(Progress(), policy=POLICY, retry_after=retry_after) == seconds


@pytest.mark.parametrize(
    ("retry_after", "elapsed", "deadline", "reason"),
    [
        (60.0, 0.0, 120.0, None),
        (60.5, 0.0, 120.0, "longer than max_wait=60 s"),
        (10.0, 109.9, 120.0, None),
        (10.0, 110.0, 120.0, "longer than deadline=120 s allows"),
        (10.0, 1e9, None, None),
    ],
)
def test_no_wait_is_begun_that_is_too_long(
    retry_after: float, elapsed: float, deadline: float | None, reason: str | None
) -> None:
    """A wait above max_wait, or one that ends at the deadline or past it, is given up before it begins."""
    policy = BackoffPolicy(deadline=deadline)
    assert decided("GET", Outcome.RATE_LIMITED, retry_after=retry_after, elapsed=elapsed, policy=policy) == reason


@pytest.mark.parametrize("outcome", Outcome)
def test_what_is_raised_without_a_response_tells_whether_there_may_be_an_effect(outcome: Outcome) -> None:
    """After one attempt that may have had an effect, the outcome of the call is unknown, whatever follows."""
    progress = Progress().after(outcome).after(Outcome.NOT_SENT)
    assert progress.error is (OutcomeUnknownError if outcome in EFFECT_POSSIBLE else NotSentError)


counts = st.integers(min_value=0, max_value=10_000)
jitters = st.floats(min_value=0.0, max_value=1.0)
seconds = st.floats(min_value=0.0, max_value=1e6)
policies = st.builds(
    BackoffPolicy,
    max_attempts=st.integers(min_value=1, max_value=20),
    max_wait=seconds,
    deadline=st.none() | seconds,
    base_delay=seconds,
    max_delay=seconds,
)


@given(
    method=st.sampled_from(["GET", "HEAD", "PATCH", "PUT", "DELETE", "POST", "CONNECT", "post", "X"]),
    what=st.sampled_from(Outcome),
    retry_after=st.none() | st.floats(min_value=1e-6, max_value=1e300),
    elapsed=seconds,
    progress=st.builds(Progress, attempts=counts, rate_limits=counts),
    policy=policies,
    jitter=jitters,
)
def test_the_rules_hold_for_every_input(
    method: str, what: Outcome, retry_after: float | None, elapsed: float, policy: BackoffPolicy, **others: Any
) -> None:
    """The rules above the table: no second effect, a named wait is a floor, no wait too long, nothing unlisted."""
    if decided(method, what, retry_after=retry_after, elapsed=elapsed, policy=policy, **others) is not None:
        return
    assert what in RULES
    without_effect = (Outcome.RATE_LIMITED, Outcome.NOT_SENT, Outcome.NEVER_REACHED)
    assert method in ("GET", "HEAD", "PATCH", "PUT") or what in without_effect
    delay = delay_before(retry_after=retry_after, policy=policy, progress=others["progress"], jitter=others["jitter"])
    assert (retry_after or 0.0) <= delay <= policy.max_wait
    assert policy.deadline is None or elapsed + delay < policy.deadline


NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("named", "attempts", "rate_limits", "jitter", "expected"),
    [
        (None, 0, 0, 0.0, 0.5),
        (None, 0, 1, 0.0, 0.5),
        (None, 1, 0, 0.0, 0.5),
        (None, 2, 0, 0.0, 1.0),
        (None, 1, 2, 0.0, 2.0),
        (None, 7, 0, 0.0, 5.0),
        (None, 10_000, 10_000, 0.0, 5.0),
        (None, 1, 0, 1.0, 0.625),
        (None, 7, 0, 1.0, 5.5),
        (1.0, 4, 0, 0.0, 1.0),
        (1.0, 4, 0, 1.0, 1.05),
        (30.0, 4, 0, 1.0, 30.5),
        (59.9, 0, 0, 1.0, 60.0),
        (60.0, 0, 0, 1.0, 60.0),
        (61.0, 0, 0, 1.0, 61.0),
    ],
)
def test_a_wait_doubles_where_none_is_said(
    named: float | None, attempts: int, rate_limits: int, jitter: float, expected: float
) -> None:
    """From half a second to five, and jitter adds at most a quarter and half a second.

    What the service says is a floor: jitter adds at most a twentieth and half a second, and nothing past max_wait.
    """
    progress = Progress(attempts=attempts, rate_limits=rate_limits)
    wait = delay_before(retry_after=named, progress=progress, policy=POLICY, jitter=jitter)
    assert wait == pytest.approx(expected)


def test_a_moment_is_the_wait_after_now() -> None:
    """`retry_at` is now and the wait; one that no calendar holds has no end to name."""
    assert moment_after(NOW, 90.0) == datetime(2026, 3, 1, 12, 1, 30, tzinfo=UTC)
    assert [moment_after(NOW, wait) for wait in (None, 1e15, 1e300, float("inf"))] == [None] * 4
