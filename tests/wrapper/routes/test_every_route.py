"""Promises that hold for each route of a request: limits, lost responses, closed connections, and TLS."""

import asyncio
import gzip
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from itwin_platform import (
    APIStatusError,
    BackoffPolicy,
    NotSentError,
    OutcomeUnknownError,
    ResponseDecodeError,
    StateError,
)

from tests.support.every_route import by_every_route, get, opened, post
from tests.support.networks import authority, doorkeeper, server_context
from tests.support.real_time import until
from tests.support.services import ACCOUNT, DETECTOR, Raw, RawServer, ReceivedRequest, raw_response

ONCE = BackoffPolicy(max_attempts=1)
GOOD = raw_response()
#: A response without a request: a client that returns it has read surplus bytes.
PHANTOM = raw_response(
    b'{"detector": {"name": "phantom", "type": "PhotoObjectDetector"}}', head=b"HTTP/1.1 201 Created"
)
REJECTED = raw_response(b"{}", head=b"HTTP/1.1 422 Unprocessable Content")


def either_response(request: ReceivedRequest) -> bytes:
    """Return the account for a GET, a detector for a POST."""
    return raw_response() if request.method == "GET" else raw_response(DETECTOR, head=b"HTTP/1.1 201 Created")


@by_every_route
async def test_a_call_sends_one_request(route: str) -> None:
    """Each header is sent once, with the length of the body, and headers of a caller's client replace none of ours."""
    async with RawServer(either_response) as server, opened(route, server.address) as platform:
        assert (await get(platform), await post(platform)) == ("a-1", "d-1")
        assert [request.method for request in server.requests] == ["GET", "POST"]
        headers = server.requests[1].headers
    expected = {
        "host": f"127.0.0.1:{server.port}",
        "content-type": "application/json",
        "accept": "application/vnd.v.itwin-platform.v2+json",
        "accept-encoding": "gzip",
    }
    assert {name: headers.get_list(name) for name in expected} == {name: [expected[name]] for name in expected}
    counted = [len(headers.get_list(name)) for name in ("content-length", "user-agent", "transfer-encoding", "cookie")]
    assert counted == [1, 1, 0, 0]


def encoded(encoding: str, body: bytes) -> bytes:
    """Return a response with an encoded body."""
    return raw_response(body, head=f"HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}".encode())


LARGE = bytes(10_000_000)
TOO_LARGE: dict[str, Raw | bytes] = {
    "plain": raw_response(LARGE),
    "gzip": encoded("gzip", gzip.compress(LARGE)),
    "in one piece": raw_response(bytes(1001)),
    "endless": Raw(data=b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"fff\r\n%s\r\n" % bytes(0xFFF)),
}
SMALL = encoded("gzip", gzip.compress(ACCOUNT))


@pytest.mark.parametrize("encoding", TOO_LARGE)
@by_every_route
async def test_a_body_is_rejected_by_its_decoded_size(route: str, encoding: str) -> None:
    """A body above `max_response_bytes` once decoded is a ResponseDecodeError, and its connection is closed."""
    if route == "http_client" and encoding == "endless":
        pytest.skip("a hook of the caller reads without a limit")
    async with (
        RawServer(TOO_LARGE[encoding], SMALL) as server,
        opened(route, server.address, max_response_bytes=1000) as platform,
    ):
        with pytest.raises(ResponseDecodeError, match="larger than max_response_bytes, 1000 bytes"):
            await get(platform)
        assert await get(platform) == "a-1"
        await until(lambda: server.open_connections == 1)


LOST = {
    "closed, half a body": Raw(data=raw_response(DETECTOR)[:-1], closes=True),
    "reset, half a head": Raw(data=raw_response(DETECTOR)[:20], resets=True),
    "reset, half a body": Raw(data=raw_response(DETECTOR)[:-1], resets=True),
}


@pytest.mark.parametrize("response", LOST.values(), ids=LOST)
@by_every_route
async def test_a_post_whose_response_is_lost_is_sent_once(route: str, response: Raw) -> None:
    """The outcome is unknown, also if the head is incomplete, and the connection is not used again."""
    async with RawServer(response, REJECTED) as server, opened(route, server.address) as platform:
        with pytest.raises(OutcomeUnknownError):
            await post(platform)
        with pytest.raises(APIStatusError, match="422"):
            await post(platform)
        assert (len(server.requests), server.connections_accepted) == (2, 2)


