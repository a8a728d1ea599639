"""The promises of the network, each in six ways, against a server that misbehaves byte by byte."""

import asyncio
import gzip
import socket
import ssl
import time
import zlib
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest
from itwin_platform import (
    BackoffPolicy,
    NotSentError,
    OutcomeUnknownError,
    ResponseDecodeError,
    TransportError,
    UsageError,
)

from tests.support.certificates import authority, doorkeeper, server_context
from tests.support.exchange import PreparedResponse, ReceivedRequest
from tests.support.raw_server import ACCOUNT, DETECTOR, Raw, RawServer, raw_response
from tests.support.six_ways import RejectedError, in_six_ways, opened

brotli: Any = import_module("brotli")
zstandard: Any = import_module("zstandard")

CREATED = b"HTTP/1.1 201 Created"
GOOD = raw_response()
PHANTOM = raw_response(b'{"detector": {"name": "phantom", "type": "PhotoObjectDetector"}}', head=CREATED)
REJECTED = raw_response(b"{}", head=b"HTTP/1.1 422 Unprocessable Content")


def both(request: ReceivedRequest) -> bytes:
    """Respond to either call of the table."""
    return GOOD if request.method == "GET" else raw_response(DETECTOR, head=CREATED)


@in_six_ways
async def test_a_response_is_used_once_it_has_arrived(way: str) -> None:
    """Also when an event hook or a transport has read it already: one request for each call."""
    async with RawServer(both) as server, opened(way, server.address) as calls:
        assert (await calls.get(), await calls.post()) == ("a-1", "d-1")
        assert [request.method for request in server.requests] == ["GET", "POST"]


def deflated(*, with_header: bool) -> bytes:
    """Return the account, deflated."""
    squeeze = zlib.compressobj(wbits=zlib.MAX_WBITS if with_header else -zlib.MAX_WBITS)
    return squeeze.compress(ACCOUNT) + squeeze.flush()


ENCODED = {
    "gzip": (b"gzip", gzip.compress(ACCOUNT)),
    "gzip, padded with zeros": (b"gzip", gzip.compress(ACCOUNT) + bytes(700)),
    "deflate": (b"deflate", deflated(with_header=True)),
    "deflate without a header": (b"deflate", deflated(with_header=False)),
    "br": (b"br", brotli.compress(ACCOUNT)),
    "zstd": (b"zstd", zstandard.compress(ACCOUNT)),
    "several": (b"gzip, br", brotli.compress(gzip.compress(ACCOUNT))),
}


@pytest.mark.parametrize(("encoding", "body"), ENCODED.values(), ids=ENCODED)
@in_six_ways
async def test_every_encoding_that_httpx_asks_for_is_decoded(way: str, encoding: bytes, body: bytes) -> None:
    """gzip, deflate, br and zstd, alone or one after the other."""
    response = raw_response(body, head=b"HTTP/1.1 200 OK\r\ncontent-encoding: " + encoding)
    async with RawServer(response) as server, opened(way, server.address) as calls:
        assert await calls.get() == "a-1"
        assert len(server.requests) == 1


BOMB = b'{"iTwin": {"id": "' + bytes(50_000_000) + b'"}}'
BOMBS = {"gzip": gzip.compress(BOMB), "br": brotli.compress(BOMB, quality=1), "zstd": zstandard.compress(BOMB)}


@pytest.mark.parametrize("encoding", BOMBS)
@in_six_ways
async def test_a_body_is_rejected_by_its_decoded_size(way: str, encoding: str) -> None:
    """A small body that unpacks to a large one is given up at the limit."""
    head = f"HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}".encode()
    async with (
        RawServer(raw_response(BOMBS[encoding], head=head)) as server,
        opened(way, server.address, max_response_bytes=100_000) as calls,
    ):
        with pytest.raises(ResponseDecodeError, match="larger than max_response_bytes, 100000 bytes"):
            await calls.get()


ODD = {
    "400 headers": b"HTTP/1.1 200 OK" + b"".join(b"\r\nx-%d: v" % number for number in range(400)),
    "the same Content-Length twice": b"HTTP/1.1 200 OK\r\ncontent-length: %d" % len(ACCOUNT),
    "a header of 20,000 bytes": b"HTTP/1.1 200 OK\r\nlink: " + b"x" * 20_000,
}


@pytest.mark.parametrize("head", ODD.values(), ids=ODD)
@in_six_ways
async def test_an_odd_head_is_read(way: str, head: bytes) -> None:
    """What httpx reads is read in every way."""
    async with RawServer(raw_response(head=head)) as server, opened(way, server.address) as calls:
        assert await calls.get() == "a-1"


