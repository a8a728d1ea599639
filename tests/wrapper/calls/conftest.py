"""Virtual time for the coroutine tests of this folder."""

import asyncio
from collections.abc import Callable, Mapping

import pytest

from tests.support.event_loops import VirtualTimeLoop


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Return the event loop of coroutine tests."""
    return {"virtual": VirtualTimeLoop}
