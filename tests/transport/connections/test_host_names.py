"""A host with several addresses: the first that answers is used, and no socket is left over, whatever happens."""

import asyncio
import gc
import socket
import ssl
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, nullcontext
from typing import Any

import httpx
import pytest
from itwin_platform_transport import BackoffTransport, EngineTransport, Request, host_header, is_host, is_loopback
from itwin_platform_transport.connections import engine
from itwin_platform_transport.connections.engine import addresses_of, connect

from tests.support.event_loops import CountingLoop, cancelled_at_turn, in_virtual_time
from tests.support.networks import authority, server_context, watched
from tests.support.services import PreparedResponse, RawServer, now, raw_response


def look_up(*addresses: str, name: str = "service.example") -> Callable[..., Any]:
    """Return a resolver of one host."""

    async def getaddrinfo(host: str | bytes, port: int, **options: object) -> list[tuple[Any, ...]]:
        assert host in (name, name.encode())
        families = [socket.AF_INET6 if ":" in address else socket.AF_INET for address in addresses]
        return [
            (family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port))
            for family, address in zip(families, addresses, strict=True)
        ]

    return getaddrinfo


@asynccontextmanager
async def host(kinds: str, server: RawServer) -> AsyncIterator[str]:
    """Serve a host of which only the last address responds; the others are 127.0.0.2, and so on."""
    loop = asyncio.get_running_loop()
    *others, _ = kinds.split(", ")
    addresses = [f"127.0.0.{number}" for number in range(2, len(others) + 2)]
    loop.getaddrinfo = look_up(*addresses, "127.0.0.1")  # type: ignore[method-assign]  # no look-up leaves the machine
    with ExitStack() as opened:
        for address, kind in zip(addresses, others, strict=True):
            if kind == "refuses":
                continue
            other = opened.enter_context(socket.socket())
            other.bind((address, server.port))
            other.listen(0 if kind == "silent" else 100)
            for _ in range(3 if kind == "silent" else 0):
                waiting = opened.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex((address, server.port))
        yield f"http://service.example:{server.port}/"


async def get(address: str, *, read: float = 5.0, context: ssl.SSLContext | None = None) -> int:
    """Send one request through a transport of its own."""
    timeout = {"connect": 5.0, "read": read, "write": 5.0, "pool": 5.0}
    async with EngineTransport(ssl_context=context) as transport:
        response = await transport.handle_async_request(httpx.Request("GET", address, extensions={"timeout": timeout}))
        await response.aread()
    return response.status_code


@pytest.mark.parametrize("kinds", ["refuses, serves", "refuses, refuses, serves", "silent, serves"])
async def test_the_first_address_that_answers_is_used(kinds: str) -> None:
    """An address that refuses costs nothing, one that is silent a quarter of a second."""
    async with RawServer(raw_response()) as server, host(kinds, server) as address:
        assert await get(address) == 200


async def test_a_host_of_which_no_address_answers_is_not_reached() -> None:
    """Each address is tried, and nothing was sent."""
    async with RawServer(raw_response()) as server:
        asyncio.get_running_loop().getaddrinfo = look_up("127.0.0.2", "127.0.0.3")  # type: ignore[method-assign]
        with pytest.raises(httpx.ConnectError, match=r"\('127.0.0.2', \d+\)(.*); \[.+\('127.0.0.3', \d+\)"):
            await get(f"http://service.example:{server.port}/")


@pytest.mark.parametrize(("certified", "result"), [("service.example", 200), ("127.0.0.1", httpx.ConnectError)])
async def test_a_certificate_must_be_that_of_the_name(certified: str, result: object) -> None:
    """The name of the host counts, not the address that it was found to have."""
    context = ssl.create_default_context(cadata=authority())
    async with RawServer(raw_response(), context=server_context(address=certified)) as server:
        asyncio.get_running_loop().getaddrinfo = look_up("127.0.0.1")  # type: ignore[method-assign]
        call = get(f"https://service.example:{server.port}/", context=context)
        [found] = await asyncio.gather(call, return_exceptions=True)
        assert result in (found, type(found))


@pytest.mark.parametrize("kinds", ["listens, serves", "refuses, serves"])
def test_a_call_that_is_cancelled_while_it_connects_leaves_no_socket(kinds: str) -> None:
    """At every turn of the event loop: none is left for the garbage collector."""

    async def cancelled(turn: int) -> bool:
        async with RawServer(PreparedResponse(fault="hang")) as server, host(kinds, server) as address:
            call = asyncio.create_task(get(address, read=0.05))
            hit = await cancelled_at_turn(asyncio.wait([call]), turn=turn)
            call.cancel()
            await asyncio.wait([call])
            for _ in range(5):  # the server accepts what is still on its way
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


