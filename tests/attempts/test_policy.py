"""The numbers of a policy: what is taken, and what is rejected with a rule."""

import dataclasses
from typing import Any

import pytest
from itwin_platform import UNSET, BackoffPolicy, UsageError

from tests.support.faces import with_changes


def test_the_defaults_are_the_documented_ones() -> None:
    """Seven attempts, waits of at most a minute, two minutes in all, twenty requests at once."""
    assert dataclasses.asdict(BackoffPolicy()) == {
        "max_attempts": 7,
        "max_wait": 60.0,
        "deadline": 120.0,
        "queue_timeout": None,
        "base_delay": 0.5,
        "max_delay": 5.0,
        "max_in_flight": 20,
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_attempts", 0),
        ("max_attempts", 1.5),
        ("max_attempts", True),
        ("max_attempts", "3"),
        ("max_in_flight", 0),
        ("max_wait", -1.0),
        ("max_wait", float("nan")),
        ("max_wait", None),
        ("deadline", float("inf")),
        ("deadline", "120"),
        ("deadline", True),
        ("queue_timeout", False),
        ("base_delay", -0.1),
        ("max_delay", float("nan")),
    ],
)
def test_a_number_out_of_range_is_rejected_by_name(name: str, value: object) -> None:
    """A wrong number is a UsageError that names it, before anything is sent."""
    with pytest.raises(UsageError, match=f"{name} must be") as caught:
        dataclasses.replace(BackoffPolicy(), **{name: value})  # type: ignore[arg-type]  # what must not work
    assert caught.value.argument == name
    assert ("or None" in caught.value.rule) == (name in ("deadline", "queue_timeout"))


@pytest.mark.parametrize("limits", [{"deadline": None}, {"queue_timeout": 7.0}, {"max_attempts": 1}], ids=str)
def test_a_view_keeps_the_other_numbers(limits: dict[str, Any]) -> None:
    """A view that names one limit keeps every other number of the policy."""
    policy = BackoffPolicy(**{name: (number or 0) + 1 for name, number in dataclasses.asdict(BackoffPolicy()).items()})
    unset = {"deadline": UNSET, "queue_timeout": UNSET, "max_attempts": UNSET}
    assert with_changes(policy, **unset | limits) == dataclasses.replace(policy, **limits)


@pytest.mark.parametrize("policy", [{"max_wait": 0}, {"deadline": None}, {"deadline": 0.5}, {"max_in_flight": 1}])
def test_the_ends_of_the_ranges_are_taken(policy: dict[str, float | None]) -> None:
    """Zero waits and no deadline are policies."""
    assert dataclasses.asdict(dataclasses.replace(BackoffPolicy(), **policy)).items() >= policy.items()  # type: ignore[arg-type]  # by name
