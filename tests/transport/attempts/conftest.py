"""Virtual time for the coroutine tests of this folder, and Redis servers for the tests in real time."""

import asyncio
from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.support.event_loops import VirtualTimeLoop
from tests.support.redis_server import RedisServer


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Return the event loop of a coroutine test: with virtual time, unless the test needs a Redis server."""
    if any("patient_gates" in mark.args for mark in item.iter_markers("usefixtures")):
        return {"real": asyncio.SelectorEventLoop}
    return {"virtual": VirtualTimeLoop}


@pytest.fixture(scope="session")
def shared_server() -> Iterator[RedisServer]:
    """One server for all tests that do not kill it."""
    with RedisServer() as server:
        yield server


@pytest.fixture
def empty_server(shared_server: RedisServer) -> RedisServer:
    """The shared server without keys."""
    client = shared_server.client
    client.flushall()
    client.close()
    return shared_server


@pytest.fixture
def own_server() -> Iterator[RedisServer]:
    """A server that the test may kill."""
    with RedisServer() as server:
        yield server
