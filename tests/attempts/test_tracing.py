"""OpenTelemetry: its instrumentation of httpx sees each attempt, because each one goes through httpx's transport."""

from collections.abc import Iterator

import pytest
from itwin_platform import PlatformClient
from opentelemetry.instrumentation.httpx import AsyncOpenTelemetryTransport, HTTPXClientInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pytest_httpx import HTTPXMock

from tests.support.scripted_transport import ScriptedTransport, rate_limited, response

ACCOUNT = b'{"iTwin": {"id": "a-1"}}'


@pytest.fixture
def spans() -> InMemorySpanExporter:
    """Where the spans end."""
    return InMemorySpanExporter()


@pytest.fixture
def provider(spans: InMemorySpanExporter) -> Iterator[TracerProvider]:
    """What makes them."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    yield provider
    provider.shutdown()


def statuses(spans: InMemorySpanExporter) -> list[object]:
    """The status of each span."""
    found = [dict(span.attributes or {}) for span in spans.get_finished_spans()]
    return [each.get("http.response.status_code", each.get("http.status_code")) for each in found]


async def test_instrumented_httpx_has_a_span_for_each_attempt(
    httpx_mock: HTTPXMock, spans: InMemorySpanExporter, provider: TracerProvider
) -> None:
    """`HTTPXClientInstrumentor().instrument()` traces each request and sends the trace context to the service."""
    httpx_mock.add_response(503)
    httpx_mock.add_response(429, headers={"retry-after": "1"})
    httpx_mock.add_response(content=ACCOUNT)
    instrumentor = HTTPXClientInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    try:
        async with PlatformClient("https://service.example", vendor="acme", token="planted-token") as platform:
            await platform.itwins.get_primary_account()
    finally:
        instrumentor.uninstrument()
    assert statuses(spans) == [503, 429, 200]
    assert len({request.headers["traceparent"] for request in httpx_mock.get_requests()}) == 3
    assert "planted-token" not in "".join(span.to_json() for span in spans.get_finished_spans())


async def test_a_traced_transport_can_be_given(spans: InMemorySpanExporter, provider: TracerProvider) -> None:
    """Its own transport wraps any other, and ours lies above it."""
    service = ScriptedTransport(rate_limited("1"), response(200, content=ACCOUNT))
    traced = AsyncOpenTelemetryTransport(service, tracer_provider=provider)
    async with PlatformClient("https://service.example", vendor="acme", token="t-1", transport=traced) as platform:
        await platform.itwins.get_primary_account()
    assert statuses(spans) == [429, 200]
    assert all("traceparent" in seen.headers for seen in service.requests)
