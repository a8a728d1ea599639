"""The protocol of all clients in the benchmarks, and this client."""

from typing import Any, Protocol

from .data import SCENE_ID, new_objects
from .other_clients import Bare, Stock, aiohttp_client, httpx_client


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
        """Read 10,000 full iTwins with the concurrency that the client has, otherwise in pages of 100."""
        ...

    async def objects(self) -> int:
        """Read 5,000 View3d scene objects in pages of 100."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""


class Ours:
    """This client with any transport."""

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

    async def itwins_concurrently(self) -> int:
        # Ten pages of 1,000: the first alone, then the others at once.
        pager = self.platform.itwins.list(representation="full", concurrency=10, limit=10_000)
        return len(await pager.collect())

    async def objects(self) -> int:
        return len(await self.platform.scenes.list_objects(SCENE_ID, "i").collect())

    async def aclose(self) -> None:
        await self.platform.aclose()


async def connected(name: str, port: int) -> Client:
    """Return a client by its name in the tables."""
    if name == "limit":
        return Bare(port)
    if name == "aiohttp + json":
        return await aiohttp_client(port)
    if name == "httpx + json":
        return httpx_client(port)
    if name == "stock generated":
        return Stock(port)
    return Ours(port)
