"""The network below httpcore: how one connection reads, writes and ends."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from typing import Any

import httpcore
import pytest
from itwin_platform._http.connections.network import IDLE_CONNECTION_ENDED, Stream, _expire, is_socket_readable


@pytest.fixture
async def ends() -> AsyncIterator[tuple[Stream, socket.socket]]:
    """A stream, and the socket of its peer."""
    ours, theirs = socket.socketpair()
    transport, stream = await asyncio.get_running_loop().create_connection(Stream, sock=ours)
    with theirs:
        yield stream, theirs
        transport.abort()
        await asyncio.sleep(0)  # the event loop closes the socket in its next round


async def test_a_peer_that_sends_too_far_ahead_is_slowed_down(ends: tuple[Stream, socket.socket]) -> None:
    """With more than the read-ahead unread, the connection takes no more, until something is read."""
    stream, _ = ends
    stream.data_received(bytes(262_144))
    assert stream._transport.is_reading()
    stream.data_received(b"x")
    assert not stream._transport.is_reading()
    assert len(await stream.read(1_000_000)) == 262_145
    assert stream._transport.is_reading()


async def test_reading_waits_without_a_time_limit(ends: tuple[Stream, socket.socket]) -> None:
    """Without a time limit, a read waits for what the peer sends."""
    stream, peer = ends
    peer.send(b"late")
    assert await stream.read(10, timeout=None) == b"late"


async def test_nothing_is_sent_on_an_idle_connection_that_ended(ends: tuple[Stream, socket.socket]) -> None:
    """A connection that was closed between two requests raises another error than one that broke during a request."""
    stream, peer = ends
    assert not stream.get_extra_info("is_readable")
    peer.shutdown(socket.SHUT_WR)
    with pytest.raises(httpcore.ConnectError, match=IDLE_CONNECTION_ENDED):
        await stream.write(b"request")
    await stream.aclose()
    await stream.read(1)
    assert peer.recv(10) == b""


async def test_writing_to_a_closed_connection_fails(ends: tuple[Stream, socket.socket]) -> None:
    """What is written after the connection was closed is an error, not lost."""
    stream, _ = ends
    await stream.aclose()
    with pytest.raises(httpcore.WriteError, match="the connection is closed"):
        await stream.write(b"request")


async def test_a_handshake_has_a_time_limit(ends: tuple[Stream, socket.socket]) -> None:
    """A peer that says nothing during the TLS handshake is a connection that was not made in time, and is closed."""
    stream, _ = ends
    with pytest.raises(httpcore.ConnectTimeout, match="TLS handshake"):
        await stream.start_tls(ssl.create_default_context(), "service.example", timeout=0.0)
    assert stream._transport.is_closing()


async def test_a_closed_connection_cannot_be_used_again(ends: tuple[Stream, socket.socket]) -> None:
    """A transport whose socket is closed counts as readable, which is to say as ended."""
    stream, _ = ends
    assert not is_socket_readable(stream._transport)
    await stream.aclose()
    assert await stream.read(1) == b""
    assert stream._transport.get_extra_info("socket").fileno() == -1
    assert is_socket_readable(stream._transport)


async def test_a_time_limit_that_comes_too_late_changes_nothing() -> None:
    """What has arrived in the same round as its time limit is kept."""
    waiter: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    waiter.set_result(None)
    _expire(waiter, httpcore.ReadTimeout)
    assert waiter.exception() is None
