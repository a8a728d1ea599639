"""One attempt over the network: the default transport and that of httpx behave alike."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from itwin_platform import (
    AttemptEnded,
    BackoffEvent,
    OutcomeUnknownError,
    PlatformClient,
    RequestTooLargeError,
    ResponseDecodeError,
    TransportError,
)

from tests.support.faces import EngineTransport
from tests.support.raw_server import Raw, RawServer, raw_response
from tests.support.real_time import LONGEST, pass_time
from tests.transports.conftest import client

MALFORMED = b"HTTX/9 nonsense\r\n\r\n"
#: Only the response is waited for so shortly: connecting may take long on a busy machine.
SHORT_READ = httpx.Timeout(60.0, read=0.05)
LONG = raw_response(head=b"HTTP/1.1 200 OK\r\nlocation: " + b"x" * 20_000)


@pytest.mark.parametrize("broken", [b"HTTP/1.1 200 OK\r\ncontent-le", MALFORMED, b""], ids=["cut", "malformed", "none"])
async def test_each_request_is_counted(transport: httpx.AsyncBaseTransport | None, broken: bytes) -> None:
    """The transport itself never retries: the error and the events count each request that the service received."""
    events: list[BackoffEvent] = []
    async with RawServer(broken) as service, client(service.port, transport, on_event=events.append) as platform:
        with pytest.raises(OutcomeUnknownError) as caught:
            await platform.itwins.get_primary_account()
        assert caught.value.attempts == len(service.requests) == len(events) == 7
        assert all(isinstance(event, AttemptEnded) and event.status is None for event in events)


async def test_a_post_with_a_malformed_response_may_have_had_an_effect(
    transport: httpx.AsyncBaseTransport | None,
) -> None:
    """A POST with a malformed response is sent once and raises OutcomeUnknownError."""
    async with RawServer(MALFORMED) as service, client(service.port, transport) as platform:
        with pytest.raises(OutcomeUnknownError):
            await platform.detectors.create(name="d", type="PhotoObjectDetector")
        assert len(service.requests) == 1


@pytest.mark.parametrize("broken", [b"", MALFORMED, raw_response()[:-5]], ids=["none", "malformed", "no end"])
async def test_no_error_on_the_way_holds_the_request(transport: httpx.AsyncBaseTransport | None, broken: bytes) -> None:
    """No error of the chain shows the token or a query value in its text, `repr` or attributes."""
    async with RawServer(broken) as service, client(service.port, transport, timeout=SHORT_READ) as platform:
        with pytest.raises(TransportError) as caught:
            await platform.itwins.list(search="planted-query", limit=1).collect()
    seen: BaseException | None = caught.value
    shown = ""
    while seen is not None:
        shown += f"{seen} {seen!r} {vars(seen)}"
        seen = seen.__cause__ or seen.__context__
    assert "no response from" in shown
    assert "planted" not in shown


async def test_a_long_header_is_read(transport: httpx.AsyncBaseTransport | None) -> None:
    """A header of 20,000 bytes is accepted."""
    async with RawServer(LONG) as service, client(service.port, transport) as platform:
        assert (await platform.itwins.get_primary_account()).id == "a-1"


async def test_no_cookie_is_kept(transport: httpx.AsyncBaseTransport | None) -> None:
    """A cookie of the service is not sent back."""
    response = raw_response(head=b"HTTP/1.1 200 OK\r\nset-cookie: sid=planted; Path=/")
    async with RawServer(response) as service, client(service.port, transport, host="localhost") as platform:
        await platform.itwins.get_primary_account()
        await platform.itwins.get_primary_account()
        assert [service.requests[number].headers.get_list("cookie") for number in (0, 1)] == [[], []]


async def test_a_cursor_is_sent_unchanged(transport: httpx.AsyncBaseTransport | None) -> None:
    """The query of a `next` link is sent unchanged, with unnecessary escapes, because a service may compare it."""
    query = b"cursor=a%2Fb%27c%2Cd%7e+e%20f/g%2cx"
    first = b'{"iTwins": [], "_links": {"next": {"href": "/itwins/?%s"}}}' % query
    last = b'{"iTwins": [], "_links": {}}'
    async with (
        RawServer(raw_response(first), raw_response(last)) as service,
        client(service.port, transport) as platform,
    ):
        await platform.itwins.list().collect()
        assert query.decode() in service.requests[1].target


async def test_headers_are_those_of_the_request(transport: httpx.AsyncBaseTransport | None) -> None:
    """Each header is sent once, with the length of the body and without Transfer-Encoding."""
    async with RawServer(raw_response(b'{"detector": {"id": "d"}}', head=b"HTTP/1.1 201 Created")) as service:
        async with client(service.port, transport) as platform:
            await platform.detectors.create(name="d", type="PhotoObjectDetector")
        headers = service.requests[0].headers
        assert {name: headers.get_list(name) for name in ("host", "content-type", "accept", "accept-encoding")} == {
            "host": [f"127.0.0.1:{service.port}"],
            "content-type": ["application/json"],
            "accept": ["application/vnd.v.itwin-platform.v2+json"],
            "accept-encoding": ["gzip"],
        }
        counted = [len(headers.get_list(name)) for name in ("content-length", "user-agent", "transfer-encoding")]
        assert counted == [1, 1, 0]


async def test_a_client_that_sent_nothing_closes(transport: httpx.AsyncBaseTransport | None) -> None:
    """A client without a request opens nothing and closes."""
    async with client(1, transport):
        pass


async def test_a_transport_that_closes_ends_its_requests() -> None:
    """A request that is in flight when its transport is closed ends with an httpx.TransportError."""
    transport = EngineTransport()
    async with RawServer(Raw(data=b"")) as service:
        sending = asyncio.create_task(transport.handle_async_request(httpx.Request("GET", service.address)))
        await service.received(1)
        await transport.aclose()
        with pytest.raises(httpx.TransportError):
            await sending
        await service.quiet()


async def test_nothing_is_added_to_a_request() -> None:
    """A streamed body is sent with its length, and no header is added."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b"one "
        yield b"two"

    transport = EngineTransport()
    async with RawServer(raw_response()) as service:
        request = httpx.Request("PUT", f"http://127.0.0.1:{service.port}/", content=pieces())
        response = await transport.handle_async_request(request)
        await response.aread()
        await transport.aclose()
    headers = service.requests[0].headers
    assert sorted(name.lower() for name, _ in headers.raw) == [b"content-length", b"host"]
    assert headers["content-length"] == "7"


