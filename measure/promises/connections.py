"""Connections that close, break at any byte, or send surplus bytes, over the default transport."""

import asyncio
import cProfile
import pstats
import random
import re
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

import httpx
from itwin_platform import (
    BackoffEvent,
    BackoffPolicy,
    OutcomeUnknownError,
    PlatformClient,
    PlatformError,
)

from tests.support.services import ACCOUNT, DETECTOR, PreparedResponse, Raw, RawServer, ReceivedRequest, raw_response

from .figure import Figure, at_most, exactly

CREATED = b"HTTP/1.1 201 Created"
DATE = b"\r\ncontent-type: application/json\r\ndate: Sun, 01 Mar 2026 12:00:00 GMT\r\nx-correlation-id: c-1"
GOT = raw_response(ACCOUNT, head=b"HTTP/1.1 200 OK" + DATE)
POSTED = raw_response(DETECTOR, head=CREATED + DATE)
PHANTOM = raw_response(b'{"detector": {"name": "phantom", "type": "PhotoObjectDetector"}}', head=CREATED)
#: That of httpx is not measured: it does not notice everything that arrives between two requests.
TRANSPORTS: dict[str, Callable[[], httpx.AsyncBaseTransport | None]] = {"default": lambda: None}


def client(
    address: str,
    transport: httpx.AsyncBaseTransport | None,
    *,
    backoff: BackoffPolicy | None = None,
    timeout: float | httpx.Timeout = 10.0,
    on_event: Callable[[BackoffEvent], None] | None = None,
) -> PlatformClient:
    """Make a client without a delay before a retry."""
    policy = backoff or BackoffPolicy(base_delay=0.0)
    return PlatformClient(
        address, vendor="v", token="t", transport=transport, backoff=policy, timeout=timeout, on_event=on_event
    )


async def connections(*, posts: int = 200, schedules: int = 5_000, step: int = 1) -> list[Figure]:
    """Measure both transports with `posts` POSTs, `schedules` schedules, and a cut at every `step`th byte."""
    figures: list[Figure] = []
    for name, make in TRANSPORTS.items():
        figures += await closing(name, make, posts=posts)
        figures.append(await surplus(name, make, schedules=schedules))
        figures += await cuts(name, make, step=step)
        figures.append(await write_timeout(name, make))
        figures.append(await closed(name, make))
        figures.append(await width(name, make))
    return figures


async def closing(name: str, make: Callable[[], httpx.AsyncBaseTransport | None], *, posts: int) -> list[Figure]:
    """Measure a server that closes each connection after a response without `connection: close`."""
    lost = 0
    events: list[BackoffEvent] = []

    def close(request: ReceivedRequest) -> Raw:
        return Raw(data=GOT if request.method == "GET" else POSTED, closes=True)

    async with RawServer(close) as server, client(server.address, make(), on_event=events.append) as platform:
        for _ in range(posts):
            try:
                await platform.detectors.create(name="d", type="PhotoObjectDetector")
            except PlatformError:
                lost += 1
        events.clear()
        for _ in range(20):
            await platform.itwins.get_primary_account()
    return [
        exactly(f"{name}: lost POSTs of {posts} on a server that closes", lost, 0),
        exactly(f"{name}: attempts of 20 GETs on it", len(events), 20),
    ]


async def surplus(name: str, make: Callable[[], httpx.AsyncBaseTransport | None], *, schedules: int) -> Figure:
    """Measure a server that sends surplus bytes with a response or later; each response names its request."""
    source = random.Random(7)
    mismatched = 0

    def respond(request: ReceivedRequest) -> Raw:
        name_of_request = request.body.partition(b'"name":"')[2].partition(b'"')[0]
        body = b'{"detector": {"name": "%s", "type": "PhotoObjectDetector"}}' % name_of_request
        good = raw_response(body, head=CREATED)
        chunked = CREATED + b"\r\ntransfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        more = source.choice([PHANTOM, PHANTOM * 2, PHANTOM[: source.randrange(1, len(PHANTOM))], b"\r\n", b"x"])
        kinds = (Raw(data=good), Raw(data=good + more), Raw(data=good, then=more), Raw(data=chunked + more))
        return source.choice([*kinds, Raw(data=good, then=more, closes=True)])

    async with RawServer(respond) as server, client(server.address, make()) as platform:

        async def create(number: int) -> None:
            nonlocal mismatched
            # Bytes that are not HTTP and arrive during a request end its connection.
            with suppress(OutcomeUnknownError):
                detector = await platform.detectors.create(name=f"d-{number}", type="PhotoObjectDetector")
                mismatched += detector.name != f"d-{number}"

        for start in range(0, schedules, 10):
            await asyncio.gather(*(create(number) for number in range(start, start + 10)))
            # Only between two rounds: a response that arrives during a request could be the response to it.
            if source.random() < 0.5:
                server.push(PHANTOM)
    return exactly(f"{name}: responses of another request, {schedules:,} schedules", mismatched, 0)


