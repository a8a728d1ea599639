"""The default transport: its requests, valid and invalid responses, and the reuse of connections."""

import asyncio
import ssl
import warnings
from collections.abc import AsyncIterator
from contextlib import nullcontext, suppress
from pathlib import Path

import httpx
import pytest
from itwin_platform_transport import BackoffTransport, EngineTransport, NotSentError, Origin
from itwin_platform_transport.connections.failures import NOT_HTTP
from itwin_platform_transport.connections.messages import Sending

from measure.promises.parsing import by_engine
from tests.support.event_loops import CountingLoop, cancelled_at_turn
from tests.support.examples import examples
from tests.support.networks import (
    TIMES,
    WATCHED,
    Handler,
    Network,
    authority,
    on_every_network,
    server_context,
    watched,
)
from tests.support.real_time import pass_time, until
from tests.support.requests import request_to
from tests.support.services import RawServer, raw_response

LARGE = bytes(range(256)) * 40_000
#: More bytes than all buffers between two programs.
HUGE = LARGE * 4
OK = raw_response(b"{}")
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
NONE_OPEN, ONE_IDLE = "EngineTransport(in_use=0, idle=0)", "EngineTransport(in_use=0, idle=1)"


@pytest.fixture
async def plain() -> AsyncIterator[Network]:
    """A network without TLS, in the event loop of the test."""
    network = Network(is_encrypted=False)
    yield network
    await network.transport.aclose()


async def head_of(reader: asyncio.StreamReader) -> bytes:
    """Read the head of a request."""
    return await reader.readuntil(b"\r\n\r\n")


def responding(*responses: bytes, closes: bool = False) -> Handler:
    """Return a handler that sends the responses in order; then it repeats the last one, or closes the connection."""
    left = list(responses)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while left:
            await head_of(reader)
            writer.write(left[0] if len(left) == 1 and not closes else left.pop(0))
            await writer.drain()

    return handle


