"""One connection under every order of events: each call gets its own bytes or an error, and nothing of another call.

A machine starts calls, plays the server byte by byte, and cancels, closes, stalls and waits in between, at any turn of
the event loop. The network is in memory, so each order can be repeated.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from hypothesis import Phase, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from itwin_platform_transport.connections.engine import Pool, head_of, header_lines

from tests.support.event_loops import VirtualTimeLoop
from tests.support.examples import examples

ORIGIN = (b"http", b"127.0.0.1", 80)
TIMES = {"connect": 30.0, "read": 30.0, "write": 30.0}
#: More than the buffers of one direction: it pauses the peer.
LARGE = 400_000
#: What a connection may keep of a response that nobody reads: what is read ahead, and what may come without a body.
MOST_KEPT = 262_144 + 131_072
PHANTOM = b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nphantom"
#: What follows an event: nothing, so that the next one comes in the same turn of the event loop; so many turns; or in
#: the same turn the end of a call.
THEN = st.sampled_from(["", "", "1 turn", "8 turns", "8 turns", "8 turns", "cancel"])


class Wire(asyncio.Transport):
    """One connection in memory, seen from the network: what the client writes, and what the server has sent."""

    def __init__(self, deliver: Callable[[bytes], None], loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._deliver, self._loop = deliver, loop
        #: Readable when something has arrived that the event loop has not looked at.
        self._ours, self._theirs = socket.socketpair()
        self.protocol: Any = None
        self.is_over = self.is_paused = self.is_slow = False
        self._backlog = b""

    def write(self, data: Any) -> None:
        """Hand what the client writes to the server."""
        if not self.is_over:
            self._deliver(bytes(data))

    def get_write_buffer_size(self) -> int:
        """Everything is written at once."""
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """The buffer is never full by itself."""

    def arrive(self, data: bytes) -> None:
        """Hand bytes of the server to the client, unless it reads nothing at present."""
        self._backlog += data
        self._pump()

    def _pump(self) -> None:
        while self._backlog and not self.is_paused and not self.is_over:
            piece, self._backlog = self._backlog[:65_536], self._backlog[65_536:]
            self.protocol.data_received(piece)

    def show_unseen(self) -> None:
        """Let the socket be readable before the event loop has looked at it."""
        if not self.is_over:
            self._theirs.send(b"x")

    def pause_reading(self) -> None:
        """Hand over nothing more."""
        self.is_paused = True

    def resume_reading(self) -> None:
        """Hand over what has arrived meanwhile."""
        if self.is_paused:
            self.is_paused = False
            self._loop.call_soon(self._pump)

    def end(self, error: Exception | None) -> None:
        """Close the connection from the side of the server."""
        if not self.is_over:
            if error is None:
                self.protocol.eof_received()
            self._over(error)

    def abort(self) -> None:
        """Close the connection from the side of the client."""
        self._over(None)

    close = abort

    def _over(self, error: Exception | None) -> None:
        if not self.is_over:
            self.is_over = True
            self._loop.call_soon(self.protocol.connection_lost, error)

    def is_closing(self) -> bool:
        """Return whether it has ended."""
        return self.is_over

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return the socket."""
        return self._ours if name == "socket" else default

    def release(self) -> None:
        """Close the sockets."""
        self._ours.close()
        self._theirs.close()


class Call:
    """A call: its number stands in its path, and in each byte of the body that belongs to it."""

    def __init__(self, number: int, *, content: bytes, hold: asyncio.Future[None] | None) -> None:
        self.number, self.content, self.hold = number, content, hold
        self.body = b""
        self.task: asyncio.Task[None] | None = None
        self.is_checked = False

    async def run(self, pool: Pool) -> None:
        """Send the request, and read its response; with a hold, wait between both."""
        headers = [(b"Host", b"service.example"), (b"Content-Length", b"%d" % len(self.content))]
        head = head_of(b"POST", b"/%d" % self.number, header_lines(headers), self.content)
        response = await pool.send(ORIGIN, head, self.content, {"timeout": TIMES})
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


