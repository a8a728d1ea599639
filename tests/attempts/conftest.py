"""Time is virtual in this folder: a wait of an hour costs nothing, and none is real."""

import asyncio
from collections.abc import Callable, Mapping

from tests.support.virtual_time import VirtualTimeLoop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The loop that coroutine tests run in."""
    return {"virtual": VirtualTimeLoop}
