"""The life of a client: what it closes, what it leaves alone, and what it is after its end."""

import copy
import pickle
import re
from collections.abc import Callable
from unittest.mock import AsyncMock

import httpx
import pytest
from itwin_platform import StateError

from tests.wrapper.client.conftest import answering


async def test_a_client_closes_its_transport_once() -> None:
    """At the end of `async with`, and not again with `aclose`."""
    transport = httpx.MockTransport(lambda _: httpx.Response(404))
    transport.aclose = AsyncMock()  # type: ignore[method-assign]  # it counts
    client, _ = answering(transport=transport)
    async with client as entered:
        assert entered is client
        transport.aclose.assert_not_awaited()
    await client.aclose()
    transport.aclose.assert_awaited_once()


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


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_client_cannot_be_copied(duplicate: Callable[[object], object]) -> None:
    """The error says what to do instead."""
    client, _ = answering()
    with pytest.raises(TypeError, match="cannot be copied or pickled: share it, or make a view"):
        duplicate(client)


async def test_a_client_that_is_not_closed_is_told() -> None:
    """Once it has made a call: a client that has not holds nothing, and a view neither."""
    client, _ = answering()
    client.__del__()
    await client.itwins.get_primary_account()
    with pytest.warns(ResourceWarning, match=re.escape(f"unclosed {client!r}: use it in `async with`")) as told:
        client.__del__()
    # Where it was dropped; and the client, of which `tracemalloc` knows where it was made.
    assert (told[0].filename, told[0].source) == (__file__, client)
    client.with_options(deadline=5).__del__()
    await client.aclose()
    client.__del__()
