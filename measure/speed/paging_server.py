"""A service with prepared pages and a latency, in its own process.

Run as `python -m measure.speed.paging_server --latency SECONDS`. It prints its port, serves until its input closes, and
then prints the processor time that it used.
"""

import argparse
import asyncio
import re
import sys
import time
from functools import cache

from .data import SCENE_ID, encoded, itwins, objects

SUMMARY = ("id", "class", "subClass", "type", "number", "displayName", "status")
_REQUEST = re.compile(rb"GET /(itwins|scenes)/\S*(?:\$|%24)top=(\d+)")
_SKIP = re.compile(rb"(?:\$|%24)skip=(\d+)")


@cache
def summaries() -> list[dict[str, object]]:
    """Return the iTwins of the listings in their minimal representation."""
    return [{name: itwin[name] for name in SUMMARY} for itwin in itwins()]


@cache
def response_of(kind: bytes, skip: int, top: int, port: int) -> bytes:
    """Return the bytes of a page."""
    items: list[dict[str, object]] = summaries() if kind == b"itwins" else objects()
    path = "itwins/?" if kind == b"itwins" else f"scenes/{SCENE_ID}/objects?iTwinId=i&"
    href = f"http://127.0.0.1:{port}/{path}$skip={skip + top}&$top={top}"
    links = {"next": {"href": href}} if skip + top < len(items) else {}
    body: dict[str, object] = {"_links": links, "iTwins" if kind == b"itwins" else "objects": items[skip : skip + top]}
    content = encoded(body)
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (
        len(content),
        content,
    )


class Service(asyncio.Protocol):
    """One connection, on which each request follows the response to the previous one."""

    latency = 0.0
    port = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)  # a stream server passes one
        self._transport = transport
        self._received = b""

    def data_received(self, data: bytes) -> None:
        """Respond to a complete request after the latency."""
        self._received += data
        if not self._received.endswith(b"\r\n\r\n"):
            return
        request, skip = _REQUEST.match(self._received), _SKIP.search(self._received)
        assert request is not None  # the benchmark requests only pages
        page = response_of(request[1], int(skip[1]) if skip else 0, int(request[2]), self.port)
        self._received = b""
        asyncio.get_running_loop().call_later(self.latency, self._write, page)

    def _write(self, page: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(page)


async def main() -> None:
    """Serve until the input closes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, required=True, help="seconds by which each response is delayed")
    Service.latency = parser.parse_args().latency
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Service, "127.0.0.1", 0)
    Service.port = server.sockets[0].getsockname()[1]
    for kind, items, top in ((b"itwins", itwins(), 100), (b"scenes", objects(), 100), (b"scenes", objects(), 20)):
        for skip in range(0, len(items), top):
            response_of(kind, skip, top, Service.port)
    before = time.process_time()
    print(Service.port, flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    print(time.process_time() - before, flush=True)


if __name__ == "__main__":
    asyncio.run(main())
