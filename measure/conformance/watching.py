"""Run other projects' tracers, recorders and mocks, and compare their view of a call with docs/observability.md.

Run as `python -m measure.conformance.watching`. Each tool has a process of its own, because it replaces functions of
httpx. The spans of a tracer go to memory, and a mock responds for an address that does not exist.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import httpx2
from itwin_platform import BackoffPolicy, PlatformClient, PlatformError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "observability.md"
HEAD = "| Tool | Kind | Pass to the client | It sees |\n|---|---|---|---|\n"
NOTHING, OF_HTTPX, OF_HTTPX2 = "nothing", "`http_client=httpx.AsyncClient()`", "`http_client=httpx2.AsyncClient()`"
ACCOUNT = {"iTwin": {"id": "a-1", "class": "Account"}}
NOWHERE = "https://service.invalid"
Call = Callable[[], Awaitable[None]]


async def call(base_url: str, **others: Any) -> None:
    """Make one call."""
    policy = BackoffPolicy(max_attempts=1)
    async with PlatformClient(base_url, vendor="v", token="t", backoff=policy, **others) as platform:
        await platform.itwins.get_primary_account()


async def served(work: Callable[[str], Awaitable[Any]]) -> Any:
    """Run a service on loopback, and do some work with its address."""

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = b'{"iTwin": {"id": "a-1"}}'
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s" % (len(body), body))
        writer.close()

    async with await asyncio.start_server(respond, "127.0.0.1", 0) as server:
        return await work(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")


def _spans_in_memory() -> tuple[Any, Any]:
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    return exporter, SimpleSpanProcessor(exporter)


def _count(exporter: Any) -> int:
    return sum("httpx" in span.instrumentation_scope.name for span in exporter.get_finished_spans())


def opentelemetry() -> int:
    """Count the spans of the instrumentation of httpx."""
    from opentelemetry import trace
    from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
    from opentelemetry.sdk.trace import TracerProvider

    exporter, processor = _spans_in_memory()
    provider = TracerProvider()
    provider.add_span_processor(processor)
    trace.set_tracer_provider(provider)
    HTTPXClientInstrumentor().instrument()
    asyncio.run(served(call))
    return _count(exporter)


def logfire() -> int:
    """Count the same spans with Logfire."""
    import logfire as fire

    exporter, processor = _spans_in_memory()
    fire.configure(send_to_logfire=False, console=False, additional_span_processors=[processor])
    fire.instrument_httpx()
    asyncio.run(served(call))
    return _count(exporter)


def sentry() -> int:
    """Count the spans of a transaction."""
    import sentry_sdk

    events: list[Any] = []
    sentry_sdk.init(
        dsn="http://key@127.0.0.1:1/1",
        traces_sample_rate=1.0,
        before_send_transaction=lambda event, _: events.append(event),
    )

    async def work(address: str) -> None:
        with sentry_sdk.start_transaction(name="t"):
            await call(address)

    asyncio.run(served(work))
    return sum(span["op"] == "http.client" for span in events[0]["spans"])


def datadog() -> int:
    """Count the spans of httpx."""
    from ddtrace import patch as patch_library
    from ddtrace.trace import TraceFilter, tracer

    seen: list[Any] = []

    class Kept(TraceFilter):  # type: ignore[misc]  # installed for the measurement alone
        def process_trace(self, trace: list[Any]) -> None:
            """Keep a trace without sending it."""
            seen.extend(trace)

    tracer.configure(trace_processors=[Kept()])
    patch_library(httpx=True)
    asyncio.run(served(call))
    return sum(span.name == "http.request" for span in seen)


def new_relic() -> int:
    """Count the external calls of a transaction."""
    import newrelic.agent

    newrelic.agent.initialize()
    application = newrelic.agent.register_application(timeout=10.0)
    seen: list[str] = []

    async def work(address: str) -> None:
        with newrelic.agent.BackgroundTask(application, "task"):
            await call(address)
            seen.extend(type(child).__name__ for child in newrelic.agent.current_trace().children)

    asyncio.run(served(work))
    return sum("External" in name for name in seen)


def elastic() -> int:
    """Count the external spans of a transaction."""
    import elasticapm

    events: list[Any] = []
    client = elasticapm.Client(service_name="s", disable_send=True, metrics_interval="0ms", central_config=False)
    client.tracer.queue_func = lambda kind, data, flush=False: events.append((kind, data))
    elasticapm.instrument()

    async def work(address: str) -> None:
        client.begin_transaction("task")
        await call(address)
        client.end_transaction("task")

    asyncio.run(served(work))
    return sum(kind == "span" and data["type"] == "external" for kind, data in events)


def vcr() -> int:
    """Count the responses that a cassette plays in the second of two calls."""
    from vcr import VCR

    with tempfile.TemporaryDirectory() as folder:

        async def work(address: str) -> int:
            played = 0
            for _ in range(2):
                with VCR().use_cassette(f"{folder}/cassette.yaml") as cassette:
                    await call(address)
                    played = int(cassette.play_count)
            return played

        return int(asyncio.run(served(work)))


def _respx(**others: Any) -> int:
    import respx

    with respx.mock(base_url=NOWHERE, assert_all_called=False) as router:
        route = router.get("/itwins/myprimaryaccount").respond(json=ACCOUNT)
        with suppress(PlatformError):
            asyncio.run(call(NOWHERE, **others))
        return int(route.call_count)


def _pook(**others: Any) -> int:
    import pook

    with pook.use():
        mock = pook.get(f"{NOWHERE}/itwins/myprimaryaccount", reply=200, response_json=ACCOUNT)
        try:
            asyncio.run(call(NOWHERE, **others))
        except PlatformError:
            return 0
        return int(mock.calls)


def _by_fixture(name: str, passed: str = "") -> int:
    """Run a test with a fixture, and count the requests that the fixture receives."""
    test = f"""
