"""The proxies of the environment: their use, the requests that they get, and the text of errors."""

import asyncio
import ssl
from collections.abc import AsyncIterator

import httpx
import pytest
from itwin_platform import BackoffPolicy, NotSentError, PlatformClient
from itwin_platform_transport.connections.engine import EngineTransport
from itwin_platform_transport.connections.environment import EnvironmentProxies

from tests.support.event_loops import CountingLoop, cancelled_at_turn
from tests.support.every_route import TOKEN
from tests.support.frames import shown
from tests.support.networks import authority, server_context, watched
from tests.support.proxies import Proxy
from tests.support.real_time import until
from tests.support.services import RawServer, raw_response

HOST = "service.example"
ONCE = BackoffPolicy(max_attempts=1)


@pytest.fixture
async def service() -> AsyncIterator[RawServer]:
    """A service with TLS, whose name only a proxy can resolve."""
    async with RawServer(raw_response(), context=server_context(address=HOST)) as server:
        yield server


def client(base_url: str = f"https://{HOST}", *, trust_env: bool = True) -> PlatformClient:
    """Return a client that trusts the authority of the tests."""
    trusted = ssl.create_default_context(cadata=authority())
    return PlatformClient(base_url, vendor="v", token=TOKEN, backoff=ONCE, ssl_context=trusted, trust_env=trust_env)


@pytest.mark.parametrize("route", ["default", "watched client", "watched httpcore"])
@pytest.mark.parametrize(("name", "host"), [("HTTPS_PROXY", HOST), ("https_proxy", f"{HOST}."), ("ALL_PROXY", HOST)])
async def test_https_goes_through_the_proxy_of_the_environment(
    service: RawServer, monkeypatch: pytest.MonkeyPatch, name: str, host: str, route: str
) -> None:
    """The proxy gets the name without its dot and no token. One connection serves both calls, and is closed.

    Only the proxy gets the user and the password of its URL, and no repr has them.
    """
    async with Proxy(service.port) as proxy:
        monkeypatch.setenv(name, proxy.address.replace("//", "//me:secret-word@"))
        with watched(route):
            async with client(f"https://{host}") as platform:
                for _ in range(2):
                    assert (await platform.itwins.get_primary_account()).id == "a-1"
                assert "secret-word" not in repr(platform)
        assert [head.splitlines()[0] for head in proxy.heads] == [f"CONNECT {HOST}:443 HTTP/1.1"]
        assert TOKEN not in proxy.heads[0]
        assert "proxy-authorization: basic bwu6c2vjcmv0lxdvcmq=" in proxy.heads[0].lower()
        assert not any("proxy-authorization" in request.headers for request in service.requests)
        sent = [(request.headers["authorization"], request.headers["host"]) for request in service.requests]
        assert sent == [(f"Bearer {TOKEN}", HOST)] * 2
        await until(lambda: service.open_connections == 0)


@pytest.mark.parametrize("is_proxied", [True, False], ids=["proxy", "watched"])
def test_a_cancelled_call_leaves_no_connection_of_httpx(monkeypatch: pytest.MonkeyPatch, is_proxied: bool) -> None:
    """A cancellation in any iteration leaves none, behind a proxy or while a function of httpcore is replaced."""

    async def cancelled(turn: int) -> bool:
        context = server_context(address=HOST) if is_proxied else None
        async with RawServer(raw_response(), context=context) as service, Proxy(service.port) as proxy:
            if is_proxied:
                monkeypatch.setenv("HTTPS_PROXY", proxy.address)
            async with client(f"https://{HOST}" if is_proxied else service.address) as platform:
                hit = await cancelled_at_turn(platform.itwins.get_primary_account(), turn=turn)
                assert (await platform.itwins.get_primary_account()).id == "a-1"
                await until(lambda: service.open_connections == 1)
            await until(lambda: service.open_connections == 0)
        return hit

    turn, hit = 1, True
    while hit:
        with watched("" if is_proxied else "watched httpcore"), asyncio.Runner(loop_factory=CountingLoop) as runner:
            hit = runner.run(cancelled(turn))
        turn += 3
    assert 5 < turn < 200