@pytest.mark.parametrize("kind", ["engine", "watched engine", "httpx"])
async def test_the_dot_behind_a_host_is_for_the_resolver_alone(kind: str) -> None:
    """TLS names the host without it, the certificate is that of the name, and so is the Host header."""
    context, named = server_context(address="service.example"), list[str | None]()
    context.sni_callback = lambda connection, name, _: named.append(name)
    trusted = ssl.create_default_context(cadata=authority())
    given = httpx.AsyncHTTPTransport(verify=trusted) if kind == "httpx" else EngineTransport(ssl_context=trusted)
    async with RawServer(raw_response(), context=context) as server:
        asyncio.get_running_loop().getaddrinfo = look_up("127.0.0.1", name="service.example.")  # type: ignore[method-assign]
        async with httpx.AsyncClient(transport=BackoffTransport(given)) as client:
            with watched() if kind == "watched engine" else nullcontext():
                assert (await client.get(f"https://service.example.:{server.port}/")).status_code == 200
        assert named == ["service.example"]
        assert server.requests[0].headers["host"] == f"service.example:{server.port}"


@pytest.mark.parametrize(
    ("host", "address", "name", "is_local"),
    [
        ("127.0.0.1", "127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1.", "127.0.0.1", "127.0.0.1", True),
        ("10.0.0.1", "10.0.0.1", "10.0.0.1", False),
        ("::1", "::1", "[::1]", True),
        ("fe80::1%eth0", "fe80::1%eth0", "[fe80::1]", False),
        ("fe80::1%25eth0", "fe80::1%eth0", "[fe80::1]", False),
        ("::1%25lo", "::1", "[::1]", True),
        ("localhost", None, "localhost", True),
        ("localhost.", None, "localhost", True),
        ("localhost.example", None, "localhost.example", False),
        ("service.example.", None, "service.example", False),
    ],
)
async def test_a_host_is_named_without_its_dot_and_its_zone(
    host: str, address: str | None, name: str, is_local: bool
) -> None:
    """An address keeps its zone where it is connected to; what else may be this machine is `localhost` alone."""
    url = httpx.URL(f"https://[{host}]:8443" if ":" in host else f"https://{host}:8443")
    request = await Request.of(httpx.Request("GET", url))
    assert request.headers["host"] == host_header(host, 8443) == f"{name}:8443"
    assert host_header(host, None) == name
    assert is_loopback(host) is is_local
    assert is_host(url.raw_host.decode())
    if address is not None:
        assert await addresses_of(host, 80) == [address]


async def test_a_host_header_of_the_caller_is_sent_as_it_is() -> None:
    """Only the one that httpx takes from the URL changes."""
    request = httpx.Request("GET", "https://service.example./", headers={"host": "other.example."})
    assert (await Request.of(request)).headers["host"] == "other.example."
    del request.headers["host"]
    assert "host" not in (await Request.of(request)).headers


async def used_of_two(create_connection: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> str:
    """Connect to a host with two addresses, which are tried at once; return the one that is used."""
    monkeypatch.setattr(engine, "_NEXT_AFTER", 0.0)
    loop = asyncio.get_running_loop()
    monkeypatch.setattr(loop, "getaddrinfo", look_up("127.0.0.1", "127.0.0.2"))
    monkeypatch.setattr(loop, "create_connection", create_connection)
    used = await connect(asyncio.Protocol, "service.example", 80, context=None)
    await asyncio.sleep(0)
    return str(used)


async def test_of_two_addresses_that_answer_at_once_one_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other connection is closed."""
    both_tried, tried, closed = asyncio.Event(), [], []

    class Connected:
        """A connection, which notes that it was closed."""

        def __init__(self, address: str) -> None:
            self.address = address

        def abort(self) -> None:
            """Note it."""
            closed.append(self.address)

    async def create_connection(make: object, address: str, port: int, **tls: object) -> tuple[Connected, str]:
        tried.append(address)
        if len(tried) == 2:
            both_tried.set()
        await both_tried.wait()
        return Connected(address), address

    used = await used_of_two(create_connection, monkeypatch)
    assert sorted([used, *closed]) == tried == ["127.0.0.1", "127.0.0.2"]


def test_the_next_address_is_tried_after_a_quarter_of_a_second() -> None:
    """The attempts before go on; the first that succeeds ends the others, whatever these say of that."""
    tried, failures = [], list[object]()

    async def create_connection(make: object, address: str, port: int, **tls: object) -> tuple[None, str]:
        tried.append((address, port, now()))
        try:
            await asyncio.sleep(0.6)
        except asyncio.CancelledError:
            if address == "127.0.0.2":
                raise OSError("planted") from None
            raise
        return None, address

    async def race() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: failures.append(context))
        loop.getaddrinfo = look_up(*(f"127.0.0.{number}" for number in range(1, 5)))  # type: ignore[method-assign]
        loop.create_connection = create_connection  # type: ignore[assignment,method-assign]
        assert str(await connect(asyncio.Protocol, "service.example", 80, context=None)) == "127.0.0.1"
        assert now() == 0.6
        for _ in range(3):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    in_virtual_time(race())
    assert tried == [(f"127.0.0.{number}", 80, (number - 1) * 0.25) for number in range(1, 4)]
    assert failures == []


async def test_an_address_that_answers_late_is_used_after_the_last_one_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts that are still under way count when no other address is left to try."""
    refused = asyncio.Event()

    async def create_connection(make: object, address: str, port: int, **tls: object) -> tuple[None, str]:
        if address == "127.0.0.2":
            refused.set()
            raise ConnectionRefusedError(address)
        await refused.wait()
        for _ in range(5):
            await asyncio.sleep(0)
        return None, address

    assert await used_of_two(create_connection, monkeypatch) == "127.0.0.1"
