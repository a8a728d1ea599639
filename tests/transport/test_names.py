"""The headers of a service that the transport reads: `retry-after`, and the headers that `headers=` names."""

import runpy

import itwin_platform_transport.names
import pytest
from itwin_platform_transport import AttemptEnded, BackoffPolicy, BackoffTransport, CooldownStarted, ServiceHeaders

from tests.support.services import ScriptedTransport, response, send

SENT = {"x-acme-wait": "9", "retry-after": "2", "x-acme-id": "a-1", "X-Acme-Tier": "gold", "x-acme-api": ""}
NAMED = ServiceHeaders(
    retry_after=("x-acme-wait", "retry-after"),
    correlation_id="x-acme-id",
    limit_tier=("x-tier", "x-acme-tier"),
    limit_api=("x-acme-api",),
)


@pytest.mark.parametrize(
    ("headers", "seconds", "tier", "correlation_id"),
    [(ServiceHeaders(), 2.0, None, None), (NAMED, 9.0, "gold", "a-1")],
)
async def test_headers_names_the_headers_of_the_service(
    headers: ServiceHeaders, seconds: float, tier: str | None, correlation_id: str | None
) -> None:
    """Of several names, the first header of the response counts, and an empty value counts as absent."""
    events: list[object] = []
    service, policy = ScriptedTransport(response(429, headers=SENT)), BackoffPolicy(max_wait=0.0)
    transport = BackoffTransport(service, policy=policy, headers=headers, on_event=events.append)
    assert (await send(transport)).status_code == 429
    cooldown, attempt = events
    assert isinstance(cooldown, CooldownStarted)
    assert isinstance(attempt, AttemptEnded)
    assert (round(cooldown.seconds), cooldown.tier, cooldown.api, cooldown.operation) == (seconds, tier, None, None)
    assert attempt.correlation_id == correlation_id


def test_a_vendored_copy_logs_by_its_own_name() -> None:
    """The logger and the tracer of a copy have the name of the package that holds both packages of the client."""
    copied = runpy.run_path(itwin_platform_transport.names.__file__, run_name="app.client.transport.names")
    assert copied["LOGGER"].name == "app.client"