@in_six_ways
async def test_a_connection_that_was_closed_is_not_used(way: str) -> None:
    """A server that closes after each response, without saying so, loses no POST and delays nobody."""

    def closing(request: ReceivedRequest) -> Raw:
        return Raw(data=both(request), closes=True)

    once = BackoffPolicy(max_attempts=1)
    async with RawServer(closing) as server, opened(way, server.address, backoff=once) as calls:
        for _ in range(50):
            await calls.post()
        for _ in range(10):
            await calls.get()
        assert len(server.requests) == 60


@in_six_ways
async def test_a_connection_that_was_closed_while_the_program_was_busy_is_not_used(way: str) -> None:
    """The server closes, and the event loop has not seen it yet when the next call is made."""
    async with RawServer(both) as server, opened(way, server.address, backoff=BackoffPolicy(max_attempts=1)) as calls:
        for _ in range(5):
            await calls.get()
            server.close_connections()
            # The server's own end of the socket is closed in the next round of the loop; the client's has not looked.
            await asyncio.sleep(0)
            assert await calls.post() == "d-1"
        assert len(server.requests) == 10


@in_six_ways
async def test_writing_has_a_time_limit(way: str) -> None:
    """A peer that accepts and never reads ends the attempt after `write` seconds."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        timeout = httpx.Timeout(20.0, write=0.2)
        began = time.monotonic()
        async with opened(way, f"http://127.0.0.1:{deaf.getsockname()[1]}", timeout=timeout) as calls:
            with pytest.raises(OutcomeUnknownError, match="WriteTimeout"):
                await post_large(calls)
        assert 0.2 <= time.monotonic() - began < 10.0


async def post_large(calls: Any) -> None:
    """Send more than the buffers of a connection take."""
    platform = getattr(calls, "platform", None)
    if platform is None:
        await calls.client.post("/scenes/", content=b"x" * 10_000_000)
    else:
        request = httpx.Request("POST", platform.generated.get_async_httpx_client().base_url.join("reality-analysis/x"))
        await platform.generated.get_async_httpx_client().post(request.url.path, content=b"x" * 10_000_000)


@in_six_ways
async def test_surplus_bytes_are_never_the_next_response(way: str) -> None:
    """A GET that was answered twice in one segment: the POST after it gets its own response, on a new connection."""
    async with RawServer(GOOD + PHANTOM, REJECTED) as server, opened(way, server.address) as calls:
        assert await calls.get() == "a-1"
        with pytest.raises(RejectedError, match="422"):
            await calls.post()
        assert len(server.requests) == 2


SURPLUS = {
    "half a response": GOOD + PHANTOM[:20],
    "chunked, and one more": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    + b"%x\r\n%s\r\n0\r\n\r\n" % (len(ACCOUNT), ACCOUNT)
    + PHANTOM,
    "a short Content-Length": b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s%s" % (len(ACCOUNT), ACCOUNT, PHANTOM),
    "one byte": GOOD + b"\n",
}


@pytest.mark.parametrize("data", SURPLUS.values(), ids=SURPLUS)
@in_six_ways
async def test_a_connection_out_of_step_is_not_used_again(way: str, data: bytes) -> None:
    """Whatever follows a response, the next request goes out on another connection."""
    async with RawServer(data, REJECTED) as server, opened(way, server.address) as calls:
        assert await calls.get() == "a-1"
        with pytest.raises(RejectedError, match="422"):
            await calls.post()


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
@in_six_ways
async def test_a_body_where_none_is_allowed_is_not_the_next_response(way: str, status: bytes) -> None:
    """A 204 or 304 with a body: its bytes are not read as a response."""
    first = b"HTTP/1.1 " + status + b"\r\ncontent-length: %d\r\n\r\n%s" % (len(PHANTOM), PHANTOM)
    async with RawServer(first, REJECTED) as server, opened(way, server.address) as calls:
        with pytest.raises((RejectedError, ResponseDecodeError, ValueError)):
            await calls.get()
        with pytest.raises(RejectedError, match="422"):
            await calls.post()


@in_six_ways
async def test_what_arrives_between_two_requests_is_not_the_next_response(way: str) -> None:
    """Surplus bytes that come later are noticed before the connection is used again."""
    async with RawServer(GOOD, REJECTED, GOOD, REJECTED) as server, opened(way, server.address) as calls:
        for rounds in (0, 3):
            await calls.get()
            server.push(PHANTOM)
            for _ in range(rounds):
                await asyncio.sleep(0)
            with pytest.raises(RejectedError, match="422"):
                await calls.post()


def certificates(case: str) -> Any:
    """Return the context of a server that is not to be trusted, or does not trust."""
    context = server_context(
        expired=case == "expired",
        self_signed=case == "self-signed",
        address="127.0.0.2" if case == "wrong host" else "127.0.0.1",
    )
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
    "TLS 1.1 only": "PROTOCOL",
    "client certificate demanded": "CERTIFICATE_REQUIRED",
}


@pytest.fixture
def trusted_authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let clients trust the CA of the tests, as the environment says."""
    path = tmp_path / "authority.pem"
    path.write_text(authority())
    monkeypatch.setenv("SSL_CERT_FILE", str(path))


