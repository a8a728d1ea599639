"""The limit: a bare asyncio HTTP/1.1 protocol with msgspec structs, as fast as Python goes without being a client."""

import asyncio
from datetime import datetime
from typing import Any

import msgspec


class Summary(msgspec.Struct):
    """An iTwin, minimal."""

    id: str
    class_: str = msgspec.field(name="class")
    subClass: str
    type: str | None
    number: str
    displayName: str
    status: str


class ITwin(Summary):
    """An iTwin, full."""

    geographicLocation: str | None
    latitude: float | None
    longitude: float | None
    ianaTimeZone: str | None
    dataCenterLocation: str
    parentId: str | None
    iTwinAccountId: str | None
    imageName: str | None
    image: str | None
    createdDateTime: datetime
    createdBy: str | None
    lastModifiedDateTime: datetime
    lastModifiedBy: str | None


class Vector(msgspec.Struct):
    """A point or direction."""

    x: float
    y: float
    z: float


class View(msgspec.Struct):
    """View3d data."""

    position: Vector
    direction: Vector
    up: Vector
    isOrthographic: bool
    aspectRatio: float
    near: float
    far: float
    fov: float
    ecefTransform: list[float]


class SceneObject(msgspec.Struct):
    """A listed scene object."""

    id: str
    displayName: str
    order: float
    visible: bool
    version: str
    kind: str
    data: View
    sceneId: str
    createdById: str
    creationTime: datetime
    lastModified: datetime


class Link(msgspec.Struct):
    """An address."""

    href: str


class Links(msgspec.Struct):
    """Paging links."""

    next: Link | None = None


class ITwins(msgspec.Struct):
    """A page of iTwins."""

    iTwins: list[ITwin]
    links: Links = msgspec.field(name="_links")


class Objects(msgspec.Struct):
    """A page of scene objects."""

    objects: list[SceneObject]
    links: Links = msgspec.field(name="_links")


class EchoedObject(msgspec.Struct):
    """A scene object of a new scene."""

    id: str
    displayName: str
    visible: bool
    version: str
    kind: str
    data: View


class SceneData(msgspec.Struct):
    """The objects of a new scene."""

    objects: list[EchoedObject]


class Scene(msgspec.Struct):
    """A new scene."""

    id: str
    displayName: str
    iTwinId: str
    createdById: str
    creationTime: datetime
    lastModified: datetime
    sceneData: SceneData | None = None


class Created(msgspec.Struct):
    """The response to a new scene."""

    scene: Scene


class Account(msgspec.Struct):
    """The response with the primary account."""

    iTwin: Summary


class Connection(asyncio.Protocol):
    """One persistent connection for one request at a time."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._length = 0
        self._response: asyncio.Future[bytes] | None = None
        self.transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Return the body to `send` when it is complete."""
        self._received += data
        if not self._length:
            end = self._received.find(b"\r\n\r\n")
            if end < 0:
                return
            start = self._received.index(b"content-length:") + 15
            length = int(self._received[start : self._received.index(b"\r", start)])
            del self._received[: end + 4]
            self._length = length
        if len(self._received) >= self._length and self._response is not None:
            body, self._received, self._length = bytes(self._received), bytearray(), 0
            self._response.set_result(body)

    async def send(self, request: bytes) -> bytes:
        """Send and return the body."""
        self._response = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return await self._response


class Limit:
    """A pool with as many connections as httpx and aiohttp open at most."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._head = f" HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer t\r\n".encode()
        self._idle: asyncio.Queue[Connection] = asyncio.Queue()

    async def connect(self, count: int = 100) -> None:
        """Open the connections."""
        loop = asyncio.get_running_loop()
        for _ in range(count):
            _, connection = await loop.create_connection(Connection, "127.0.0.1", self._port)
            self._idle.put_nowait(connection)

    async def send(self, line: bytes, body: bytes = b"") -> bytes:
        """Send one request and return the body."""
        connection = await self._idle.get()
        try:
            extra = b"content-length: %d\r\n" % len(body) if body else b""
            return await connection.send(line + self._head + extra + b"\r\n" + body)
        finally:
            self._idle.put_nowait(connection)
