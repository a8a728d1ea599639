"""The log and the callback: a line for each attempt, a warning for each cooldown, and nothing confidential."""

import asyncio
import logging
import ssl

import httpx
import pytest
from itwin_platform import (
    AttemptEnded,
    BackoffEvent,
    CooldownStarted,
    DeadlineExceededError,
    Gate,
    NotSentError,
    PlatformClient,
)
from pytest_httpx import HTTPXMock

from tests.support.scripted_transport import ScriptedTransport, backoff, rate_limited, response, send


def attempts(events: list[BackoffEvent]) -> list[tuple[int | str | None, int, float]]:
    """Status or error, number and seconds of each attempt."""
    found = [event for event in events if isinstance(event, AttemptEnded)]
    return [(event.status or event.error, event.attempt, round(event.seconds, 6)) for event in found]


async def test_each_attempt_is_an_event() -> None:
    """Answered or not: how it ended, which one of the call it was, and how long it took without the waits."""
    events: list[BackoffEvent] = []
    service = ScriptedTransport(503, httpx.ReadTimeout("x"), 200, latency=0.25)
    await send(backoff(service, on_event=events.append), "PATCH")
    assert attempts(events) == [(503, 1, 0.25), ("ReadTimeout", 2, 0.25), (200, 3, 0.25)]
    assert {(event.method, event.route) for event in events} == {("PATCH", "/things")}


async def test_an_attempt_that_is_cut_off_is_an_event_too() -> None:
    """The deadline and a cancellation end attempts."""
    events: list[BackoffEvent] = []
    service = ScriptedTransport(200, latency=3600.0)
    with pytest.raises(DeadlineExceededError):
        await send(backoff(service, on_event=events.append))
    assert attempts(events) == [("CancelledError", 1, 120.0)]


async def test_an_attempt_whose_certificate_is_not_trusted_has_its_number() -> None:
    """It is the first attempt of its call, although no request was sent."""
    events: list[BackoffEvent] = []
    untrusted = httpx.ConnectError("x")
    untrusted.__cause__ = ssl.SSLCertVerificationError("certificate has expired")
    with pytest.raises(NotSentError) as raised:
        await send(backoff(ScriptedTransport(untrusted), on_event=events.append))
    assert attempts(events) == [("ConnectError", 1, 0.0)]
    assert raised.value.attempts == 0


async def test_a_cooldown_is_one_event_however_many_429_it_has() -> None:
    """Twenty 429s at once are one cooldown; the next one is another."""
    events: list[BackoffEvent] = []
    service = ScriptedTransport(*[rate_limited("5") for _ in range(21)], 200)
    transport = backoff(service, gate=Gate(20, random_number=lambda: 0.0), on_event=events.append)
    await asyncio.gather(*(send(transport) for _ in range(20)))
    cooldowns = [event for event in events if isinstance(event, CooldownStarted)]
    assert cooldowns == [CooldownStarted(method="GET", route="/things", seconds=5.0)] * 2


async def test_a_cooldown_that_the_gate_prolongs_has_its_length() -> None:
    """After repeated 429s the gate waits longer than the service says, and the event says for how long."""
    events: list[BackoffEvent] = []
    gate = Gate(random_number=lambda: 1.0)
    await send(backoff(ScriptedTransport(*[rate_limited("1")] * 3, 200), gate=gate, on_event=events.append))
    assert [event.seconds for event in events if isinstance(event, CooldownStarted)] == [1.0, 2.0, 4.0]


async def test_the_correlation_id_is_that_of_the_response_else_the_one_that_was_sent() -> None:
    """What support asks for is on each attempt."""
    events: list[BackoffEvent] = []
    service = ScriptedTransport(response(200, headers={"X-Correlation-Id": "answered"}), httpx.ConnectError("x"), 200)
    transport = backoff(service, on_event=events.append)
    await send(transport, **{"x-correlation-id": "sent"})
    await send(transport, **{"x-correlation-id": "sent"})
    await send(transport)
    identities = [event.correlation_id for event in events if isinstance(event, AttemptEnded)]
    assert identities == ["answered", "sent", "sent", None]


async def test_a_cooldown_names_the_limit() -> None:
    """Tier, API and operation are those of the response that started it."""
    names = {"ITwinPlatform-RateLimited-Tier": "Trial", "ITwinPlatform-RateLimited-API": "iTwins"}
    events: list[BackoffEvent] = []
    limited = response(429, headers={"retry-after": "2"} | names)
    await send(backoff(ScriptedTransport(limited, 200), on_event=events.append))
    assert events[0] == CooldownStarted(
        method="GET", route="/things", seconds=2.0, tier="Trial", api="iTwins", operation=None
    )


async def test_the_log_has_a_line_an_attempt(caplog: pytest.LogCaptureFixture) -> None:
    """Level DEBUG for an attempt, WARNING for a cooldown, in the logger `itwin_platform`."""
    caplog.set_level(logging.DEBUG, "itwin_platform")
    service = ScriptedTransport(
        response(429, headers={"retry-after": "2"}),
        httpx.ReadError("x"),
        response(200, headers={"x-correlation-id": "c-1"}),
    )
    await send(backoff(service))
    assert [(record.name, record.levelname, record.message) for record in caplog.records] == [
        ("itwin_platform", "WARNING", "GET /things -> 429: no request starts for 2 s"),
        ("itwin_platform", "DEBUG", "GET /things -> 429 in 0 ms (attempt 1, correlation id None)"),
        ("itwin_platform", "INFO", "GET /things -> 429: attempt 2 in 2 s"),
        ("itwin_platform", "DEBUG", "GET /things -> ReadError in 0 ms (attempt 2, correlation id None)"),
        ("itwin_platform", "INFO", "GET /things -> ReadError: attempt 3 in 1 s"),
        ("itwin_platform", "DEBUG", "GET /things -> 200 in 0 ms (attempt 3, correlation id c-1)"),
    ]


@pytest.mark.parametrize("headers", [{}, {"x-correlation-id": "c-9"}])
async def test_a_line_names_the_route_and_not_what_is_in_it(
    caplog: pytest.LogCaptureFixture, httpx_mock: HTTPXMock, headers: dict[str, str]
) -> None:
    """Through the client: the template of the path, no ids, no query values, no body, no token."""
    caplog.set_level(logging.DEBUG, "itwin_platform")
    httpx_mock.add_response(json={"objects": [], "_links": {}}, headers=headers)
    httpx_mock.add_response(json={"webhook": {"id": "w", "secret": "webhook-secret"}})
    events: list[BackoffEvent] = []
    async with PlatformClient(
        "https://service.example/base-path", vendor="acme", token="planted-token", on_event=events.append
    ) as platform:
        await platform.scenes.list_objects("6a2d2381-6c57-9332-387a-5b7c00000000", "itwin-7").collect()
        await platform.webhooks.update("webhook-7", active=True, secret="planted-secret")
    assert [event.route for event in events] == ["/scenes/{scene_id}/objects", "/webhooks/{webhook_id}"]
    for text in (caplog.text, repr(events)):
        for confidential in ("6a2d2381", "itwin-7", "webhook-7", "planted", "webhook-secret", "base-path", "Bearer"):
            assert confidential not in text