import asyncio, httpx2
from measure.conformance.watching import ACCOUNT, NOWHERE, call

def test_it({name}):
    {name}.add_response(json=ACCOUNT)
    asyncio.run(call(NOWHERE, {passed}))
    assert len({name}.get_requests()) == 1
"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test_it.py"
        path.write_text(test)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", folder, str(path)]
        return int(subprocess.run(command, capture_output=True, check=False).returncode == 0)


def patched() -> int:
    """Replace the method of httpx that sends a request, as a test may do by hand."""
    with patch("httpx.AsyncHTTPTransport.handle_async_request", return_value=httpx.Response(200, json=ACCOUNT)) as mock:
        asyncio.run(call(NOWHERE))
        return mock.call_count


#: The function that runs each tool, by its name and the argument to pass to the client.
TOOLS: dict[tuple[str, str], Callable[[], int]] = {
    ("OpenTelemetry", NOTHING): opentelemetry,
    ("Logfire", NOTHING): logfire,
    ("Sentry", NOTHING): sentry,
    ("Datadog", NOTHING): datadog,
    ("New Relic", NOTHING): new_relic,
    ("Elastic", NOTHING): elastic,
    ("VCR.py", NOTHING): vcr,
    ("pytest-httpx", NOTHING): lambda: _by_fixture("httpx_mock"),
    ("RESPX", NOTHING): _respx,
    ("`unittest.mock.patch`", NOTHING): patched,
    ("pook", NOTHING): _pook,
    ("pook", OF_HTTPX): lambda: _pook(http_client=httpx.AsyncClient()),
    ("httpx2-pytest", NOTHING): lambda: _by_fixture("httpx2_mock"),
    ("httpx2-pytest", OF_HTTPX2): lambda: _by_fixture("httpx2_mock", "http_client=httpx2.AsyncClient()"),
    ("RESPX", OF_HTTPX2): lambda: _respx(http_client=httpx2.AsyncClient()),
}


def seen_by(number: int) -> str:
    """Run the tool with this number in its own process, and return its view of a call in the words of the page."""
    environment = {**os.environ, "NEW_RELIC_DEVELOPER_MODE": "true", "DD_TRACE_STARTUP_LOGS": "false"}
    command = [sys.executable, "-m", "measure.conformance.watching", str(number)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    count = ended.stdout.strip().rpartition("\n")[2]
    return {"0": "nothing", "1": "the request"}.get(count, f"failed: {ended.stderr[-300:]}")


def stated() -> dict[tuple[str, str], str]:
    """Return each tool's view of a call according to the page, which has several tools in a row."""
    table = PAGE.read_text(encoding="utf-8").partition(HEAD)[2].partition("\n\n")[0]
    cells = [line.strip("| ").split(" | ") for line in table.splitlines()]
    return {(tool, passed): seen.partition(":")[0] for tools, _, passed, seen in cells for tool in tools.split(", ")}


def main() -> None:
    """Print each tool's view of a call and compare it with the page, or print the count of one tool."""
    if len(sys.argv) > 1:
        print([*TOOLS.values()][int(sys.argv[1])]())
        return
    measured = {tool: seen_by(number) for number, tool in enumerate(TOOLS)}
    for (tool, passed), seen in measured.items():
        print(f"{tool}, with {passed} passed: {seen}")
    if measured != (expected := stated()):
        different = sorted({*measured.items()} ^ {*expected.items()})
        raise SystemExit("\n".join([f"{PAGE.name} differs:", *map(str, different)]))


if __name__ == "__main__":
    main()
