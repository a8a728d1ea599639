"""OpenTelemetry: a span for each attempt, and what backoff does as events of the application's own span.

Run it with `python examples/traces.py`: it prints each span as one line of JSON. An application exports them instead,
with `BatchSpanProcessor(OTLPSpanExporter())`.

The instrumentation of httpx is all that the spans need, as each attempt goes through httpx. A span names the address of
its request with its query, so a listing's `search` and `filter` stand in it; tokens, bodies and secrets do not.
"""

import asyncio

from itwin_platform import AttemptEnded, BackoffEvent, PlatformClient
from itwin_platform_sandbox import Sandbox
from opentelemetry import trace
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor


def add_to_span(event: BackoffEvent) -> None:
    """Notes what happens to a request on the span in which the application made its call."""
    span = trace.get_current_span()
    if isinstance(event, AttemptEnded):
        outcome = event.status or event.error or ""
        span.add_event("attempt ended", {"route": event.route, "attempt": event.attempt, "outcome": outcome})
    else:
        span.add_event("cooldown began", {"route": event.route, "seconds": event.seconds})


def set_up_tracing() -> TracerProvider:
    """Prints spans from now on, those of every httpx client among them."""
    provider = TracerProvider(resource=Resource.create({"service.name": "webhook-switch"}))
    in_one_line = ConsoleSpanExporter(formatter=lambda span: span.to_json(indent=None) + "\n")
    provider.add_span_processor(SimpleSpanProcessor(in_one_line))
    trace.set_tracer_provider(provider)
    HTTPXClientInstrumentor().instrument()
    return provider


async def main() -> None:
    """Switches a webhook on through a rate limit of one second, inside a span of its own."""
    provider = set_up_tracing()
    async with (
        Sandbox() as sandbox,
        PlatformClient(sandbox.base_url, vendor="sandbox", token="a-made-up-token", on_event=add_to_span) as platform,
    ):
        sandbox.fault("rate_limited", seconds=1)
        with trace.get_tracer(__name__).start_as_current_span("switch the webhook on"):
            await platform.webhooks.update(sandbox.webhook_id, active=True, secret="a made-up secret")
    provider.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
