"""Faults of connections: the parts of a response that arrive, and their delays."""

import asyncio
from contextlib import nullcontext
from typing import get_args

import httpx
import pytest
from itwin_platform_sandbox import FAULTS, Sandbox
from itwin_platform_sandbox._faults.catalogue import FaultName

from tests.sandbox.test_faults import CHANGES, CONTENTS, INSTEAD, LINKS, OTHERS
from tests.support.real_time import until
from tests.support.sandboxes import requests_of, serving

#: The status of a second request: whether the first one has created the resource.
RESETS: dict[FaultName, int] = {"reset_before_effect": 201}
RESETS |= {"reset_after_effect": 409, "reset_in_head": 409, "reset_in_body": 409}


@pytest.mark.parametrize(("name", "status_of_the_second"), RESETS.items())
async def test_a_reset_comes_before_or_after_the_effect(
    http: httpx.AsyncClient, sandbox: Sandbox, name: FaultName, status_of_the_second: int
) -> None:
    """The name of the fault says whether the operation had its effect; an unknown path does not match it."""
    path, resource = requests_of(sandbox)["create_repository_resource"][1], {"id": "a", "displayName": "A", "type": "T"}
    sandbox.fault(name)
    assert (await http.get("/nowhere")).status_code == 404
    with pytest.raises(httpx.ReadError):
        await http.post(path, json=resource)
    assert (await http.post(path, json=resource)).status_code == status_of_the_second
    assert [record.status for record in sandbox.requests] == [404, None, status_of_the_second]


def test_every_fault_of_the_catalogue_is_tested() -> None:
    """The catalogue and the type of the names have the same faults, and a new one needs a test."""
    tables = (INSTEAD, LINKS, CONTENTS, OTHERS, CHANGES, RESETS)
    alone = {"refuse", "scene_changes"}
    assert {*get_args(FaultName)} == FAULTS.keys() == alone.union(*tables)


@pytest.mark.parametrize(("name", "has_head"), [("reset_in_head", False), ("reset_in_body", True)])
async def test_a_reset_within_a_response_lets_its_beginning_through(
    sandbox: Sandbox, name: FaultName, has_head: bool
) -> None:
    """The bytes before the reset arrive: a part of the headers, or all of them."""
    sandbox.fault(name)
    reader, writer = await asyncio.open_connection("127.0.0.1", int(sandbox.base_url.rpartition(":")[2]))
    writer.write(b"GET /itwins/ HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer a\r\nAccept: */*\r\n\r\n")
    assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
    with nullcontext() if has_head else pytest.raises(ConnectionResetError):
        await reader.readuntil(b"\r\n\r\n")
    writer.close()


async def test_a_stalled_request_ends_when_the_client_disconnects(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """A stall without seconds ends when the client disconnects, and has a record without a status."""
    sandbox.fault("stall")
    waiting = asyncio.create_task(http.get("/itwins/"))
    await until(lambda: sandbox.faults == ())
    assert sandbox.requests == []
    waiting.cancel()
    await until(lambda: len(sandbox.requests) == 1)
    assert sandbox.requests[0].status is None


@pytest.mark.parametrize(("name", "pieces"), [("stall", 1), ("trickle", 19)])
async def test_a_slow_response_takes_its_seconds_and_is_complete(name: FaultName, pieces: int) -> None:
    """A stall waits before the response, a trickle between the many pieces of its body."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async with serving(itwins=50, sleep=sleep) as (sandbox, http):
        sandbox.fault(name, seconds=10)
        response = await http.get("/itwins/")
    assert len(response.json()["iTwins"]) == 50
    assert len(waits) >= pieces
    assert sum(waits) == pytest.approx(10, rel=0.1)
