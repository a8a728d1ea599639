"""OpenTelemetry: a span for each call of the client, and below it a span for each attempt.

Run it with `python examples/traces.py`: it prints each span as one line of JSON. An application exports them instead,
with `BatchSpanProcessor(OTLPSpanExporter())`.

The client traces as soon as the application has set a tracer provider. A span has no id but the correlation id, no
query value, no body and no token.
"""

import asyncio

from itwin_platform import PlatformClient
from itwin_platform_sandbox import Sandbox
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor


def set_up_tracing() -> TracerProvider:
    """Print spans from now on."""
    provider = TracerProvider(resource=Resource.create({"service.name": "webhook-switch"}))
    in_one_line = ConsoleSpanExporter(formatter=lambda span: span.to_json(indent=None) + "\n")
    provider.add_span_processor(SimpleSpanProcessor(in_one_line))
    trace.set_tracer_provider(provider)
    return provider


async def main() -> None:
    """Switch a webhook on through a rate limit of one second, inside a span of the application."""
    provider = set_up_tracing()
    async with (
        Sandbox() as sandbox,
        PlatformClient(sandbox.base_url, vendor="sandbox", token="a-made-up-token") as platform,
    ):
        sandbox.fault("rate_limited", seconds=1)
        with trace.get_tracer(__name__).start_as_current_span("switch the webhook on"):
            await platform.webhooks.update(sandbox.webhook_id, active=True, secret="made-up-secret-of-32-characters!")
    provider.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
