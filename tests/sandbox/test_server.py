"""Starting and stopping within a loop."""

import asyncio
import socket

import httpx
import pytest
from itwin_platform_sandbox import Sandbox
from itwin_platform_sandbox._faults.wire import real_socket

from tests.support.counted_calls import counted_calls
from tests.support.real_time import until

HEADERS = {"Authorization": "Bearer a"}


async def test_several_sandboxes_run_at_once_and_share_nothing() -> None:
    """Each has an address and a state of its own."""
    async with Sandbox(itwins=1) as first, Sandbox(itwins=2) as second, httpx.AsyncClient(headers=HEADERS) as http:
        counts = [len((await http.get(f"{sandbox.base_url}/itwins/")).json()["iTwins"]) for sandbox in (first, second)]
        first.fault("empty", count=None)
        assert counts == [1, 2]
        assert (await http.get(f"{second.base_url}/itwins/")).content


async def test_a_sandbox_starts_and_stops_in_milliseconds() -> None:
    """Starting a sandbox, one request and stopping take at most 10,000 calls of functions, which are milliseconds."""

    async def start_and_stop() -> None:
        async with Sandbox(itwins=10, objects=10) as sandbox:
            await http.get(f"{sandbox.base_url}/itwins/")

    async with httpx.AsyncClient(headers=HEADERS) as http:
        await start_and_stop()  # which imports what it needs
        with counted_calls() as calls:
            await start_and_stop()
    assert 0 < len(calls) <= 10_000


async def test_stopping_ends_requests_that_are_being_handled(caplog: pytest.LogCaptureFixture) -> None:
    """Stopping does not wait for a stalled request: its connection ends immediately, and nothing is logged."""
    never = asyncio.Event()

    async def sleep(_: float) -> None:
        await never.wait()

    async with httpx.AsyncClient(headers=HEADERS) as http:
        async with Sandbox(itwins=1, latency=1, sleep=sleep) as sandbox:
            request = asyncio.create_task(http.get(f"{sandbox.base_url}/itwins/"))
            stalled = asyncio.create_task(http.get(f"{sandbox.base_url}/itwins/"))
            await until(lambda: sandbox._running.recorder._in_flight == 2)
        for task in (request, stalled):
            with pytest.raises(httpx.TransportError):
                await task
    assert [record.status for record in sandbox.requests] == [None, None]
    assert caplog.text == ""


async def test_what_is_no_http_is_rejected_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    """A stranger's bytes get 400 and leave no line in a log."""
    async with Sandbox(itwins=1) as sandbox:
        host, port = sandbox.base_url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"\x16\x03\x01 hello\r\n\r\n")
        response = await reader.read()
        writer.close()
    assert response.startswith(b"HTTP/1.1 400 ")
    assert caplog.text == ""


async def test_a_client_that_leaves_while_it_sends_is_recorded(caplog: pytest.LogCaptureFixture) -> None:
    """The record has no status, and nothing is logged."""
    async with Sandbox(itwins=1) as sandbox:
        host, port = sandbox.base_url.removeprefix("http://").split(":")
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"POST /scenes/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")
        await writer.drain()
        writer.close()
        await until(lambda: len(sandbox.requests) == 1)
    assert [(record.operation, record.status) for record in sandbox.requests] == [("create_scene", None)]
    assert caplog.text == ""


async def test_a_taken_port_is_said_at_once() -> None:
    """A port in use raises OSError, and the sandbox that has it keeps running."""
    async with Sandbox(itwins=1) as sandbox, httpx.AsyncClient(headers=HEADERS) as http:
        port = int(sandbox.base_url.rpartition(":")[2])
        with pytest.raises(OSError, match="in use"):
            await Sandbox(itwins=1, port=port).__aenter__()
        assert (await http.get(f"{sandbox.base_url}/itwins/")).status_code == 200


