"""Proxies and certificates, over the default transport and over that of httpx."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import certifi
import httpx
import pytest
from itwin_platform import (
    BackoffPolicy,
    NotSentError,
    PlatformClient,
    UsageError,
)

from tests.support.certificates import authority, server_context
from tests.support.raw_server import RawServer, raw_response
from tests.transports.conftest import TRANSPORTS, client


async def test_a_connection_that_is_not_made_in_time_was_not_sent(transport: httpx.AsyncBaseTransport | None) -> None:
    """A POST is retried after a connect timeout, and the error says that nothing was sent."""
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
                NotSentError, match=f"could not connect to http://127.0.0.1:{port} after 7 attempts; nothing was sent"
            ):
                await platform.detectors.create(name="d", type="PhotoObjectDetector")
        for other in waiting:
            other.close()


def two_certificates(folder: Path) -> str:
    """Write a file of two trusted authorities."""
    two, end = folder / "two.pem", "-----END CERTIFICATE-----\n"
    two.write_text("".join(certificate + end for certificate in Path(certifi.where()).read_text().split(end)[:2]))
    return str(two)


@pytest.mark.parametrize("make", TRANSPORTS.values(), ids=list(TRANSPORTS))
async def test_the_environments_certificates_are_used(
    make: Callable[[], httpx.AsyncBaseTransport | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each transport trusts the certificates of SSL_CERT_FILE."""
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


async def test_a_proxy_is_used() -> None:
    """A proxy, which a transport of httpx brings, receives the request with its absolute URL."""
    async with (
        RawServer(raw_response()) as proxy,
        client(1, httpx.AsyncHTTPTransport(proxy=proxy.address)) as platform,
    ):
        assert (await platform.itwins.get_primary_account()).id == "a-1"
        assert proxy.requests[0].target == "http://127.0.0.1:1/itwins/myprimaryaccount"


@pytest.mark.parametrize("name", TRANSPORTS)
async def test_the_environments_proxies_are_not_used(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxies of the environment are ignored, so that no token travels through them."""
    async with RawServer(raw_response()) as service, RawServer(raw_response()) as proxy:
        monkeypatch.setenv("http_proxy", proxy.address)
        monkeypatch.setenv("ALL_PROXY", proxy.address)
        async with client(service.port, TRANSPORTS[name]()) as platform:
            await platform.itwins.get_primary_account()
        assert (len(service.requests), proxy.requests) == (1, [])


@pytest.mark.parametrize("name", TRANSPORTS)
async def test_an_ssl_context_decides_which_server_is_trusted(name: str) -> None:
    """A private authority is trusted if the SSL context has its certificate."""
    context = ssl.create_default_context(cadata=authority())
    given: dict[str, Any] = {"ssl_context": context}
    if name == "httpx":
        given = {"transport": httpx.AsyncHTTPTransport(verify=context)}
    async with (
        RawServer(raw_response(), context=server_context()) as service,
        PlatformClient(service.address, vendor="v", token="t", **given) as platform,
    ):
        assert (await platform.itwins.get_primary_account()).id == "a-1"


UNUSABLE: dict[str, tuple[dict[str, Any], str]] = {
    "no context": ({"ssl_context": "company.pem"}, "ssl_context must be an ssl.SSLContext"),
    "a path instead of a context": ({"ssl_context": Path("company.pem")}, "ssl_context must be an ssl.SSLContext"),
    "beside a transport": (
        {"ssl_context": ssl.create_default_context(), "transport": httpx.MockTransport(lambda _: httpx.Response(200))},
        "ssl_context applies to the client's own connections",
    ),
    "beside a client": (
        {"ssl_context": ssl.create_default_context(), "http_client": httpx.AsyncClient()},
        "ssl_context applies to the client's own connections",
    ),
}


@pytest.mark.parametrize(("arguments", "text"), UNUSABLE.values(), ids=UNUSABLE)
def test_an_ssl_context_is_checked_where_it_is_passed(arguments: dict[str, Any], text: str) -> None:
    """The text names the argument."""
    with pytest.raises(UsageError, match=text):
        PlatformClient("https://service.example", vendor="v", token="t", **arguments)
