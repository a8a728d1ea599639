"""Log lines and events for attempts and cooldowns, and OpenTelemetry spans for calls and attempts."""

import asyncio
import logging
import ssl
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import httpx
import pytest
from itwin_platform import (
    AccessToken,
    AttemptEnded,
    BackoffPolicy,
    BadRequestError,
    CooldownStarted,
    DeadlineExceededError,
    Gate,
    NotFoundError,
    NotSentError,
    OutcomeUnknownError,
    PlatformClient,
    RateLimitError,
    ResponseInfo,
    TransportError,
    __version__,
)
from itwin_platform_transport import CallInfo
from opentelemetry import trace
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pytest_httpx import HTTPXMock

from tests.support.requests import request_to
from tests.support.services import Outcome, PreparedResponse, ScriptedTransport, backoff, rate_limited, response, send

UNTRUSTED = httpx.ConnectError("x")
UNTRUSTED.__cause__ = ssl.SSLCertVerificationError("certificate has expired")
SCENE = "6a2d2381-6c57-9332-387a-5b7c00000000"
ACCOUNT = httpx.Response(200, content=b'{"iTwin": {"id": "a-1"}}', headers={"x-correlation-id": "c-1"})
POLICY = BackoffPolicy(base_delay=1.0, max_delay=1.0)


@pytest.mark.parametrize(
    ("steps", "latency", "expected", "error", "sent"),
    [
        ((503, httpx.ReadTimeout("x"), 200), 0.25, [(503, 1, 0.25), ("ReadTimeout", 2, 0.25), (200, 3, 0.25)], None, 3),
        ((200,), 3600.0, [("TimeoutError", 1, 120.0)], DeadlineExceededError, 1),
        ((UNTRUSTED,), 0.0, [("ConnectError", 1, 0.0)], NotSentError, 0),
    ],
    ids=["retries", "deadline", "untrusted certificate"],
)
async def test_each_attempt_is_an_event(
    steps: tuple[Outcome, ...], latency: float, expected: list[object], error: type[TransportError] | None, sent: int
) -> None:
    """The event has the status or the error, the number of the attempt, and its duration without delays.

    A failed TLS handshake is the event of attempt 1, although no request was sent.
    """
    events: list[object] = []
    await asyncio.sleep(1.0)  # so that a duration and a time differ
    with nullcontext() if error is None else pytest.raises(error) as raised:
        await send(backoff(ScriptedTransport(*steps, latency=latency), on_event=events.append), "PATCH")
    ended = [event for event in events if isinstance(event, AttemptEnded)]
    assert [(event.status or event.error, event.attempt, round(event.seconds, 6)) for event in ended] == expected
    assert {(event.method, event.route) for event in ended} == {("PATCH", "/things")}
    assert raised is None or raised.value.attempts == sent


def client(service: httpx.AsyncBaseTransport | None, **settings: Any) -> PlatformClient:
    """Return a client of the scripted service, with short delays."""
    arguments: dict[str, Any] = {"token": "planted-token", "backoff": POLICY, "transport": service} | settings
    return PlatformClient("https://service.example/base-path", vendor="acme", **arguments)


def cooldown(seconds: float, **limit: str) -> CooldownStarted:
    """Return the event of a cooldown of the operation."""
    return CooldownStarted(method="GET", route="/things", seconds=seconds, **limit)


NAMES = {"ITwinPlatform-RateLimited-Tier": "Trial", "ITwinPlatform-RateLimited-API": "iTwins"}
NAMED = response(429, headers={"retry-after": "2", "ITwinPlatform-RateLimited-Operation": "Get"} | NAMES)


@pytest.mark.parametrize(
    ("calls", "jitter", "limits", "expected"),
    [
        (20, 0.0, [rate_limited("5")] * 21, [cooldown(5.0)] * 2),
        (1, 1.0, [rate_limited("1")] * 3, [cooldown(1.0), cooldown(2.0), cooldown(4.0)]),
        (1, 0.0, [NAMED], [cooldown(2.0, tier="Trial", api="iTwins", operation="Get")]),
    ],
    ids=["twenty at once", "prolonged by the gate", "named"],
)
async def test_a_cooldown_is_one_event(
    calls: int, jitter: float, limits: list[httpx.Response], expected: list[CooldownStarted]
) -> None:
    """For any number of 429s, the event has the seconds without requests, and the limit that the response names."""
    events: list[object] = []
    gate = Gate(20, random_number=lambda: jitter)
    transport = backoff(ScriptedTransport(*limits, 200), gate=gate, on_event=events.append)
    await asyncio.gather(*(send(transport) for _ in range(calls)))
    assert [event for event in events if isinstance(event, CooldownStarted)] == expected