async def test_a_response_that_is_not_read_to_its_end_keeps_no_connection(
    transport: httpx.AsyncBaseTransport | None,
) -> None:
    """The connection of a body above the limit is closed, and the next call gets another one."""
    large = raw_response(b" " * 10_000_000)
    async with (
        RawServer(large, raw_response()) as service,
        PlatformClient(
            f"http://127.0.0.1:{service.port}", vendor="v", token="t", transport=transport, max_response_bytes=1000
        ) as platform,
    ):
        with pytest.raises(ResponseDecodeError, match="larger than max_response_bytes"):
            await platform.itwins.get_primary_account()
        async with asyncio.timeout(LONGEST):
            await service.ended.wait()
        assert (await platform.itwins.get_primary_account()).id == "a-1"


UNFINISHED = {
    "half a head": Raw(data=raw_response()[:20]),
    "an interim response": Raw(data=b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "half a body": Raw(data=raw_response()[:-1]),
}


@pytest.mark.parametrize("response", UNFINISHED.values(), ids=UNFINISHED)
async def test_a_response_that_takes_too_long_may_have_had_an_effect(
    transport: httpx.AsyncBaseTransport | None, response: Raw
) -> None:
    """The `read` timeout ends the attempt, and the error says that it may have had an effect."""
    async with RawServer(response) as service, client(service.port, transport, timeout=SHORT_READ) as platform:
        with pytest.raises(OutcomeUnknownError, match="ReadTimeout") as caught:
            await platform.detectors.create(name="d", type="PhotoObjectDetector")
        assert caught.value.sent is True


async def test_the_read_timeout_starts_anew_with_each_byte(
    transport: httpx.AsyncBaseTransport | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A response whose head and body arrive slowly is read, as long as each part arrives in time."""
    response = raw_response()
    parts = [response[:20], response[20:30], response[30:-10], response[-10:]]
    async with RawServer(Raw(data=b"")) as service, client(service.port, transport, timeout=30.0) as platform:
        call = asyncio.create_task(platform.itwins.get_primary_account())
        await service.received(1)
        for part in parts:
            for _ in range(20):
                await asyncio.sleep(0)
            pass_time(monkeypatch, seconds=20.0)
            await asyncio.sleep(0)
            service.push(part)
        assert (await call).id == "a-1"
        assert len(service.requests) == 1


@pytest.mark.parametrize("end", [b"{}", b"{"], ids=["complete", "broken off"])
async def test_a_service_may_respond_before_it_has_the_request(end: bytes) -> None:
    """The status counts of a service that responds to the head of a large request and reads no more of it."""

    async def reject(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(raw_response(b"{}", head=b"HTTP/1.1 413 Content Too Large").removesuffix(b"{}") + end)
        await is_over.wait()
        writer.transport.abort()

    is_over = asyncio.Event()
    server = await asyncio.start_server(reject, "127.0.0.1", 0, limit=1000)
    short = httpx.Timeout(60.0, write=0.05, read=0.05)
    async with server, client(server.sockets[0].getsockname()[1], None, timeout=short) as platform:
        with pytest.raises(RequestTooLargeError):
            await platform.generated.get_async_httpx_client().post("/large", content=b"x" * 10_000_000)
        is_over.set()
