"""A transport sends one attempt, as it stands: what httpx's own does, the aiohttp-backed one does as well."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import certifi
import httpx
import pytest
from itwin_platform import (
    AttemptEnded,
    BackoffEvent,
    BackoffPolicy,
    NotSentError,
    OutcomeUnknownError,
    PlatformClient,
    ResponseDecodeError,
    TransportError,
    fast_transport,
)

from tests.support.certificates import authority, server_context
from tests.support.raw_server import ACCOUNT, RawServer, raw_response

TRANSPORTS: dict[str, Callable[[], httpx.AsyncBaseTransport | None]] = {
    "httpx": lambda: None,
    "aiohttp": fast_transport,
}
MALFORMED = b"HTTX/9 nonsense\r\n\r\n"
LONG = raw_response(head=b"HTTP/1.1 200 OK\r\nlocation: " + b"x" * 20_000)


@pytest.fixture(params=list(TRANSPORTS))
def transport(request: pytest.FixtureRequest) -> httpx.AsyncBaseTransport | None:
    """One of the transports that stand in for each other."""
    return TRANSPORTS[request.param]()


def client(
    port: int,
    transport: httpx.AsyncBaseTransport | None,
    *,
    host: str = "127.0.0.1",
    on_event: Callable[[BackoffEvent], None] | None = None,
    timeout: float | httpx.Timeout = 5.0,
) -> PlatformClient:
    """Make a client of a service on loopback that waits for nothing."""
    policy = BackoffPolicy(base_delay=0.0)
    return PlatformClient(
        f"http://{host}:{port}",
        vendor="v",
        token="planted-token",
        transport=transport,
        backoff=policy,
        on_event=on_event,
        timeout=timeout,
    )


@pytest.mark.parametrize("broken", [b"HTTP/1.1 200 OK\r\ncontent-le", MALFORMED, b""], ids=["cut", "malformed", "none"])
async def test_each_request_is_counted(transport: httpx.AsyncBaseTransport | None, broken: bytes) -> None:
    """Nothing is retried beneath the policy: what the service was sent is what the error and the events say."""
    events: list[BackoffEvent] = []
    async with RawServer(broken) as service, client(service.port, transport, on_event=events.append) as platform:
        with pytest.raises(OutcomeUnknownError) as caught:
            await platform.itwins.get_primary_account()
        assert caught.value.attempts == len(service.requests) == len(events) == 5
        assert all(isinstance(event, AttemptEnded) and event.status is None for event in events)


async def test_a_post_with_a_malformed_response_may_have_had_an_effect(
    transport: httpx.AsyncBaseTransport | None,
) -> None:
    """It is sent once, and the error is one of ours."""
    async with RawServer(MALFORMED) as service, client(service.port, transport) as platform:
        with pytest.raises(OutcomeUnknownError):
            await platform.detectors.create(name="d", type="PhotoObjectDetector")
        assert len(service.requests) == 1


@pytest.mark.parametrize("broken", [b"", MALFORMED, raw_response()[:-5]], ids=["none", "malformed", "no end"])
async def test_no_error_on_the_way_holds_the_request(transport: httpx.AsyncBaseTransport | None, broken: bytes) -> None:
    """Neither the token nor a query value stands in any error of the chain, in its text or its `repr`."""
    async with RawServer(broken) as service, client(service.port, transport, timeout=0.1) as platform:
        with pytest.raises(TransportError) as caught:
            await platform.itwins.list(search="planted-query", limit=1).collect()
    seen: BaseException | None = caught.value
    told = ""
    while seen is not None:
        told += f"{seen} {seen!r} {vars(seen)}"
        seen = seen.__cause__ or seen.__context__
    assert "no response from" in told
    assert "planted" not in told


async def test_a_long_header_is_read(transport: httpx.AsyncBaseTransport | None) -> None:
    """Twenty thousand bytes in one field are no obstacle."""
    async with RawServer(LONG) as service, client(service.port, transport) as platform:
        assert (await platform.itwins.get_primary_account()).id == "a-1"


async def test_no_cookie_is_kept(transport: httpx.AsyncBaseTransport | None) -> None:
    """What the service sets is not sent back."""
    baked = raw_response(head=b"HTTP/1.1 200 OK\r\nset-cookie: sid=planted; Path=/")
    async with RawServer(baked) as service, client(service.port, transport, host="localhost") as platform:
        await platform.itwins.get_primary_account()
        await platform.itwins.get_primary_account()
        assert [service.requests[number].headers.get_list("cookie") for number in (0, 1)] == [[], []]


async def test_a_cursor_is_sent_on_as_it_came(transport: httpx.AsyncBaseTransport | None) -> None:
    """Escapes of a `next` link that need not be are kept, because a service may compare them."""
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
    """One of each, and the length of the body."""
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
    """Nothing is opened before the first request, and closing does not mind."""
    async with client(1, transport):
        pass


async def test_nothing_is_added_to_a_request() -> None:
    """In anybody's AsyncClient, too: a body that is streamed is sent with its length, and no header is made up."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b"one "
        yield b"two"

    transport = fast_transport()
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
    """After a body above the limit its connection is closed, and the next call has one."""
    large = raw_response(b" " * 10_000_000)
    async with (
        RawServer(large, raw_response()) as service,
        PlatformClient(
            f"http://127.0.0.1:{service.port}", vendor="v", token="t", transport=transport, max_response_bytes=1000
        ) as platform,
    ):
        with pytest.raises(ResponseDecodeError, match="larger than max_response_bytes"):
            await platform.itwins.get_primary_account()
        async with asyncio.timeout(2.0):
            await service.ended.wait()
        assert (await platform.itwins.get_primary_account()).id == "a-1"


