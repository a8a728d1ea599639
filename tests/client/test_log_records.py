"""Log records carry their event field by field, for logs that are written as JSON."""

import json
import logging
from typing import Any

import httpx
import pytest
from itwin_platform import BackoffPolicy, Gate, PlatformClient

SCENE, ITWIN = "6a2d2381-6c57-9332-387a-5b7c00000000", "itwin-7"
#: What an ordinary record has: names that a field of an event must not take.
ORDINARY = set(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


class JSONFormatter(logging.Formatter):
    """Return the message of a record with its extra fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record as one line of JSON."""
        given = {name: value for name, value in record.__dict__.items() if name not in ORDINARY}
        return json.dumps({"message": record.getMessage(), **given})


class Failing(logging.Handler):
    """A handler whose disk is full."""

    def emit(self, record: logging.LogRecord) -> None:
        """Fail."""
        raise RuntimeError(record.getMessage())


async def logged(
    caplog: pytest.LogCaptureFixture,
    *statuses: int,
    level: int = logging.DEBUG,
) -> list[dict[str, Any]]:
    """Return the log of a listing of scene objects whose responses have these statuses."""
    responses = iter(statuses)

    def service(request: httpx.Request) -> httpx.Response:
        status = next(responses)
        headers = {"retry-after": "0", "x-correlation-id": "c-1"}
        return httpx.Response(status, headers=headers, json={"objects": [], "_links": {}, "secret": "planted"})

    caplog.set_level(level, "itwin_platform")
    async with PlatformClient(
        "https://service.example/base-path",
        vendor="acme",
        token="planted-token",
        transport=httpx.MockTransport(service),
        backoff=BackoffPolicy(base_delay=0.0, max_delay=0.0),
    ) as platform:
        await platform.scenes.list_objects(SCENE, ITWIN).collect()
    records = [record for record in caplog.records if record.name == "itwin_platform"]
    return [json.loads(JSONFormatter().format(record)) for record in records]


async def test_a_record_of_an_attempt_has_its_fields(caplog: pytest.LogCaptureFixture) -> None:
    """Method, route, status, attempt, seconds and correlation id can be searched for, and counted."""
    failed, retry, done = await logged(caplog, 503, 200)
    assert failed.pop("message").startswith("GET /scenes/{scene_id}/objects -> 503 in ")
    assert failed.pop("itwin_seconds") >= 0
    assert failed == {
        "itwin_event": "AttemptEnded",
        "itwin_method": "GET",
        "itwin_route": "/scenes/{scene_id}/objects",
        "itwin_status": 503,
        "itwin_error": None,
        "itwin_attempt": 1,
        "itwin_correlation_id": "c-1",
    }
    assert (done["itwin_status"], done["itwin_attempt"]) == (200, 2)
    assert (retry["itwin_event"], retry["itwin_status"], retry["itwin_attempt"]) == ("RetryScheduled", 503, 2)


async def test_a_record_of_a_cooldown_has_its_fields(caplog: pytest.LogCaptureFixture) -> None:
    """The record of a cooldown says for how long no request starts."""
    (cooldown,) = await logged(caplog, 429, 200, level=logging.WARNING)
    assert cooldown.pop("message").startswith("GET /scenes/{scene_id}/objects -> 429: no request starts for ")
    assert cooldown.pop("itwin_seconds") >= 0
    assert cooldown == {
        "itwin_event": "CooldownStarted",
        "itwin_method": "GET",
        "itwin_route": "/scenes/{scene_id}/objects",
        "itwin_tier": None,
        "itwin_api": None,
        "itwin_operation": None,
    }


async def test_no_field_takes_an_ordinary_name_or_tells_a_secret(caplog: pytest.LogCaptureFixture) -> None:
    """Each field is our own by its prefix; no query value, no id, no body, no token, no address is in any of them."""
    lines = await logged(caplog, 429, 503, 200)
    assert len(lines) == 6
    for line in lines:
        assert all(name.startswith("itwin_") for name in line if name != "message")
    for confidential in (SCENE, ITWIN, "planted", "base-path", "service.example", "$top", "Bearer"):
        assert confidential not in json.dumps(lines)


@pytest.mark.parametrize("handlers", [None, [Failing()]], ids=["a log", "a log that fails"])
async def test_a_callback_that_fails_loses_no_response(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, handlers: list[logging.Handler] | None
) -> None:
    """Its exception is logged with its traceback and its event, and the call and the gate continue."""

    def fail(_: object) -> None:
        raise ZeroDivisionError("a bug in a counter")

    caplog.set_level(logging.INFO, "itwin_platform")
    if handlers is not None:
        monkeypatch.setattr(logging.getLogger("itwin_platform"), "handlers", handlers)
    gate = Gate()
    transport = httpx.MockTransport(lambda _: httpx.Response(201, json={"detector": {"name": "n"}}))
    settings: dict[str, Any] = {"transport": transport, "gate": gate, "on_event": fail}
    async with PlatformClient("https://s.example", vendor="v", token="t", **settings) as platform:
        created = platform.with_options(on_response=fail).detectors.create(name="n", type="PhotoObjectDetector")
        assert (await created).name == "n"
    assert gate.in_flight == 0
    if handlers is None:
        assert caplog.messages == ["on_event failed", "on_response failed"]
        assert vars(caplog.records[0])["itwin_event"] == "AttemptEnded"
        assert caplog.text.count("ZeroDivisionError: a bug in a counter") == 2
