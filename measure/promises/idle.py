"""POSTs on connections that were idle for nearly as long as their server keeps one, at a round trip of 100 ms.

A request that is on its way when the server closes the connection is lost, and nobody knows whether it had an effect.
"""

import asyncio
import random
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import uvicorn
from itwin_platform import BackoffPolicy, NotSentError, OutcomeUnknownError, PlatformClient, PlatformError

from .figure import Figure, exactly

#: Half of the round trip, in seconds.
DELAY = 0.05
POSTS = 300
#: How long the connections are idle, in seconds: around the five of the server, and around the time of the client.
PAUSES = {"4.85 to 5 s": (4.85, 5.0), "3.85 to 4.05 s": (3.85, 4.05)}


async def idle() -> list[Figure]:
    """Count the POSTs without a response of uvicorn, which closes an idle connection after 5 s."""
    figures: list[Figure] = []
    async with _uvicorn() as port, _far_away(port) as address:
        for words, pause in PAUSES.items():
            chance = random.Random(7)
            lost = sum(await asyncio.gather(*(_is_lost(address, chance.uniform(*pause)) for _ in range(POSTS))))
            figures.append(exactly(f"POSTs of {POSTS} lost after {words} of idleness", lost, 0))
    return figures


async def _is_lost(address: str, seconds: float) -> bool:
    policy = BackoffPolicy(max_attempts=1)
    async with PlatformClient(address, vendor="v", token="t", backoff=policy) as platform:
        for wait in (0.0, seconds):
            await asyncio.sleep(wait)
            try:
                await platform.detectors.create(name="d", type="PhotoObjectDetector")
            except (OutcomeUnknownError, NotSentError):
                return True
            except PlatformError:  # 404: there was a response
                continue
    return False


@asynccontextmanager
async def _uvicorn() -> AsyncIterator[int]:
    """Run uvicorn, as it is by default, with a service that knows no path."""

    async def respond(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 404, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    server = uvicorn.Server(uvicorn.Config(respond, lifespan="off", log_level="error"))
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        yield listening.getsockname()[1]
        server.should_exit = True
        await serving


@asynccontextmanager
async def _far_away(port: int) -> AsyncIterator[str]:
    """Put a network with a round trip of 100 ms before a port: bytes and ends take their time, and stay in order."""
    loop = asyncio.get_running_loop()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                loop.call_later(DELAY, writer.write, data)
        loop.call_later(DELAY, writer.close)

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(carry(reader, inner_writer), carry(inner_reader, writer))

    async with await asyncio.start_server(accept, "127.0.0.1", 0, backlog=1024) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
