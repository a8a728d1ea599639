"""The example that receives webhook deliveries verifies them, answers each, and handles each event once."""

from pathlib import Path

from tests.support.programs import run


def test_each_event_is_handled_once(tmp_path: Path) -> None:
    """The event that comes twice is handled once, and the delivery with a wrong secret is rejected."""
    output = run("receive_webhooks", folder=tmp_path).stdout
    assert [line for line in output.splitlines() if line.startswith("POST")] == [
        f"POST /events -> {status}" for status in (204, 204, 401)
    ]
    assert output.count("handled: ") == output.count("came before: ") == output.count("rejected: ") == 1
