"""Each way of sending behaves alike: bodies, malformed and surplus bytes, the ends of connections, and TLS."""

import asyncio
import gzip
import socket
import ssl
import struct
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
from itwin_platform import (
    BackoffPolicy,
    NotSentError,
    OutcomeUnknownError,
    ResponseDecodeError,
    TransportError,
    UsageError,
)

from tests.support.every_way import (
    PLAIN,
    READS_ITSELF,
    STATUS_ERRORS,
    in_every_way,
    on_own_connections,
    opened,
)
from tests.support.networks import Handler, authority, doorkeeper, server_context
from tests.support.real_time import until
from tests.support.services import DETECTOR, PreparedResponse, Raw, RawServer, ReceivedRequest, raw_response

ONCE = BackoffPolicy(max_attempts=1)
GOOD = raw_response()
#: A response without a request: a client that returns it has read surplus bytes.
PHANTOM = raw_response(
    b'{"detector": {"name": "phantom", "type": "PhotoObjectDetector"}}', head=b"HTTP/1.1 201 Created"
)
REJECTED = raw_response(b"{}", head=b"HTTP/1.1 422 Unprocessable Content")


def either_response(request: ReceivedRequest) -> bytes:
    """Return the account to a GET, a detector to a POST."""
    return raw_response() if request.method == "GET" else raw_response(DETECTOR, head=b"HTTP/1.1 201 Created")


@in_every_way
async def test_a_call_sends_one_request(way: str) -> None:
    """A call sends one request, even when an event hook or a transport has read the response already."""
    async with RawServer(either_response) as server, opened(way, server.address) as calls:
        assert (await calls.get(), await calls.post()) == ("a-1", "d-1")
        assert [request.method for request in server.requests] == ["GET", "POST"]


def encoded(encoding: str, body: bytes) -> bytes:
    """Return a response with an encoded body."""
    return raw_response(body, head=f"HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}".encode())


LARGE = bytes(10_000_000)
TOO_LARGE = {
    "plain": raw_response(LARGE),
    "gzip": encoded("gzip", gzip.compress(LARGE)),
    "deflate": encoded("deflate", zlib.compress(LARGE)),
}


@pytest.mark.parametrize("encoding", TOO_LARGE)
@in_every_way
async def test_a_body_is_rejected_by_its_decoded_size(way: str, encoding: str) -> None:
    """More than `max_response_bytes`, however small it came, is a ResponseDecodeError, and keeps no connection."""
    if way in PLAIN and encoding != "plain":
        pytest.skip("an ordinary client decodes without a limit, as httpx does")
    async with (
        RawServer(TOO_LARGE[encoding], GOOD) as server,
        opened(way, server.address, max_response_bytes=100_000) as calls,
    ):
        with pytest.raises(ResponseDecodeError, match="larger than max_response_bytes, 100000 bytes"):
            await calls.get()
        assert await calls.get() == "a-1"
        await until(lambda: server.open_connections == 1)


LOST = {
    "malformed": Raw(data=b"HTTX/9 nonsense\r\n\r\n"),
    "closed, nothing": Raw(data=b"", closes=True),
    "closed, half a head": Raw(data=raw_response(DETECTOR)[:20], closes=True),
    "closed, half a body": Raw(data=raw_response(DETECTOR)[:-1], closes=True),
    "reset, nothing": Raw(data=b"", resets=True),
    "reset, half a head": Raw(data=raw_response(DETECTOR)[:20], resets=True),
    "reset, half a body": Raw(data=raw_response(DETECTOR)[:-1], resets=True),
}


@pytest.mark.parametrize("response", LOST.values(), ids=LOST)
@in_every_way
async def test_a_post_whose_response_is_lost_is_sent_once(way: str, response: Raw) -> None:
    """Its outcome is unknown, never taken for that of a connection that was not made, which is not used again."""
    async with RawServer(response, REJECTED) as server, opened(way, server.address) as calls:
        with pytest.raises(OutcomeUnknownError):
            await calls.post()
        with pytest.raises(STATUS_ERRORS, match="422"):
            await calls.post()
        assert (len(server.requests), server.connections_accepted) == (2, 2)


CHUNKED_ERROR = b"HTTP/1.1 422 Unprocessable Content\r\ntransfer-encoding: chunked\r\n\r\n"
BROKEN_ERRORS = {
    "malformed": Raw(data=CHUNKED_ERROR + b"zz\r\n"),
    "malformed later": Raw(data=CHUNKED_ERROR + b"2\r\n{}\r\nzz\r\n"),
    "cut": Raw(data=REJECTED[:-1], closes=True),
    "reset": Raw(data=REJECTED[:-1], resets=True),
}


