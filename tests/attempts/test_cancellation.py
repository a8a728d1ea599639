"""A call that is cancelled, at any of its awaits, leaves nothing behind: no place, no task, no connection."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from itwin_platform import AccessToken, BackoffPolicy, BackoffTransport, Gate

from tests.support.faces import TokenAuth
from tests.support.interruption import CountingVirtualLoop, cancelled_at_turn
from tests.support.scripted_transport import send
from tests.support.virtual_time import VirtualTimeLoop


class SlowService(httpx.AsyncBaseTransport):
    """Rate limits, fails, asks for another token and responds, with awaits wherever a real transport has them."""

    def __init__(self) -> None:
        self.connections = 0
        self.statuses = [429, 503, 401, 200]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Connect, sends, and gives the head of the response; its body is still to come."""
        await asyncio.sleep(0)
        self.connections += 1
        try:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        except BaseException:
            self.connections -= 1
            raise
        return httpx.Response(self.statuses.pop(0) if self.statuses else 200, stream=SlowBody(self))


class SlowBody(httpx.AsyncByteStream):
    """A body that comes in two pieces; its connection is free when it is closed."""

    def __init__(self, service: SlowService) -> None:
        self._service = service

    async def __aiter__(self) -> AsyncIterator[bytes]:
        await asyncio.sleep(0)
        yield b"{"
        await asyncio.sleep(0)
        yield b"}"

    async def aclose(self) -> None:
        """Return the connection back."""
        self._service.connections -= 1
        await asyncio.sleep(0)


async def left_by_a_call_that_is_cancelled(turn: int, *, busy: bool) -> bool:
    """Cancel a call at an iteration of the event loop, check what remains, and return whether the call was running."""
    gate, service, asked = Gate(1), SlowService(), 0

    async def token() -> AccessToken:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0)
        return AccessToken(f"t-{asked}", datetime.now(UTC) + timedelta(hours=1))

    auth = TokenAuth(token)
    transport = BackoffTransport(service, gate=gate, auth=auth, policy=BackoffPolicy(base_delay=0.1))
    other = asyncio.create_task(send(transport)) if busy else None
    hit = await cancelled_at_turn(send(transport), turn=turn)
    if other is not None:
        assert (await other).status_code == 200
    assert repr(gate).endswith("in_flight=0, waiting=0)")
    assert gate._timer is None
    assert service.connections == 0
    await auth.aclose()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert (await send(transport)).status_code == 200
    return hit


@pytest.mark.parametrize("busy", [False, True])
def test_a_call_can_be_cancelled_at_every_await(busy: bool) -> None:
    """In the gate, the token, the connection, the body, the closing and the waits; also when others hold the gate."""
    turn, hit = 0, True
    while hit:
        turn += 1
        with asyncio.Runner(loop_factory=CountingVirtualLoop) as runner:
            hit = runner.run(left_by_a_call_that_is_cancelled(turn, busy=busy))
    assert turn > 40


def test_a_loop_can_end_with_a_call_in_flight(caplog: pytest.LogCaptureFixture) -> None:
    """`asyncio.run` cancels what is left after it has stopped: nothing is raised, logged or left behind."""
    service = SlowService()

    async def main() -> "asyncio.Task[httpx.Response]":
        call = asyncio.create_task(send(BackoffTransport(service)))
        for _ in range(5):
            await asyncio.sleep(0)
        assert service.connections == 1
        return call

    caplog.set_level("ERROR")
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        call = runner.run(main())
    assert call.cancelled()
    assert service.connections == 0
    assert caplog.text == ""


async def test_a_task_that_is_cancelled_from_below_cancels_the_call() -> None:
    """A transport that raises CancelledError cancels the call, and its permit is returned."""
    gate = Gate()

    class Cancelled(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await send(BackoffTransport(Cancelled(), gate=gate))
    assert gate.in_flight == 0