@pytest.mark.parametrize("ends", ["closed", "surplus"])
@by_every_route
async def test_a_connection_that_ended_while_it_was_idle_is_replaced(route: str, ends: str) -> None:
    """No request is sent on a connection that was closed or got bytes, also if the event loop has not seen that yet."""
    async with RawServer(either_response) as server, opened(route, server.address, backoff=ONCE) as platform:
        for turns in range(1, 6):
            await get(platform)
            server.close_connections() if ends == "closed" else server.push(PHANTOM)
            for _ in range(turns):
                await asyncio.sleep(0)
            assert await post(platform) == "d-1"
        assert (len(server.requests), server.connections_accepted) == (10, 6)


async def test_a_get_is_retried_after_a_408_on_an_idle_connection() -> None:
    """The retry comes at once on a new connection. A POST, and a GET on a new connection, raise the 408."""
    timed_out = Raw(data=raw_response(b"", head=b"HTTP/1.1 408 Request Timeout\r\nconnection: close"), closes=True)
    responses: Iterator[Raw | bytes] = iter([timed_out, GOOD, timed_out, GOOD, timed_out, GOOD])
    policy = BackoffPolicy(base_delay=30.0, max_wait=0.5)  # no delay fits
    async with (
        RawServer(lambda _: next(responses)) as server,
        opened("default", server.address, backoff=policy) as platform,
    ):
        with pytest.raises(APIStatusError, match="408"):
            await get(platform)
        assert [await get(platform) for _ in range(2)] == ["a-1"] * 2
        with pytest.raises(APIStatusError, match="408"):
            await post(platform)
        assert await get(platform) == "a-1"
        assert (len(server.requests), server.connections_accepted) == (6, 4)


async def test_a_client_belongs_to_one_event_loop() -> None:
    """A call from another event loop raises StateError, and calls from the first loop still work."""
    async with RawServer(either_response) as server, opened("default", server.address) as platform:
        await get(platform)
        with pytest.raises(StateError, match="event loop"):
            await asyncio.to_thread(lambda: asyncio.run(get(platform)))
        assert await post(platform) == "d-1"


def untrusted(case: str) -> ssl.SSLContext | None:
    """Return the TLS context of a server that the client does not trust, or that demands a client certificate."""
    if case == "no TLS":
        return None
    context = server_context(address="127.0.0.2" if case == "wrong host" else "127.0.0.1")
    if case == "client certificate demanded":
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=authority())
    return context


UNTRUSTED = {
    "wrong host": "IP address mismatch",
    "client certificate demanded": "CERTIFICATE_REQUIRED",
    "no TLS": r"the server does not speak TLS: is it http://\?",
}


@pytest.mark.parametrize(("case", "reason"), UNTRUSTED.items(), ids=UNTRUSTED)
@by_every_route
async def test_a_tls_failure_is_not_retried(
    route: str, case: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed handshake raises a NotSentError with the reason, after one connection and no request."""
    (tmp_path / "authority.pem").write_text(authority())
    monkeypatch.setenv("SSL_CERT_FILE", f"{tmp_path}/authority.pem")
    with doorkeeper(untrusted(case)) as (address, accepted):
        async with opened(route, address) as platform:
            with pytest.raises(NotSentError, match=f"to {address}; nothing was sent .*{reason}") as caught:
                await get(platform)
        assert "_ssl.c" not in str(caught.value)
        assert (caught.value.attempts, len(accepted)) == (0, 1)


FOREIGN = {
    "responds in another protocol": (Raw(data=b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), "bytes that are not HTTP"),
    "closes": (Raw(data=b"", closes=True), "(closed the connection without a response|broken pipe)"),
    "resets": (Raw(data=b"", resets=True), "(connection reset by peer|broken pipe)"),
}


@pytest.mark.parametrize(("response", "message"), FOREIGN.values(), ids=FOREIGN)
@by_every_route
async def test_an_address_that_never_sent_http_gets_three_attempts(route: str, response: Raw, message: str) -> None:
    """The text then asks whether the address needs https. A POST is sent once."""
    async with RawServer(response) as server, opened(route, server.address) as platform:
        with pytest.raises(OutcomeUnknownError, match=f"{message}: does it need https"):
            await get(platform)
        assert len(server.requests) == 3
        with pytest.raises(OutcomeUnknownError, match=f"{message}: does it need https.*; POST is not idempotent"):
            await post(platform)
        assert len(server.requests) == 4


async def test_an_address_that_has_sent_http_is_an_outage() -> None:
    """Bytes that are not HTTP are then retried like any lost response."""
    responses: list[Raw | bytes] = [GOOD, b"220 ready\r\n", *[Raw(data=b"", closes=True)] * 3, GOOD]
    async with RawServer(*responses) as server, opened("default", server.address) as platform:
        assert [await get(platform) for _ in range(2)] == ["a-1"] * 2