@pytest.mark.parametrize("response", BROKEN_ERRORS.values(), ids=BROKEN_ERRORS)
@in_every_way
async def test_an_error_status_counts_whatever_its_body_is(way: str, response: Raw) -> None:
    """When the body of an error response is malformed or breaks off, the status is still the outcome of the call."""
    # A hook or a transport of the caller that reads the response itself fails where it reads.
    async with RawServer(response) as server, opened(way, server.address) as calls:
        with pytest.raises(OutcomeUnknownError if way in READS_ITSELF else STATUS_ERRORS):
            await calls.post()
        assert len(server.requests) == 1


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
@on_own_connections
async def test_a_body_where_none_is_allowed_is_not_the_next_response(way: str, status: bytes) -> None:
    """A 204 or a 304 is final, although it cannot be decoded, and its body is not read as the next response."""
    first = raw_response(PHANTOM, head=b"HTTP/1.1 " + status)
    async with RawServer(first, REJECTED) as server, opened(way, server.address) as calls:
        with pytest.raises((*STATUS_ERRORS, ResponseDecodeError, ValueError)):
            await calls.post()
        with pytest.raises(STATUS_ERRORS, match="422"):
            await calls.post()
        assert len(server.requests) == 2


@pytest.mark.parametrize("ends", ["closed", "surplus"])
@in_every_way
async def test_a_connection_that_ended_while_it_was_idle_is_replaced(way: str, ends: str) -> None:
    """It was closed, or something arrived on it: whether or not the event loop has seen that, nothing is sent on it."""
    async with RawServer(either_response) as server, opened(way, server.address, backoff=ONCE) as calls:
        for turns in range(1, 6):
            await calls.get()
            server.close_connections() if ends == "closed" else server.push(PHANTOM)
            for _ in range(turns):
                await asyncio.sleep(0)
            assert await calls.post() == "d-1"
        assert (len(server.requests), server.connections_accepted) == (10, 6)


@in_every_way
async def test_a_408_on_a_connection_that_was_idle_is_no_answer_to_a_get(way: str) -> None:
    """The server had given up waiting: a GET is sent again at once, on a fresh connection; a POST keeps its error.

    A caller's transport does not tell whether its connection was idle: the error is final there.
    """

    def respond(request: ReceivedRequest) -> Raw | bytes:
        seen.append(request.method)
        if len(seen) % 3 == 2:
            return Raw(data=raw_response(b"", head=b"HTTP/1.1 408 Request Timeout\r\nconnection: close"), closes=True)
        return GOOD

    seen: list[str] = []
    knows = way in ("default", "around the engine", "uvloop", "watched client")
    async with (
        RawServer(respond) as server,
        opened(way, server.address, backoff=BackoffPolicy(base_delay=30.0)) as calls,
    ):
        assert await calls.get() == "a-1"
        with nullcontext() if knows else pytest.raises(STATUS_ERRORS, match="408"):
            assert await calls.get() == "a-1"
        if not knows:
            assert await calls.get() == "a-1"
        assert (seen, server.connections_accepted) == (["GET"] * 3, 2)
        assert await calls.get() == "a-1"
        with pytest.raises(STATUS_ERRORS, match="408"):
            await calls.post()
        assert (seen, server.connections_accepted) == ([*["GET"] * 4, "POST"], 2)
        assert await calls.get() == "a-1"
        assert server.connections_accepted == 3


@in_every_way
async def test_a_post_without_a_server_was_not_sent(way: str) -> None:
    """Where nothing listens, the error says that the request certainly had no effect."""
    # What is bound and does not listen refuses connections, and nobody else gets its port.
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        async with opened(way, f"http://127.0.0.1:{bound.getsockname()[1]}") as calls:
            with pytest.raises(NotSentError):
                await calls.post()


@in_every_way
async def test_closing_ends_calls_that_wait(way: str) -> None:
    """Closing ends calls in flight, at the gate and before a retry, and nothing is sent afterwards."""
    policy = BackoffPolicy(base_delay=30.0, max_in_flight=1, max_wait=60.0)
    async with RawServer(PreparedResponse(status=503), Raw(data=b"")) as server:
        async with opened(way, server.address, backoff=policy, timeout=60.0) as calls:
            waiting = [asyncio.create_task(calls.get()) for _ in range(3)]
            await server.received(2)
            await calls.client.aclose()
            ended = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(error, TransportError | UsageError) for error in ended), ended
        await asyncio.sleep(0.02)
        await server.quiet()
        assert len(server.requests) == 2


@in_every_way
async def test_a_client_belongs_to_one_event_loop(way: str) -> None:
    """A call from another event loop raises UsageError, and calls from the first loop still work."""
    async with RawServer(either_response) as server, opened(way, server.address) as calls:
        await calls.get()
        with pytest.raises(UsageError, match="event loop"):
            await asyncio.to_thread(lambda: asyncio.run(calls.get()))
        assert await calls.post() == "d-1"


