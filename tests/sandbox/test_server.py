"""Starting and stopping a sandbox, and clients that disconnect or send invalid bytes."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from itwin_platform import PlatformClient
from itwin_platform_sandbox import Sandbox

from tests.support.real_time import until
from tests.support.sandboxes import client_of, serving

HEAD = b"POST /scenes/ HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def small() -> Sandbox:
    """A sandbox that does not run yet."""
    return Sandbox(itwins=1, objects=0)


async def status_of(sandbox: Sandbox) -> int:
    """The status of one request on a connection of its own."""
    async with client_of(sandbox) as http:
        return (await http.get("/itwins/")).status_code


@asynccontextmanager
async def connection(sandbox: Sandbox) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection, closed at the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(sandbox.base_url.rpartition(":")[2]))
    yield reader, writer
    writer.close()


async def test_several_sandboxes_run_at_once_and_share_nothing() -> None:
    """Each has an address and a state of its own."""
    async with serving() as (first, http), serving(itwins=2) as (_, other):
        assert [len((await each.get("/itwins/")).json()["iTwins"]) for each in (http, other)] == [1, 2]
        first.fault("empty", count=None)
        assert [bool((await each.get("/itwins/")).content) for each in (http, other)] == [False, True]


async def test_stopping_ends_requests_that_are_being_handled(caplog: pytest.LogCaptureFixture) -> None:
    """Stopping waits neither for idle connections nor for stalled requests, which end at once, and logs nothing."""
    async with httpx.AsyncClient(headers={"Authorization": "Bearer a"}) as http:
        async with Sandbox(itwins=1) as sandbox:
            await http.get(f"{sandbox.base_url}/itwins/")
            sandbox.fault("stall")
            sandbox.fault("stall", seconds=3600)
            stalled = [asyncio.create_task(http.get(f"{sandbox.base_url}/itwins/")) for _ in range(2)]
            await until(lambda: sandbox.faults == ())
        for task in stalled:
            with pytest.raises(httpx.TransportError):
                await task
    assert [record.status for record in sandbox.requests] == [200, None, None]
    assert caplog.text == ""


async def test_invalid_bytes_get_one_response(small: Sandbox, caplog: pytest.LogCaptureFixture) -> None:
    """Invalid bytes get one 400, and no log line."""
    async with small, connection(small) as (reader, writer):
        writer.write(b"\x16\x03\x01 hello\r\n\r\n")
        received = await reader.read()
    assert received.startswith(b"HTTP/1.1 400 ")
    assert (received.count(b"HTTP/1.1"), caplog.text) == (1, "")


async def test_an_offer_of_an_upgrade_is_ignored(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """A request that offers HTTP/2, as Java sends it, is handled with its body."""
    headers = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAEAAEAA"}
    body = {"name": "d", "type": "PhotoObjectDetector"}
    response = await http.post("/reality-analysis/detectors", json=body, headers=headers)
    assert (response.status_code, sandbox.stored("detector", "d")["name"]) == (201, "d")


async def test_a_client_that_disconnects_while_it_sends_is_recorded(
    small: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    """The record has no status, and nothing is logged."""
    async with small:
        async with connection(small) as (_, writer):
            writer.write(HEAD + b"Content-Length: 100\r\n\r\n{")
            await writer.drain()
        await until(lambda: len(small.requests) == 1)
    assert [(record.operation, record.status) for record in small.requests] == [("create_scene", None)]
    assert caplog.text == ""


async def test_a_port_can_be_taken_once(small: Sandbox) -> None:
    """A port in use raises OSError, and the sandbox that has it keeps running; another one can follow it there."""
    async with serving() as (sandbox, http):
        port = int(sandbox.base_url.rpartition(":")[2])
        following = Sandbox(itwins=1, port=port)
        with pytest.raises(OSError, match="in use"):
            await following.__aenter__()
        assert (await http.get("/itwins/")).status_code == 200
    async with following:
        assert await status_of(following) == 200


@pytest.mark.parametrize(
    ("host", "named"),
    [
        *(("127.0.0.1", "127.0.0.1"), ("localhost", "localhost"), ("::1", "[::1]")),
        *((host, "127.0.0.1") for host in ("0.0.0.0", "")),  # noqa: S104  # every interface, for a moment
        ("::", "[::1]"),
    ],
)
async def test_the_base_url_is_one_that_the_client_accepts(host: str, named: str) -> None:
    """Listening on every interface, a sandbox names a loopback address; an IPv6 address is in brackets."""
    try:
        async with Sandbox(itwins=1, objects=0, host=host) as sandbox:
            async with PlatformClient(sandbox.base_url, vendor="v", token=sandbox.token) as platform:
                assert (await platform.itwins.get_primary_account()).id == sandbox.account_id
            assert re.fullmatch(rf"http://{re.escape(named)}:\d+", sandbox.base_url)
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")


async def test_a_stopped_sandbox_can_be_started_again(small: Sandbox) -> None:
    """A restarted sandbox keeps its data; a running one cannot be started, and a stopped one can clear faults."""
    detector = {"name": "d", "type": "PhotoObjectDetector"}
    async with small, client_of(small) as http:
        with pytest.raises(RuntimeError, match="running already"):
            await small.__aenter__()
        assert (await http.post("/reality-analysis/detectors", json=detector)).status_code == 201
        small.fault("refuse", seconds=3600)
    small.clear_faults()
    async with small, client_of(small) as http:
        assert (await http.get("/sandbox")).json()["counts"]["detectors"] == 1


def test_an_address_is_known_once_started(small: Sandbox) -> None:
    """Before it is started, `base_url` raises an error and `repr` shows that it is not running."""
    assert repr(small) == "<Sandbox not started>"
    with pytest.raises(RuntimeError, match="async with"):
        _ = small.base_url


def test_faults_are_controlled_between_two_runs_of_the_loop(small: Sandbox) -> None:
    """Between two runs of a loop, as in a notebook, adding and clearing faults returns and takes effect."""
    with asyncio.Runner() as runner:
        runner.run(small.__aenter__())
        small.fault("refuse", seconds=3600)
        small.clear_faults()
        assert runner.run(status_of(small)) == 200
        runner.run(small.__aexit__(None, None, None))
