"""The proxies of the environment: when one is used, what it sees, and what an error says of it."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import nullcontext
from typing import Any

import httpx
import httpx2
import pytest
from itwin_platform import BackoffPolicy, NotSentError, PlatformClient
from itwin_platform_transport.connections.environment import environment_proxies, proxy_for

from tests.support.every_way import TOKEN, watched
from tests.support.networks import authority, server_context
from tests.support.proxies import Proxy
from tests.support.real_time import until
from tests.support.services import RawServer, raw_response

NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
HOST = "service.example"
ONCE = BackoffPolicy(max_attempts=1)


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the proxies of this machine out of the environment."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
async def service() -> AsyncIterator[RawServer]:
    """Serve over TLS, by the name that only a proxy can resolve."""
    async with RawServer(raw_response(), context=server_context(address=HOST)) as server:
        yield server


def client(base_url: str = f"https://{HOST}", *, trust_env: bool = True) -> PlatformClient:
    """Return a client that trusts the authority of the tests."""
    trusted = ssl.create_default_context(cadata=authority())
    return PlatformClient(base_url, vendor="v", token=TOKEN, backoff=ONCE, ssl_context=trusted, trust_env=trust_env)


@pytest.mark.parametrize("way", ["default", "watched client", "watched httpcore"])
@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
async def test_https_goes_through_the_proxy_of_the_environment(
    service: RawServer, monkeypatch: pytest.MonkeyPatch, name: str, way: str
) -> None:
    """The proxy is asked to connect, and sees no token; one connection serves two calls, and none is left open."""
    async with Proxy(service.port) as proxy:
        monkeypatch.setenv(name, proxy.address)
        with watched(way):
            async with client() as platform:
                for _ in range(2):
                    assert (await platform.itwins.get_primary_account()).id == "a-1"
        assert [head.splitlines()[0] for head in proxy.heads] == [f"CONNECT {HOST}:443 HTTP/1.1"]
        assert TOKEN not in proxy.heads[0]
        assert [request.headers["authorization"] for request in service.requests] == [f"Bearer {TOKEN}"] * 2
        await until(lambda: service.open_connections == 0)


async def test_a_proxy_gets_the_user_and_the_password_of_its_url(
    service: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both go to the proxy alone, and are in no repr."""
    async with Proxy(service.port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.address.replace("//", "//me:secret-word@"))
        async with client() as platform:
            await platform.itwins.get_primary_account()
            assert "secret-word" not in repr(platform)
        assert "proxy-authorization: basic bwu6c2vjcmv0lxdvcmq=" in proxy.heads[0].lower()
    assert "proxy-authorization" not in service.requests[0].headers


async def test_a_cancelled_call_leaves_no_connection_to_a_proxy(
    service: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection is closed in order, and the next call gets another one."""
    async with Proxy(service.port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.address)
        async with client() as platform:
            call = asyncio.create_task(platform.itwins.get_primary_account())
            await until(lambda: bool(proxy.heads))
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert (await platform.itwins.get_primary_account()).id == "a-1"
        await until(lambda: service.open_connections == 0)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"407 Proxy Authentication Required", "with status 407: its URL needs a user and a password"),
        (b"403 Forbidden", "the proxy rejects the connection, with status 403"),
    ],
)
async def test_a_proxy_that_refuses_is_named(monkeypatch: pytest.MonkeyPatch, answer: bytes, said: str) -> None:
    """A retry would not change that: the error says why, and names the proxy without its password."""
    async with Proxy(0, answer=answer) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.address.replace("//", "//me:secret-word@"))
        async with client().with_options(max_attempts=7) as platform:
            with pytest.raises(NotSentError, match=said) as raised:
                await platform.itwins.get_primary_account()
        assert len(proxy.heads) == 1
    assert f"through the proxy {proxy.address}; a retry would not change that" in str(raised.value)
    assert "secret-word" not in repr(raised.value)


@pytest.mark.parametrize("library", [httpx, httpx2])
async def test_a_transport_of_the_caller_has_its_own_proxy_and_certificates(service: RawServer, library: Any) -> None:
    """A call goes through them; a proxy that refuses is final after one connection, and the text says why."""
    trusted = ssl.create_default_context(cadata=authority())
    async with Proxy(service.port) as proxy, Proxy(0, answer=b"407 Proxy Authentication Required") as refusing:
        for each, ends in ((proxy, nullcontext()), (refusing, pytest.raises(NotSentError, match="with status 407"))):
            transport = library.AsyncHTTPTransport(proxy=each.address, verify=trusted)
            async with PlatformClient(f"https://{HOST}", vendor="v", token=TOKEN, transport=transport) as platform:
                with ends:
                    assert (await platform.itwins.get_primary_account()).id == "a-1"
            assert [head.splitlines()[0] for head in each.heads] == [f"CONNECT {HOST}:443 HTTP/1.1"]
        assert len(service.requests) == 1


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"HTTPS_PROXY": "http://127.0.0.1:1"}, "connection refused: through the proxy http://127.0.0.1:1"),
        ({"HTTPS_PROXY": "ftp://127.0.0.1:1"}, "HTTPS_PROXY names no proxy: write a URL such as"),
        ({"ALL_PROXY": "http://[::"}, "ALL_PROXY names no proxy: write a URL such as"),
        ({"ALL_PROXY": "socks5://127.0.0.1:1"}, "SOCKS proxy, which needs the package socksio"),
    ],
)
async def test_a_proxy_that_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch, variables: Mapping[str, str], said: str
) -> None:
    """Nothing was sent, and the text says what to look at."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    async with client() as platform:
        with pytest.raises(NotSentError, match="nothing was sent") as raised:
            await platform.itwins.get_primary_account()
    assert said in str(raised.value)


async def test_an_https_proxy_is_asked_over_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that does not speak TLS is not taken for the service: the text says what its URL should be."""

    async def reject(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(reject, "127.0.0.1", 0) as server:
        monkeypatch.setenv("HTTPS_PROXY", f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        async with client() as platform:
            with pytest.raises(NotSentError, match="the proxy does not speak TLS: is it http://\\?"):
                await platform.itwins.get_primary_account()


@pytest.mark.parametrize("way", ["default", "watched client", "watched httpcore"])
async def test_this_machine_is_reached_without_a_proxy(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Whatever NO_PROXY says: demo, tests and sandbox work behind one."""
    for name in NAMES[:3]:
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with RawServer(raw_response()) as server:
        with watched(way):
            async with client(server.address) as platform:
                assert (await platform.itwins.get_primary_account()).id == "a-1"


async def test_without_trust_env_the_environment_is_ignored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pytest.TempPathFactory
) -> None:
    """`trust_env=False` reaches an address without its proxies, and takes no certificates from there."""
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("SSL_CERT_FILE", f"{tmp_path}/missing.pem")
    async with RawServer(raw_response(), context=server_context()) as server:
        untrusting = PlatformClient(server.address, vendor="v", token=TOKEN, backoff=ONCE, trust_env=False)
        async with untrusting as platform:
            with pytest.raises(NotSentError, match="unable to get local issuer certificate: trust the authority"):
                await platform.itwins.get_primary_account()
        async with client(server.address, trust_env=False) as platform:
            assert (await platform.itwins.get_primary_account()).id == "a-1"