class Service:
    """The server's end of one connection."""

    def __init__(self, machine: "Orders") -> None:
        self._machine = machine
        self.wire = Wire(self._received, machine.loop)
        self._request = b""
        #: The call whose request has begun, until its response and its request have ended; the call before.
        self.call: Call | None = None
        self.served: Call | None = None
        #: What is still to be sent of its body: None before the head.
        self.left: bytes | None = None
        self.is_chunked = self.has_ended = False
        #: How many bytes were sent of a response or an interim one that nobody has read.
        self._unread = 0

    def _received(self, data: bytes) -> None:
        self._request += data
        head, end, _ = self._request.partition(b"\r\n\r\n")
        if end and self.call is None:
            # A request starts on a connection whose last response was sent and read to its end.
            assert self.served is None or len(self.served.body) == self._machine.sizes[self.served.number]
            self.call = self._machine.calls[int(head.split(b" ", 2)[1][1:])]
            self.left, self.has_ended, self._unread = None, False, 0
        self.finish()

    def finish(self) -> None:
        """Wait for the next request when this one and its response have ended."""
        content = self._request.partition(b"\r\n\r\n")[2]
        if self.has_ended and self.call is not None and len(content) == len(self.call.content):
            self._request, self.served, self.call = b"", self.call, None

    def send(self, data: bytes) -> None:
        """Send bytes to the client."""
        self._unread += len(data)
        self.wire.arrive(data)
        call = self.call or self.served
        read = 0 if call is None else len(call.body)
        assert self.wire.is_over or self.wire.is_paused or self._unread - read <= MOST_KEPT


def has_no_head(service: Service) -> bool:
    """Return whether a request waits for its response."""
    return service.call is not None and service.left is None


def has_no_end(service: Service) -> bool:
    """Return whether a response has begun and has not ended."""
    return service.left is not None and not service.has_ended


def is_idle(service: Service) -> bool:
    """Return whether no request waits, after the first."""
    return service.call is None and service.served is not None


class Network(VirtualTimeLoop):
    """An event loop whose connections lead to the services of a machine."""

    machine: "Orders"

    async def create_connection(self, make: Callable[[], Any], *_: object, **__: object) -> Any:  # type: ignore[override]
        """Connect in memory."""
        service, connection = Service(self.machine), make()
        self.machine.services.append(service)
        service.wire.protocol = connection
        connection.connection_made(service.wire)
        return service.wire, connection


