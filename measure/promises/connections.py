"""Measure the default transport on connections that close, break at any byte, or carry surplus bytes."""

import asyncio
import random
import re
from contextlib import suppress

from itwin_platform import BackoffPolicy, OutcomeUnknownError, PlatformClient, PlatformError

from tests.support.services import ACCOUNT, DETECTOR, Raw, RawServer, ReceivedRequest, raw_response

from .figure import Figure, exactly

CREATED = b"HTTP/1.1 201 Created"
DATE = b"\r\ncontent-type: application/json\r\ndate: Sun, 01 Mar 2026 12:00:00 GMT\r\nx-correlation-id: c-1"
GOT = raw_response(ACCOUNT, head=b"HTTP/1.1 200 OK" + DATE)
POSTED = raw_response(DETECTOR, head=CREATED + DATE)
PHANTOM = raw_response(b'{"detector": {"name": "phantom", "type": "PhotoObjectDetector"}}', head=CREATED)
#: A policy without a delay before a retry.
AT_ONCE = BackoffPolicy(base_delay=0.0)


def client(address: str) -> PlatformClient:
    """Make a client."""
    return PlatformClient(address, vendor="v", token="t", backoff=AT_ONCE, timeout=10.0)


async def connections() -> list[Figure]:
    """Measure each fault of a connection."""
    return [await closing(), await surplus(), *await cuts()]


async def closing(*, posts: int = 200) -> Figure:
    """Measure a server that closes each connection after a response without `connection: close`."""
    lost = 0
    async with RawServer(Raw(data=POSTED, closes=True)) as server, client(server.address) as platform:
        for _ in range(posts):
            try:
                await platform.detectors.create(name="d", type="PhotoObjectDetector")
            except PlatformError:
                lost += 1
    return exactly(f"lost POSTs of {posts} on a server that closes", lost, 0)


async def surplus(*, schedules: int = 5_000) -> Figure:
    """Measure a server that sends surplus bytes with a response or after it. Each response names its request."""
    source = random.Random(7)
    mismatched = 0

    def respond(request: ReceivedRequest) -> Raw:
        name = request.body.partition(b'"name":"')[2].partition(b'"')[0]
        body = b'{"detector": {"name": "%s", "type": "PhotoObjectDetector"}}' % name
        good = raw_response(body, head=CREATED)
        chunked = CREATED + b"\r\ntransfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        more = source.choice([PHANTOM, PHANTOM * 2, PHANTOM[: source.randrange(1, len(PHANTOM))], b"\r\n", b"x"])
        kinds = (Raw(data=good), Raw(data=good + more), Raw(data=good, then=more), Raw(data=chunked + more))
        return source.choice([*kinds, Raw(data=good, then=more, closes=True)])

    async with RawServer(respond) as server, client(server.address) as platform:

        async def create(number: int) -> None:
            nonlocal mismatched
            # Bytes that are not HTTP end the connection if they arrive during a request.
            with suppress(OutcomeUnknownError):
                detector = await platform.detectors.create(name=f"d-{number}", type="PhotoObjectDetector")
                mismatched += detector.name != f"d-{number}"

        for start in range(0, schedules, 10):
            await asyncio.gather(*(create(number) for number in range(start, start + 10)))
            # Sent between two rounds: during a request, HTTP cannot distinguish a surplus response from the real one.
            if source.random() < 0.5:
                server.push(PHANTOM)
    return exactly(f"responses of another request, {schedules:,} schedules", mismatched, 0)


class CuttingServer:
    """A server that ends the connection at the planned byte of the next request or response."""

    def __init__(self) -> None:
        self.plan = ("", 0)
        self.requests = self.size_of_request = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Respond to the requests of a connection."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while first := await reader.read(1):
                (where, size), self.plan = self.plan, ("", 0)
                self.requests += 1
                if where == "request":
                    await reader.readexactly(size - 1)
                    break
                head = await reader.readuntil(b"\r\n\r\n")
                stated = re.search(rb"Content-Length: (\d+)", head)
                length = int(stated[1]) if stated else 0
                await reader.readexactly(length)
                self.size_of_request = 1 + len(head) + length
                data = GOT if first == b"G" else POSTED
                writer.write(data[:size] if where == "response" else data)
                if where == "response":
                    writer.close()
                    return
        writer.transport.abort()


async def cuts(*, step: int = 1) -> list[Figure]:
    """Cut each request and each response at every `step`th byte, on a connection that was used before."""
    cutting = CuttingServer()
    broken_gets = repeated_posts = count = 0

    async def get(platform: PlatformClient) -> bool:
        """Return whether a GET is broken: it fails, or is not sent exactly twice."""
        account = await platform.itwins.get_primary_account()
        return account.id != "a-1" or cutting.requests != 2

    async def post(platform: PlatformClient) -> bool:
        """Return whether a POST is broken: it is retried, or does not raise `OutcomeUnknownError`."""
        with suppress(OutcomeUnknownError):
            await platform.detectors.create(name="d", type="PhotoObjectDetector")
            return True
        return cutting.requests != 1

    server = await asyncio.start_server(cutting.serve, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        for call, response in ((get, GOT), (post, POSTED)):
            async with client(address) as platform:
                await call(platform)  # without a cut, to measure the size of the request
            sizes = {"response": range(0, len(response), step), "request": range(1, cutting.size_of_request, step)}
            for plan in ((where, size) for where, each in sizes.items() for size in each):
                # A new client: after many failures, the circuit breaker of one client would delay each call.
                async with client(address) as platform:
                    await call(platform)
                    cutting.plan, cutting.requests = plan, 0
                    is_wrong = await call(platform)
                broken_gets += is_wrong and call is get
                repeated_posts += is_wrong and call is post
                count += 1
    return [
        exactly(f"GETs that {count:,} cuts left broken", broken_gets, 0),
        exactly("POSTs sent again, or reported wrong, after them", repeated_posts, 0),
    ]
