"""The works, as each client does them. A work returns how many calls, or items, it did."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from .data import SCENE_ID, new_objects

AUTHENTICATION = {"type": "Basic", "username": "u", "password": "p"}
SCENE = {"displayName": "Harbour", "sceneData": {"objects": new_objects()}}
ACCEPT = {"Authorization": "Bearer t", "Accept": "application/vnd.bench.itwin-platform.v1+json"}


class Client(Protocol):
    """What every client does."""

    async def get(self) -> None:
        """One small GET."""

    async def patch(self) -> None:
        """One PATCH of a repository's authentication."""

    async def post(self, itwin_id: str) -> None:
        """Create a scene of 100 objects; the iTwin `echo` returns them, any other one returns none."""

    async def itwins(self, page_size: int) -> int:
        """Read 10,000 full iTwins."""
        ...

    async def itwins_at_once(self) -> int:
        """Read 10,000 full iTwins as quickly as the client offers to: where it offers nothing, 100 by 100."""
        ...

    async def objects(self) -> int:
        """Read 5,000 View3d scene objects in pages of 100."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""


class Ours:
    """This client, with whatever transport it is given."""

    def __init__(self, port: int, transport: Any = None) -> None:
        from itwin_platform import BasicAuthentication, PlatformClient

        self.platform = PlatformClient(f"http://127.0.0.1:{port}", vendor="bench", token="t", transport=transport)
        self._authentication = BasicAuthentication(username="u", password="p")

    async def get(self) -> None:
        await self.platform.itwins.get_primary_account()

    async def patch(self) -> None:
        await self.platform.repositories.update("i", "r", authentication=self._authentication)

    async def post(self, itwin_id: str) -> None:
        await self.platform.scenes.create(itwin_id, display_name="Harbour", objects=new_objects())

    async def itwins(self, page_size: int) -> int:
        return len(await self.platform.itwins.list(representation="full", page_size=page_size, limit=10_000).collect())

    async def itwins_at_once(self) -> int:
        # Ten pages of 1,000, all requested at once: one round trip.
        pager = self.platform.itwins.list(representation="full", concurrency=10, eager=True, limit=10_000)
        return len(await pager.collect())

    async def objects(self) -> int:
        return len(await self.platform.scenes.list_objects(SCENE_ID, "i").collect())

    async def aclose(self) -> None:
        await self.platform.aclose()


class Stock:
    """What openapi-python-client makes of the same specification with its own templates."""

    def __init__(self, port: int) -> None:
        from stock_api import AuthenticatedClient  # made by the benchmark's set-up

        self._client = AuthenticatedClient(base_url=f"http://127.0.0.1:{port}", token="t")

    async def get(self) -> None:
        from stock_api.api.itwins import get_primary_account

        await get_primary_account.asyncio(client=self._client)

    async def patch(self) -> None:
        from stock_api.api.repositories import update_repository
        from stock_api.models import RepositoryUpdate, StoredBasicAuthentication

        authentication = StoredBasicAuthentication(type_="Basic", username="u", password="p")
        await update_repository.asyncio(
            "i", "r", client=self._client, body=RepositoryUpdate(authentication=authentication)
        )

    async def post(self, itwin_id: str) -> None:
        from stock_api.api.scenes import create_scene
        from stock_api.models import SceneCreate

        await create_scene.asyncio(client=self._client, body=SceneCreate.from_dict(SCENE), i_twin_id=itwin_id)

    async def itwins(self, page_size: int) -> int:
        from stock_api.api.itwins import list_itwins

        items: list[Any] = []
        for skip in range(0, 10_000, page_size):
            page = await list_itwins.asyncio(client=self._client, top=page_size, skip=skip)
            items.extend(page.i_twins)
        return len(items)

    async def itwins_at_once(self) -> int:
        return await self.itwins(100)

    async def objects(self) -> int:
        from stock_api.api.scenes import list_scene_objects

        items: list[Any] = []
        for skip in range(0, 5_000, 100):
            page = await list_scene_objects.asyncio("s", client=self._client, i_twin_id="i", top=100, skip=skip)
            items.extend(page.objects)
        return len(items)

    async def aclose(self) -> None:
        await self._client.get_async_httpx_client().aclose()


class Dictionaries:
    """A plain HTTP client and plain dictionaries: what people write without a client library."""

    def __init__(self, send: Callable[..., Awaitable[Any]], close: Callable[[], Awaitable[None]]) -> None:
        self._send = send
        self._close = close

    async def get(self) -> None:
        await self._send("GET", "/itwins/myprimaryaccount")

    async def patch(self) -> None:
        await self._send("PATCH", "/itwins/i/repositories/r", {"authentication": AUTHENTICATION})

    async def post(self, itwin_id: str) -> None:
        await self._send("POST", f"/scenes/?iTwinId={itwin_id}", SCENE)

    async def itwins(self, page_size: int) -> int:
        return len(await self._listing(f"/itwins/?$top={page_size}", "iTwins"))

    async def itwins_at_once(self) -> int:
        return await self.itwins(100)

    async def objects(self) -> int:
        return len(await self._listing("/scenes/s/objects?iTwinId=i&$top=100", "objects"))

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


def httpx_client(port: int) -> Dictionaries:
    """Make httpx + json."""
    import httpx

    client = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=ACCEPT, timeout=30)

    async def send(method: str, path: str, body: object = None) -> Any:
        return (await client.request(method, path, json=body)).json()

    return Dictionaries(send, client.aclose)


async def aiohttp_client(port: int) -> Dictionaries:
    """Make aiohttp + json."""
    import aiohttp
    from yarl import URL

    session = aiohttp.ClientSession(headers=ACCEPT)

    async def send(method: str, path: str, body: object = None) -> Any:
        url = URL(f"http://127.0.0.1:{port}{path}", encoded=True)
        async with session.request(method, url, json=body) as response:
            return await response.json()

    return Dictionaries(send, session.close)


class Bare:
    """The limit."""

    def __init__(self, port: int) -> None:
        from .limit import Limit

        self._limit = Limit(port)
        self._connected = False

    async def _send(self, line: bytes, body: bytes = b"") -> bytes:
        if not self._connected:
            self._connected = True
            await self._limit.connect()
        return await self._limit.send(line, body)

    async def get(self) -> None:
        import msgspec

        from .limit import Account

        msgspec.json.decode(await self._send(b"GET /itwins/myprimaryaccount"), type=Account)

    async def patch(self) -> None:
        import msgspec

        body = msgspec.json.encode({"authentication": AUTHENTICATION})
        json.loads(await self._send(b"PATCH /itwins/i/repositories/r", body))

    async def post(self, itwin_id: str) -> None:
        import msgspec

        from .limit import Created

        line = b"POST /scenes/?iTwinId=" + itwin_id.encode()
        msgspec.json.decode(await self._send(line, msgspec.json.encode(SCENE)), type=Created)

    async def itwins(self, page_size: int) -> int:
        import msgspec

        from .limit import ITwins

        items: list[Any] = []
        for skip in range(0, 10_000, page_size):
            body = await self._send(b"GET /itwins/?$skip=%d&$top=%d" % (skip, page_size))
            items.extend(msgspec.json.decode(body, type=ITwins).iTwins)
        return len(items)

    async def itwins_at_once(self) -> int:
        return await self.itwins(100)

    async def objects(self) -> int:
        import msgspec

        from .limit import Objects

        items: list[Any] = []
        for skip in range(0, 5_000, 100):
            body = await self._send(b"GET /scenes/s/objects?$skip=%d&$top=100" % skip)
            items.extend(msgspec.json.decode(body, type=Objects).objects)
        return len(items)

    async def aclose(self) -> None:
        await asyncio.sleep(0)


async def connected(name: str, port: int) -> Client:
    """Make a client by its name in the tables."""
    if name == "limit":
        return Bare(port)
    if name == "aiohttp + json":
        return await aiohttp_client(port)
    if name == "httpx + json":
        return httpx_client(port)
    if name == "stock generated":
        return Stock(port)
    if name == "ours, fast":
        from itwin_platform import fast_transport

        return Ours(port, transport=fast_transport())
    return Ours(port)
