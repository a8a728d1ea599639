"""Host names: the first of their addresses that accepts a connection, and their spelling for TLS and headers."""

import asyncio
import gc
import socket
import ssl
import warnings
from collections.abc import Callable
from typing import Any
from unittest.mock import AsyncMock, Mock

import httpx
import pytest
from itwin_platform_transport import BackoffTransport, EngineTransport, Request, host_header, is_host, is_loopback
from itwin_platform_transport.connections.engine import addresses_of, connect
from itwin_platform_transport.errors import NotSentError

from tests.support.event_loops import CountingLoop, cancelled_at_turn, in_virtual_time
from tests.support.networks import authority, server_context, watched
from tests.support.services import PreparedResponse, RawServer, now, raw_response


def look_up(*addresses: str, name: str = "service.example") -> Callable[..., Any]:
    """Return a resolver that knows one host."""

    async def getaddrinfo(host: str | bytes, port: int, **options: object) -> list[tuple[Any, ...]]:
        assert host in (name, name.encode())
        families = [socket.AF_INET6 if ":" in address else socket.AF_INET for address in addresses]
        return [
            (family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port))
            for family, address in zip(families, addresses, strict=True)
        ]

    return getaddrinfo


async def get(address: str, *, read: float = 5.0) -> int:
    """Send one request through a new transport."""
    timeout = {"connect": 5.0, "read": read, "write": 5.0, "pool": 5.0}
    async with EngineTransport() as transport:
        response = await transport.handle_async_request(httpx.Request("GET", address, extensions={"timeout": timeout}))
        await response.aread()
    return response.status_code


async def test_a_host_whose_addresses_all_refuse_is_not_reached() -> None:
    """Each address is tried, and the error names all of them."""
    loop = asyncio.get_running_loop()
    loop.getaddrinfo = look_up("127.0.0.2", "127.0.0.3")  # type: ignore[method-assign]
    with pytest.raises(httpx.ConnectError, match=r"\('127.0.0.2', 1\)(.*); \[.+\('127.0.0.3', 1\)"):
        await get("http://service.example:1/")


@pytest.mark.parametrize(("scheme", "port"), [("http", 80), ("https", 443)])
async def test_a_host_without_an_address_is_not_reached(scheme: str, port: int) -> None:
    """The lookup has the default port of the scheme."""
    nothing = AsyncMock(return_value=[])
    asyncio.get_running_loop().getaddrinfo = nothing  # type: ignore[method-assign]
    with pytest.raises(httpx.ConnectError, match="no address"):
        await get(f"{scheme}://service.example/")
    nothing.assert_awaited_once_with("service.example", port, type=socket.SOCK_STREAM)


@pytest.mark.parametrize("listens", [True, False])
def test_a_call_that_is_cancelled_while_it_connects_leaves_no_socket(listens: bool) -> None:
    """After a cancellation in any iteration, no socket is left, with a first address that is silent or refuses."""

    async def cancelled(turn: int) -> bool:
        async with RawServer(PreparedResponse(fault="hang")) as server:
            with socket.socket() as other:
                other.bind(("127.0.0.2", server.port))
                if listens:
                    other.listen()
                asyncio.get_running_loop().getaddrinfo = look_up("127.0.0.2", "127.0.0.1")  # type: ignore[method-assign]
                call = asyncio.create_task(get(f"http://service.example:{server.port}/", read=0.05))
                hit = await cancelled_at_turn(asyncio.wait([call]), turn=turn)
                call.cancel()
                await asyncio.wait([call])
                for _ in range(5):  # the server accepts pending connections
                    await asyncio.sleep(0)
        return hit

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        turn, hit = 1, True
        while hit and turn < 100:
            with asyncio.Runner(loop_factory=CountingLoop) as runner:
                hit = runner.run(cancelled(turn))
            turn += 1
        gc.collect()
    assert [str(warning.message) for warning in seen if warning.category is ResourceWarning] == []
    assert 5 < turn < 100


@pytest.mark.parametrize("route", ["engine", "watched transport", "httpx"])
async def test_the_dot_behind_a_host_is_for_the_resolver_alone(route: str) -> None:
    """TLS, the check of the certificate and the Host header have the name without the dot."""
    context, named = server_context(address="service.example"), list[str | None]()
    context.sni_callback = lambda connection, name, _: named.append(name)
    trusted = ssl.create_default_context(cadata=authority())
    given = httpx.AsyncHTTPTransport(verify=trusted) if route == "httpx" else EngineTransport(ssl_context=trusted)
    async with RawServer(raw_response(), context=context) as server:
        asyncio.get_running_loop().getaddrinfo = look_up("127.0.0.1", name="service.example.")  # type: ignore[method-assign]
        async with httpx.AsyncClient(transport=BackoffTransport(given)) as client:
            with watched(route):
                assert (await client.get(f"https://service.example.:{server.port}/")).status_code == 200
        assert named == ["service.example"]
        assert server.requests[0].headers["host"] == f"service.example:{server.port}"


