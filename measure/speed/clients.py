"""The clients of the benchmarks: this one, the output of a generator, and HTTP libraries with dictionaries.

Each imports its library in its constructor, because a process measures only one of them.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from functools import cached_property, partial
from importlib import import_module
from typing import Any, Protocol

from .data import SCENE_ID, authority, new_objects
from .workloads import AIOHTTP, ANCHORS, FLOOR, HTTPX2, MSGSPEC, OURS, PYREQWEST, RY, STOCK

AUTHENTICATION = {"type": "Basic", "username": "u", "password": "p"}
ACCEPT = {"Authorization": "Bearer t", "Accept": "application/vnd.bench.itwin-platform.v1+json"}


class Client(Protocol):
    """The operations of every client."""

    async def get(self) -> None:
        """Send a small GET."""

    async def patch(self) -> None:
        """Send a PATCH of a repository's authentication."""

    async def post(self, itwin_id: str) -> None:
        """Create a scene of 100 objects; with the iTwin `echo`, the response has them."""

    async def post_models(self, itwin_id: str) -> None:
        """Create the same scene from existing models; a client without models sends dictionaries."""

    async def itwins(self, page_size: int) -> int:
        """Read 10,000 full iTwins, one page after the other."""
        ...

    async def itwins_concurrently(self) -> int:
        """Read 10,000 full iTwins with ten pages of 1,000 in flight."""
        ...

    async def objects(self) -> int:
        """Read 5,000 View3d scene objects in pages of 100."""
        ...

    async def objects_with_data(self) -> int:
        """Read as many and the position of each view: this client makes the models of the data on first use."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""


class Ours:
    """This client."""

    def __init__(self, address: str) -> None:
        from itwin_platform import BasicAuthentication, PlatformClient

        self.platform = PlatformClient(address, vendor="bench", token="t", ssl_context=tls_of(address))
        self._authentication = BasicAuthentication(username="u", password="p")

    @cached_property
    def _models(self) -> list[Any]:
        from itwin_platform import SceneObjectCreate

        return [SceneObjectCreate.from_dict(each) for each in new_objects()]

    async def get(self) -> None:
        await self.platform.itwins.get_primary_account()

    async def patch(self) -> None:
        await self.platform.repositories.update("i", "r", authentication=self._authentication)

    async def post(self, itwin_id: str) -> None:
        await self.platform.scenes.create(itwin_id, display_name="Harbour", objects=new_objects())

    async def post_models(self, itwin_id: str) -> None:
        await self.platform.scenes.create(itwin_id, display_name="Harbour", objects=self._models)

    async def itwins(self, page_size: int) -> int:
        return len(
            await self.platform.itwins.list(
                representation="full", page_size=page_size, limit=10_000, max_return=10_000
            ).collect()
        )

    async def itwins_concurrently(self) -> int:
        # Ten pages of 1,000: the first alone, because its link shows how the service paginates, then nine at once.
        pager = self.platform.itwins.list(representation="full", concurrency=10, limit=10_000, max_return=10_000)
        return len(await pager.collect())

    async def objects(self) -> int:
        return len(await self.platform.scenes.list_objects(SCENE_ID, "i").collect())

    async def objects_with_data(self) -> int:
        from itwin_platform import View3dData

        objects = await self.platform.scenes.list_objects(SCENE_ID, "i").collect()
        return sum(isinstance(item.data, View3dData) and item.data.position.x > 0 for item in objects)

    async def aclose(self) -> None:
        await self.platform.aclose()


class Stock:
    """The client that openapi-python-client generates with its own templates.

    It accepts only models, so it sends models in each workload. It has no pagination, so the loop is written here.
    """

    def __init__(self, address: str) -> None:
        context = tls_of(address)
        self._client: Any = import_module("stock_client").AuthenticatedClient(
            base_url=address, token="t", timeout=60, verify_ssl=True if context is None else context
        )
        api, self._models = "stock_client.api", import_module("stock_client.models")
        self._get = partial(import_module(f"{api}.itwins.get_primary_account").asyncio, client=self._client)
        self._patch = partial(import_module(f"{api}.repositories.update_repository").asyncio, client=self._client)
        self._post = partial(import_module(f"{api}.scenes.create_scene").asyncio, client=self._client)
        self._itwins = partial(import_module(f"{api}.itwins.list_itwins").asyncio, client=self._client)
        self._objects = partial(import_module(f"{api}.scenes.list_scene_objects").asyncio, client=self._client)

    @cached_property
    def _scene(self) -> Any:
        scene = {"displayName": "Harbour", "sceneData": {"objects": new_objects()}}
        return self._models.SceneCreate.from_dict(scene)

    async def get(self) -> None:
        await self._get()

    async def patch(self) -> None:
        await self._patch("i", "r", body=self._models.RepositoryUpdate.from_dict({"authentication": AUTHENTICATION}))

    async def post(self, itwin_id: str) -> None:
        await self._post(i_twin_id=itwin_id, body=self._scene)

    post_models = post

    async def itwins(self, page_size: int) -> int:
        return len(await self._listing(self._full_itwins, "i_twins", page_size))

    async def itwins_concurrently(self) -> int:
        pages = await asyncio.gather(*(self._full_itwins(skip=skip, top=1000) for skip in range(0, 10_000, 1000)))
        return sum(len(page.i_twins) for page in pages)

    async def objects(self) -> int:
        return len(await self._listing(self._scene_objects, "objects", 100))

    async def objects_with_data(self) -> int:
        # The generator makes no model for the data, because its type depends on the kind.
        objects = await self._listing(self._scene_objects, "objects", 100)
        return sum(item.data["position"]["x"] > 0 for item in objects)

    async def aclose(self) -> None:
        await self._client.get_async_httpx_client().aclose()

    def _full_itwins(self, *, skip: int, top: int) -> Awaitable[Any]:
        full = self._models.PreferredReturn("return=representation")
        page: Awaitable[Any] = self._itwins(skip=skip, top=top, prefer=full)
        return page

    def _scene_objects(self, *, skip: int, top: int) -> Awaitable[Any]:
        page: Awaitable[Any] = self._objects(SCENE_ID, i_twin_id="i", skip=skip, top=top)
        return page

    async def _listing(self, read: Callable[..., Awaitable[Any]], name: str, page_size: int) -> list[Any]:
        items: list[Any] = []
        while True:
            page = await read(skip=len(items), top=page_size)
            items.extend(getattr(page, name))
            if not page.field_links.next_:
                return items


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

    post_models = post

    async def itwins(self, page_size: int) -> int:
        return len(await self._listing(f"/itwins/?$top={page_size}", "iTwins"))

    async def itwins_concurrently(self) -> int:
        # The number of pages is hard-coded, because no response has it.
        paths = [f"/itwins/?$skip={skip}&$top=1000" for skip in range(0, 10_000, 1000)]
        return sum(len(page["iTwins"]) for page in await asyncio.gather(*(self._send("GET", path) for path in paths)))

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


def tls_of(address: str) -> ssl.SSLContext | None:
    """Return a context that trusts the certificate of the benchmarks for an HTTPS address; None for HTTP."""
    return ssl.create_default_context(cafile=authority()) if address.startswith("https:") else None


def httpx_client(address: str, *, library: str, in_flight: int = 100) -> Dictionaries:
    """Return a client of httpx or httpx2 and json; both have 100 connections by default."""
    httpx: Any = import_module(library)
    client = httpx.AsyncClient(
        base_url=address,
        headers=ACCEPT,
        timeout=60,
        limits=httpx.Limits(max_connections=in_flight, max_keepalive_connections=in_flight),
        verify=tls_of(address) or True,
    )

    async def send(method: str, path: str, body: object = None) -> Any:
        return (await client.request(method, path, json=body)).json()

    return Dictionaries(send, client.aclose)


def aiohttp_client(address: str, *, in_flight: int = 100, json: Any = None) -> Dictionaries:
    """Return a client of aiohttp; it has 100 connections by default.

    Args:
        address: address of the service.
        in_flight: maximum number of connections.
        json: module that encodes and decodes JSON; the json module by default, which aiohttp calls.
    """
    import aiohttp
    from yarl import URL

    connector = aiohttp.TCPConnector(limit=in_flight, ssl=tls_of(address) or True)
    session = aiohttp.ClientSession(headers=ACCEPT, connector=connector)

    async def send(method: str, path: str, body: object = None) -> Any:
        url = URL(f"{address}{path}", encoded=True)
        if json is None:
            async with session.request(method, url, json=body) as response:
                return await response.json()
        written, headers = (None, None) if body is None else (json.encode(body), {"Content-Type": "application/json"})
        async with session.request(method, url, data=written, headers=headers) as response:
            return json.decode(await response.read())

    return Dictionaries(send, session.close)


def connected(name: str, address: str) -> Client:
    """Return a client by its name in the tables."""
    if name in (OURS, STOCK):
        return Ours(address) if name == OURS else Stock(address)
    if name in (AIOHTTP, MSGSPEC):
        return aiohttp_client(address, json=import_module("msgspec.json") if name == MSGSPEC else None)
    if name in ANCHORS:
        from . import anchors

        made = {FLOOR: anchors.floor, PYREQWEST: anchors.pyreqwest, RY: anchors.ry}
        return made[name](address) if name in made else anchors.Structs()
    return httpx_client(address, library="httpx2" if name == HTTPX2 else "httpx")