async def test_the_correlation_id_of_an_event_is_the_received_or_the_sent_one() -> None:
    """The event of each attempt has the id of its response, or else the one of its request."""
    events: list[object] = []
    service = ScriptedTransport(response(200, headers={"X-Correlation-Id": "answered"}), httpx.ConnectError("x"), 200)
    transport = backoff(service, on_event=events.append)
    for headers in ({"x-correlation-id": "sent"}, {"x-correlation-id": "sent"}, {}):
        await send(transport, **headers)
    identities = [event.correlation_id for event in events if isinstance(event, AttemptEnded)]
    assert identities == ["answered", "sent", "sent", None]


async def test_the_log_has_a_line_an_attempt(caplog: pytest.LogCaptureFixture) -> None:
    """The logger `itwin_platform` has level DEBUG for an attempt, INFO for a retry and WARNING for a cooldown."""
    caplog.set_level(logging.DEBUG, "itwin_platform")
    last = response(200, headers={"x-correlation-id": "c-1"})
    await send(backoff(ScriptedTransport(rate_limited("2"), last, latency=2.0)))
    assert [(record.name, record.levelname, record.message) for record in caplog.records] == [
        ("itwin_platform", "WARNING", "GET /things -> 429: rate limited for 2 s"),
        ("itwin_platform", "DEBUG", "GET /things -> 429 in 2000 ms (attempt 1, correlation id None)"),
        ("itwin_platform", "INFO", "GET /things -> 429: attempt 2 in 2 s"),
        ("itwin_platform", "DEBUG", "GET /things -> 200 in 2000 ms (attempt 2, correlation id c-1)"),
    ]