PROXIES = {"HTTP_PROXY": "http.example:1", "HTTPS_PROXY": "http://https.example:2", "ALL_PROXY": "http://all.example:3"}


@pytest.mark.parametrize(
    ("url", "excluded", "proxy"),
    [
        ("https://service.example", "", "https.example"),
        ("http://service.example", "", "http.example"),
        ("https://127.0.0.1", "", None),
        ("https://127.9.9.9", "", None),
        ("http://localhost:8080", "", None),
        ("http://[::1]:8080", "", None),
        ("https://service.example", "*", None),
        ("https://service.example", "other.example, *", None),
        ("https://service.example", "service.example", None),
        ("https://service.example", "SERVICE.example", None),
        ("https://service.example", "example", None),
        ("https://service.example", ".example", None),
        ("https://service.example", "*.example", None),
        *(("https://service.example", other, "https.example") for other in ("xservice.example", "service.examplex")),
        ("https://service.example", "vice.example", "https.example"),
        ("https://service.example", "other.example", "https.example"),
        ("https://service.example", "other.example service.example", None),
        ("https://service.example", "service.example:443", None),
        ("https://service.example", "service.example:8443", "https.example"),
        ("https://service.example:8443", "service.example:8443", None),
        ("http://service.example", "service.example:80", None),
        ("http://service.example", "service.example:443", "http.example"),
        ("https://10.1.2.3", "10.0.0.0/8", None),
        ("https://11.1.2.3", "10.0.0.0/8", "https.example"),
        ("https://service.example", "10.0.0.0/8", "https.example"),
        ("https://[2001:db8::1]", "[2001:db8::1]", None),
        ("https://[2001:db8::1]", "2001:db8::/32", None),
        ("https://10.1.2.3", "10.1.2/nonsense", "https.example"),
    ],
)
def test_no_proxy_names_hosts_domains_and_networks(
    monkeypatch: pytest.MonkeyPatch, url: str, excluded: str, proxy: str | None
) -> None:
    """NO_PROXY is read as curl and requests read it; loopback needs no entry."""
    for name, value in {**PROXIES, "NO_PROXY": excluded}.items():
        monkeypatch.setenv(name, value)
    found = proxy_for(httpx.URL(url), environment_proxies())
    assert (None if found is None else found.url.host) == proxy


def test_no_proxy_alone_names_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a proxy the environment changes nothing, and `all` serves what has no proxy of its own."""
    monkeypatch.setenv("NO_PROXY", "service.example")
    assert environment_proxies() == {}
    monkeypatch.setenv("HTTP_PROXY", "http://http.example:1")
    assert proxy_for(httpx.URL("https://other.example"), environment_proxies()) is None
    monkeypatch.setenv("ALL_PROXY", "http://all.example:3")
    found = proxy_for(httpx.URL("https://other.example"), environment_proxies())
    assert found is not None
    assert found.url.host == "all.example"
