"""What tracers, recorders and mocks of others see of a call, each in a process of its own.

`python -m measure.conformance.watching` fails if the table of docs/observability.md says anything else, and `... NAME`
runs one of them. An exporter in memory takes what a tracer reports, and a mock responds for an address that does not
exist.
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
ACCOUNT = {"iTwin": {"id": "a-1", "class": "Account"}}
NOWHERE = "https://service.invalid"
Call = Callable[[], Awaitable[None]]


async def call(base_url: str, **others: Any) -> None:
    """Make one call, with the default client unless another one is passed."""
    policy = BackoffPolicy(max_attempts=1)
    async with PlatformClient(base_url, vendor="v", token="t", backoff=policy, **others) as platform:
        await platform.itwins.get_primary_account()


async def served(work: Callable[[str], Awaitable[Any]]) -> Any:
    """Do something with the address of a service on loopback."""

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
            """Keep a trace, and send nothing."""
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
    """Count what a cassette holds after two calls, of which the second is played."""
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
    """Run a test with a fixture, and count the requests that it has responded to."""
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
    """Replace the method of httpx that sends, as a test may do by hand."""
    with patch("httpx.AsyncHTTPTransport.handle_async_request", return_value=httpx.Response(200, json=ACCOUNT)) as mock:
        asyncio.run(call(NOWHERE))
        return mock.call_count


#: What each tool is for, what runs it, and what to pass to the client.
TOOLS: dict[str, tuple[str, Callable[[], int], str]] = {
    "OpenTelemetry": ("tracer", opentelemetry, ""),
    "Logfire": ("tracer", logfire, ""),
    "Sentry": ("tracer", sentry, ""),
    "Datadog": ("tracer", datadog, ""),
    "New Relic": ("tracer", new_relic, ""),
    "Elastic": ("tracer", elastic, ""),
    "VCR.py": ("recorder", vcr, ""),
    "pytest-httpx": ("mock", lambda: _by_fixture("httpx_mock"), ""),
    "RESPX": ("mock", _respx, ""),
    "unittest.mock.patch": ("mock", patched, ""),
    "pook": ("mock", _pook, ""),
    "pook, given a client": (
        "mock",
        lambda: _pook(http_client=httpx.AsyncClient()),
        "`http_client=httpx.AsyncClient()`",
    ),
    "httpx2-pytest": ("mock", lambda: _by_fixture("httpx2_mock"), ""),
    "httpx2-pytest, given a client": (
        "mock",
        lambda: _by_fixture("httpx2_mock", "http_client=httpx2.AsyncClient()"),
        "`http_client=httpx2.AsyncClient()`",
    ),
    "RESPX, given a client of httpx2": (
        "mock",
        lambda: _respx(http_client=httpx2.AsyncClient()),
        "`http_client=httpx2.AsyncClient()`",
    ),
}


def rows() -> list[str]:
    """Run each tool in a process of its own, and return the rows of the table."""
    environment = {**os.environ, "NEW_RELIC_DEVELOPER_MODE": "true", "DD_TRACE_STARTUP_LOGS": "false"}
    found: list[str] = []
    for name, (kind, _, passed) in TOOLS.items():
        command = [sys.executable, "-m", "measure.conformance.watching", name]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
        last = ended.stdout.strip().splitlines()[-1:]
        nothing = "nothing: **the request is sent**" if kind == "mock" else "nothing"
        seen = "the request" if last == ["1"] else nothing if last == ["0"] else f"failed: {ended.stderr[-300:]}"
        found.append(f"| {name.partition(',')[0]} | {kind} | {passed or 'nothing'} | {seen} |")
    return found


def rows_of_page() -> list[str]:
    """Return the rows of the page, one for each tool: the page has those together that see the same."""
    table = PAGE.read_text(encoding="utf-8").partition(HEAD)[2].partition("\n\n")[0]
    split = [
        line.split(" | ", 1) for line in table.replace("`unittest.mock.patch`", "unittest.mock.patch").splitlines()
    ]
    return [f"| {tool} | {rest}" for tools, rest in split for tool in tools.removeprefix("| ").split(", ")]


def main() -> None:
    """Print the table and compare it with the page, or print what one tool sees."""
    if len(sys.argv) > 1:
        print(TOOLS[sys.argv[1]][1]())
        return
    measured = rows()
    print(HEAD + "\n".join(measured))
    if measured != (shown := rows_of_page()):
        raise SystemExit("\n".join([f"{PAGE.name} says something else:", *sorted({*measured} ^ {*shown})]))


if __name__ == "__main__":
    main()
