"""The clients of the benchmarks: this one, and others with dictionaries, as people write it without a client library.

Each imports its library when it is made, because a process measures only one of them.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from .data import SCENE_ID, new_objects
from .workloads import AIOHTTP, HTTPX2, OURS

AUTHENTICATION = {"type": "Basic", "username": "u", "password": "p"}
ACCEPT = {"Authorization": "Bearer t", "Accept": "application/vnd.bench.itwin-platform.v1+json"}


class Client(Protocol):
    """The operations of every client."""

    async def get(self) -> None:
        """Send a small GET."""

    async def patch(self) -> None:
        """Send a PATCH of a repository's authentication."""

    async def post(self, itwin_id: str) -> None:
        """Create a scene of 100 objects; the iTwin `echo` returns them, another iTwin returns none."""

    async def itwins(self, page_size: int) -> int:
        """Read 10,000 full iTwins."""
        ...

    async def itwins_concurrently(self) -> int:
        """Read 10,000 full iTwins in pages of 1,000, in parallel if the client can do that."""
        ...

    async def objects(self) -> int:
        """Read 5,000 View3d scene objects in pages of 100."""
        ...

    async def objects_with_data(self) -> int:
        """Read as many, and then the position of each view: this client makes models of the data when it is read."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""


class Ours:
    """This client."""

    def __init__(self, port: int) -> None:
        from itwin_platform import BasicAuthentication, PlatformClient

        self.platform = PlatformClient(f"http://127.0.0.1:{port}", vendor="bench", token="t")
        self._authentication = BasicAuthentication(username="u", password="p")

    async def get(self) -> None:
        await self.platform.itwins.get_primary_account()

    async def patch(self) -> None:
        await self.platform.repositories.update("i", "r", authentication=self._authentication)

    async def post(self, itwin_id: str) -> None:
        await self.platform.scenes.create(itwin_id, display_name="Harbour", objects=new_objects())

    async def itwins(self, page_size: int) -> int:
        return len(await self.platform.itwins.list(representation="full", page_size=page_size, limit=10_000).collect())

    async def itwins_concurrently(self) -> int:
        # Ten pages of 1,000: the first alone, because its link shows how the service paginates, then nine at once.
        pager = self.platform.itwins.list(representation="full", concurrency=10, limit=10_000)
        return len(await pager.collect())

    async def objects(self) -> int:
        return len(await self.platform.scenes.list_objects(SCENE_ID, "i").collect())

    async def objects_with_data(self) -> int:
        from itwin_platform import View3dData

        objects = await self.platform.scenes.list_objects(SCENE_ID, "i").collect()
        return sum(isinstance(item.data, View3dData) and item.data.position.x > 0 for item in objects)

    async def aclose(self) -> None:
        await self.platform.aclose()


class Dictionaries:
    """A plain HTTP client with dictionaries."""

    def __init__(self, send: Callable[..., Awaitable[Any]], close: Callable[[], Awaitable[None]]) -> None:
        self._send = send
        self._close = close

    async def get(self) -> None:
        await self._send("GET", "/itwins/myprimaryaccount")

    async def patch(self) -> None:
        await self._send("PATCH", "/itwins/i/repositories/r", {"authentication": AUTHENTICATION})

    async def post(self, itwin_id: str) -> None:
        scene = {"displayName": "Harbour", "sceneData": {"objects": new_objects()}}
        await self._send("POST", f"/scenes/?iTwinId={itwin_id}", scene)

    async def itwins(self, page_size: int) -> int:
        return len(await self._listing(f"/itwins/?$top={page_size}", "iTwins"))

    async def itwins_concurrently(self) -> int:
        return await self.itwins(1000)

    async def objects(self) -> int:
        return len(await self._listing("/scenes/s/objects?iTwinId=i&$top=100", "objects"))

    async def objects_with_data(self) -> int:
        objects = await self._listing("/scenes/s/objects?iTwinId=i&$top=100", "objects")
        return sum(item["data"]["position"]["x"] > 0 for item in objects)

    async def aclose(self) -> None:
        await self._close()

    async def _listing(self, path: str | None, name: str) -> list[Any]:
        items: list[Any] = []
        while path:
            page = await self._send("GET", path)
            items.extend(page[name])
            href = page["_links"].get("next", {}).get("href")
            path = "/" + href.split("/", 3)[3] if href else None
        return items


def httpx_client(port: int, *, library: str, in_flight: int = 100) -> Dictionaries:
    """Return a client of httpx or httpx2 and json; both have 100 connections by default."""
    from importlib import import_module

    httpx: Any = import_module(library)
    client = httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}",
        headers=ACCEPT,
        timeout=60,
        limits=httpx.Limits(max_connections=in_flight, max_keepalive_connections=in_flight),
    )

    async def send(method: str, path: str, body: object = None) -> Any:
        return (await client.request(method, path, json=body)).json()

    return Dictionaries(send, client.aclose)


def aiohttp_client(port: int, *, in_flight: int = 100) -> Dictionaries:
    """Return a client of aiohttp and json, with as many connections as it has by default."""
    import aiohttp
    from yarl import URL

    session = aiohttp.ClientSession(headers=ACCEPT, connector=aiohttp.TCPConnector(limit=in_flight))

    async def send(method: str, path: str, body: object = None) -> Any:
        url = URL(f"http://127.0.0.1:{port}{path}", encoded=True)
        async with session.request(method, url, json=body) as response:
            return await response.json()

    return Dictionaries(send, session.close)


def connected(name: str, port: int) -> Client:
    """Return a client by its name in the tables."""
    if name == OURS:
        return Ours(port)
    if name == AIOHTTP:
        return aiohttp_client(port)
    return httpx_client(port, library="httpx2" if name == HTTPX2 else "httpx")
