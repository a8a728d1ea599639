"""The policy: its valid numbers, the decision after an attempt, and the delay before a retry."""

from typing import Any

import pytest
from hypothesis import given, strategies as st
from itwin_platform_transport import BackoffPolicy, BackoffTransport, Gate, UsageError
from itwin_platform_transport.policy import RULES, Outcome, Progress, Retry, decide, delay_before

POLICY = BackoffPolicy()


def test_the_defaults_are_the_documented_ones() -> None:
    """Seven attempts, delays of at most a minute, a deadline of two minutes and twenty requests in flight."""
    assert repr(Gate()) == f"Gate(max_in_flight={POLICY.max_in_flight}, in_flight=0, waiting=0)"
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
        ("deadline", [float("inf"), 10**400, "120", True]),
        *((name, [False]) for name in ("queue_timeout", "token_timeout")),
        ("base_delay", [-0.1]),
        ("max_delay", [float("nan")]),
    ],
)
def test_a_number_out_of_range_is_rejected_by_name(name: str, wrong: list[Any]) -> None:
    """A wrong number is a UsageError of the constructor that names it."""
    make: Any = BackoffTransport if name == "token_timeout" else BackoffPolicy
    for value in wrong:
        with pytest.raises(UsageError, match=f"^{name} must be") as caught:
            make(**{name: value})
        assert caught.value.argument == name
        assert ("or None" in caught.value.rule) == (name in ("deadline", "queue_timeout", "token_timeout"))


def is_retried(method: str, outcome: Outcome, *, delay: float = 1.0, elapsed: float = 0.0, **others: Any) -> bool:
    """Return whether an outcome is retried."""
    values = {"progress": Progress(attempts=1), "policy": POLICY, **others}
    return isinstance(decide(method, outcome, delay=delay, elapsed=elapsed, **values), Retry)


@pytest.mark.parametrize(
    ("outcome", "idempotent", "other"),
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
def test_which_methods_are_retried(outcome: Outcome, idempotent: bool, other: bool) -> None:
    """A POST is retried only if it certainly had no effect; GET and PATCH also after a lost response."""
    expected = {**dict.fromkeys(("GET", "HEAD", "OPTIONS", "PATCH", "PUT"), idempotent), "POST": other, "DELETE": other}
    assert {method: is_retried(method, outcome) for method in expected} == expected


def test_a_delay_may_last_for_max_wait_and_ends_before_the_deadline() -> None:
    """A delay of exactly `max_wait` is waited for, and one that ends exactly at the deadline is not."""
    assert [is_retried("GET", Outcome.NOT_SENT, delay=delay, elapsed=60.0) for delay in (59.9, 60.0)] == [True, False]
    assert is_retried("GET", Outcome.NOT_SENT, delay=60.0)


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
    max_in_flight=st.just(1),
)


@given(
    method=st.sampled_from(["GET", "HEAD", "PATCH", "PUT", "DELETE", "POST", "CONNECT", "post", "X"]),
    outcome=st.sampled_from(Outcome),
    retry_after=st.none() | st.floats(min_value=1e-6, max_value=1e300),
    elapsed=seconds,
    progress=st.builds(Progress, attempts=counts, rate_limits=counts),
    policy=policies,
    jitter=jitters,
)
def test_the_rules_hold_for_every_input(
    method: str,
    outcome: Outcome,
    retry_after: float | None,
    elapsed: float,
    progress: Progress,
    policy: BackoffPolicy,
    jitter: float,
) -> None:
    """A retry causes no second effect, and its delay is within `max_wait`, the deadline and the delay of the service.

    Jitter adds at most half a second and 25 %, or 5 % to a delay that the service names.
    """
    delay = delay_before(retry_after=retry_after, progress=progress, policy=policy, jitter=jitter)
    if not is_retried(method, outcome, delay=delay, elapsed=elapsed, progress=progress, policy=policy):
        return
    assert outcome in RULES
    without_effect = (Outcome.RATE_LIMITED, Outcome.NOT_SENT, Outcome.NEVER_REACHED)
    assert method in ("GET", "HEAD", "PATCH", "PUT") or outcome in without_effect
    shortest, share = (policy.max_delay, 0.25) if retry_after is None else (retry_after, 0.05)
    assert (retry_after or 0.0) <= delay <= policy.max_wait
    assert delay <= shortest + min(share * shortest, 0.5)
    assert policy.deadline is None or elapsed + delay < policy.deadline