class Orders(RuleBasedStateMachine):
    """Calls through one pool, and the server's end of each of its connections."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = Network()
        self.loop.machine = self
        self.services: list[Service] = []
        self.calls: list[Call] = []
        #: How long the body of each call is that got a head.
        self.sizes: dict[int, int] = {}
        self.pool = Pool(None)

    # What the clients do

    @precondition(lambda self: len(self._running()) < 2)
    @rule(size=st.sampled_from([0, 10, LARGE]), holds=st.booleans(), then=THEN)
    def start(self, size: int, holds: bool, then: str) -> None:
        """Start a call."""
        hold = self.loop.create_future() if holds else None
        call = Call(len(self.calls), content=b"c" * size, hold=hold)
        self.calls.append(call)
        call.task = self.loop.create_task(call.run(self.pool))
        self._then(then)

    def _running(self) -> list[asyncio.Task[None]]:
        return [call.task for call in self.calls if call.task is not None and not call.task.done()]

    @precondition(lambda self: self._running())
    @rule(index=st.integers(0, 1))
    def cancel(self, index: int) -> None:
        """Cancel a call."""
        running = self._running()
        running[index % len(running)].cancel()

    @precondition(lambda self: any(call.hold is not None and not call.hold.done() for call in self.calls))
    @rule(then=THEN)
    def read_on(self, then: str) -> None:
        """Let the calls that hold read."""
        for call in self.calls:
            if call.hold is not None and not call.hold.done():
                call.hold.set_result(None)
        self._then(then)

    def _then(self, then: str) -> None:
        if then == "cancel" and self._running():
            self.cancel(0)
        self.turn(int(then[0]) if then.endswith(("turn", "turns")) else 0)

    # What time does

    @rule(turns=st.sampled_from([1, 8]))
    def turn(self, turns: int) -> None:
        """Let the event loop turn."""
        for _ in range(turns):
            self.loop.call_soon(self.loop.stop)
            self.loop.run_forever()

    # What the server does

    def _service(self, condition: Callable[[Service], bool]) -> Service | None:
        found = (each for each in self.services if not each.wire.is_over and condition(each))
        return next(found, None)

    @precondition(lambda self: self._service(has_no_head))
    @rule(
        size=st.sampled_from([0, 10, 5_000, LARGE]),
        is_chunked=st.booleans(),
        header=st.sampled_from([b"", b"", b"connection: close\r\n", b"keep-alive: timeout=2\r\n"]),
        status=st.sampled_from([200, 413]),
        part=st.sampled_from([0.0, 0.5, 1.0, 1.0]),
        then=THEN,
    )
    def head(self, size: int, is_chunked: bool, header: bytes, status: int, part: float, then: str) -> None:
        """Send the head of a response, with a part of its body."""
        service = self._service(has_no_head)
        assert service is not None
        assert service.call is not None
        service.left = (b"%d;" % service.call.number * size)[:size]
        service.is_chunked, self.sizes[service.call.number] = is_chunked, size
        framing = b"transfer-encoding: chunked" if is_chunked else b"content-length: %d" % size
        self._send_body(service, b"HTTP/1.1 %d X\r\n%s%s\r\n\r\n" % (status, header, framing), part)
        self._then(then)

    @precondition(lambda self: self._service(has_no_end))
    @rule(part=st.sampled_from([0.3, 1.0, 1.0]), then=THEN)
    def body(self, part: float, then: str) -> None:
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

    @precondition(lambda self: self.services)
    @rule(kind=st.deferred(lambda: st.sampled_from(list(TROUBLE))), data=st.data(), then=THEN)
    def trouble(self, kind: str, data: st.DataObject, then: str) -> None:
        """Let something happen that no call has asked for."""
        happens = TROUBLE[kind]
        happens(self, data)
        self._then(then)

    def interim(self, status: int, body: bytes, is_chunked: bool) -> None:
        """Send an interim response, which HTTP gives no body."""
        if (service := self._service(has_no_head)) is None:
            return
        framing = b""
        if body and is_chunked:
            framing, body = b"transfer-encoding: chunked\r\n", b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        elif body:
            framing = b"content-length: %d\r\n" % len(body)
        service.send(b"HTTP/1.1 %d Early\r\n%s\r\n%s" % (status, framing, body))

    def surplus(self, data: bytes) -> None:
        """Send what belongs to no request: nobody can tell it from a response once another request waits."""
        service = self._service(is_idle)
        # What is sent slowly may be on its way.
        if service is not None and not service.wire.is_slow:
            service.send(data)

    def unseen(self) -> None:
        """Let something arrive that the event loop has not looked at."""
        if (service := self._service(is_idle)) is not None:
            service.wire.show_unseen()

    def loss(self, error: Exception | None) -> None:
        """Close a connection, or reset it."""
        if (service := self._service(bool)) is not None:
            service.wire.end(error)

    def slow(self) -> None:
        """Take no more of an upload, or take it again."""
        if (service := self._service(bool)) is not None:
            wire = service.wire
            wire.is_slow = not wire.is_slow
            wire.protocol.pause_writing() if wire.is_slow else wire.protocol.resume_writing()

    # What must be true

    @invariant()
    def own_bytes(self) -> None:
        """A call that ended has its own bytes, or an error of httpx."""
        for call in self.calls:
            assert call.task is not None
            if call.is_checked or not call.task.done():
                continue
            call.is_checked = True
            if call.task.cancelled():
                continue
            error = call.task.exception()
            if error is None:
                size = self.sizes[call.number]
                assert call.body == (b"%d;" % call.number * size)[:size]
            elif not isinstance(error, httpx.TransportError):
                raise error

    def teardown(self) -> None:
        """End the calls, and see that nothing is left."""
        for call in self.calls:
            if call.task is not None:
                call.task.cancel()
        self.turn(8)
        self.loop.run_until_complete(self.pool.aclose())
        self.turn(8)
        assert all(service.wire.is_over for service in self.services)
        assert repr(self.pool) == "in_use=0, idle=0"
        for service in self.services:
            service.wire.release()
        self.own_bytes()
        # No timer is left, so no time passes.
        ended_at = self.loop.time()
        with pytest.raises(RuntimeError, match="no timer"):
            self.loop.run_forever()
        assert self.loop.time() == ended_at
        self.loop.close()


INTERIM = st.tuples(
    st.sampled_from([100, 103, 104, 199]), st.sampled_from([b"", b"", b"interim", b"x" * 100_000]), st.booleans()
)
SURPLUS = st.sampled_from([PHANTOM, PHANTOM[:20], b"\r\n", b"H", b"phantom"])
TROUBLE: dict[str, Callable[[Orders, st.DataObject], object]] = {
    "a pause": lambda orders, data: orders.loop.be_busy(data.draw(st.sampled_from([0.5, 1.5, 4.5, 31.0]))),
    "an interim response": lambda orders, data: orders.interim(*data.draw(INTERIM)),
    "surplus": lambda orders, data: orders.surplus(data.draw(SURPLUS)),
    "something unseen": lambda orders, data: orders.unseen(),
    "an end": lambda orders, data: orders.loss(None),
    "a reset": lambda orders, data: orders.loss(ConnectionResetError("reset")),
    "a slow peer": lambda orders, data: orders.slow(),
}


def test_in_every_order_each_call_gets_its_own_bytes() -> None:
    """Whatever comes in whatever order: its own bytes or an error, nothing kept without bound, no reuse but clean."""
    phases = [Phase.explicit, Phase.reuse, Phase.generate]  # to shrink a failure takes longer than a test may
    tried = settings(max_examples=examples(250), stateful_step_count=40, phases=phases)
    run_state_machine_as_test(Orders, settings=tried)
