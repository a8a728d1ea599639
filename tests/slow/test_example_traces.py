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


def test_each_attempt_is_a_span_below_the_call(spans: list[dict[str, Any]]) -> None:
    """The rate limited attempt and its retry have a span each, with their status, in one trace."""
    first, second, call, own = spans
    assert [each["attributes"]["http.response.status_code"] for each in (first, second, call)] == [429, 200, 200]
    assert second["attributes"]["http.request.resend_count"] == 1
    assert [each["name"] for each in (call, own)] == ["PATCH /webhooks/{webhook_id}", "switch the webhook on"]
    assert first["parent_id"] == second["parent_id"] == call["context"]["span_id"]
    assert call["parent_id"] == own["context"]["span_id"]
    assert len({each["context"]["trace_id"] for each in spans}) == 1


def test_the_wait_for_the_rate_limit_is_reported(spans: list[dict[str, Any]]) -> None:
    """Each attempt says how long the gate held it back: the first not at all, the second for its cooldown."""
    waits = [span["attributes"].get("itwin_platform.gate_wait", 0) for span in spans[:2]]
    assert waits[0] < waits[1]


@pytest.mark.parametrize("secret", ["a-made-up-token", "a made-up secret", "Bearer", "authorization"])
def test_nothing_secret_is_reported(printed: str, secret: str) -> None:
    """Neither the token nor the webhook's secret is in anything that is printed."""
    assert secret.lower() not in printed.lower()
