"""Traces a GET and a page over loopback, through the real engine: which functions run, in which files.

A response that is sent in one write is read in one turn of the event loop, one whose head and body come apart in two.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import FrameType

from itwin_platform import PlatformClient

from tools.structure.lines import PROJECT, TRANSPORT, WRAPPER

GENERATED = PROJECT / "generated" / "itwin_platform_api"
ACCOUNT = {"iTwin": {"id": "a", "class": "Account", "displayName": "Example"}}
PAGE = {"iTwins": [{"id": str(number), "class": "Endeavor", "displayName": "Example"} for number in range(100)]}

#: The file and the function of each call, in order. Resuming a coroutine counts as a call of it.
Calls = Sequence[tuple[Path, str]]


async def get(platform: PlatformClient) -> None:
    """Send one GET."""
    await platform.itwins.get_primary_account()


async def page(platform: PlatformClient) -> None:
    """Read a listing of one page."""
    await platform.itwins.list(page_size=100).collect()


def traced_calls(work: Callable[[PlatformClient], Awaitable[None]], *, writes: int) -> Calls:
    """Return the calls of an operation. A first one that is not traced does the lazy imports and connects.

    Args:
        work: the operation.
        writes: in how many writes the server sends a response: 1, or 2 for head and body.
    """
    return asyncio.run(_trace(work, writes))


def hand_written(calls: Calls) -> Calls:
    """Return the calls without those of generated functions."""
    return [call for call in calls if not call[0].is_relative_to(GENERATED)]


def files(calls: Calls) -> set[Path]:
    """Return the files of the calls."""
    return {file for file, _ in calls}


def moves(calls: Calls) -> int:
    """Count the calls that are in another file than the previous call."""
    return sum(before[0] != after[0] for before, after in pairwise(calls))


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


async def _trace(work: Callable[[PlatformClient], Awaitable[None]], writes: int) -> Calls:
    calls: list[tuple[Path, str]] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        file = Path(frame.f_code.co_filename)
        if event == "call" and any(file.is_relative_to(package) for package in (WRAPPER, TRANSPORT, GENERATED)):
            calls.append((file, frame.f_code.co_qualname))

    server = await asyncio.start_server(partial(_respond, writes), "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, PlatformClient(address, vendor="v", token="made-up") as platform:
        await work(platform)
        sys.setprofile(note)
        try:
            await work(platform)
        finally:
            sys.setprofile(None)
    return calls
