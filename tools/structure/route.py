"""Traces a GET and a page over loopback, through the real engine: in which files functions run.

A response that is sent in one write is read in one turn of the event loop, one whose head and body come apart in two.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from types import FrameType

from itwin_platform import PlatformClient

from tools.structure.lines import TRANSPORT, WRAPPER

ACCOUNT = {"iTwin": {"id": "a", "class": "Account", "displayName": "Example"}}
PAGE = {"iTwins": [{"id": str(number), "class": "Endeavor", "displayName": "Example"} for number in range(100)]}


async def get(platform: PlatformClient) -> None:
    """Send one GET."""
    await platform.itwins.get_primary_account()


async def page(platform: PlatformClient) -> None:
    """Read a listing of one page."""
    await platform.itwins.list(page_size=100).collect()


async def traced(work: Callable[[PlatformClient], Awaitable[None]], *, writes: int) -> Sequence[Path]:
    """Return the hand-written file of each call of an operation, in order. Resuming a coroutine counts as a call of it.

    A first one that is not traced does the lazy imports and connects.

    Args:
        work: the operation.
        writes: in how many writes the server sends a response: 1, or 2 for head and body.
    """
    files: list[Path] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        file = Path(frame.f_code.co_filename)
        if event == "call" and (file.is_relative_to(WRAPPER) or file.is_relative_to(TRANSPORT)):
            files.append(file)

    server = await asyncio.start_server(partial(_respond, writes), "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, PlatformClient(address, vendor="v", token="made-up") as platform:
        await work(platform)
        sys.setprofile(note)
        await work(platform)
        sys.setprofile(None)
    return files


async def _respond(writes: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while request := await reader.readuntil(b"\r\n\r\n"):
            body = json.dumps(ACCOUNT if b"myprimaryaccount" in request else PAGE).encode()
            head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
            writer.write(head if writes == 2 else head + body)
            if writes == 2:
                for _ in range(4):  # the client reads the head
                    await asyncio.sleep(0)
                writer.write(body)
    except (asyncio.IncompleteReadError, asyncio.CancelledError):  # the client has gone, or the trace is over
        writer.close()
