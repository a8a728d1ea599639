"""One connection, event by event: what it hands to its transport, when it waits, and what ends it."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from unittest.mock import Mock

import httpx
import pytest
from itwin_platform_transport.connections.connection import Connection
from itwin_platform_transport.connections.messages import CLOSED, NOT_HTTP

from tests.support.event_loops import VirtualTimeLoop, in_virtual_time

HEAD = b"POST / HTTP/1.1\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
LAST = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}"
#: The head of a response whose body is to come.
LONG = b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n"
Work = Callable[[Connection, Mock], Awaitable[None]]


@pytest.fixture
def on_a_connection() -> Iterator[Callable[[Work], None]]:
    """Runs something in virtual time on a connection whose transport notes what is called."""
    ours, theirs = socket.socketpair()

    def run(work: Work) -> None:
        async def connected() -> None:
            transport = Mock()
            transport.get_extra_info.return_value = ours
            transport.is_closing.return_value = False
            connection = Connection(None)
            connection.connection_made(transport)
            await work(connection, transport)

        in_virtual_time(connected())

    with ours, theirs:
        yield run


def sent(connection: Connection, content: bytes = b"", **times: float) -> asyncio.Task[None]:
    """Send a request."""
    return asyncio.create_task(connection.send(HEAD, content, times))


async def served(connection: Connection, response: bytes = OK, **times: float) -> bytes:
    """Send a request whose response comes at once, and read that."""
    task = sent(connection, b"", **times)
    await asyncio.sleep(0)
    connection.data_received(response)
    await task
    return await connection.read(None)


def now() -> float:
    """The time."""
    return asyncio.get_running_loop().time()


def test_a_request_is_written_in_pieces(on_a_connection: Callable[[Work], None]) -> None:
    """Of 64 KiB, the first with the head: so the time limit of writing is one for progress."""

    async def work(connection: Connection, transport: Mock) -> None:
        content = bytes(range(256)) * 600
        task = sent(connection, content)
        await asyncio.sleep(0)
        pieces = [call.args[0] for call in transport.write.call_args_list]
        assert [len(piece) for piece in pieces] == [len(HEAD) + 65_536, 65_536, len(content) - 131_072]
        assert b"".join(pieces) == HEAD + content
        connection.data_received(OK)
        await task

    on_a_connection(work)


@pytest.mark.parametrize(("status", "pieces"), [(200, 3), (299, 3), (300, 1), (413, 1)])
def test_an_error_that_comes_first_ends_the_sending(
    on_a_connection: Callable[[Work], None], status: int, pieces: int
) -> None:
    """While the peer takes no more, an error of it stops the rest; a success does not."""

    async def work(connection: Connection, transport: Mock) -> None:
        connection.pause_writing()
        task = sent(connection, bytes(150_000))
        await asyncio.sleep(0)
        connection.data_received(b"HTTP/1.1 %d X\r\ncontent-length: 2\r\n\r\n{}" % status)
        await asyncio.sleep(0)
        connection.resume_writing()
        await task
        assert transport.write.call_count == pieces
        assert await connection.read(None) == b"{}"
        connection.release()
        assert transport.abort.call_count == (pieces == 1)

    on_a_connection(work)


@pytest.mark.parametrize("ends", [lambda connection: connection.data_received(LAST), Connection.close])
def test_nothing_is_written_to_a_connection_that_has_ended(
    on_a_connection: Callable[[Work], None], ends: Callable[[Connection], None]
) -> None:
    """And the upload is not waited for any longer."""

    async def work(connection: Connection, transport: Mock) -> None:
        connection.pause_writing()
        task = sent(connection, bytes(150_000), write=9.0)
        await asyncio.sleep(0)
        ends(connection)
        await asyncio.gather(task, return_exceptions=True)
        assert (now(), transport.write.call_count, transport.abort.call_count) == (0.0, 1, 1)

    on_a_connection(work)


@pytest.mark.parametrize("is_last", [False, True])
@pytest.mark.parametrize(("size", "is_paused"), [(262_144, False), (262_145, True)])
def test_a_body_that_nobody_reads_slows_the_peer_down(
    on_a_connection: Callable[[Work], None], size: int, is_paused: bool, is_last: bool
) -> None:
    """More than 256 KiB; what was read does not count, and reading lets the peer go on."""

    async def work(connection: Connection, transport: Mock) -> None:
        task = sent(connection)
        await asyncio.sleep(0)
        connection.data_received(LONG.replace(b"\r\nc", b"\r\nconnection: close\r\nc") if is_last else LONG)
        await task
        for _ in range(2):
            connection.data_received(bytes(size))
            assert transport.pause_reading.called is is_paused
            assert len(await connection.read(None)) == size
            assert transport.resume_reading.called
            transport.reset_mock()

    on_a_connection(work)


def test_a_body_that_has_ended_slows_nobody_down(on_a_connection: Callable[[Work], None]) -> None:
    """However large it is: the next response comes on the same connection."""

    async def work(connection: Connection, transport: Mock) -> None:
        body = bytes(300_000)
        assert await served(connection, b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)) == body
        assert not transport.pause_reading.called

    on_a_connection(work)


@pytest.mark.parametrize("data", [b"H", b"\r\n", OK, b"nonsense"])
def test_what_arrives_on_an_idle_connection_ends_it(on_a_connection: Callable[[Work], None], data: bytes) -> None:
    """It belongs to no request, also if it could begin a response."""

    async def work(connection: Connection, transport: Mock) -> None:
        await served(connection)
        connection.release()
        assert connection.is_usable
        connection.data_received(data)
        assert (connection.is_usable, connection.state, transport.abort.call_count) == (False, "closed", 1)

    on_a_connection(work)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"220 mail.example ESMTP\r\n", NOT_HTTP),
        (b"HTTP/1.1 101 X\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", "the status 101 is none that was asked for"),
        (b"HTTP/1.1 104 X\r\ncontent-length: 1\r\n\r\na", "an interim response came with a body"),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 50_000, "the head of the response, the size of a chunk or its"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n", "Invalid character in Content-Length"),
    ],
)
def test_what_is_no_response_is_named(on_a_connection: Callable[[Work], None], data: bytes, said: str) -> None:
    """By what is wrong with it."""

    async def work(connection: Connection, transport: Mock) -> None:
        with pytest.raises(httpx.RemoteProtocolError, match=said):
            await served(connection, data)
        assert (connection.state, transport.abort.call_count) == ("broken", 1)

    on_a_connection(work)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (b"keep-alive: timeout=3", 2.0),
        (b"Keep-Alive: timeout=3", 2.0),
        (b"x-whatever: timeout=3", 4.0),
        (b"x: timeout=3", 4.0),
    ],
)
def test_an_idle_connection_is_too_old_at_once_when_its_time_is_over(
    on_a_connection: Callable[[Work], None], header: bytes, seconds: float
) -> None:
    """After four seconds, or one less than a `Keep-Alive` header names, and no other header does."""

    async def work(connection: Connection, _: Mock) -> None:
        await served(connection, OK.replace(b"OK", b"OK\r\n" + header))
        connection.release()
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        loop.be_busy(seconds - 0.25)
        assert connection.is_usable
        loop.be_busy(0.25)
        assert (connection.is_too_old, connection.is_usable) == (True, False)

    on_a_connection(work)


def test_the_end_of_a_connection_after_a_response_is_no_error(on_a_connection: Callable[[Work], None]) -> None:
    """Its body is read to the end, though the connection ended before."""

    async def work(connection: Connection, _: Mock) -> None:
        for response, state in ((OK, "done"), (LAST, "closed")):
            task = sent(connection)
            await asyncio.sleep(0)
            connection.data_received(response[:-1])
            await task
            assert not connection.is_complete
            connection.data_received(response[-1:])
            assert (connection.state, connection.is_complete) == (state, True)
            if state == "done":
                assert [await connection.read(None) for _ in range(2)] == [b"{}", b""]
                connection.release()
        connection.eof_received()
        assert [await connection.read(None) for _ in range(2)] == [b"{}", b""]

    on_a_connection(work)


def test_a_response_that_is_complete_may_be_read_after_its_connection(on_a_connection: Callable[[Work], None]) -> None:
    """The server ends the connection between both; what was not read ends it too."""

    async def work(connection: Connection, transport: Mock) -> None:
        task = sent(connection)
        await asyncio.sleep(0)
        connection.data_received(OK)
        connection.eof_received()
        await task
        assert [await connection.read(None) for _ in range(2)] == [b"{}", b""]
        assert transport.abort.call_count == 1

    on_a_connection(work)


def test_a_body_that_is_cut_fails_when_it_is_read(on_a_connection: Callable[[Work], None]) -> None:
    """Not before: the head of an error is worth having, and what has come of its body."""

    async def work(connection: Connection, _: Mock) -> None:
        task = sent(connection)
        await asyncio.sleep(0)
        connection.data_received(OK[:-1])
        connection.connection_lost(ConnectionResetError("reset"))
        await task
        assert (connection.status, await connection.read(None)) == (200, b"{")
        with pytest.raises(httpx.ReadError, match="reset") as raised:
            await connection.read(None)
        assert isinstance(raised.value.__cause__, ConnectionResetError)

    on_a_connection(work)


@pytest.mark.parametrize("framing", [b"Content-Length: 9", b"Transfer-Encoding: chunked"])
def test_a_last_body_whose_end_is_missing_is_cut(on_a_connection: Callable[[Work], None], framing: bytes) -> None:
    """Only a body that states no length ends with its connection."""

    async def work(connection: Connection, _: Mock) -> None:
        data = b"9\r\nabc" if b"chunked" in framing else b"abc"
        task = sent(connection)
        await asyncio.sleep(0)
        connection.data_received(b"HTTP/1.1 200 OK\r\nConnection: close\r\n%s\r\n\r\n%s" % (framing, data))
        connection.eof_received()
        await task
        assert await connection.read(None) == b"abc"
        with pytest.raises(httpx.RemoteProtocolError, match="before its response was complete"):
            await connection.read(None)

    on_a_connection(work)


def test_who_waits_hears_of_the_end_at_once(on_a_connection: Callable[[Work], None]) -> None:
    """Whether this side ends the connection or the other one, and whatever else comes in the same turn."""

    async def work(connection: Connection, _: Mock) -> None:
        task = sent(connection)
        await asyncio.sleep(0)
        connection.close()
        connection.close()
        with pytest.raises(httpx.ReadError, match="the connection was closed"):
            await task

    async def ended(connection: Connection, _: Mock) -> None:
        task = sent(connection)
        await asyncio.sleep(0)
        connection.eof_received()
        connection.connection_lost(None)
        with pytest.raises(httpx.RemoteProtocolError, match=CLOSED):
            await task

    for each in (work, ended):
        on_a_connection(each)


def test_the_response_of_a_head_request_ends_with_its_head(on_a_connection: Callable[[Work], None]) -> None:
    """A body that a server sends all the same is not read, and no other request follows."""

    async def work(connection: Connection, transport: Mock) -> None:
        task = asyncio.create_task(connection.send(b"HEAD / HTTP/1.1\r\n\r\n", b"", {}))
        await asyncio.sleep(0)
        connection.data_received(OK)
        await task
        assert (await connection.read(None), connection.state, transport.abort.call_count) == (b"", "closed", 1)

    on_a_connection(work)


def test_each_wait_has_its_own_limit(on_a_connection: Callable[[Work], None]) -> None:
    """Whatever was left of the limit before, and also after a long time in which nothing was sent."""

    async def work(connection: Connection, _: Mock) -> None:
        await served(connection, read=30.0)
        connection.release()
        for limit, ends_at in ((30.0, None), (5.0, None), (40.0, 25.0), (3.0, None)):
            task = sent(connection, read=limit)
            began = now()
            await asyncio.sleep(ends_at or limit - 0.5)
            assert not task.done()
            connection.data_received(OK)
            await task
            await connection.read(None)
            connection.release()
            await asyncio.sleep(50.0)
            assert now() > began + 50.0
        began = now()
        with pytest.raises(httpx.ReadTimeout):
            await connection.send(HEAD, b"", {"read": 5.0})
        assert now() == began + 5.0
        connection.close()

    on_a_connection(work)


def test_waits_share_a_timer(on_a_connection: Callable[[Work], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly all waits end before their limit: a timer for each of them would cost more than it is worth."""

    async def work(connection: Connection, _: Mock) -> None:
        loop = asyncio.get_running_loop()
        made = Mock(side_effect=loop.call_at)
        monkeypatch.setattr(loop, "call_at", made)
        for seconds in (0.0, 0.0, 1.0):
            await served(connection, read=30.0)
            connection.release()
            loop.be_busy(seconds)  # type: ignore[attr-defined]  # it is virtual
        assert made.call_count == 1
        connection.connection_lost(None)

    on_a_connection(work)
