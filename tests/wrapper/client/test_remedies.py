"""Mistakes that are easily made: each is told where it is made, in words that say what to write instead."""

import copy
import pickle
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from itwin_platform import (
    PlatformClient,
    RepositoryResourceData,
    TokenError,
    UsageError,
    verify_delivery,
)

from tests.wrapper.client.conftest import SCENE, SETTINGS, answering

NAIVE = datetime(2026, 3, 1, 12, 0)  # as a mistake


async def fetch() -> str:
    """Return a token."""
    return "t"


def test_all_missing_settings_are_named_at_once() -> None:
    """Each with its environment variable."""
    said = "base_url and vendor and token are missing: .*ITWIN_PLATFORM_BASE_URL.*_VENDOR.*_TOKEN"
    with pytest.raises(UsageError, match=said) as raised:
        PlatformClient()
    assert raised.value.argument == "base_url"


@pytest.mark.parametrize("port", [0, 65_536, 99_999])
def test_a_port_that_does_not_exist_is_named(port: int) -> None:
    """The address is rejected before anything connects to it."""
    settings: dict[str, Any] = SETTINGS | {"base_url": f"https://service.example:{port}"}
    with pytest.raises(UsageError, match=f"base_url has the port {port}, and ports go from 1 to 65535"):
        PlatformClient(**settings)


@pytest.mark.parametrize("token", [lambda scope: "t", lambda *, scope: "t"])
def test_a_provider_that_needs_an_argument_is_rejected(token: Any) -> None:
    """It would fail in each call."""
    with pytest.raises(TokenError, match="must be callable without arguments") as raised:
        PlatformClient(**SETTINGS | {"token": token})
    assert raised.value.argument == "token"


async def test_a_provider_without_a_signature_is_called() -> None:
    """A method that is written in C need not tell its parameters."""
    client, requests = answering(token="written-in-c".format)
    async with client:
        await client.itwins.get_primary_account()
    assert requests[0].headers["authorization"] == "Bearer written-in-c"


def test_a_coroutine_is_no_token() -> None:
    """The text says to pass its function."""
    settings: dict[str, Any] = SETTINGS | {"token": fetch()}
    with pytest.raises(TokenError, match="token is a coroutine: pass the coroutine function itself") as raised:
        PlatformClient(**settings)
    assert raised.value.argument == "token"


def test_a_signature_in_bytes_is_told() -> None:
    """ASGI servers hand on headers as bytes: that is not a wrong signature."""
    with pytest.raises(UsageError, match="signature must be a str, not bytes") as raised:
        verify_delivery(b"{}", b"sha256=0", secret="s")  # type: ignore[arg-type]  # as a mistake
    assert raised.value.argument == "signature"


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_client_cannot_be_copied(duplicate: Callable[[object], object]) -> None:
    """The error says what to do instead."""
    client, _ = answering()
    with pytest.raises(TypeError, match="cannot be copied or pickled: share it, or make a view"):
        duplicate(client)


@pytest.mark.parametrize("is_used", [False, True])
async def test_a_client_that_is_not_closed_is_told(is_used: bool) -> None:
    """Once it has made a call: a client that has not holds nothing."""
    client, _ = answering()
    if not is_used:
        client.__del__()
        return
    await client.itwins.get_primary_account()
    with pytest.warns(ResourceWarning, match=re.escape(f"unclosed {client!r}: use it in `async with`")) as told:
        client.__del__()
    # Where it was dropped; and the client, of which `tracemalloc` knows where it was made.
    assert (told[0].filename, told[0].source) == (__file__, client)
    client.with_options(deadline=5).__del__()
    await client.aclose()
    client.__del__()


@pytest.mark.parametrize("on_page", [5, fetch])
async def test_a_page_callback_that_nobody_would_await_is_rejected(on_page: Any) -> None:
    """Where it is passed, and not with the first page."""
    client, _ = answering()
    listings: list[Callable[[], object]] = [
        lambda: client.itwins.list(on_page=on_page),
        lambda: client.itwins.list_all(on_page=on_page),
        lambda: client.scenes.list_objects(SCENE, SCENE, on_page=on_page),
    ]
    for listing in listings:
        with pytest.raises(UsageError, match="on_page must be a function that takes one argument") as raised:
            listing()
        assert raised.value.argument == "on_page"


OBJECT: dict[str, Any] = {"version": "1.0.0", "kind": "View3d"}


async def test_a_time_without_a_zone_in_data_is_named() -> None:
    """Its place in the objects is named, and nothing is sent."""
    client, requests = answering()
    objects: list[Any] = [{**OBJECT, "data": {}}, {**OBJECT, "data": {"when": [{"at": NAIVE}]}}]
    async with client:
        with pytest.raises(UsageError, match="cannot be serialized as JSON: a datetime must be aware") as raised:
            await client.scenes.create(SCENE, display_name="s", objects=objects)
    assert (raised.value.argument, requests) == ("objects[1].data.when[0].at", [])


async def test_what_data_may_hold_is_sent() -> None:
    """Aware times, and any names in `data`: also the Python name of a property that is known."""
    client, requests = answering(lambda _: httpx.Response(404))
    known = RepositoryResourceData(itwin_id="a", repository_id="b", id="c", class_="d")
    items: list[Any] = [
        {**OBJECT, "data": {"at": datetime(2026, 3, 1, tzinfo=UTC), "my_own": 1}},
        {**OBJECT, "data": {"is_orthographic": True}},
        {**OBJECT, "kind": "RepositoryResource", "data": known},
    ]
    async with client:
        with pytest.raises(Exception, match="404"):
            await client.scenes.create(SCENE, display_name="s", objects=items)
    assert b'"at":"2026-03-01T00:00:00.000Z"' in requests[0].content