async def test_a_connection_that_is_not_made_in_time_was_not_sent(transport: httpx.AsyncBaseTransport | None) -> None:
    """A POST is retried after it, and the error says that it had no effect and where it was to go."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for other in waiting:
            other.setblocking(False)
            other.connect_ex(("127.0.0.1", port))
        async with client(port, transport, timeout=httpx.Timeout(5.0, connect=0.02)) as platform:
            with pytest.raises(
                NotSentError, match=f"could not connect to http://127.0.0.1:{port} after 5 attempts; nothing was sent"
            ):
                await platform.detectors.create(name="d", type="PhotoObjectDetector")
        for other in waiting:
            other.close()


async def test_a_response_that_takes_too_long_may_have_had_an_effect(
    transport: httpx.AsyncBaseTransport | None,
) -> None:
    """The time for reading ends the attempt."""
    half = raw_response(ACCOUNT + b" " * 10).removesuffix(b" ")
    async with RawServer(half) as service, client(service.port, transport, timeout=0.05) as platform:
        with pytest.raises(TransportError) as caught:
            await platform.detectors.create(name="d", type="PhotoObjectDetector")
        assert caught.value.sent is True


def two_certificates(folder: Path) -> str:
    """Write a file of two trusted authorities."""
    two, end = folder / "two.pem", "-----END CERTIFICATE-----\n"
    two.write_text("".join(certificate + end for certificate in Path(certifi.where()).read_text().split(end)[:2]))
    return str(two)


@pytest.mark.parametrize("make", TRANSPORTS.values(), ids=list(TRANSPORTS))
async def test_the_environments_certificates_are_used(
    make: Callable[[], httpx.AsyncBaseTransport | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SSL_CERT_FILE names whom to trust, whatever sends."""
    monkeypatch.setenv("SSL_CERT_FILE", two_certificates(tmp_path))
    seen: list[int] = []
    made = httpx.create_ssl_context

    def counted(*arguments: object, **others: object) -> object:
        context: Any = made(*arguments, **others)  # type: ignore[arg-type]  # handed on as they are
        wrap = context.wrap_bio

        def wrapped(*arguments: object, **others: object) -> object:
            seen.append(len(context.get_ca_certs()))
            return wrap(*arguments, **others)

        context.wrap_bio = wrapped
        return context

    monkeypatch.setattr(httpx, "create_ssl_context", counted)
    monkeypatch.setattr("httpx._transports.default.create_ssl_context", counted)
    silent = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    address = f"https://127.0.0.1:{silent.sockets[0].getsockname()[1]}"
    policy = BackoffPolicy(max_attempts=1)
    async with silent, PlatformClient(address, vendor="v", token="t", transport=make(), backoff=policy) as platform:
        with pytest.raises(NotSentError):
            await platform.detectors.create(name="d", type="PhotoObjectDetector")
    assert set(seen) == {2}