async def test_a_proxy_that_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no retry, and the error has the reason, and the proxy without its password."""
    async with Proxy(0, answer=b"407 Proxy Authentication Required") as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.address.replace("//", "//me:secret-word@"))
        async with client().with_options(max_attempts=7) as platform:
            with pytest.raises(NotSentError, match="with status 407: its URL needs a user and a password") as raised:
                await platform.itwins.get_primary_account()
        assert len(proxy.heads) == 1
    assert f"through the proxy {proxy.address}; a retry would not help" in str(raised.value)
    assert "secret-word" not in repr(raised.value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("HTTPS_PROXY", "http://127.0.0.1:1", "connection refused: through the proxy http://127.0.0.1:1"),
        ("ALL_PROXY", "socks5://127.0.0.1:1", "SOCKS proxy, which needs the package socksio"),
    ],
)
async def test_an_unusable_proxy_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str) -> None:
    """No request was sent, and the text names the proxy or the missing package."""
    monkeypatch.setenv(name, value)
    async with client() as platform:
        with pytest.raises(NotSentError, match="nothing was sent") as raised:
            await platform.itwins.get_primary_account()
    assert message in str(raised.value)


#: The URL of a proxy, and its parts: the address of the proxy, user and password.
VALID: dict[str, tuple[str, tuple[str, str] | None]] = {
    "proxy.example:3128": ("http://proxy.example:3128", None),
    " http://proxy.example:3128/\n": ("http://proxy.example:3128", None),
    "HTTP://Proxy.Example": ("http://proxy.example", None),
    "https://proxy.example:": ("https://proxy.example", None),
    "https://proxy.example:1": ("https://proxy.example:1", None),
    "https://proxy.example:65535": ("https://proxy.example:65535", None),
    "http://my_proxy.:3128": ("http://my_proxy:3128", None),
    "socks5h://[2001:db8::1]:1080": ("socks5h://[2001:db8::1]:1080", None),
    "http://münchen.example:3128": ("http://xn--mnchen-3ya.example:3128", None),
    "http://@proxy.example": ("http://proxy.example", None),
    "me@proxy.example": ("http://proxy.example", ("me", "")),
    "http://:planted@proxy.example": ("http://proxy.example", ("", "planted")),
    "http://me:planted:more@proxy.example:3128": ("http://proxy.example:3128", ("me", "planted:more")),
    "http://me:plan ted@proxy.example": ("http://proxy.example", ("me", "plan ted")),
    "http://DOMAIN\\me:planted\\@proxy.example": ("http://proxy.example", ("DOMAIN\\me", "planted\\")),
    "http://me:p%40%2F%3F%23%25@proxy.example": ("http://proxy.example", ("me", "p@/?#%")),
    "http://me:planted%6q@proxy.example": ("http://proxy.example", ("me", "planted%6q")),
    "http://mé:plañted@proxy.example": ("http://proxy.example", ("mé", "plañted")),
    "http://me:pla;n=t&e+d!$'()*,[]@proxy.example": ("http://proxy.example", ("me", "pla;n=t&e+d!$'()*,[]")),
}
#: URLs that are invalid, or in which the end of the password is ambiguous.
AMBIGUOUS = [
    *("http://me:4711/qjx7zvk9@proxy.example:3128", "http://me:qjx7zvk9/@proxy.example", "http://me:4711/qjx7zvk9"),
    *("http://me:qjx7?zvk9@proxy.example", "http://me:qjx7#zvk9@proxy.example", "http://me:qjx7@zvk9@proxy.example"),
    *("http://me/qjx7zvk9:word@proxy.example", "http://me:qjx7zvk9@proxy.example:3128/path", "http://me:qjx7zvk9"),
    *("http://me:qjx7zvk9@proxy.example?a", "http://me:qjx7zvk9@proxy.example#", "http://me:qjx7zvk9@"),
    *("me:qjx7zvk9", "me:qjx7zvk9@proxy.example:port", "me:a://qjx7zvk9@proxy.example", "http://", "http://[::"),
    *("ftp://me:qjx7zvk9@proxy.example", "socks4://me:qjx7zvk9@proxy.example", "//me:qjx7zvk9@proxy.example"),
    *("http:/me:qjx7zvk9@proxy.example", "http://me:qjx7zvk9@proxy..example", f"me:qjx7zvk9@{'x' * 64}"),
    *("http://me:qjx7zvk9@[proxy.example]", "http://me:qjx7zvk9@[::1", "http://me:qjx7zvk9@proxy.example:31:28"),
    *("http://me:qjx7zvk9@proxy.example:0", "http://me:qjx7zvk9@proxy.example:65536"),
    *("http://me:qjx7zvk9%FF@proxy.example", "http://qjx7zvk9%FF:word@proxy.example"),
    *("http://me:qjx7zvk9@pr%6Fxy.example", "http://me:qjx7zvk9@pro xy.example", "http://me:qjx7\nzvk9@proxy.example"),
    *("http://me:qjx7zvk9@proxy.example\\a", "http://me:qjx7zvk9\udcff@proxy.example"),
    *("http://me:qjx7zvk9@\xe9\u0300\u200b.example", "http://me:qjx7zvk9@proxy.example:\uff13\uff11\uff12\uff18"),
]


@pytest.mark.parametrize("text", VALID)
@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
def test_the_url_of_a_proxy_is_parsed(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    """The user information ends at the only @, its parts are decoded, and no repr shows them."""
    monkeypatch.setenv(name, text)
    proxies = EnvironmentProxies.read()
    assert proxies is not None
    found = proxies.proxy_for(httpx.URL(f"https://{HOST}"))
    assert found is not None
    assert (str(found.url), found.auth) == VALID[text]
    assert repr(found) == f"Proxy(url=URL('{VALID[text][0]}'))"
    auth, context = found.auth and tuple(part.encode() for part in found.auth), ssl.create_default_context()
    made = found.for_httpx(context)
    assert (made.raw_auth, made.ssl_context) == (auth, context if made.url.scheme == "https" else None)


@pytest.mark.parametrize("text", AMBIGUOUS)
async def test_an_ambiguous_proxy_is_rejected_without_its_text(
    monkeypatch: pytest.MonkeyPatch, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    """No request is sent, the error describes a valid URL, and no text, repr or frame shows a part of the value."""
    caplog.set_level(0)
    monkeypatch.setenv("HTTPS_PROXY", text)
    engine = EngineTransport()
    async with client() as platform, httpx.AsyncClient(transport=engine, trust_env=False) as plain:
        with pytest.raises(
            NotSentError, match=r"HTTPS_PROXY names no proxy: .*percent-encode.*; nothing was"
        ) as raised:
            await platform.itwins.get_primary_account()
        with pytest.raises(httpx.LocalProtocolError, match="HTTPS_PROXY names no proxy") as by_httpx:
            await plain.get(f"https://{HOST}")
    seen = [repr(platform), repr(engine), caplog.text, shown(raised.value), shown(by_httpx.value)]
    assert [word for word in ("qjx7", "zvk9") if word in "".join(seen)] == []


async def test_without_trust_env_the_environment_is_ignored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pytest.TempPathFactory
) -> None:
    """With `trust_env=False`, the client uses neither the proxies nor the certificates of the environment."""
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
#: An address, the values of NO_PROXY that exclude it, and other values.
EXCLUDED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "https://service.example": (
        (
            *("*", "other.example, *", "other.example service.example", "service.example", "SERVICE.example"),
            *("example", ".example", "*.example", ".example.", "service.example:443"),
        ),
        (
            *("", "xservice.example", "service.examplex", "vice.example", "other.example", "service.example:8443"),
            *(".example.:8443", "10.0.0.0/8"),
        ),
    ),
    "https://service.example.": (("service.example", "service.example.:443"), ()),
    "https://service.example:8443": (("service.example:8443",), ()),
    "http://service.example": (("service.example:80",), ("", "service.example:443")),
    "https://b\u00fccher.example": (("b\u00fccher.example", "xn--bcher-kva.example"), ()),
    "https://10.1.2.3": (("10.0.0.0/8", "10.1.2.3"), ("11.0.0.0/8", "2.3", "10.1.2/nonsense")),
    "https://[2001:db8::1]": (
        ("[2001:db8::1]", "2001:db8::/32", "2001:0DB8:0::1", "[2001:db8::1]:443"),
        ("[2001:db8::1]:8443",),
    ),
    "https://[fe80::1%25eth0]": (("fe80::1%eth0",), ()),
    # Loopback.
    **{f"http://{host}:8080": (("",), ()) for host in ("localhost", "localhost.", "127.0.0.1", "127.9.9.9", "[::1]")},
}


@pytest.mark.parametrize("url", EXCLUDED)
def test_no_proxy_names_hosts_domains_and_networks(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """NO_PROXY means the same as for curl and requests, and loopback needs no entry."""
    for name, value in PROXIES.items():
        monkeypatch.setenv(name, value)
    excluding, others = EXCLUDED[url]
    for excluded in excluding + others:
        monkeypatch.setenv("NO_PROXY", excluded)
        proxies = EnvironmentProxies.read()
        assert proxies is not None
        found = proxies.proxy_for(httpx.URL(url))
        assert (found is None) is (excluded in excluding), excluded
        assert found is None or found.url.host == f"{httpx.URL(url).scheme}.example"


def test_no_proxy_alone_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a proxy, NO_PROXY has no effect. ALL_PROXY applies to schemes without a proxy of their own."""
    monkeypatch.setenv("NO_PROXY", "service.example")
    assert EnvironmentProxies.read() is None
    for name, expected in (("HTTP_PROXY", None), ("ALL_PROXY", "all.example")):
        monkeypatch.setenv(name, PROXIES[name])
        proxies = EnvironmentProxies.read()
        assert proxies is not None
        found = proxies.proxy_for(httpx.URL("https://other.example"))
        assert (None if found is None else found.url.host) == expected
