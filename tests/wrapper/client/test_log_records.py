"""Log records carry their event field by field, for logs that are written as JSON."""

import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from itwin_platform import BackoffPolicy, Gate, UsageError

from tests.wrapper.client.conftest import SCENE, answering

ITWIN = "itwin-7"
Captured = pytest.CaptureFixture[str]
#: Attributes of any log record, whose names a field must not take.
ORDINARY = set(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


AT_ONCE = BackoffPolicy(base_delay=0.0, max_delay=0.0)


@pytest.fixture
def logger(monkeypatch: pytest.MonkeyPatch) -> Iterator[logging.Logger]:
    """The logger of the client, which has its handlers and its level again afterwards; stderr can be captured."""
    monkeypatch.setattr(sys, "stderr", sys.__stderr__)
    logger = logging.getLogger("itwin_platform")
    handlers, level = [*logger.handlers], logger.level
    yield logger
    logger.handlers[:] = handlers
    logger.setLevel(level)


CALL = ":itwin_platform:GET /itwins/myprimaryaccount -> "
WARNED, INFORMED = f"WARNING{CALL}429: rate limited for 0 s", f"INFO{CALL}429: attempt 2 in 0 s"
#: A value of the variable, and a part of each line.
LOGS: list[tuple[str, list[str]]] = [
    ("debug", [WARNED, f"DEBUG{CALL}429", INFORMED, f"DEBUG{CALL}200"]),
    (" INFO ", [WARNED, INFORMED]),
    ("", []),
]


@pytest.mark.parametrize(("value", "expected"), LOGS)
async def test_the_environment_switches_the_log_on(
    value: str, expected: list[str], logger: logging.Logger, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    """Each line is written once, with its time first, to stderr, by however many clients.

    Without the variable the logger has a NullHandler, because Python writes unhandled records to stderr.
    """
    assert [type(handler) for handler in logger.handlers] == [logging.NullHandler]
    monkeypatch.setenv("ITWIN_PLATFORM_LOG", value)
    left = [httpx.Response(429, headers={"retry-after": "0"}), httpx.Response(200, json={"iTwin": {"id": "planted"}})]
    platform, _ = answering(lambda _: left.pop(0), backoff=AT_ONCE)
    answering()
    async with platform:
        await platform.itwins.get_primary_account()
    lines = capfd.readouterr().err.splitlines()
    assert [line for line, part in zip(lines, expected, strict=True) if part not in line or not line[0].isdigit()] == []
    assert "planted" not in "".join(lines)


async def test_a_log_of_the_application_shows_each_line_once(
    logger: logging.Logger, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    """With a handler of the application, the environment only sets the level."""
    monkeypatch.setenv("ITWIN_PLATFORM_LOG", "debug")
    shown = logging.StreamHandler()
    shown.setFormatter(logging.Formatter("application: %(message)s"))
    monkeypatch.setattr(logging.root, "handlers", [*logging.root.handlers, shown])
    platform, _ = answering()
    async with platform:
        await platform.itwins.get_primary_account()
    [line] = capfd.readouterr().err.splitlines()
    assert line.startswith("application: GET /itwins/myprimaryaccount -> 200")


def test_another_word_for_the_log_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another value of ITWIN_PLATFORM_LOG is a UsageError with the accepted values."""
    monkeypatch.setenv("ITWIN_PLATFORM_LOG", "verbose")
    with pytest.raises(UsageError, match="ITWIN_PLATFORM_LOG must be info or debug"):
        answering()


class Failing(logging.Handler):
    """A handler whose disk is full."""

    def emit(self, record: logging.LogRecord) -> None:
        """Fail."""
        raise RuntimeError(record.getMessage())


async def logged(caplog: pytest.LogCaptureFixture, *statuses: int) -> list[dict[str, Any]]:
    """List scene objects with these statuses, and return the messages and fields of the log."""
    left = list(statuses)

    def service(request: httpx.Request) -> httpx.Response:
        headers = {"retry-after": "0", "x-correlation-id": "c-1"}
        return httpx.Response(left.pop(0), headers=headers, json={"objects": [], "_links": {}, "secret": "planted"})

    caplog.set_level(logging.DEBUG, "itwin_platform")
    platform, _ = answering(service, backoff=AT_ONCE)
    async with platform:
        await platform.scenes.list_objects(SCENE, ITWIN).collect()
    records = [record for record in caplog.records if record.name == "itwin_platform"]
    fields = [{name: value for name, value in vars(each).items() if name not in ORDINARY} for each in records]
    return [{"message": each.getMessage(), **more} for each, more in zip(records, fields, strict=True)]


async def test_a_record_of_an_attempt_has_its_fields(caplog: pytest.LogCaptureFixture) -> None:
    """Method, route, status, attempt, seconds and correlation id can be searched for, and counted."""
    failed, retry, done = await logged(caplog, 503, 200)
    assert failed.pop("message").startswith("GET /scenes/{scene_id}/objects -> 503 in ")
    assert failed.pop("itwin_seconds") >= 0
    event = {"event": "AttemptEnded", "method": "GET", "route": "/scenes/{scene_id}/objects", "status": 503}
    event |= {"error": None, "attempt": 1, "correlation_id": "c-1"}
    assert failed == {f"itwin_{name}": value for name, value in event.items()}
    assert (done["itwin_status"], done["itwin_attempt"]) == (200, 2)
    assert (retry["itwin_event"], retry["itwin_status"], retry["itwin_attempt"]) == ("RetryScheduled", 503, 2)


async def test_no_field_takes_an_ordinary_name_or_tells_a_secret(caplog: pytest.LogCaptureFixture) -> None:
    """Each field has the prefix `itwin_`, and none has a query value, an id, a body, a token or an address."""
    lines = await logged(caplog, 429, 503, 200)
    assert len(lines) == 6
    assert all(name == "message" or name.startswith("itwin_") for line in lines for name in line)
    for confidential in (SCENE, ITWIN, "planted", "/api", "service.example", "$top", "Bearer"):
        assert confidential not in json.dumps(lines)


@pytest.mark.parametrize("handlers", [None, [Failing()]], ids=["a log", "a log that fails"])
async def test_a_callback_that_fails_loses_no_response(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, handlers: list[logging.Handler] | None
) -> None:
    """A failing callback is logged with its traceback, and its call returns the response."""

    def fail(_: object) -> None:
        raise ZeroDivisionError("a bug in a counter")

    caplog.set_level(logging.INFO, "itwin_platform")
    if handlers is not None:
        monkeypatch.setattr(logging.getLogger("itwin_platform"), "handlers", handlers)
    gate = Gate()
    platform, _ = answering(gate=gate, on_event=fail)
    async with platform:
        assert (await platform.with_options(on_response=fail).itwins.get_primary_account()).id == "a"
    assert gate.in_flight == 0
    if handlers is None:
        assert caplog.messages == ["on_event failed", "on_response failed"]
        assert vars(caplog.records[0])["itwin_event"] == "AttemptEnded"
        assert caplog.text.count("ZeroDivisionError: a bug in a counter") == 2


async def test_a_token_in_a_header_is_redacted_in_events_and_lines(caplog: pytest.LogCaptureFixture) -> None:
    """A token that the service echoes in a header is redacted in events and log lines."""
    headers = {"retry-after": "0", "x-correlation-id": "planted-token/1", "itwinplatform-tier": "planted-token/1"}
    left = [httpx.Response(429, headers=headers), httpx.Response(200, headers=headers, json={"iTwin": {"id": "a-1"}})]
    events: list[object] = []
    platform, _ = answering(lambda _: left.pop(0), token="planted-token/1", backoff=AT_ONCE, on_event=events.append)
    caplog.set_level("DEBUG", "itwin_platform")
    async with platform:
        await platform.with_options(on_response=events.append).itwins.get_primary_account()
    assert len(events) == 4
    assert "planted" not in f"{events} {caplog.text}"
    assert "correlation id [redacted]" in caplog.text
