"""Each request that a server received has one span of an attempt, with every fault."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import httpx
import pytest
from itwin_platform import BackoffPolicy, PlatformClient, PlatformError
from itwin_platform_sandbox import FAULTS, Sandbox
from itwin_platform_sandbox._faults.catalogue import FaultName
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind

from tests.support.real_time import pass_time, until
from tests.support.recorded_spans import recorded_spans

TRANSPORTS: dict[str, Callable[[], httpx.AsyncBaseTransport | None]] = {
    "default": lambda: None,
    "httpx": httpx.AsyncHTTPTransport,
}
AT_ONCE = BackoffPolicy(base_delay=0.0)
#: For how long a response is waited for: time passes only where none comes.
TIMEOUT = 30.0


def calls(platform: PlatformClient, sandbox: Sandbox) -> list[Awaitable[object]]:
    """Return calls on which every fault has an effect: listings of several pages, changes, and rejected changes."""
    return [
        platform.itwins.list(page_size=20).collect(),
        platform.scenes.list_objects(sandbox.scene_id, sandbox.itwin_id, page_size=20).collect(),
        platform.itwins.get_primary_account(),
        platform.detectors.create(name="d", type="PhotoObjectDetector"),
        *(platform.repositories.update("nobody", "r-1", display_name="A") for _ in range(2)),
        platform.webhooks.activate(sandbox.webhook_id),
    ]


def is_attempt(span: ReadableSpan) -> bool:
    """Whether a span is of an attempt that had a connection: without one, no server sees it."""
    return span.kind is SpanKind.CLIENT and (span.attributes or {}).get("error.type") != "ConnectError"


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("fault", FAULTS)
async def test_there_are_as_many_attempt_spans_as_requests_at_the_server(
    fault: FaultName, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in the journal of the sandbox, for each fault of its catalogue, twice each."""
    seconds = {"refuse": 3600.0, "stall": None}.get(fault, 0.0)

    async def let_time_pass(sandbox: Sandbox) -> None:
        for stalls_to_come in (1, 0):
            await until(lambda: len(sandbox.faults) == stalls_to_come)  # noqa: B023  # looked at before the next round
            pass_time(monkeypatch, seconds=TIMEOUT)

    with recorded_spans() as spans:
        async with Sandbox(itwins=50, objects=50) as sandbox:
            for count in {"refuse": [1], "stall": [1, 1]}.get(fault, [2]):
                sandbox.fault(fault, seconds=seconds, count=count)
            passing = asyncio.ensure_future(let_time_pass(sandbox) if fault == "stall" else asyncio.sleep(0))
            async with PlatformClient(
                sandbox.base_url,
                vendor="v",
                token=sandbox.token,
                backoff=AT_ONCE,
                timeout=TIMEOUT,
                transport=TRANSPORTS[transport](),
            ) as platform:
                for call in calls(platform, sandbox):
                    with suppress(PlatformError):
                        await call
                    if fault == "refuse":
                        # Only the first call is refused: how many a duration would refuse depends on the machine.
                        sandbox.clear_faults()
            await passing
            assert sandbox.unused_faults == ()
            requests = sandbox.requests
    attempts = [span for span in spans.get_finished_spans() if is_attempt(span)]
    assert len(attempts) == len(requests) >= 7