class CuttingServer:
    """A server that drops the connection at the planned byte of a request or a response, and then responds normally."""

    def __init__(self) -> None:
        self.plan: tuple[str, int] | None = None
        self.seen: list[bytes] = []
        self.sizes: dict[bytes, int] = {}

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.address = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while first := await reader.read(1):
                where, size = self.plan or ("", 0)
                self.plan = None
                self.seen.append(first)
                if where == "request":
                    await reader.readexactly(size - 1)
                    break
                head = await reader.readuntil(b"\r\n\r\n")
                stated = re.search(rb"Content-Length: (\d+)", head)
                length = int(stated[1]) if stated else 0
                await reader.readexactly(length)
                self.sizes[first] = 1 + len(head) + length
                data = GOT if first == b"G" else POSTED
                writer.write(data[:size] if where else data)
                if where:
                    writer.close()
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            if not writer.is_closing():
                writer.transport.abort()


def plans(response: int, request: int, step: int) -> list[tuple[str, int]]:
    """Return where to cut a response and a request of these sizes."""
    return [("response", size) for size in range(0, response, step)] + [
        ("request", size) for size in range(1, request, step)
    ]


async def cuts(name: str, make: Callable[[], httpx.AsyncBaseTransport | None], *, step: int) -> list[Figure]:
    """Cut each request and each response at every `step`th byte."""
    broken_gets = repeated_posts = count = 0
    async with CuttingServer() as server, client(server.address, make()) as platform:
        await platform.itwins.get_primary_account()
        await platform.detectors.create(name="d", type="PhotoObjectDetector")
        for plan in plans(len(GOT), server.sizes[b"G"], step):
            server.plan, server.seen = plan, []
            account = await platform.itwins.get_primary_account()
            broken_gets += account.id != "a-1" or len(server.seen) != 2
            count += 1
        for plan in plans(len(POSTED), server.sizes[b"P"], step):
            server.plan, server.seen = plan, []
            try:
                await platform.detectors.create(name="d", type="PhotoObjectDetector")
            except OutcomeUnknownError:
                repeated_posts += len(server.seen) != 1
            else:
                repeated_posts += 1
            count += 1
    return [
        exactly(f"{name}: GETs that {count:,} cuts left broken", broken_gets, 0),
        exactly(f"{name}: POSTs sent again, or reported wrong, after them", repeated_posts, 0),
    ]


async def write_timeout(name: str, make: Callable[[], httpx.AsyncBaseTransport | None]) -> Figure:
    """Send 4 MB to a peer that accepts the connection and never reads."""
    with socket.socket() as peer:
        peer.bind(("127.0.0.1", 0))
        peer.listen()
        address, timeout = f"http://127.0.0.1:{peer.getsockname()[1]}", httpx.Timeout(60.0, write=1.0)
        async with client(address, make(), timeout=timeout, backoff=BackoffPolicy(deadline=None)) as platform:
            scenes, began = platform.scenes, time.monotonic()
            with suppress(OutcomeUnknownError):
                await scenes.create("i-1", display_name="x" * 4_000_000)
            over = time.monotonic() - began - 1.0
    return at_most(f"{name}: overshoot of a write timeout of 1 s, 4 MB", max(0.0, over), 0.2, unit=" s")


async def closed(name: str, make: Callable[[], httpx.AsyncBaseTransport | None]) -> Figure:
    """Close a client while calls are in flight, at the gate and before a retry."""
    async with RawServer(PreparedResponse(status=503)) as server:
        policy = BackoffPolicy(base_delay=0.05, max_in_flight=3)
        platform = client(server.address, make(), backoff=policy)
        calls = [asyncio.create_task(platform.itwins.get_primary_account()) for _ in range(20)]
        await server.received(10)
        await platform.aclose()
        sent = len(server.requests)
        await asyncio.gather(*calls, return_exceptions=True)
        await asyncio.sleep(0.3)
        return exactly(f"{name}: requests after aclose()", len(server.requests) - sent, 0)


async def width(name: str, make: Callable[[], httpx.AsyncBaseTransport | None]) -> Figure:
    """Compare the function calls of a request, which a busy machine does not change, with 20 and 300 in flight."""
    calls: list[float] = []
    async with RawServer(GOT) as server:
        for in_flight in (20, 300):
            policy = BackoffPolicy(max_in_flight=in_flight)
            async with client(server.address, make(), backoff=policy, timeout=60.0) as platform:

                async def call_often(number: int, platform: PlatformClient = platform) -> None:
                    for _ in range(number):
                        await platform.itwins.get_primary_account()

                await asyncio.gather(*(call_often(2) for _ in range(in_flight)))
                profile = cProfile.Profile()
                with profile:
                    await asyncio.gather(*(call_often(1_200 // in_flight) for _ in range(in_flight)))
                calls.append(pstats.Stats(profile).total_calls / 1_200)  # type: ignore[attr-defined]  # typeshed lacks it
    return at_most(f"{name}: function calls of a request, 300 in flight by 20", calls[1] / calls[0], 1.15)
