"""One attempt over the network: the default transport and that of httpx behave alike."""

import asyncio

import httpx
import pytest
from itwin_platform import PlatformClient, ResponseDecodeError

from tests.support.raw_server import Raw, RawServer, raw_response
from tests.support.real_time import LONGEST, pass_time
from tests.transports.conftest import TRANSPORTS, client


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