async def test_a_port_can_be_used_again_at_once() -> None:
    """A sandbox on a fixed port can follow another one there, also after a reset connection."""
    async with Sandbox(itwins=1) as sandbox, httpx.AsyncClient(headers=HEADERS) as http:
        port = int(sandbox.base_url.rpartition(":")[2])
        await http.get(f"{sandbox.base_url}/itwins/")
    async with Sandbox(itwins=1, port=port) as sandbox, httpx.AsyncClient(headers=HEADERS) as http:
        assert (await http.get(f"{sandbox.base_url}/itwins/")).status_code == 200


async def test_a_response_is_not_held_back_by_the_system() -> None:
    """A response does not wait for a delayed acknowledgement, which would take every request 40 ms."""
    async with Sandbox(itwins=1) as sandbox, httpx.AsyncClient(headers=HEADERS) as http:
        await http.get(f"{sandbox.base_url}/itwins/")
        (connection,) = sandbox._running.server._state.connections
        with real_socket(connection.transport) as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_ipv6_addresses_are_written_in_brackets() -> None:
    """The base URL of a sandbox on ::1 is one that a client can use."""
    try:
        async with Sandbox(itwins=1, host="::1") as sandbox, httpx.AsyncClient(headers=HEADERS) as http:
            response = await http.get(f"{sandbox.base_url}/itwins/")
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    assert sandbox.base_url.startswith("http://[::1]:")
    assert response.status_code == 200


async def test_a_stopped_sandbox_can_be_started_again() -> None:
    """It has what it had, and faults can be cleared whether it runs or not."""
    sandbox = Sandbox(itwins=1)
    detector = {"name": "d", "type": "PhotoObjectDetector"}
    async with httpx.AsyncClient(headers=HEADERS) as http:
        async with sandbox:
            await http.post(f"{sandbox.base_url}/reality-analysis/detectors", json=detector)
            sandbox.fault("refuse", seconds=3600)
        sandbox.clear_faults()
        async with sandbox:
            page = (await http.get(f"{sandbox.base_url}/")).text
    assert "detectors: 1" in page


async def test_a_running_sandbox_is_not_started_again() -> None:
    """A second `async with`, such as on the fixture, raises an error and leaves the sandbox running."""
    async with Sandbox(itwins=1) as sandbox:
        with pytest.raises(RuntimeError, match="running already"):
            await sandbox.__aenter__()
        assert await status_of(sandbox) == 200


def test_an_address_is_known_once_started() -> None:
    """Before it is started, `base_url` raises an error and `repr` shows that it is not running."""
    sandbox = Sandbox(itwins=1)
    assert repr(sandbox) == "<Sandbox not started>"
    with pytest.raises(RuntimeError, match="async with"):
        _ = sandbox.base_url


async def test_leaving_with_a_connection_open_ends_quietly(caplog: pytest.LogCaptureFixture) -> None:
    """An idle connection and a stalled one are dropped, under every event loop."""
    async with httpx.AsyncClient(headers=HEADERS) as http:
        async with Sandbox(itwins=1) as sandbox:
            await http.get(f"{sandbox.base_url}/itwins/")
            sandbox.fault("stall")
            stalled = asyncio.create_task(http.get(f"{sandbox.base_url}/itwins/"))
            await until(lambda: sandbox.faults == ())
        with pytest.raises(httpx.TransportError):
            await stalled
    assert caplog.text == ""


def test_faults_are_controlled_while_the_loop_stands_still() -> None:
    """Between two runs of a loop, as in a notebook, adding and clearing faults returns and takes effect."""
    with asyncio.Runner() as runner:
        sandbox = Sandbox(itwins=1)
        runner.run(sandbox.__aenter__())
        sandbox.fault("refuse", seconds=3600)
        sandbox.clear_faults()
        assert runner.run(status_of(sandbox)) == 200
        runner.run(sandbox.__aexit__(None, None, None))


async def status_of(sandbox: Sandbox) -> int:
    """The status of one request."""
    async with httpx.AsyncClient(verify=False, headers={"Authorization": "Bearer a"}) as http:  # noqa: S501
        return (await http.get(f"{sandbox.base_url}/itwins/")).status_code
