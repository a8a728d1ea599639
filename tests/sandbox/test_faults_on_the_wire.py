"""Faults that a client meets below HTTP or in the bytes of the body."""

import asyncio
import json

import httpx
import pytest
from itwin_platform_sandbox import Sandbox
from itwin_platform_sandbox._faults.catalogue import FaultName

from tests.support.real_time import until

RESOURCE = {"id": "a", "displayName": "A"}


def resources_url(sandbox: Sandbox) -> str:
    """Where a resource is created."""
    return f"/itwins/{sandbox.itwin_id}/repositories/{sandbox.repository_id}/resources"


@pytest.mark.parametrize(
    ("name", "status_of_the_second"),
    [("reset_before_effect", 201), ("reset_after_effect", 409), ("reset_in_head", 409), ("reset_in_body", 409)],
)
async def test_a_reset_comes_before_or_after_the_effect(
    http: httpx.AsyncClient, sandbox: Sandbox, name: FaultName, status_of_the_second: int
) -> None:
    """The client gets no response; the name of the fault says whether the resource exists then."""
    sandbox.fault(name, operation="create_repository_resource")
    with pytest.raises(httpx.ReadError):
        await http.post(resources_url(sandbox), json=RESOURCE)
    second = await http.post(resources_url(sandbox), json=RESOURCE)
    assert second.status_code == status_of_the_second
    assert [record.status for record in sandbox.requests] == [None, status_of_the_second]


@pytest.mark.parametrize(
    ("name", "begins_with", "has_head"),
    [("reset_in_head", b"HTTP/1.1 200 OK\r\n", False), ("reset_in_body", b"HTTP/1.1 200 OK\r\n", True)],
)
async def test_a_reset_within_a_response_lets_its_beginning_through(
    sandbox: Sandbox, name: FaultName, begins_with: bytes, has_head: bool
) -> None:
    """The bytes before the reset arrive, and not the complete body."""
    sandbox.fault(name)
    received = bytearray()
    reader, writer = await send_raw(sandbox)
    with pytest.raises(ConnectionResetError):
        await read_to_the_end(reader, received)
    writer.close()
    assert received.startswith(begins_with)
    head, found, body = bytes(received).partition(b"\r\n\r\n")
    assert bool(found) is has_head
    if has_head:
        length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length"))
        assert 0 < len(body) < int(length.split(b":")[1])


async def test_a_stalled_request_ends_when_the_client_leaves(sandbox: Sandbox) -> None:
    """Without seconds nothing is ever returned, and nothing is left behind."""
    sandbox.fault("stall")
    _, writer = await send_raw(sandbox)
    await until(lambda: sandbox.faults == ())
    assert sandbox.requests == []
    writer.close()
    await until(lambda: len(sandbox.requests) == 1)
    assert sandbox.requests[0].status is None


async def test_a_stall_of_some_seconds_ends_with_the_response() -> None:
    """The response comes after the wait."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async with Sandbox(itwins=1, sleep=sleep) as sandbox, httpx.AsyncClient(base_url=sandbox.base_url) as http:
        sandbox.fault("stall", seconds=30)
        response = await http.get("/itwins/", headers={"Authorization": "Bearer a"})
    assert (response.status_code, waits) == (200, [30])


async def test_a_trickle_sends_the_complete_body_in_pieces() -> None:
    """The body comes in many pieces that take the requested time, and is complete."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async with Sandbox(itwins=50, sleep=sleep) as sandbox, httpx.AsyncClient(base_url=sandbox.base_url) as http:
        sandbox.fault("trickle", seconds=10)
        response = await http.get("/itwins/", headers={"Authorization": "Bearer a"})
    assert len(response.json()["iTwins"]) == 50
    assert len(waits) >= 19
    assert sum(waits) == pytest.approx(10, rel=0.1)


async def test_latency_and_jitter_hold_every_response_back() -> None:
    """Each response waits for the latency and a share of the jitter, the same in every run."""
    runs: list[list[float]] = []
    for _ in range(2):
        waits: list[float] = []

        async def sleep(seconds: float, waits: list[float] = waits) -> None:
            waits.append(seconds)

        async with (
            Sandbox(itwins=1, latency=0.2, jitter=0.1, sleep=sleep) as sandbox,
            httpx.AsyncClient(base_url=sandbox.base_url) as http,
        ):
            for _request in range(3):
                await http.get("/itwins/")
        runs.append(waits)
    assert runs[0] == runs[1]
    assert len(set(runs[0])) == 3
    assert all(0.2 <= wait <= 0.3 for wait in runs[0])


@pytest.mark.parametrize(("name", "body"), [("empty", b""), ("null", b"null"), ("list", b'[1, "two", null]')])
async def test_a_success_can_have_another_body(
    http: httpx.AsyncClient, sandbox: Sandbox, name: FaultName, body: bytes
) -> None:
    """Status and media type stay, the body is something else."""
    sandbox.fault(name)
    response = await http.get("/itwins/")
    assert (response.status_code, response.content) == (200, body)
    assert response.headers["content-type"] == "application/json"


async def test_truncated_json_has_the_length_that_it_says(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """The body ends half-way without the connection breaking."""
    sandbox.fault("truncated_json")
    response = await http.get("/itwins/")
    assert response.status_code == 200
    with pytest.raises(json.JSONDecodeError):
        response.json()


async def test_rejected_connections_are_taken_again_after_the_seconds() -> None:
    """While it lasts nothing listens and open connections are gone; then the same address responses."""
    over = asyncio.Event()

    async def sleep(_: float) -> None:
        await over.wait()

    headers = {"Authorization": "Bearer a"}
    async with (
        Sandbox(itwins=1, sleep=sleep) as sandbox,
        httpx.AsyncClient(base_url=sandbox.base_url, headers=headers) as http,
    ):
        assert (await http.get("/itwins/")).status_code == 200
        sandbox.fault("refuse", seconds=5)
        for _ in range(2):
            with pytest.raises(httpx.ConnectError):
                await http.get("/itwins/")
        over.set()
        await until(lambda: sandbox._running.server._refusing is None)
        assert (await http.get("/itwins/")).status_code == 200


async def test_clearing_faults_ends_refuse(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """clear_faults() makes the sandbox listen again at once."""
    sandbox.fault("refuse", seconds=3600)
    with pytest.raises(httpx.ConnectError):
        await http.get("/itwins/")
    sandbox.clear_faults()
    assert (await http.get("/itwins/")).status_code == 200


async def send_raw(sandbox: Sandbox) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection on which a listing was requested."""
    host, port = sandbox.base_url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET /itwins/ HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer a\r\nAccept: */*\r\n\r\n")
    return reader, writer


async def read_to_the_end(reader: asyncio.StreamReader, received: bytearray) -> None:
    """Collect what comes until the connection ends in one way or another."""
    while data := await reader.read(100):
        received += data
