"""OpenTelemetry: what the spans tell, and what they must not."""

import json
from typing import Any

import pytest

from tests.support.programs import run


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the example prints."""
    ended = run("traces", folder=tmp_path_factory.mktemp("traces"))
    return ended.stdout + ended.stderr


@pytest.fixture(scope="module")
def spans(printed: str) -> list[dict[str, Any]]:
    """Its spans, in the order in which they ended."""
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


def test_each_attempt_is_a_span_below_the_applications_own(spans: list[dict[str, Any]]) -> None:
    """The refused attempt and the repeated one have a span each, with their status, in one trace."""
    first, second, own = spans
    assert [each["attributes"]["http.status_code"] for each in (first, second)] == [429, 200]
    assert own["name"] == "switch the webhook on"
    assert first["parent_id"] == second["parent_id"] == own["context"]["span_id"]
    assert len({each["context"]["trace_id"] for each in spans}) == 1


def test_backoff_is_told_as_events(spans: list[dict[str, Any]]) -> None:
    """The application's own span says that it waited, how long, and how each attempt ended."""
    events = [(each["name"], each["attributes"]) for each in spans[-1]["events"]]
    route = "/webhooks/{webhook_id}"
    assert [name for name, _ in events] == ["cooldown began", "attempt ended", "attempt ended"]
    assert events[0][1]["seconds"] >= 1
    assert [attributes for _, attributes in events[1:]] == [
        {"route": route, "attempt": 1, "outcome": 429},
        {"route": route, "attempt": 2, "outcome": 200},
    ]


@pytest.mark.parametrize("secret", ["a-made-up-token", "a made-up secret", "Bearer", "authorization"])
def test_nothing_secret_is_told(printed: str, secret: str) -> None:
    """Neither the token nor the webhook's secret is in anything that is printed."""
    assert secret.lower() not in printed.lower()
