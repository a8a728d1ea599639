"""The server of the benchmarks: an asyncio protocol that responds with prepared bytes, in its own process.

Run as `python -m measure.speed.server [--latency SECONDS] [--tls]`. It prints its address, serves until its input
closes, and then prints its processor time, its elapsed time and the number of its requests.
"""

import argparse
import asyncio
import json
import re
import ssl
import sys
import time
from functools import cache

from .data import SCENE_ID, certificate, encoded, itwins, objects, stored

_SKIP = re.compile(rb"(?:\$|%24)skip=(\d+)")
_TOP = re.compile(rb"(?:\$|%24)top=(\d+)")
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


def _response(status: bytes, body: bytes) -> bytes:
    return b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (status, len(body), body)


@cache
def page(kind: str, skip: int, top: int, address: str) -> bytes:
    """Return a page with its links."""
    items = itwins() if kind == "iTwins" else objects()
    path = "itwins/?" if kind == "iTwins" else f"scenes/{SCENE_ID}/objects?iTwinId=i&"
    links = {"self": {"href": f"{address}/{path}$skip={skip}&$top={top}"}}
    if skip + top < len(items):
        links["next"] = {"href": f"{address}/{path}$skip={skip + top}&$top={top}"}
    body: dict[str, object] = {kind: items[skip : skip + top], "_links": links}
    if kind == "objects":
        body["sceneContext"] = {"displayName": "S", "lastModified": "2025-05-04T04:14:08.120Z", "isPartial": False}
    return _response(b"200 OK", encoded(body))


_ACCOUNT = _response(b"200 OK", stored("account"))
_REPOSITORY = _response(b"200 OK", stored("repository"))
_SCENE = _response(b"201 Created", stored("scene"))
_SCENE_ECHOED = _response(b"201 Created", stored("scene_echoed"))


class Server(asyncio.Protocol):
    """One connection."""

    served = 0
    latency = 0.0
    address = ""

    def __init__(self) -> None:
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)  # a stream server passes one
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Respond to each complete request."""
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end]
            length = _LENGTH.search(head) if head[:1] == b"P" else None
            end_of_request = end + 4 + (int(length[1]) if length else 0)
            if len(self._received) < end_of_request:
                return
            self._received = self._received[end_of_request:]
            response = self._response_to(head.split(b"\r\n", 1)[0])
            Server.served += 1
            if Server.latency:
                asyncio.get_running_loop().call_later(Server.latency, self._write, response)
            else:
                self._write(response)

    def _write(self, response: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(response)

    @staticmethod
    def _response_to(line: bytes) -> bytes:
        if line.startswith(b"PATCH"):
            return _REPOSITORY
        if line.startswith(b"POST"):
            return _SCENE_ECHOED if b"iTwinId=echo" in line else _SCENE
        if b"myprimaryaccount" in line:
            return _ACCOUNT
        skip, top = _SKIP.search(line), _TOP.search(line)
        kind = "iTwins" if line.startswith(b"GET /itwins/") else "objects"
        return page(kind, int(skip[1]) if skip else 0, int(top[1]) if top else 100, Server.address)


async def main() -> None:
    """Serve until the input closes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds by which each response is delayed")
    parser.add_argument("--tls", action="store_true", help="serve HTTPS, with the certificate of the benchmarks")
    arguments = parser.parse_args()
    Server.latency, context = arguments.latency, None
    if arguments.tls:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate())
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Server, "127.0.0.1", 0, backlog=2048, ssl=context)
    scheme = "http" if context is None else "https"
    Server.address = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    for top in (100, 1000):
        for skip in range(0, len(itwins()), top):
            page("iTwins", skip, top, Server.address)
    for skip in range(0, len(objects()), 100):
        page("objects", skip, 100, Server.address)
    before, began = time.process_time(), time.perf_counter()
    print(Server.address, flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    used = {"cpu": time.process_time() - before, "wall": time.perf_counter() - began, "served": Server.served}
    print(json.dumps(used), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
