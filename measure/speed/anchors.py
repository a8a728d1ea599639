"""The least client that the parts of this one allow, clients written in Rust, and decoding alone.

`docs/benchmarks.md` says what each of them does not do.
"""

import asyncio
import json
from collections.abc import Awaitable
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import msgspec

from .clients import ACCEPT, Dictionaries, tls_of
from .data import authority, encoded, stored

#: As many connections as this client has by default.
IN_FLIGHT = 20


class Connection(asyncio.Protocol):
    """One HTTP/1.1 connection: it writes a request, and httptools finds the end of the response."""

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
        """Write a request, and return a future of the body of its response."""
        self._body.clear()
        self._response = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._response


def floor(address: str) -> Dictionaries:
    """Return the least client of this client's own parts: asyncio, httptools and msgspec."""
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
    """Return pyreqwest, which is reqwest for Python, with msgspec for JSON."""
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
    """Return the client of ry, which is reqwest as well, with msgspec for JSON."""
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
        """Its connections end with the process: it has nothing to close them with."""

    return Dictionaries(send, close)


class ITwin(msgspec.Struct, rename="camel"):
    """An iTwin, without properties that are not listed here."""

    id: str
    class_: str = msgspec.field(name="class")
    sub_class: str
    type: str | None
    number: str | None
    display_name: str
    status: str
    geographic_location: str | None
    latitude: float | None
    longitude: float | None
    iana_time_zone: str | None
    data_center_location: str
    parent_id: str | None
    i_twin_account_id: str | None
    image_name: str | None
    image: str | None
    created_date_time: datetime
    created_by: str | None
    last_modified_date_time: datetime
    last_modified_by: str | None


class ITwinPage(msgspec.Struct):
    """A page of iTwins."""

    items: list[ITwin] = msgspec.field(name="iTwins")
    links: dict[str, object] = msgspec.field(name="_links")


class Vector(msgspec.Struct):
    """A point or a direction."""

    x: float
    y: float
    z: float


class View(msgspec.Struct, rename="camel"):
    """The data of a View3d."""

    position: Vector
    direction: Vector
    up: Vector
    is_orthographic: bool
    aspect_ratio: float
    near: float
    far: float
    fov: float
    ecef_transform: list[float]


class SceneObject(msgspec.Struct, rename="camel"):
    """A scene object whose data is not read."""

    id: str
    kind: str
    display_name: str
    order: int
    visible: bool
    version: str
    scene_id: str
    created_by_id: str
    creation_time: datetime
    last_modified: datetime
    data: msgspec.Raw


class ViewObject(SceneObject):
    """A scene object whose data is read."""

    data: View  # type: ignore[assignment]  # instead of the bytes


class ObjectPage(msgspec.Struct):
    """A page of scene objects whose data is not read."""

    items: list[SceneObject] = msgspec.field(name="objects")
    links: dict[str, object] = msgspec.field(name="_links")


class ViewPage(msgspec.Struct):
    """A page of scene objects whose data is read."""

    items: list[ViewObject] = msgspec.field(name="objects")
    links: dict[str, object] = msgspec.field(name="_links")


class Structs(Dictionaries):
    """Decodes the pages of a listing with `msgspec.Struct`, and sends nothing."""

    def __init__(self) -> None:
        async def nothing(*_: object) -> None:
            """There is nothing to send or to close."""

        super().__init__(nothing, nothing)
        self._pages: dict[tuple[str, int], list[bytes]] = {}

    async def itwins(self, page_size: int) -> int:
        return self._decoded(ITwinPage, "iTwins", page_size)

    async def objects(self) -> int:
        return self._decoded(ObjectPage, "objects", 100)

    async def objects_with_data(self) -> int:
        return self._decoded(ViewPage, "objects", 100)

    def _decoded(self, page: type[ITwinPage | ObjectPage | ViewPage], name: str, page_size: int) -> int:
        decoder = msgspec.json.Decoder(page)
        # All are kept until the end, as a listing that is collected keeps them.
        return sum(len(each.items) for each in [decoder.decode(body) for body in self._bodies(name, page_size)])

    def _bodies(self, name: str, size: int) -> list[bytes]:
        if (name, size) not in self._pages:
            items = json.loads(stored(name.lower()))
            pages = (items[start : start + size] for start in range(0, len(items), size))
            self._pages[name, size] = [encoded({name: page, "_links": {}}) for page in pages]
        return self._pages[name, size]