@pytest.mark.parametrize(
    ("host", "address", "name", "is_local"),
    [
        ("127.0.0.1.", "127.0.0.1", "127.0.0.1", True),
        ("::1", "::1", "[::1]", True),
        ("fe80::1%eth0", "fe80::1%eth0", "[fe80::1]", False),
        ("fe80::1%25eth0", "fe80::1%eth0", "[fe80::1]", False),
        ("::1%25lo", "::1", "[::1]", True),
        ("localhost.", None, "localhost", True),
        ("localhost.example", None, "localhost.example", False),
    ],
)
async def test_a_host_is_named_without_its_dot_and_its_zone(
    host: str, address: str | None, name: str, is_local: bool
) -> None:
    """Connecting keeps the zone of an address, and the given request its header. This machine is `localhost`."""
    url = httpx.URL(f"https://[{host}]:8443" if ":" in host else f"https://{host}:8443")
    given = httpx.Request("GET", url)
    assert (await Request.of(given)).headers["host"] == host_header(host, 8443) == f"{name}:8443"
    assert (given.headers["host"], host_header(host, None)) == (url.netloc.decode(), name)
    assert is_loopback(host) is is_local
    assert is_host(url.raw_host.decode())
    if address is not None:
        assert await addresses_of(host, 80) == [address]


async def test_a_host_header_of_the_caller_is_sent_as_it_is() -> None:
    """Only a Host header that httpx derives from the URL is changed."""
    request = httpx.Request("GET", "https://service.example./", headers={"host": "other.example."})
    assert (await Request.of(request)).headers["host"] == "other.example."
    del request.headers["host"]
    assert "host" not in (await Request.of(request)).headers


@pytest.mark.parametrize(
    ("answers", "tried", "at", "winners"),
    [
        ([(0.0, False), (0.1, True)], [0.0, 0.0], 0.1, {1}),
        ([(9.0, True), (0.1, True)], [0.0, 0.25], 0.35, {1}),
        ([(0.6, True)] * 4, [0.0, 0.25, 0.5], 0.6, {0}),
        ([(1.0, True), (0.0, False)], [0.0, 0.25], 1.0, {0}),
        ([(0.5, True), (0.25, True)], [0.0, 0.25], 0.5, {0, 1}),
    ],
    ids=["the first refuses", "the first is silent", "all are slow", "the last refuses", "two at once"],
)
def test_the_first_address_that_answers_is_used(
    answers: list[tuple[float, bool]], tried: list[float], at: float, winners: set[int]
) -> None:
    """The next address is tried after 0.25 s, or when all have refused; a second connection is closed."""
    begun, closed, failures = list[float](), list[int](), list[object]()

    async def create_connection(make: object, address: str, port: int, **tls: object) -> tuple[Any, int]:
        begun.append(now())
        index = int(address.rpartition(".")[2])
        seconds, accepts = answers[index]
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            if index == 1:
                raise OSError("planted") from None
            raise
        if not accepts:
            raise ConnectionRefusedError(address)
        return Mock(abort=lambda: closed.append(index)), index

    async def race() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: failures.append(context))
        loop.getaddrinfo = look_up(*(f"127.0.0.{index}" for index in range(len(answers))))  # type: ignore[method-assign]
        loop.create_connection = create_connection  # type: ignore[assignment,method-assign]
        used: Any = await connect(asyncio.Protocol, "service.example", 80, context=None)
        assert round(now(), 6) == at
        for _ in range(3):
            await asyncio.sleep(0)
        assert sorted([used, *closed]) == sorted(winners)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    in_virtual_time(race())
    assert (begun, failures) == (tried, [])


@pytest.mark.parametrize("seconds", [0.0, 60.0], ids=["refuses", "is silent"])
def test_another_address_does_not_hide_a_rejected_certificate(seconds: float) -> None:
    """The call fails after one attempt, with the reason, also if the first address of the host is not reached."""

    async def create_connection(make: object, address: str, port: int, **tls: object) -> None:
        if address == "127.0.0.2":
            raise ssl.SSLCertVerificationError(1, "planted")
        await asyncio.sleep(seconds)
        raise ConnectionRefusedError(address)

    async def call() -> None:
        asyncio.get_running_loop().getaddrinfo = look_up("127.0.0.1", "127.0.0.2")  # type: ignore[method-assign]
        asyncio.get_running_loop().create_connection = create_connection  # type: ignore[assignment,method-assign]
        async with httpx.AsyncClient(transport=BackoffTransport(ssl_context=ssl.create_default_context())) as client:
            with pytest.raises(NotSentError, match="planted; a retry would not help"):
                await client.get("https://service.example/")

    in_virtual_time(call())
