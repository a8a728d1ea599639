"""Next links and redirects to foreign addresses, and the requests that leave for them."""

import json
import random
from collections.abc import Iterator

import httpx
from itwin_platform import BackoffPolicy, PlatformClient, PlatformError

from tests.support.services import PreparedResponse, RawServer

from .figure import Figure, exactly

HOST = "service.example"
FOREIGN = (
    "evil.example",
    "service.example.evil.example",
    "evil.example:443",
    "127.0.0.1",
    "[::1]",
    "service.example:8443",
    "service.example@evil.example",
    "evil.example#service.example",
    "evil.example\\@service.example",
    "xn--evl-.example",
    "service.example.",
    "SERVICE.EXAMPLE",
    "service.example:443",
    "user:pass@service.example",
    "",
    "0x7f.1",
    "service。example",
)
SCHEMES = (
    "https://",
    "http://",
    "//",
    "HTTPS://",
    "https:",
    "https:///",
    "ftp://",
    "javascript:",
    "\\\\",
    " https://",
    "file:///",
    "",
)
PATHS = (
    "/api/itwins/",
    "/itwins/",
    "/api/itwins/../../admin",
    "/api/itwins/%2e%2e/x",
    "/api/itwins",
    "/api/scenes/",
    "",
    "/",
    "/api//itwins/",
    "\\api\\itwins\\",
    "/api/itwins/\n",
    "/api/itwins/\u202e",
    "/api/itwins/;x",
)
QUERIES = (
    "?$skip=1&$top=1",
    "?%24skip=1",
    "",
    "?$skip=0",
    "?$skip=-1",
    "?next=https://evil.example",
    "?$skip=1#@evil.example",
)


def hostile_addresses(*, count: int, port: int, seed: int = 1) -> Iterator[str]:
    """Yield `count` addresses of random parts; some name a server that listens."""
    source = random.Random(seed)
    hosts = (*FOREIGN, f"127.0.0.1:{port}", f"localhost:{port}")
    for _ in range(count):
        parts = (source.choice(each) for each in (SCHEMES, hosts, PATHS, QUERIES))
        address = "".join(parts)
        if source.random() < 0.2:
            cut = source.randrange(len(address) + 1)
            address = address[:cut] + source.choice(("\t", "%00", "@", "\\", "..", "\u2100", ":")) + address[cut:]
        yield address


class Network(httpx.AsyncBaseTransport):
    """A transport that responds for the service with a link or a redirect, and records requests to other hosts."""

    def __init__(self) -> None:
        self.address = ""
        self.foreign: list[httpx.Request] = []
        self._outside = httpx.AsyncHTTPTransport(verify=False)
        self.redirects = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Respond for the service, or record the request and send it."""
        if (request.url.scheme, request.url.host, request.url.port) != ("https", HOST, None):
            self.foreign.append(request)
            return await self._outside.handle_async_request(request)
        if self.redirects:
            location = self.address.encode("utf-8", "surrogateescape").replace(b"\n", b"")
            return httpx.Response(307, headers=[(b"location", location)])
        listed = {"iTwins": [{"id": "i-1"}], "_links": {"next": {"href": self.address}}}
        return httpx.Response(200, content=json.dumps(listed).encode())


async def run_hostile(*, count: int) -> tuple[int, int, int]:
    """Return the counts of foreign requests, of requests that another server received, and of unexpected errors."""
    unexpected = 0
    async with RawServer(lambda _: PreparedResponse()) as evil:
        network = Network()
        # Half of the calls use the transport of the client, half an httpx client that follows redirects.
        async with httpx.AsyncClient(transport=network, follow_redirects=True) as redirecting_client:
            for number, address in enumerate(hostile_addresses(count=count, port=evil.port)):
                network.address, network.redirects = address, number % 2 == 1
                platform = PlatformClient(
                    f"https://{HOST}/api",
                    vendor="acme",
                    token="planted-token",
                    backoff=BackoffPolicy(max_attempts=1),
                    http_client=redirecting_client if number % 4 >= 2 else None,
                    transport=None if number % 4 >= 2 else network,
                )
                try:
                    await platform.itwins.list(page_size=1, limit=2).collect()
                except PlatformError:
                    continue
                except Exception:  # noqa: BLE001  # it is counted
                    unexpected += 1
        return len(network.foreign), len(evil.requests), unexpected


async def hostile_links(*, count: int = 10_000) -> list[Figure]:
    """Try `count` next links and redirects, half of each."""
    sent, received, unexpected = await run_hostile(count=count)
    name = f"{count:,} hostile links and redirects"
    return [
        exactly(f"{name}: requests off origin", sent + received, 0),
        exactly(f"{name}: errors that are not ours", unexpected, 0),
    ]