PROXIED: dict[str, Callable[[str], httpx.AsyncBaseTransport]] = {
    "httpx": lambda proxy: httpx.AsyncHTTPTransport(proxy=proxy),
    "aiohttp": lambda proxy: fast_transport(proxy=proxy),
}


@pytest.mark.parametrize("make", PROXIED.values(), ids=PROXIED)
async def test_a_proxy_is_used(make: Callable[[str], httpx.AsyncBaseTransport]) -> None:
    """Requests go to the proxy, with the whole address."""
    async with RawServer(raw_response()) as proxy, client(1, make(proxy.address)) as platform:
        assert (await platform.itwins.get_primary_account()).id == "a-1"
        assert proxy.requests[0].target == "http://127.0.0.1:1/itwins/myprimaryaccount"


@pytest.mark.parametrize("name", TRANSPORTS)
async def test_the_environments_proxies_are_not_used(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token travels through no proxy that nobody chose."""
    async with RawServer(raw_response()) as service, RawServer(raw_response()) as proxy:
        monkeypatch.setenv("http_proxy", proxy.address)
        monkeypatch.setenv("ALL_PROXY", proxy.address)
        async with client(service.port, TRANSPORTS[name]()) as platform:
            await platform.itwins.get_primary_account()
        assert (len(service.requests), proxy.requests) == (1, [])


TRUSTING: dict[str, Callable[[ssl.SSLContext], httpx.AsyncBaseTransport]] = {
    "httpx": lambda context: httpx.AsyncHTTPTransport(verify=context),
    "aiohttp": lambda context: fast_transport(ssl_context=context),
}


@pytest.mark.parametrize("make", TRUSTING.values(), ids=TRUSTING)
async def test_an_ssl_context_decides_whom_to_trust(make: Callable[[ssl.SSLContext], httpx.AsyncBaseTransport]) -> None:
    """A private authority is trusted where its certificate is given."""
    context = ssl.create_default_context(cadata=authority())
    async with (
        RawServer(raw_response(), context=server_context()) as service,
        PlatformClient(service.address, vendor="v", token="t", transport=make(context)) as platform,
    ):
        assert (await platform.itwins.get_primary_account()).id == "a-1"


async def test_at_most_so_many_connections_are_opened() -> None:
    """`limits` of fast_transport() count, and waiting for a connection is limited as connecting is."""
    limits = httpx.Limits(max_connections=2)
    async with (
        RawServer(raw_response()) as service,
        client(service.port, fast_transport(limits=limits)) as platform,
    ):
        await asyncio.gather(*(platform.itwins.get_primary_account() for _ in range(20)))
        assert service.connections_accepted <= 2


async def test_an_aiohttp_that_cannot_be_told_not_to_retry_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries that nobody counts would send a POST twice: the first call fails loudly."""
    aiohttp: Any = import_module("aiohttp")

    class Session:
        """A session without the attribute."""

        def __init__(self, **options: Any) -> None:
            self.connector = options["connector"]

    monkeypatch.setattr(aiohttp, "ClientSession", Session)
    async with client(1, fast_transport()) as platform:
        with pytest.raises(RuntimeError, match="retries by itself"):
            await platform.itwins.get_primary_account()
