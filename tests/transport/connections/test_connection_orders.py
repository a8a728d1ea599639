"""Connections under any order of events: each call gets its own bytes or an error, and no bytes of another call.

A state machine starts calls, sends the bytes of the server, and cancels, closes, stalls and waits, in any iteration of
the event loop. Both ends of a connection are in this thread, and time is virtual, so a run can be repeated.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import httpx
import pytest
from hypothesis import Phase, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from itwin_platform_transport.connections.engine import Pool, head_of, header_lines
from itwin_platform_transport.connections.messages import Origin, Sending

from tests.support.event_loops import VirtualTimeLoop
from tests.support.examples import examples

ORIGIN = Origin(b"http", b"127.0.0.1", 80)
TIMES = {"connect": 30.0, "read": 30.0, "write": 30.0}
#: More bytes than the buffers of one direction: they make the peer pause.
LARGE = 800_000
PHANTOM = b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nphantom"
#: After an event: iterations of the event loop, and whether a call is cancelled then. Without an iteration, the next
#: event comes before the client has seen this one.
Then = tuple[int, bool]
THEN = st.sampled_from([(0, False), (0, False), (1, False), *[(8, False)] * 8, (2, True)])
#: Other events, by their method of the machine: pauses, surplus bytes, slow peers, closed connections.
TROUBLE = st.one_of(
    st.tuples(st.just("pause"), st.sampled_from([0.5, 1.5, 4.5, 4.5, 31.0])),
    st.tuples(st.just("interim"), st.sampled_from([100, 199]), st.sampled_from([0, 0, 7, 100_000]), st.booleans()),
    st.tuples(st.just("surplus"), st.sampled_from([PHANTOM, PHANTOM[:20], b"\r\n", b"H", b"phantom"])),
    st.sampled_from([("end",), ("slow",), ("turn", 1), ("cancel", 0)]),
)


class Call:
    """A call. Its number is in its path, and in the body of its response."""

    def __init__(self, number: int, *, content: bytes, hold: asyncio.Future[None] | None) -> None:
        self.number, self.content, self.hold = number, content, hold
        self.body = b""
        #: The size of the body of its response; None before its head.
        self.size: int | None = None
        self.task: asyncio.Task[None] | None = None

    async def run(self, pool: Pool) -> None:
        """Send the request, wait for the hold if there is one, and read the response."""
        headers = [(b"Host", b"service.example"), (b"Content-Length", b"%d" % len(self.content))]
        head = head_of(b"/%d" % self.number, header_lines(b"POST", headers), self.content)
        response = await pool.send(ORIGIN, head, self.content, {"timeout": TIMES}, Sending())
        if response.stream is None:
            self.body = response.content
            return
        stream: AsyncIterator[bytes] = aiter(response.stream)
        try:
            if self.hold is not None:
                await self.hold
            async for part in stream:
                self.body += part
        finally:
            await response.stream.aclose()
            assert [part async for part in stream] == []

    def bytes_of(self, size: int) -> bytes:
        """Return a body for this call."""
        return (b"%d;" % self.number * size)[:size]


class Service:
    """The server's end of one connection."""

    def __init__(self, calls: list[Call]) -> None:
        self._calls = calls
        self.peer, self._socket = socket.socketpair()
        self._socket.setblocking(False)
        self._request = self._unsent = b""
        #: The call whose request or response has not ended, and the call before it.
        self.call: Call | None = None
        self.served: Call | None = None
        #: The rest of the body of the response; None before the head.
        self.left: bytes | None = None
        self.is_chunked = self.has_ended = self.is_slow = self.is_over = False

    def pump(self) -> None:
        """Send as much as the client accepts, and read its bytes, unless this end is slow."""
        try:
            with suppress(BlockingIOError):
                while self._unsent:
                    self._unsent = self._unsent[self._socket.send(self._unsent) :]
            with suppress(BlockingIOError):
                while not self.is_slow and not self.is_over:
                    self._received(self._socket.recv(65_536))
        except ConnectionError:
            self.end()

    def _received(self, data: bytes) -> None:
        if not data:
            self.end()
        self._request += data
        head, end, _ = self._request.partition(b"\r\n\r\n")
        if end and self.call is None:
            # A connection is reused only after its last response was sent and read to its end.
            assert self.served is None or len(self.served.body) == self.served.size
            self.call = self._calls[int(head.split(b" ", 2)[1][1:])]
            self.left, self.has_ended = None, False
        self.finish()

    def finish(self) -> None:
        """Expect the next request if this request and its response have ended."""
        content = self._request.partition(b"\r\n\r\n")[2]
        if self.has_ended and self.call is not None and len(content) == len(self.call.content):
            self._request, self.served, self.call = b"", self.call, None

    def send(self, data: bytes) -> None:
        """Send bytes to the client."""
        self._unsent += data
        self.pump()

    def end(self) -> None:
        """Close the connection. Unread bytes make that a reset."""
        self.is_over = True
        self._socket.close()