class Provider:
    """A tracer provider whose objects cannot be hashed, as those of Logfire."""

    __hash__ = None  # type: ignore[assignment]  # as for a class that defines `__eq__`

    def __init__(self, inner: trace.TracerProvider) -> None:
        self.get_tracer = inner.get_tracer


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """The exporter of spans. The provider is patched, because OpenTelemetry cannot reset it."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: Provider(provider))
    yield exporter
    provider.shutdown()


def attributes_of(span: ReadableSpan) -> dict[str, object]:
    """Return the attributes of a span."""
    return dict(span.attributes or {})


async def test_a_call_has_a_span_with_its_attempts_below(spans: InMemorySpanExporter) -> None:
    """Names and attributes follow the conventions of OpenTelemetry for HTTP clients."""
    async with client(ScriptedTransport(503, rate_limited("1"), ACCOUNT)) as platform:
        await platform.itwins.get_primary_account()
    *attempts, call = spans.get_finished_spans()
    assert [span.name for span in (call, *attempts)] == ["GET /itwins/myprimaryaccount"] * 4
    assert (call.kind, {span.kind for span in attempts}) == (trace.SpanKind.INTERNAL, {trace.SpanKind.CLIENT})
    assert [span.parent for span in attempts] == [call.context] * 3
    assert attributes_of(call) == {
        "http.request.method": "GET",
        "url.template": "/itwins/myprimaryaccount",
        "server.address": "service.example",
        "server.port": 443,
        "http.response.status_code": 200,
        "itwin_platform.correlation_id": "c-1",
    }
    assert [attributes_of(span).get("http.response.status_code") for span in attempts] == [503, 429, 200]
    assert [attributes_of(span).get("http.request.resend_count") for span in attempts] == [None, 1, 2]
    assert [attributes_of(span).get("error.type") for span in attempts] == ["503", "429", None]
    assert [span.status.is_ok for span in (*attempts, call)] == [False, False, True, True]
    scope = call.instrumentation_scope
    assert scope is not None
    assert (scope.name, scope.version) == ("itwin_platform", __version__)


@pytest.mark.parametrize(
    ("address", "port"),
    [("https://service.example", 443), ("http://127.0.0.1", 80), ("https://service.example:8443", 8443)],
)
async def test_a_span_has_the_port_of_its_address(spans: InMemorySpanExporter, address: str, port: int) -> None:
    """An address without a port has the default port of its scheme."""
    async with PlatformClient(address, vendor="acme", token="t", transport=ScriptedTransport(ACCOUNT)) as platform:
        await platform.itwins.get_primary_account()
    assert {attributes_of(span)["server.port"] for span in spans.get_finished_spans()} == {port}


async def test_a_span_has_the_waits_before_its_attempt(spans: InMemorySpanExporter) -> None:
    """The cooldown after a 429 is its `gate_wait`, and the time of a slow token provider its `token_wait`."""

    async def provider() -> AccessToken:
        await asyncio.sleep(3.0)
        return AccessToken("planted-token")

    await asyncio.sleep(1.0)  # so that a wait and a time differ
    async with client(ScriptedTransport(rate_limited("20"), ACCOUNT), token=provider) as platform:
        await platform.itwins.get_primary_account()
    first, second = map(attributes_of, spans.get_finished_spans()[:2])
    assert (first["itwin_platform.gate_wait"], first["itwin_platform.token_wait"]) == (0.0, 3.0)
    assert 20.0 <= float(str(second["itwin_platform.gate_wait"])) <= 21.0
    assert second["itwin_platform.token_wait"] == 3.0


async def test_a_span_has_the_wait_for_a_probe(spans: InMemorySpanExporter) -> None:
    """The `outage_wait` is the time in which the circuit breaker was open, before another call probed."""
    info = CallInfo(method="GET", route="/things/{id}", policy=POLICY)
    transport = backoff(ScriptedTransport(*[503] * 20, 200, latency=0.5))
    await asyncio.gather(*(transport.send(request_to(f"https://service.example/things/{n}"), info) for n in range(21)))
    attempts = [attributes_of(span) for span in spans.get_finished_spans() if span.kind is trace.SpanKind.CLIENT]
    waits = [attempt.get("itwin_platform.outage_wait") for attempt in attempts]
    assert attempts[0]["itwin_platform.token_wait"] == 0.0
    assert waits[:20] == [None] * 20
    # The last call has not failed, so it probes first, and the others are in their own delay of a second.
    assert waits[20:] == [pytest.approx(0.6), *[pytest.approx(0.1)] * 20]


@pytest.mark.parametrize(
    ("step", "error", "kinds"),
    [
        (httpx.ReadTimeout("x"), OutcomeUnknownError, ["ReadTimeout", "OutcomeUnknownError"]),
        (429, RateLimitError, ["429", "429"]),
        (400, BadRequestError, ["400", "400"]),
        (PreparedResponse(fault="hang"), TimeoutError, ["CancelledError", "CancelledError"]),
    ],
)
async def test_a_failed_call_records_its_error(
    spans: InMemorySpanExporter, step: Any, error: type[Exception], kinds: list[str]
) -> None:
    """Its spans have the class of the error, also of a cancellation, and no message, no frames and no secret."""
    policy = BackoffPolicy(max_attempts=1, max_wait=0.0)
    async with client(ScriptedTransport(step), backoff=policy) as platform:
        with pytest.raises(error):
            async with asyncio.timeout(1.0):
                await platform.itwins.get_primary_account()
    finished = spans.get_finished_spans()
    assert [attributes_of(span)["error.type"] for span in finished] == kinds
    assert not any(span.status.is_ok for span in finished)
    assert all(not span.events and span.status.description is None for span in finished)


async def test_a_call_that_a_known_cooldown_ends_is_a_rate_limit(spans: InMemorySpanExporter) -> None:
    """The error has the response of the 429, the only span has the status 429, and `on_response` is not called."""
    limit, body = {"retry-after": "300", "x-correlation-id": "c-9"} | NAMES, b'{"error": {"code": "TooManyRequests"}}'
    responses: list[ResponseInfo] = []
    service = ScriptedTransport(httpx.Response(429, headers=limit, content=body))
    async with client(service, gate=Gate(random_number=lambda: 0.0)) as platform:
        with pytest.raises(RateLimitError, match=r"rate limited: retry in 300 s \(longer than max_wait=60 s\)"):
            await platform.itwins.get_primary_account()
        await asyncio.sleep(20.0)
        spans.clear()
        with pytest.raises(RateLimitError, match=r"retry in 280 s \(longer than max_wait=60 s\)") as raised:
            await platform.with_options(on_response=responses.append).itwins.get_primary_account()
    error = raised.value
    assert (error.status, error.attempts, len(service.requests), responses) == (429, 0, 1, [])
    assert (error.method, error.route, error.body) == ("GET", "/itwins/myprimaryaccount", body)
    assert (error.code, error.tier, error.api, error.correlation_id) == ("TooManyRequests", "Trial", "iTwins", "c-9")
    (span,) = spans.get_finished_spans()
    assert (attributes_of(span)["error.type"], attributes_of(span).get("http.response.status_code")) == ("429", None)


async def test_instrumented_httpx_has_a_span_an_attempt(httpx_mock: HTTPXMock, spans: InMemorySpanExporter) -> None:
    """The span of `HTTPXClientInstrumentor` is below that of the attempt, and each request has the trace context."""
    for status in (503, 429, 200):
        httpx_mock.add_response(status, headers={"retry-after": "1"}, content=b'{"iTwin": {"id": "a-1"}}')
    instrumentor = HTTPXClientInstrumentor()
    instrumentor.instrument()
    try:
        async with client(None) as platform:
            await platform.itwins.get_primary_account()
    finally:
        instrumentor.uninstrument()
    finished = spans.get_finished_spans()
    attempts = [span.context for span in finished if span.name == "GET /itwins/myprimaryaccount"]
    theirs = [span.parent for span in finished if span.name == "GET"]
    assert (len(theirs), all(parent in attempts for parent in theirs)) == (3, True)
    assert len({request.headers["traceparent"] for request in httpx_mock.get_requests()}) == 3
    assert "planted-token" not in "".join(span.to_json() for span in finished)


async def test_nothing_confidential_is_told(spans: InMemorySpanExporter, caplog: pytest.LogCaptureFixture) -> None:
    """Log lines, events and spans have the template of a path, and no id, no query value, no body and no token.

    A token that a service returns as its correlation id is redacted.
    """
    caplog.set_level(logging.DEBUG, "itwin_platform")
    service = ScriptedTransport(
        httpx.Response(200, json={"objects": [], "_links": {}}),
        httpx.Response(503, headers={"x-correlation-id": "planted-token"}),
        httpx.Response(200, json={"webhook": {"id": "w", "secret": "planted"}}),
        httpx.Response(404, json={}, headers={"x-correlation-id": "planted-token"}),
    )
    events: list[Any] = []
    async with client(service, on_event=events.append) as platform:
        await platform.scenes.list_objects(SCENE, "planted-itwin", order_by="planted-order").collect()
        await platform.webhooks.update("planted-webhook", active=True, secret="planted-secret")
        with pytest.raises(NotFoundError):
            await platform.itwins.get_primary_account()
    routes = ["/scenes/{scene_id}/objects", *["/webhooks/{webhook_id}"] * 2, "/itwins/myprimaryaccount"]
    assert [event.route for event in events] == routes
    finished = spans.get_finished_spans()
    assert len([span for span in finished if "itwin_platform.correlation_id" in attributes_of(span)]) == 3
    output = caplog.text + repr(events) + "".join(span.to_json() for span in finished)
    assert not [word for word in ("planted", SCENE, "base-path", "Bearer") if word in output]


async def test_without_a_tracer_provider_nothing_is_traced() -> None:
    """If OpenTelemetry is imported and not set up, no span is made, and none is current."""
    current: list[object] = []

    def inner(request: Any) -> httpx.Response:
        current.append(trace.get_current_span())
        return ACCOUNT

    async with client(ScriptedTransport(inner)) as platform:
        await platform.itwins.get_primary_account()
    assert current == [trace.INVALID_SPAN]
