"""Traces one GET through the wrapper and the generated code: which functions run, in which files."""

import asyncio
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import FrameType

import httpx
from itwin_platform import PlatformClient

from tools.structure.lines import WRAPPER

PROJECT = WRAPPER.parents[1]
GENERATED = PROJECT / "generated" / "itwin_platform_api"
ACCOUNT = {"iTwin": {"id": "a", "class": "Account", "displayName": "Example"}}

#: The file and the function of each call, in order. Resuming a coroutine counts as a call of it.
Calls = Sequence[tuple[Path, str]]


class ProtectedTransport(httpx.AsyncBaseTransport):
    """A transport in memory that, like a caller's own, does not state that it can be cancelled at any time."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Respond with an account."""
        return httpx.Response(200, json=ACCOUNT)


class CleanTransport(ProtectedTransport):
    """A transport in memory that, like the default, can be cancelled at any time."""

    cancels_cleanly = True


def traced_calls(kind: type[httpx.AsyncBaseTransport]) -> Calls:
    """Return the calls of one `get_primary_account()` through a transport of this kind.

    A first call that is not traced does the lazy imports.
    """
    return asyncio.run(_trace(kind()))


def hand_written(calls: Calls) -> Calls:
    """Return the calls without those of generated functions."""
    return [call for call in calls if call[0].is_relative_to(WRAPPER)]


def files(calls: Calls) -> set[Path]:
    """Return the files of the calls."""
    return {file for file, _ in calls}


def moves(calls: Calls) -> int:
    """Count the calls that are in another file than the previous call."""
    return sum(before[0] != after[0] for before, after in pairwise(calls))


async def _trace(transport: httpx.AsyncBaseTransport) -> Calls:
    calls: list[tuple[Path, str]] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        file = Path(frame.f_code.co_filename)
        if event == "call" and (file.is_relative_to(WRAPPER) or file.is_relative_to(GENERATED)):
            calls.append((file, frame.f_code.co_qualname))

    async with PlatformClient("https://service.example", vendor="v", token="made-up", transport=transport) as platform:
        await platform.itwins.get_primary_account()
        sys.setprofile(note)
        try:
            await platform.itwins.get_primary_account()
        finally:
            sys.setprofile(None)
    return calls
