"""Lower bounds of processor time: the floor, clients written in Rust, and decoding alone.

`docs/benchmarks.md` lists the missing features of each of them.
"""

import asyncio
import json
from collections.abc import Awaitable
from datetime import datetime
from functools import cache, reduce
from operator import or_
from types import GenericAlias
from typing import Any
from urllib.parse import urlsplit

import msgspec

from .clients import ACCEPT, Dictionaries, tls_of
from .data import authority, encoded, stored

#: The number of connections: the default of this client.
IN_FLIGHT = 20


class Connection(asyncio.Protocol):
    """One HTTP/1.1 connection, on which httptools finds the end of each response."""

    def __init__(self) -> None:
        import httptools

        self._parser = httptools.HttpResponseParser(self)
        self._body: list[bytes] = []

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def close(self) -> None:
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        self._response.set_result(b"".join(self._body))

    def send(self, request: bytes) -> Awaitable[bytes]:
        """Write a request, and return a future with the body of its response."""
        self._body.clear()
        self._response = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._response


def floor(address: str) -> Dictionaries:
    """Return the smallest client of the parts that this client uses: asyncio, httptools and msgspec."""
    url, idle, permits = urlsplit(address), list[Connection](), asyncio.Semaphore(IN_FLIGHT)
    headers = "".join(f"{name}: {value}\r\n" for name, value in {"Host": url.netloc, **ACCEPT}.items())
    context = tls_of(address)

    def connect() -> Awaitable[tuple[object, Connection]]:
        loop = asyncio.get_running_loop()
        return loop.create_connection(Connection, url.hostname or "", url.port or 0, ssl=context)

    async def send(method: str, path: str, body: object = None) -> Any:
        content = b"" if body is None else msgspec.json.encode(body)
        sizes = "" if body is None else f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
        async with permits:
            connection = idle.pop() if idle else (await connect())[1]
            response = await connection.send(f"{method} {path} HTTP/1.1\r\n{headers}{sizes}\r\n".encode() + content)
            idle.append(connection)
        return msgspec.json.decode(response)

    async def close() -> None:
        for connection in idle:
            connection.close()

    return Dictionaries(send, close)


def pyreqwest(address: str) -> Dictionaries:
    """Return a client of pyreqwest, which wraps reqwest, with msgspec for JSON."""
    from pyreqwest.client import ClientBuilder

    builder = ClientBuilder().default_headers(ACCEPT)
    if address.startswith("https:"):
        builder = builder.add_root_certificate_pem(authority().read_bytes())
    client = builder.build()

    async def send(method: str, path: str, body: object = None) -> Any:
        request = client.request(method, f"{address}{path}")
        if body is not None:
            request = request.header("Content-Type", "application/json").body_bytes(msgspec.json.encode(body))
        return msgspec.json.decode(await (await request.build().send()).bytes())

    return Dictionaries(send, client.close)


def ry(address: str) -> Dictionaries:
    """Return a client of ry, which wraps reqwest too, with msgspec for JSON."""
    from ry import Certificate, Client

    trusted = [Certificate.from_pem(authority().read_bytes())] if address.startswith("https:") else None
    client = Client(headers=ACCEPT, tls_certs_merge=trusted)

    async def send(method: str, path: str, body: object = None) -> Any:
        more: dict[str, Any] = {}
        if body is not None:
            more = {"body": msgspec.json.encode(body), "headers": {"Content-Type": "application/json"}}
        response = await client.fetch(f"{address}{path}", method=method, **more)
        return msgspec.json.decode(await response.bytes())

    async def close() -> None:
        """Do nothing: ry cannot close its connections, which end with the process."""

    return Dictionaries(send, close)


#: Properties of iTwins and scene objects that are times.
TIMES = {"createdDateTime", "lastModifiedDateTime", "creationTime", "lastModified"}


class Structs(Dictionaries):
    """A client that decodes the pages of listings with `msgspec.Struct`, and sends no request."""

    def __init__(self) -> None:
        async def nothing(*_: object) -> None:
            """Do nothing."""

        super().__init__(nothing, nothing)

    async def itwins(self, page_size: int) -> int:
        return decoded("iTwins", page_size)

    async def objects(self) -> int:
        return decoded("objects", 100, is_read=False)

    async def objects_with_data(self) -> int:
        return decoded("objects", 100)


def decoded(name: str, size: int, *, is_read: bool = True) -> int:
    """Decode all pages and return the number of items. Without `is_read`, the data of scene objects is not decoded."""
    decode = decoder(name, is_read=is_read).decode
    # Keep all pages until the end, as `collect()` does.
    return sum(len(getattr(page, name)) for page in [decode(body) for body in pages(name, size)])


@cache
def pages(name: str, size: int) -> list[bytes]:
    """Return the bodies of the pages of a listing."""
    items = json.loads(stored(name.lower()))
    parts = [items[start : start + size] for start in range(0, len(items), size)]
    return [encoded({name: part, "_links": {}}) for part in parts]


@cache
def decoder(name: str, *, is_read: bool) -> msgspec.json.Decoder[Any]:
    """Return a decoder of pages into structs."""
    item = struct_of(name, json.loads(stored(name.lower())), unread=() if is_read else ("data",))
    return msgspec.json.Decoder(msgspec.defstruct("Page", [(name, GenericAlias(list, item))]))


def struct_of(name: str, values: list[dict[str, Any]], *, unread: tuple[str, ...] = ()) -> Any:
    """Return a struct with the properties of the mappings, each with the type of its values."""
    properties = {key: type_of(key, [value[key] for value in values]) for key in values[0]}
    properties |= dict.fromkeys(unread, msgspec.Raw)
    # Some names of properties are keywords of Python.
    names = {f"_{key}": key for key in properties}
    return msgspec.defstruct(name, [(f"_{key}", kind) for key, kind in properties.items()], rename=names)


def type_of(name: str, values: list[Any]) -> Any:
    """Return the type of the values of a property."""
    kinds = {type(value) for value in values}
    if name in TIMES:
        return datetime
    if kinds == {dict}:
        return struct_of(name, values)
    if kinds == {list}:
        return GenericAlias(list, type_of(name, [item for value in values for item in value]))
    return float if kinds == {int, float} else reduce(or_, kinds)
