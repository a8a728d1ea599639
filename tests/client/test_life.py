"""The life of a client: what it closes, what it leaves alone, and what it is after its end."""

import asyncio

import httpx
import pytest
from itwin_platform import StateError

from tests.client.conftest import ACCOUNT, answering


class Closing(httpx.MockTransport):
    """Counts how often it is closed."""

    closed = 0

    async def aclose(self) -> None:
        """Count."""
        self.closed += 1


def account(_: httpx.Request) -> httpx.Response:
    """Respond with the account."""
    return httpx.Response(200, json=ACCOUNT)


async def test_a_client_closes_its_transport_once() -> None:
    """At the end of `async with`, and not again with `aclose`."""
    transport = Closing(account)
    client, _ = answering(transport=transport)
    async with client as entered:
        assert entered is client
        assert transport.closed == 0
    await client.aclose()
    assert transport.closed == 1


async def test_a_closed_client_says_so() -> None:
    """A call of a closed client raises StateError, which a handler can tell from bad input, and nothing is sent."""
    client, requests = answering()
    await client.aclose()
    with pytest.raises(StateError, match=r"^GET /itwins/myprimaryaccount: the client is closed") as caught:
        await client.itwins.get_primary_account()
    assert caught.value.argument is None
    with pytest.raises(StateError, match="the client is closed"):
        await client.itwins.list().collect()
    assert requests == []


class HangingProvider:
    """A token provider that never returns, and notes when it is called and when it is cancelled."""

    def __init__(self) -> None:
        self.asked, self.ended = asyncio.Event(), asyncio.Event()

    async def __call__(self) -> str:
        """Wait for ever."""
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()
        return "never"


async def test_closing_ends_a_refresh_in_progress() -> None:
    """A token provider that hangs does not outlive the client."""
    provider = HangingProvider()
    client, requests = answering(token=provider)
    call = asyncio.create_task(client.itwins.get_primary_account())
    await provider.asked.wait()
    call.cancel()
    await client.aclose()
    assert provider.ended.is_set()
    assert requests == []


async def test_closing_that_is_cancelled_ends_a_refresh_too() -> None:
    """A transport that takes long to close does not keep a token provider running."""
    provider, closing = HangingProvider(), asyncio.Event()

    class SlowToClose(httpx.MockTransport):
        async def aclose(self) -> None:
            closing.set()
            await asyncio.Event().wait()

    client, _ = answering(token=provider, transport=SlowToClose(account))
    call = asyncio.create_task(client.itwins.get_primary_account())
    await provider.asked.wait()
    call.cancel()
    close = asyncio.create_task(client.aclose())
    await closing.wait()
    close.cancel()
    with pytest.raises(asyncio.CancelledError):
        await close
    assert provider.ended.is_set()


def test_nothing_is_sent_by_making_a_client() -> None:
    """A client can be made outside a running event loop; nothing is sent until an operation is awaited."""
    client, requests = answering()
    client.itwins.list()
    assert requests == []
