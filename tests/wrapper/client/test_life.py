"""The life of a client: what it closes, what it leaves alone, and what it is after its end."""

import asyncio
from contextlib import nullcontext

import httpx
import pytest
from itwin_platform import StateError

from tests.wrapper.client.conftest import answering


class Closing(httpx.MockTransport):
    """Counts how often it is closed, which may take for ever."""

    def __init__(self, *, hangs: bool = False) -> None:
        super().__init__(lambda _: httpx.Response(404))
        self.hangs, self.closed = hangs, 0
        self.is_closing = asyncio.Event()

    async def aclose(self) -> None:
        """Count."""
        self.closed += 1
        self.is_closing.set()
        if self.hangs:
            await asyncio.Event().wait()


async def test_a_client_closes_its_transport_once() -> None:
    """At the end of `async with`, and not again with `aclose`."""
    transport = Closing()
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
    for each in (client, client.with_options(deadline=5)):
        with pytest.raises(StateError, match="the client is closed: make another one"):
            async with each:
                pass
    assert requests == []


@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_closing_ends_a_refresh_in_progress(is_cancelled: bool) -> None:
    """A token provider that hangs does not outlive the client, even if closing is cancelled in a slow transport."""
    asked, ended = asyncio.Event(), asyncio.Event()

    async def provider() -> str:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return "never"

    transport = Closing(hangs=is_cancelled)
    client, _ = answering(token=provider, transport=transport)
    call = asyncio.create_task(client.itwins.get_primary_account())
    await asked.wait()
    call.cancel()
    close = asyncio.create_task(client.aclose())
    await transport.is_closing.wait()
    if is_cancelled:
        close.cancel()
    with pytest.raises(asyncio.CancelledError) if is_cancelled else nullcontext():
        await close
    assert ended.is_set()