def stalling(data: bytes) -> Handler:
    """Return a handler that sends bytes after the head of a request, the last one later, and then does nothing."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_of(reader)
        for part in (data[:-1], data[-1:]):
            writer.write(part)
            for _ in range(20):
                await asyncio.sleep(0)
        await asyncio.Event().wait()

    return handle


MANY_HEADERS = b"HTTP/1.1 200 OK" + b"".join(b"\r\na-%d: b" % number for number in range(400))
#: A response, with its status and its body. After these, the connection serves the next request.
LASTING: dict[str, tuple[bytes, int, bytes]] = {
    "Content-Length": (OK, 200, b"{}"),
    "an extension, spaces": (CHUNKED + b"3;a=b\r\nabc\r\n1  \r\nd\r\n0\r\n\r\n", 200, b"abcd"),
    "a trailer": (CHUNKED + b"3\r\nabc\r\n0\r\nx-t: 1\r\n\r\n", 200, b"abc"),
    "interim responses": (b"HTTP/1.1 103 E\r\nx-i: b\r\n\r\nHTTP/1.1 100 C\r\n\r\n" + OK, 200, b"{}"),
    "a length beside chunks": (CHUNKED[:-2] + b"content-length: 9\r\n\r\n1\r\na\r\n0\r\n\r\n", 200, b"a"),
    "lines without a carriage return": (OK.replace(b"\r\n", b"\n"), 200, b"{}"),
    "400 headers": (raw_response(b"{}", head=MANY_HEADERS), 200, b"{}"),
    "204": (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
    "304 with a length": (b"HTTP/1.1 304 Not Modified\r\ncontent-length: 70\r\n\r\n", 304, b""),
}
#: After these, it does not.
LAST: dict[str, tuple[bytes, int, bytes]] = {
    "Connection: close": (raw_response(b"{}", head=b"HTTP/1.1 200 OK\r\nconnection: close"), 200, b"{}"),
    "HTTP/1.0": (raw_response(b"{}", head=b"HTTP/1.0 200 OK"), 200, b"{}"),
    "HEAD": (b"HTTP/1.1 200 OK\r\ncontent-length: 700\r\n\r\n", 200, b""),
    "HEAD, with a body": (OK, 200, b""),
    "a second response": (OK + OK, 200, b"{}"),
    "surplus that is no response": (OK + b"x", 200, b"{}"),
}


@pytest.mark.parametrize("case", LASTING | LAST)
@on_every_network
async def test_a_response_is_read_to_its_end(network: Network, case: str) -> None:
    """A response ends as HTTP defines, and its connection serves the next request if that is safe."""
    data, *expected = (LASTING | LAST)[case]
    async with network.served(responding(data, raw_response(b"next"))) as url:
        first = await network.send(url, method="HEAD" if case.startswith("HEAD") else "GET")
        assert [first.status_code, first.content] == expected
        assert not {"x-t", "x-i"} & first.headers.keys()
        assert (await network.send(url)).content == b"next"
        assert len(set(network.accepted)) == (1 if case in LASTING else 2)


MALFORMED = {
    "no HTTP": b"HTTX/9 nonsense\r\n\r\n",
    "101": b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nabc",
    "an invalid status": b"HTTP/1.1 099 Odd\r\n\r\n",
    "lengths that differ": b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
    "an empty coding beside a length": b"HTTP/1.1 200 OK\r\ntransfer-encoding:\r\ncontent-length: 1\r\n\r\na",
    "the size of a chunk": CHUNKED + b"3 bytes\r\nabc\r\n0\r\n\r\n",
    "an interim response with a body": b"HTTP/1.1 104 X\r\ncontent-length: 5\r\n\r\nstray" + OK,
    "an endless interim body": b"HTTP/1.1 103 X\r\ncontent-length: 9000000\r\n\r\n" + bytes(1_000_000),
    "endless interim responses": b"HTTP/1.1 100 C\r\n\r\n" * 30_000,
    "an endless header": b"HTTP/1.1 200 OK\r\na: " + b"b" * 500_000,
    "endless trailers": CHUNKED + b"0\r\n" + b"a: b\r\n" * 80_000,
    "an endless extension": CHUNKED + b"3;x=" + b"y" * 500_000,
    "endless empty lines": b"\r\n" * 250_000,
}
#: The bytes that the server sends before it closes the connection.
CUT = {
    "nothing": b"",
    "an interim response": b"HTTP/1.1 100 Continue\r\n\r\n",
    "half a head": b"HTTP/1.1 200 O",
    "half a body": OK[:-1],
    "half of the end": CHUNKED + b"3\r\nabc\r\n0\r\n",
}


@pytest.mark.parametrize("case", MALFORMED | CUT)
@on_every_network
async def test_an_invalid_or_incomplete_response_ends_the_request(network: Network, case: str) -> None:
    """It raises RemoteProtocolError at once, without a wait, a second request or a full memory."""
    async with network.served(responding((MALFORMED | CUT)[case], closes=case in CUT)) as url:
        with pytest.raises(httpx.RemoteProtocolError) as raised:
            await network.send(url)
        assert (repr(network.transport), len(network.accepted)) == (NONE_OPEN, 1)
    assert ("closed the connection" in str(raised.value)) is (case in CUT)
    assert ("without a response" in str(raised.value)) is (case == "nothing")
    assert (str(raised.value) == NOT_HTTP) is (case == "no HTTP")


@pytest.mark.parametrize("size", [131_072, 131_073], ids=["the longest", "one byte more"])
@pytest.mark.parametrize("step", [1_000, 65_536, 262_144])
async def test_the_limit_of_a_head_counts_bytes(size: int, step: int) -> None:
    """Neither the packets of a head nor the bytes behind it change the limit."""
    fixed = len(b"HTTP/1.1 200 OK\r\nx: \r\ncontent-length: 2\r\n\r\n")
    data = b"HTTP/1.1 200 OK\r\nx: %s\r\ncontent-length: 2\r\n\r\n{}" % (b"a" * (size - fixed))
    segments = [data[start : start + step] for start in range(0, len(data), step)]
    read = await by_engine("GET", segments)
    assert isinstance(read, str) is (size > 131_072), read


@pytest.mark.parametrize(
    ("url", "kind", "text"),
    [
        ("http://127.0.0.1:1/", httpx.ConnectError, r"^\[Errno \d+\] Connect"),
        ("http://a..example/", httpx.LocalProtocolError, "the host of the URL is no valid name"),
        ("ftp://127.0.0.1/", httpx.UnsupportedProtocol, "http://"),
        ("http://localhost:1/", httpx.ConnectTimeout, "no connection in time"),
    ],
)
@on_every_network
async def test_a_host_that_cannot_be_reached_is_an_error_of_httpx(
    network: Network, url: str, kind: type[httpx.TransportError], text: str
) -> None:
    """The error has the text of the operating system, and no other exception is raised."""
    with pytest.raises(kind, match=text):
        await network.send(url, times={**TIMES, "connect": 0.0} if kind is httpx.ConnectTimeout else TIMES)


@pytest.mark.parametrize("is_early", [False, True], ids=["response afterwards", "response before"])
@on_every_network
async def test_a_large_body_is_sent_completely(network: Network, is_early: bool) -> None:
    """A body is sent to its end, with its length, before or after the response; then the connection is reused."""
    received: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await head_of(reader))
        if is_early:
            writer.write(OK)
        received.append(await reader.readexactly(len(LARGE)))
        if not is_early:
            writer.write(OK)
        await responding(raw_response(b"next"))(reader, writer)

    async with network.served(handle) as url:
        assert (await network.send(url, method="POST", content=LARGE)).content == b"{}"
        assert (await network.send(url)).content == b"next"
    head, body = received
    assert (body, len(set(network.accepted))) == (LARGE, 1)
    assert b"\r\nContent-Length: %d\r\n" % len(LARGE) in head


@pytest.mark.parametrize(("status", "closes"), [(413, False), (413, True), (200, False), (200, True)])
@on_every_network
async def test_an_early_response_ends_an_upload_that_is_not_read(
    network: Network, status: int, closes: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """A success that leaves the connection open ends it after the `write` limit, any other response at once.

    The connection ends, and asyncio logs no warning.
    """
    early = raw_response(b"early", head=b"HTTP/1.1 %d Early" % status)
    times = TIMES if status == 413 or closes else {**TIMES, "write": 0.05}
    async with network.served(responding(early, closes=True) if closes else stalling(early)) as url:
        # After a reset the response may be lost.
        with suppress(httpx.NetworkError, httpx.ProtocolError) if closes else nullcontext():
            response = await network.send(url, method="POST", content=HUGE, times=times)
            assert (response.status_code, response.content) == (status, b"early")
        assert repr(network.transport) == NONE_OPEN
        assert caplog.records == []


async def test_the_write_timeout_is_one_for_progress(plain: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    """An upload may take longer than the `write` limit if the service reads a part of it in time."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_of(reader)
        for _ in range(5):
            await reader.readexactly(len(LARGE) // 5)
            pass_time(monkeypatch, seconds=8.0)
            await asyncio.sleep(0)
        writer.write(OK)
        await reader.read()

    async with plain.served(handle) as url:
        response = await plain.send(url, method="POST", content=LARGE, times={**TIMES, "write": 10.0})
        assert response.content == b"{}"


SLOW: dict[str, tuple[bytes, bytes, type[httpx.TimeoutException]]] = {
    "takes no body": (HUGE, b"", httpx.WriteTimeout),
    "sends no head": (b"", b"", httpx.ReadTimeout),
    "sends an interim response": (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", httpx.ReadTimeout),
    "sends half a body": (b"", OK[:-1], httpx.ReadTimeout),
}


@pytest.mark.parametrize("case", SLOW)
@on_every_network
async def test_a_peer_that_stops_ends_in_a_timeout(network: Network, case: str) -> None:
    """The error names the phase without progress, and the connection is closed."""
    content, data, kind = SLOW[case]
    async with network.served(stalling(data)) as url:
        with pytest.raises(kind):
            await network.send(url, method="POST", content=content, times={**TIMES, "read": 0.05, "write": 0.05})
        assert repr(network.transport) == NONE_OPEN


@on_every_network
async def test_a_peer_that_sends_too_far_ahead_is_slowed_down(network: Network) -> None:
    """A body that the caller does not read fills no memory, and is complete when it is read."""
    sent = 0

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await head_of(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 30000000\r\n\r\n")
        for _ in range(30):
            writer.write(bytes(1_000_000))
            await writer.drain()
            sent += 1
        await reader.read()

    async with network.served(handle) as url:
        response = await network.transport.handle_async_request(httpx.Request("GET", url))
        before = -1
        while before != sent:
            before = sent
            await asyncio.sleep(0.05)
        assert sent < 25
        assert len(await response.aread()) == 30_000_000
        assert repr(network.transport) == ONE_IDLE


@on_every_network
async def test_closing_leaves_no_socket(network: Network) -> None:
    """Requests in flight end with an error of httpx, idle connections end, and a later request opens none."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await stalling(OK if len(network.accepted) == 1 else b"")(reader, writer)

    async with network.served(handle) as url:
        response = await network.send(url)
        used = response.extensions["network_stream"].get_extra_info("socket")
        # One of them waits until the peer reads more of its body.
        calls = [asyncio.create_task(network.send(url, method="POST", content=each)) for each in (b"", b"", HUGE)]
        await until(lambda: len(network.accepted) == 3)
        for _ in range(20):
            await asyncio.sleep(0)
        async with asyncio.timeout(5.0):
            await network.transport.aclose()
            # Closed already, not only soon.
            assert (used.fileno(), repr(network.transport)) == (-1, NONE_OPEN)
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert [isinstance(outcome, httpx.TransportError) for outcome in outcomes] == [True] * 3
        with pytest.raises(httpx.ConnectError, match="the transport was closed"):
            await network.send(url)


@on_every_network
async def test_a_response_has_the_details_of_its_connection(network: Network) -> None:
    """The extension `network_stream` has the addresses of both ends and the TLS object."""
    async with network.served(responding(OK)) as url:
        response = await network.send(url)
        stream = response.extensions["network_stream"]
        assert response.extensions["http_version"] == b"HTTP/1.1"
        assert stream.get_extra_info("server_addr") == ("127.0.0.1", httpx.URL(url).port)
        assert stream.get_extra_info("client_addr")[1] == network.accepted[0]
        assert (stream.get_extra_info("ssl_object") is None) == (network.server_context is None)


async def test_a_connection_that_is_not_needed_is_closed(plain: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few requests, one connection serves all of them, and the others are closed."""
    async with RawServer(raw_response()) as server:
        await opened_at_once(plain.transport, server.address, 2)
        for seconds in (0.0, 0.0, 2.4, 2.4):
            pass_time(monkeypatch, seconds=seconds)
            await plain.send(server.address)
        assert (server.connections_accepted, repr(plain.transport)) == (2, ONE_IDLE)


@pytest.mark.parametrize(
    ("header", "kept"),
    [
        *((header, 2.0) for header in (b"max=100, Timeout = 3", b'timeout="3"')),
        (b"timeout=0", 0.0),
        *((header, 4.0) for header in (b"timeout=" + b"9" * 30, b"xtimeout=1", b"timeout=soon", None)),
    ],
)
@pytest.mark.parametrize("early", [0.0, 0.5])
async def test_a_connection_is_idle_for_as_long_as_its_server_says(
    plain: Network, monkeypatch: pytest.MonkeyPatch, header: bytes | None, kept: float, early: float
) -> None:
    """The keep-alive is four seconds, or one second less than `Keep-Alive` names."""
    head = b"HTTP/1.1 200 OK" if header is None else b"HTTP/1.1 200 OK\r\nKeep-Alive: " + header
    async with RawServer(raw_response(head=head), raw_response()) as server:
        # The header of the first response applies until the second response.
        for seconds in (0.0, max(0.0, kept - early), 3.5):
            pass_time(monkeypatch, seconds=seconds)
            await plain.send(server.address)
        assert (server.connections_accepted, repr(plain.transport)) == (1 if early and kept else 2, ONE_IDLE)


@pytest.mark.parametrize(("wall", "monotonic", "accepted"), [(3.9, 0.0, 1), (4.0, 0.0, 2), (-9.0, 4.0, 2)])
async def test_a_connection_that_is_idle_during_a_suspend_is_too_old(
    monkeypatch: pytest.MonkeyPatch, wall: float, monotonic: float, accepted: int
) -> None:
    """The keep-alive ends by the clock of the event loop or by the wall clock, whichever comes first."""
    moment = 0.0
    transport = EngineTransport(wall_clock=lambda: moment)
    async with RawServer(raw_response()) as server, httpx.AsyncClient(transport=transport) as client:
        await client.get(server.address)
        moment = wall
        pass_time(monkeypatch, seconds=monotonic)
        await client.get(server.address)
        assert server.connections_accepted == accepted


async def opened_at_once(transport: EngineTransport, address: str, number: int) -> None:
    """Open a number of connections, and leave them idle."""
    requests = (transport.handle_async_request(httpx.Request("GET", address)) for _ in range(number))
    for response in await asyncio.gather(*requests):
        await response.aread()


async def test_the_oldest_idle_connections_to_other_addresses_are_closed_beyond_a_hundred(plain: Network) -> None:
    """Many addresses need few sockets, and one address may keep more than a hundred connections."""
    async with RawServer(raw_response()) as one, RawServer(raw_response()) as two:
        await opened_at_once(plain.transport, one.address, 60)
        await opened_at_once(plain.transport, two.address, 60)
        assert repr(plain.transport) == "EngineTransport(in_use=0, idle=100)"
        await until(lambda: (one.open_connections, two.open_connections) == (40, 60))
        await opened_at_once(plain.transport, two.address, 120)
        assert repr(plain.transport) == "EngineTransport(in_use=0, idle=120)"


async def test_a_408_ends_the_idle_connections_to_its_address_alone(plain: Network) -> None:
    """The service of this address has closed its idle connections; those to another address stay."""
    late = raw_response(head=b"HTTP/1.1 408 Request Timeout\r\nconnection: close")
    async with RawServer(*[raw_response()] * 3, late) as one, RawServer(raw_response()) as two:
        await opened_at_once(plain.transport, one.address, 3)
        await opened_at_once(plain.transport, two.address, 5)
        assert (await plain.send(one.address)).status_code == 408
        assert repr(plain.transport) == "EngineTransport(in_use=0, idle=5)"


BODY = b"x" * 5_000
#: A response in four packets.
PACKETS = (b"HTTP/1.1 103 E\r\n\r\n", raw_response(BODY)[:-5_000], BODY[:3_000], BODY[3_000:])


@pytest.mark.parametrize("is_encrypted", [False, True], ids=["plain", "TLS"])
def test_a_request_that_is_cancelled_leaves_nothing(is_encrypted: bool) -> None:
    """After a cancellation in any iteration, no socket stays open, and the next request gets its own response."""
    # TLS handshakes are slow: the quick profile tries every third iteration.
    step = 3 if is_encrypted and examples(100) < 100 else 1

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (await head_of(reader)).startswith(b"POST "):
            for packet in PACKETS:
                writer.write(packet)
                for _ in range(4):
                    await asyncio.sleep(0)
        writer.write(raw_response(b"next"))
        await reader.read()

    async def cancelled(turn: int) -> bool:
        network = Network(is_encrypted=is_encrypted)
        async with network.served(handle) as url:
            hit = await cancelled_at_turn(network.send(url, method="POST"), turn=turn)
            assert (await network.send(url)).content == b"next"
            assert repr(network.transport) == ONE_IDLE
            await network.transport.aclose()
        return hit

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        turn, hit = 1, True
        while hit:
            with asyncio.Runner(loop_factory=CountingLoop) as runner:
                hit = runner.run(cancelled(turn))
            turn += step
    assert 5 < turn < 200


@pytest.mark.parametrize(
    ("offered", "served", "selected"),
    [
        (None, ["h2", "http/1.1"], "http/1.1"),
        ([], ["http/1.1"], None),
        (["http/1.1", "h2"], ["http/1.1", "h2"], "http/1.1"),
        (["h2", "http/1.1"], ["h2", "http/1.1"], "h2"),
        (["h2"], ["h2"], "h2"),
    ],
    ids=["default", "none", "HTTP/1.1", "h2 first", "h2"],
)
async def test_a_service_that_selects_another_protocol_gets_no_request(
    offered: list[str] | None, served: list[str], selected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default context offers HTTP/1.1 by ALPN, and the context of a caller is not changed.

    If another client has set HTTP/2 in it and the service selects that, the call fails at once with the reason.
    """
    (tmp_path / "authority.pem").write_text(authority())
    monkeypatch.setenv("SSL_CERT_FILE", f"{tmp_path}/authority.pem")
    events, serving = list[object](), server_context()
    serving.set_alpn_protocols(served)
    context = None if offered is None else ssl.create_default_context(cadata=authority())
    if context is not None and offered:
        context.set_alpn_protocols(offered)
    transport = BackoffTransport(ssl_context=context, on_event=events.append)
    async with RawServer(OK, context=serving) as server, httpx.AsyncClient(transport=transport) as client:
        if selected == "h2":
            with pytest.raises(NotSentError, match=r"the service selected h2 by ALPN.*; nothing was sent"):
                await client.post(server.address)
        else:
            connection = (await client.post(server.address)).extensions["network_stream"].get_extra_info("ssl_object")
            assert connection.selected_alpn_protocol() == selected
    assert (len(events), len(server.requests)) == (1, int(selected != "h2"))


@pytest.mark.parametrize("route", WATCHED)
async def test_a_replaced_function_of_httpx_gets_each_request(plain: Network, route: str) -> None:
    """The transport then sends through the replaced function, also after earlier requests, and sends the same bytes."""
    async with RawServer(raw_response(b"{}")) as server:
        request = request_to(server.address)
        request.raw_headers, request.extensions = ((b"host", b"h"), (b"a", b"b")), {"timeout": TIMES}
        assert (await plain.transport.send(request, Sending())).content == b"{}"
        with watched(route) as seen:
            response = await plain.transport.send(request, Sending())
            await response.read(limit=10)
            request.origin = Origin(b"ftp", b"127.0.0.1", None)
            with pytest.raises(httpx.UnsupportedProtocol):
                await plain.transport.send(request, Sending())
            await plain.transport.aclose()
    assert (response.content, len(seen)) == (b"{}", 1 if route == "watched httpcore" else 2)
    assert [received.headers.raw for received in server.requests] == [[(b"host", b"h"), (b"a", b"b")]] * 2
