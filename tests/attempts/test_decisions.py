"""What follows an attempt, as a table and as rules that hold for every input."""

from typing import Any

import pytest
from hypothesis import given, strategies as st
from itwin_platform import BackoffPolicy, NotSentError, OutcomeUnknownError

from tests.support.faces import EFFECT_POSSIBLE, OUTCOMES, RULES, Outcome, Progress, decide, delay_before

POLICY = BackoffPolicy()


def decided(
    method: str,
    what: Outcome,
    *,
    retry_after: float | None = None,
    attempts: int = 1,
    rate_limits: int = 0,
    elapsed: float = 0.0,
    policy: BackoffPolicy = POLICY,
    rounds: int = 0,
    jitter: float = 0.0,
) -> str | None:
    """Decides for a first attempt, unless it is said otherwise."""
    progress = Progress(
        attempts=attempts,
        rate_limits=rate_limits,
        may_have_had_an_effect=what in EFFECT_POSSIBLE,
    )
    return decide(
        method=method,
        outcome=what,
        delay=delay_before(retry_after=retry_after, progress=progress, policy=policy, jitter=jitter),
        progress=progress,
        elapsed=elapsed,
        policy=policy,
        rounds=rounds,
    )


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, Outcome.FINAL),
        (302, Outcome.FINAL),
        (401, Outcome.FINAL),
        (408, Outcome.FINAL),
        (429, Outcome.RATE_LIMITED),
        (500, Outcome.FINAL),
        (501, Outcome.FINAL),
        (502, Outcome.UNAVAILABLE),
        (503, Outcome.UNAVAILABLE),
        (504, Outcome.UNAVAILABLE),
    ],
)
def test_only_four_statuses_ask_for_a_retry(status: int, expected: Outcome) -> None:
    """429, 502, 503 and 504 pass by themselves; every other response is final."""
    assert OUTCOMES.get(status, Outcome.FINAL) is expected


@pytest.mark.parametrize(
    ("what", "idempotent", "other"),
    [
        (Outcome.RATE_LIMITED, True, True),
        (Outcome.UNAVAILABLE, True, False),
        (Outcome.OUTCOME_UNKNOWN, True, False),
        (Outcome.NOT_SENT, True, True),
        (Outcome.NEVER_REACHED, True, True),
        (Outcome.UNSENDABLE, False, False),
        (Outcome.FINAL, False, False),
    ],
)
def test_who_retries_what(what: Outcome, idempotent: bool, other: bool) -> None:
    """A POST is retried only where it certainly had no effect; GET and PATCH also after a lost response."""
    expected = {**dict.fromkeys(("GET", "HEAD", "OPTIONS", "PATCH", "PUT"), idempotent), "POST": other, "DELETE": other}
    assert {method: decided(method, what) is None for method in expected} == expected


def test_the_table_has_a_row_for_everything_that_is_retried() -> None:
    """What is not in the table is final, and nothing else is."""
    assert set(Outcome) - set(RULES) == {Outcome.UNSENDABLE, Outcome.UNTRUSTED, Outcome.FINAL}


@pytest.mark.parametrize(
    ("what", "attempts", "rate_limits", "rounds", "repeats"),
    [
        (Outcome.UNAVAILABLE, 6, 0, 6, True),
        (Outcome.UNAVAILABLE, 7, 0, 0, False),
        (Outcome.UNAVAILABLE, 1, 0, 7, False),
        (Outcome.NOT_SENT, 7, 0, 0, False),
        (Outcome.NEVER_REACHED, 2, 0, 0, True),
        (Outcome.NEVER_REACHED, 3, 0, 0, False),
        (Outcome.OUTCOME_UNKNOWN, 7, 9, 0, False),
        (Outcome.RATE_LIMITED, 7, 9, 7, True),
        (Outcome.RATE_LIMITED, 0, 1000, 0, True),
    ],
)
def test_attempts_are_counted_without_429(
    what: Outcome, attempts: int, rate_limits: int, rounds: int, repeats: bool
) -> None:
    """Seven attempts in all, or seven rounds of an outage; a 429 uses none, and is retried when they are used."""
    decision = decided("GET", what, attempts=attempts, rate_limits=rate_limits, rounds=rounds)
    assert (decision is None) is repeats


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
    decision = decided("GET", Outcome.RATE_LIMITED, retry_after=retry_after, elapsed=elapsed, policy=policy)
    assert decision == reason


@pytest.mark.parametrize("outcome", Outcome)
def test_what_is_raised_without_a_response_tells_whether_there_may_be_an_effect(outcome: Outcome) -> None:
    """After one attempt that may have had an effect, the outcome of the call is unknown, whatever follows."""
    progress = Progress().after(outcome).after(Outcome.NOT_SENT)
    assert progress.error is (OutcomeUnknownError if outcome in EFFECT_POSSIBLE else NotSentError)


methods = st.sampled_from(["GET", "HEAD", "PATCH", "PUT", "DELETE", "POST", "CONNECT", "post", "X"])
waits = st.none() | st.floats(min_value=1e-6, max_value=1e300)
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
    st.fixed_dictionaries(
        {
            "method": methods,
            "what": st.sampled_from(Outcome),
            "retry_after": waits,
            "elapsed": seconds,
            **dict.fromkeys(("attempts", "rate_limits", "rounds"), counts),
            "policy": policies,
            "jitter": jitters,
        }
    )
)
def test_the_rules_hold_for_every_input(given: dict[str, Any]) -> None:
    """The rules above the table: no second effect, a named wait is a floor, no wait too long, nothing unlisted."""
    method, what, retry_after, policy = (given[name] for name in ("method", "what", "retry_after", "policy"))
    decision = decided(**given)
    if decision is not None:
        return
    assert what in RULES
    assert method in ("GET", "HEAD", "PATCH", "PUT") or what in (
        Outcome.RATE_LIMITED,
        Outcome.NOT_SENT,
        Outcome.NEVER_REACHED,
    )
    progress = Progress(attempts=given["attempts"], rate_limits=given["rate_limits"])
    delay = delay_before(retry_after=retry_after, progress=progress, policy=policy, jitter=given["jitter"])
    assert (retry_after or 0.0) <= delay <= policy.max_wait
    assert policy.deadline is None or given["elapsed"] + delay < policy.deadline
