"""The life of a client: closing, calls of a closed client, and mocks of the class."""

import copy
import pickle
import re
from collections.abc import Callable
from unittest.mock import AsyncMock, create_autospec

import httpx
import pytest
from itwin_platform import ITwinSummary, PlatformClient, StateError

from tests.wrapper.client.conftest import answering


async def test_a_client_closes_its_transport_once() -> None:
    """The end of `async with` closes the transport, and a later `aclose` does not close it again."""
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
    for each in (client, client.with_options(deadline=5)):
        with pytest.raises(StateError, match="the client is closed: make another one"):
            async with each:
                pass
    assert requests == []


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_client_cannot_be_copied(duplicate: Callable[[object], object]) -> None:
    """The TypeError of a copy says to share the client or to make a view."""
    client, _ = answering()
    with pytest.raises(TypeError, match="cannot be copied or pickled: share it, or make a view"):
        duplicate(client)


async def test_a_client_that_is_not_closed_warns() -> None:
    """A client that made a call and is not closed warns when it is collected; a view does not."""
    client, _ = answering()
    client.__del__()
    await client.itwins.get_primary_account()
    with pytest.warns(ResourceWarning, match=re.escape(f"unclosed {client!r}: use it in `async with`")) as told:
        client.__del__()
    # The line that dropped the client; `tracemalloc` shows the line that made it.
    assert (told[0].filename, told[0].source) == (__file__, client)
    client.with_options(deadline=5).__del__()
    await client.aclose()
    client.__del__()


async def test_a_mock_of_the_class_has_its_operations() -> None:
    """`create_autospec` makes the groups with their methods, and rejects calls that the client would reject."""
    for mock in (create_autospec(PlatformClient), create_autospec(PlatformClient, instance=True)):
        mock.itwins.get_primary_account.return_value = ITwinSummary.from_dict({"id": "a"})
        mock.itwins.list.return_value.collect.return_value = []
        assert (await mock.itwins.get_primary_account()).id == "a"
        mock.itwins.list(sub_class="Project")
        await mock.webhooks.deactivate("w", secret="s")
        with pytest.raises(TypeError, match="missing a required argument"):
            await mock.repositories.update()
        with pytest.raises(AttributeError, match="listt"):
            mock.itwins.listt  # noqa: B018  # as a mistake
        assert not hasattr(mock.scenes, "delete")


def test_a_call_without_asyncio_is_a_state_error() -> None:
    """Under trio and curio no asyncio loop runs: a StateError says so, also in `async with`, and nothing is sent."""

    async def called(client: PlatformClient) -> None:
        async with client:
            await client.itwins.get_primary_account()

    mocked, requests = answering()
    for client in (mocked, PlatformClient("https://s.example", vendor="v", token="t")):
        with pytest.raises(StateError, match="the client needs asyncio"):
            called(client).send(None)
    assert requests == []