def has_no_head(service: Service) -> bool:
    """Return whether a request waits for the head of its response."""
    return service.call is not None and service.left is None


def has_no_end(service: Service) -> bool:
    """Return whether a response has begun and not ended."""
    return service.left is not None and not service.has_ended


def is_idle(service: Service) -> bool:
    """Return whether the connection is idle after a response, and no request can be on the way."""
    return service.call is None and service.served is not None and not service.is_slow


class Network(VirtualTimeLoop):
    """An event loop that connects to services in the same thread."""

    def __init__(self, calls: list[Call]) -> None:
        super().__init__()
        self._calls = calls
        self.services: list[Service] = []

    async def create_connection(self, make: Callable[[], Any], *_: object, **__: object) -> Any:  # type: ignore[override]
        """Connect to a new service."""
        self.services.append(Service(self._calls))
        return await super().create_connection(make, sock=self.services[-1].peer)


class Orders(RuleBasedStateMachine):
    """Calls through one pool, and the server's end of its connections."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.loop = Network(self.calls)
        self.pool = Pool(None, trust_env=False, wall_clock=self.loop.time)

    # Events of the clients

    @precondition(lambda self: len(self._running()) < 2)
    @rule(size=st.sampled_from([0, 10, LARGE]), holds=st.booleans(), then=THEN)
    def start(self, size: int, holds: bool, then: Then) -> None:
        """Start a call."""
        hold = self.loop.create_future() if holds else None
        call = Call(len(self.calls), content=b"c" * size, hold=hold)
        self.calls.append(call)
        call.task = self.loop.create_task(call.run(self.pool))
        self._then(then)

    def _running(self) -> list[asyncio.Task[None]]:
        return [call.task for call in self.calls if call.task is not None and not call.task.done()]

    def cancel(self, index: int) -> None:
        """Cancel a call."""
        for task in self._running()[index : index + 1]:
            task.cancel()

    @precondition(lambda self: any(call.hold is not None and not call.hold.done() for call in self.calls))
    @rule(then=THEN)
    def resume(self, then: Then) -> None:
        """End the holds of calls: they read their responses."""
        for call in self.calls:
            if call.hold is not None and not call.hold.done():
                call.hold.set_result(None)
        self._then(then)

    def _then(self, then: Then) -> None:
        turns, cancels = then
        self.turn(turns)
        if cancels:
            self.cancel(0)

    def turn(self, turns: int) -> None:
        """Run iterations of the event loop."""
        for _ in range(turns):
            self.loop.call_soon(self.loop.stop)
            self.loop.run_forever()
            self._service(bool)

    # Events of the server

    def _service(self, condition: Callable[[Service], bool]) -> Service | None:
        for service in self.loop.services:
            if not service.is_over:
                service.pump()
        return next((each for each in self.loop.services if not each.is_over and condition(each)), None)

    @precondition(lambda self: self._service(has_no_head))
    @rule(
        size=st.sampled_from([0, 10, 5_000, LARGE]),
        is_chunked=st.booleans(),
        header=st.sampled_from([b"", b"", b"connection: close\r\n", b"keep-alive: timeout=2\r\n"]),
        status=st.sampled_from([200, 413]),
        part=st.sampled_from([0.0, 0.5, 1.0, 1.0]),
        then=THEN,
    )
    def head(self, size: int, is_chunked: bool, header: bytes, status: int, part: float, then: Then) -> None:
        """Send the head of a response, with a part of its body."""
        service = self._service(has_no_head)
        assert service is not None
        assert service.call is not None
        service.call.size, service.left, service.is_chunked = size, service.call.bytes_of(size), is_chunked
        framing = b"transfer-encoding: chunked" if is_chunked else b"content-length: %d" % size
        self._send_body(service, b"HTTP/1.1 %d X\r\n%s%s\r\n\r\n" % (status, header, framing), part)
        self._then(then)

    @precondition(lambda self: self._service(has_no_end))
    @rule(part=st.sampled_from([0.3, 1.0, 1.0]), then=THEN)
    def body(self, part: float, then: Then) -> None:
        """Send more of a body, or the rest of it."""
        service = self._service(has_no_end)
        assert service is not None
        self._send_body(service, b"", part)
        self._then(then)

    def _send_body(self, service: Service, head: bytes, part: float) -> None:
        assert service.left is not None
        number, is_last = round(len(service.left) * part), part == 1.0
        piece, service.left = service.left[:number], service.left[number:]
        if service.is_chunked:
            piece = (b"%x\r\n%s\r\n" % (len(piece), piece) if piece else b"") + b"0\r\n\r\n" * is_last
        service.has_ended = is_last
        service.send(head + piece)
        service.finish()

    @rule(trouble=TROUBLE, then=THEN)
    def trouble(self, trouble: tuple[Any, ...], then: Then) -> None:
        """Call the method of another event."""
        name, *arguments = trouble
        getattr(self, name)(*arguments)
        self._then(then)

    def pause(self, seconds: float) -> None:
        """Let time pass."""
        self.loop.be_busy(seconds)

    def interim(self, status: int, size: int, is_chunked: bool) -> None:
        """Send an interim response, perhaps with a body, which HTTP does not allow."""
        if (service := self._service(has_no_head)) is None:
            return
        framing, body = (b"content-length: %d\r\n" % size if size else b""), b"x" * size
        if size and is_chunked:
            framing, body = b"transfer-encoding: chunked\r\n", b"%x\r\n%s\r\n0\r\n\r\n" % (size, body)
        service.send(b"HTTP/1.1 %d Early\r\n%s\r\n%s" % (status, framing, body))

    def surplus(self, data: bytes) -> None:
        """Send bytes on an idle connection. With a request in flight, they could not be told from its response."""
        if (service := self._service(is_idle)) is not None:
            service.send(data)

    def end(self) -> None:
        """Close a connection."""
        if (service := self._service(bool)) is not None:
            service.end()

    def slow(self) -> None:
        """Stop to read an upload, or read it again."""
        if (service := self._service(bool)) is not None:
            service.is_slow = not service.is_slow

    # Promises

    @invariant()
    def own_bytes(self) -> None:
        """A finished call has its own bytes, or an error of httpx."""
        for call in self.calls:
            assert call.task is not None
            if not call.task.done() or call.task.cancelled():
                continue
            error = call.task.exception()
            if error is None:
                assert call.size is not None
                assert call.body == call.bytes_of(call.size)
            elif not isinstance(error, httpx.TransportError):
                raise error

    def teardown(self) -> None:
        """Serve the calls and three more, cancel the others, and check that no connection and no timer is left."""
        for service in self.loop.services:
            service.is_slow = False
        for _ in range(3):
            while self._service(has_no_end):
                self.body(1.0, (8, False))
            while self._service(has_no_head):
                self.head(10, False, b"", 200, 1.0, (8, False))
            # The connection of a cancelled call must not serve the next one.
            self.cancel(0)
            self.start(0, False, (8, False))
            self.resume((8, False))
        for call in self.calls:
            if call.task is not None:
                call.task.cancel()
        self.turn(8)
        self.loop.run_until_complete(self.pool.aclose())
        self.turn(8)
        assert all(service.is_over for service in self.loop.services)
        assert repr(self.pool) == "in_use=0, idle=0"
        self.own_bytes()
        # Without a timer, the virtual time does not advance.
        ended_at = self.loop.time()
        with pytest.raises(RuntimeError, match="no timer"):
            self.loop.run_forever()
        assert self.loop.time() == ended_at
        self.loop.close()


def test_in_every_order_each_call_gets_its_own_bytes() -> None:
    """A call gets its own bytes or an error, a connection is reused only when it is clean, and no socket is left."""
    phases = [Phase.explicit, Phase.reuse, Phase.generate]  # shrinking a failure would exceed the time limit of a test
    tried = settings(max_examples=examples(120), stateful_step_count=40, phases=phases)
    run_state_machine_as_test(Orders, settings=tried)