def certificates(case: str) -> Any:
    """Return the context of a server that the client does not trust, or that demands a client certificate."""
    address = "127.0.0.2" if case == "wrong host" else "127.0.0.1"
    context = server_context(expired=case == "expired", self_signed=case == "self-signed", address=address)
    if case == "TLS 1.1 only":
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
        context.set_ciphers("ALL:@SECLEVEL=0")
    if case == "client certificate demanded":
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=authority())
    return context


UNTRUSTED = {
    "expired": "certificate has expired",
    "self-signed": "self-signed certificate",
    "wrong host": "IP address mismatch",
    "TLS 1.1 only": "PROTOCOL|legacy sigalg",
    "client certificate demanded": "CERTIFICATE_REQUIRED",
}


@pytest.fixture
def trusted_authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make clients trust the CA of the tests through SSL_CERT_FILE."""
    path = tmp_path / "authority.pem"
    path.write_text(authority())
    monkeypatch.setenv("SSL_CERT_FILE", str(path))


@pytest.mark.usefixtures("trusted_authority")
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
@pytest.mark.parametrize(("case", "reason"), UNTRUSTED.items(), ids=UNTRUSTED)
@in_every_way
async def test_a_tls_failure_is_not_retried(way: str, case: str, reason: str) -> None:
    """A failed handshake raises NotSentError with the reason after one connection and no request."""
    with doorkeeper(certificates(case)) as (address, accepted):
        async with opened(way, address) as calls:
            with pytest.raises(NotSentError, match=reason) as caught:
                await calls.get()
        assert "_ssl.c" not in str(caught.value)
        assert (caught.value.attempts, len(accepted)) == (0, 1)


NOT_HTTP = "it responded with bytes that are not HTTP: does it need https"
HUNG_UP = "(it closed the connection without a response|connection reset by peer|broken pipe): does it need https"
#: What a port sends, whether it does so before a request, and what the error says. The parser of httpx looks at what
#: came when an empty line has come.
FOREIGN = {
    "speaks SSH": (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", True, NOT_HTTP),
    "responds in another protocol": (b"-ERR unknown command\r\n\r\n", False, NOT_HTTP),
    "alerts as TLS does": (b"\x15\x03\x01\x00\x02\x02\x46\r\n\r\n", False, NOT_HTTP),
    "closes at once": (b"", True, HUNG_UP),
    "closes after a request": (b"", False, HUNG_UP),
    "resets after a request": (None, False, HUNG_UP),
}


@asynccontextmanager
async def listening(handler: Handler) -> AsyncIterator[int]:
    """Serve connections on loopback, and yield the port."""
    async with await asyncio.start_server(handler, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.parametrize(("sent", "speaks_first", "said"), FOREIGN.values(), ids=FOREIGN)
@in_every_way
async def test_what_is_no_http_server_is_told(way: str, sent: bytes | None, *, speaks_first: bool, said: str) -> None:
    """An address that has never sent HTTP ends a call after three attempts, and the text asks for https."""
    accepted: list[asyncio.StreamWriter] = []

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.append(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            if not speaks_first:
                await reader.readuntil(b"\r\n\r\n")
            if sent is None:
                # Without a wait for what is still to be sent, closing a socket resets its connection.
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.write(sent or b"")
            await (reader.read() if sent else asyncio.sleep(0))
        writer.close()

    async with listening(respond) as port, opened(way, f"http://127.0.0.1:{port}") as calls:
        with pytest.raises(OutcomeUnknownError, match=said):
            await calls.get()
        assert len(accepted) == 3
        with pytest.raises(OutcomeUnknownError, match=f"{said}.*; POST is not idempotent"):
            await calls.post()
        assert len(accepted) == 4


async def test_bytes_that_are_not_http_are_an_outage_of_a_known_service() -> None:
    """An address that has sent HTTP before is retried as after any lost response."""
    async with RawServer(GOOD, b"220 ready\r\n", GOOD) as server, opened("default", server.address) as calls:
        assert await calls.get() == "a-1"
        assert await calls.get() == "a-1"


@in_every_way
async def test_https_to_a_port_of_http_asks_for_http(way: str) -> None:
    """A handshake that HTTP answers is final after one connection, and its text names http."""
    accepted: list[asyncio.StreamWriter] = []

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.append(writer)
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with listening(respond) as port, opened(way, f"https://127.0.0.1:{port}") as calls:
        with pytest.raises(NotSentError, match=r"the server does not speak TLS: is it http://\?"):
            await calls.get()
        assert len(accepted) == 1