@pytest.mark.usefixtures("trusted_authority")
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
@pytest.mark.parametrize(("case", "reason"), UNTRUSTED.items(), ids=UNTRUSTED)
@in_six_ways
async def test_a_tls_failure_is_not_retried(way: str, case: str, reason: str) -> None:
    """One handshake, no request, and the reason in the text."""
    with doorkeeper(certificates(case)) as keeper:
        async with opened(way, keeper.address) as calls:
            with pytest.raises(NotSentError, match=reason) as caught:
                await calls.get()
        assert (caught.value.attempts, keeper.connections) == (0, 1)


@pytest.mark.usefixtures("trusted_authority")
@in_six_ways
async def test_a_trusted_service_is_served(way: str) -> None:
    """Over TLS everything is the same; surplus bytes are noticed behind the encryption, too."""
    context = server_context()
    async with (
        RawServer(both, both, Raw(data=GOOD, then=PHANTOM), REJECTED, context=context) as server,
        opened(way, server.address) as calls,
    ):
        assert (await calls.get(), await calls.post(), await calls.get()) == ("a-1", "d-1", "a-1")
        with pytest.raises(RejectedError, match="422"):
            await calls.post()


@in_six_ways
async def test_closing_ends_calls_that_wait(way: str) -> None:
    """A call in flight, one at the gate and one before its retry: all end, and nothing is sent afterwards."""
    policy = BackoffPolicy(base_delay=30.0, max_in_flight=1, max_wait=60.0)
    outage = PreparedResponse(status=503)
    async with RawServer(outage) as server:
        async with opened(way, server.address, backoff=policy) as calls:
            waiting = [asyncio.create_task(calls.get()) for _ in range(3)]
            await server.received(1)
            await close(calls)
            ended = await asyncio.gather(*waiting, return_exceptions=True)
        sent = len(server.requests)
        await asyncio.sleep(0.02)
        assert all(isinstance(error, TransportError | UsageError) for error in ended), ended
        assert len(server.requests) == sent
        if way != "http_client":
            await server.quiet()


async def close(calls: Any) -> None:
    """Close the client."""
    platform = getattr(calls, "platform", None)
    await (platform or calls.client).aclose()


@in_six_ways
async def test_a_client_belongs_to_one_event_loop(way: str) -> None:
    """A call from another event loop raises UsageError, and the first loop goes on."""
    async with RawServer(both) as server, opened(way, server.address) as calls:
        await calls.get()

        def elsewhere() -> None:
            asyncio.run(calls.get())

        with pytest.raises(UsageError, match="event loop"):
            await asyncio.to_thread(elsewhere)
        assert await calls.post() == "d-1"


@in_six_ways
async def test_a_cancelled_call_leaves_no_connection_behind(way: str) -> None:
    """Its connection is closed, and the next call has one."""
    async with RawServer(PreparedResponse(fault="hang"), both) as server, opened(way, server.address) as calls:
        call = asyncio.create_task(calls.get())
        await server.received(1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await calls.post() == "d-1"


@in_six_ways
async def test_the_pool_limit_does_not_end_connecting(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow look-up of the address is limited by `connect`, not by `pool`."""
    if way == "uvloop":
        pytest.skip("uvloop looks addresses up by itself")
    found = socket.getaddrinfo

    def slow(*arguments: Any, **others: Any) -> Any:
        time.sleep(0.15)
        return found(*arguments, **others)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    timeout = httpx.Timeout(5.0, pool=0.05)
    async with RawServer(both) as server, opened(way, f"http://localhost:{server.port}", timeout=timeout) as calls:
        assert await calls.post() == "d-1"
