"""The client beside what applications and their tests use: mocks, other event loops, test clients."""

import asyncio
from unittest.mock import create_autospec

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from itwin_platform import ITwinSummary, PlatformClient, StateError

from tests.wrapper.client.conftest import answering


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


def test_without_asyncio_a_call_tells_what_it_needs() -> None:
    """Under trio and curio no asyncio loop runs: a StateError says so, also in `async with`, and nothing is sent."""

    async def called(client: PlatformClient) -> None:
        async with client:
            await client.itwins.get_primary_account()

    mocked, requests = answering()
    for client in (mocked, PlatformClient("https://s.example", vendor="v", token="t")):
        with pytest.raises(StateError, match="the client needs asyncio"):
            called(client).send(None)
    assert requests == []


def test_a_route_of_fastapi_uses_the_client_of_its_lifespan() -> None:
    """Under FastAPI's TestClient each block of it has a loop of its own, and so a client."""
    client, requests = answering()
    app = FastAPI()

    @app.get("/account")
    async def account(request: Request) -> str:
        return str((await client.itwins.get_primary_account()).id)

    with TestClient(app) as caller:
        assert [caller.get("/account").json() for _ in range(2)] == ["a", "a"]
        assert caller.portal is not None
        caller.portal.call(client.aclose)
    assert len(requests) == 2
    with pytest.raises(StateError, match="the client is closed"):
        asyncio.run(client.itwins.get_primary_account())
