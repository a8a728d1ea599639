"""`with_options`: a view of the client whose options apply to its calls only."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from itwin_platform import (
    AccessToken,
    PlatformClient,
    ResponseInfo,
    UsageError,
)
from itwin_platform_api.api.itwins import get_primary_account

from tests.client.conftest import SCENE, answering, pages


async def coroutine(_: object) -> None:
    """A callback that nobody would await."""


async def call_everything(view: PlatformClient) -> None:
    """One operation, both listings with two pages each, a generated function, and a request of no operation."""
    await view.itwins.get_primary_account()
    assert len(await view.itwins.list(page_size=1).collect()) == 2
    assert len(await view.scenes.list_objects(SCENE, "itwin-7", page_size=1).collect()) == 2
    await get_primary_account.asyncio(client=view.generated)
    await view.generated.get_async_httpx_client().get("/itwins/myprimaryaccount")


async def test_options_reach_every_request() -> None:
    """Operations, each page of a listing, generated functions and requests of the caller carry the options."""
    client, requests = answering(pages)
    reported: list[ResponseInfo] = []
    async with client:
        await call_everything(
            client.with_options(
                timeout=httpx.Timeout(3.0, read=9.0),
                headers={"X-Feature": "on", "user-agent": "exporter/1"},
                correlation_id="c-1",
                on_response=reported.append,
            )
        )
    assert len(requests) == len(reported) == 7
    for request in requests:
        assert request.headers["x-feature"] == "on"
        assert request.headers.get_list("user-agent") == ["exporter/1"]
        assert request.headers.get_list("x-correlation-id") == ["c-1"]
        assert request.extensions["timeout"] == {"connect": 3.0, "read": 9.0, "write": 3.0, "pool": 3.0}


async def test_the_client_itself_stays_as_it_is() -> None:
    """A view changes neither the client that it is made from nor other views of it."""
    client, requests = answering(pages)
    async with client:
        client.with_options(headers={"X-Feature": "on"}, correlation_id="c-1", timeout=1.0)
        await call_everything(client)
        await call_everything(client.with_options(timeout=2.0))
    assert all("x-feature" not in request.headers for request in requests)
    assert all("x-correlation-id" not in request.headers for request in requests)
    assert [request.extensions["timeout"]["read"] for request in requests] == [30.0] * 7 + [2.0] * 7


async def test_views_nest() -> None:
    """Nested views add their headers; for other options the innermost value applies, and None removes it."""
    client, requests = answering()
    reported: list[str] = []
    outer = client.with_options(headers={"A": "1", "B": "1"}, correlation_id="outer", timeout=5.0)
    inner = outer.with_options(headers={"b": "2"}, on_response=lambda info: reported.append(info.route))
    async with client:
        await inner.itwins.get_primary_account()
        await inner.with_options(correlation_id=None, on_response=None).itwins.get_primary_account()
    first, second = requests
    assert (first.headers["a"], first.headers.get_list("b")) == ("1", ["2"])
    assert (first.headers["x-correlation-id"], first.extensions["timeout"]["read"]) == ("outer", 5.0)
    assert "x-correlation-id" not in second.headers
    assert reported == ["/itwins/myprimaryaccount"]


async def test_the_keyword_of_an_operation_wins() -> None:
    """A keyword of the call, such as `correlation_id`, overrides the option and the header of the view."""
    client, requests = answering(pages)
    async with client:
        view = client.with_options(correlation_id="view", headers={"prefer": "return=minimal"})
        await view.scenes.list_objects(SCENE, "itwin-7", correlation_id="call").collect()
        await view.itwins.list(representation="full", limit=1).collect()
    assert {request.headers.get_list("x-correlation-id")[0] for request in requests[:2]} == {"call"}
    assert requests[2].headers.get_list("prefer") == ["return=representation"]


@pytest.mark.parametrize(
    "name", ["Authorization", "accept", "HOST", "Content-Length", "Content-Type", "Transfer-Encoding"]
)
def test_headers_of_the_client_are_not_replaced(name: str) -> None:
    """A header that the client writes itself raises UsageError in `with_options`."""
    with pytest.raises(UsageError, match=f"headers must not contain {name}: the client writes it") as caught:
        answering()[0].with_options(headers={name: "planted"})
    assert caught.value.argument == "headers"


#: Options that cannot be used, and what the error says; it begins with the name of the option.
UNUSABLE: list[tuple[dict[str, Any], str]] = [
    ({"timeout": 0}, "timeout must be a number of seconds above 0"),
    ({"timeout": True}, "timeout must be"),
    ({"timeout": None}, "timeout must be"),
    ({"deadline": -1.0}, "deadline must be"),
    ({"deadline": float("nan")}, "deadline must be"),
    ({"deadline": "1"}, "deadline must be"),
    ({"deadline": True}, "deadline must be"),
    ({"queue_timeout": -1}, "queue_timeout must be a finite number of seconds of at least 0, or None"),
    ({"max_attempts": 0}, "max_attempts must be an integer"),
    ({"max_attempts": 1.5}, "max_attempts must be an integer"),
    ({"max_attempts": None}, "max_attempts must be an integer"),
    ({"headers": ["a"]}, "headers must be a mapping"),
    ({"headers": None}, "headers must be a mapping"),
    ({"headers": {"": "x"}}, "headers must contain names of HTTP headers, not ''"),
    ({"headers": {"a b": "x"}}, "headers must contain names of HTTP headers, not 'a b'"),
    ({"headers": {"A:": "x"}}, "headers must contain names"),
    ({"headers": {5: "x"}}, "headers must contain names of HTTP headers, not 5"),
    ({"headers": {"A": "x\r\nB: y"}}, "A must be a string of visible ASCII"),
    ({"headers": {"A": None}}, "A must be a string"),
    ({"correlation_id": "a\nb"}, "correlation_id must be a string of visible ASCII"),
    ({"correlation_id": 5}, "correlation_id must be a string"),
    ({"on_response": 5}, "on_response must be a function"),
    ({"on_response": coroutine}, "on_response must be"),
    ({"extra_query": {"a": 1}}, "extra_query"),
    ({"extra_query": ["a"]}, "extra_query"),
    ({"extra_query": {"a": "\ud800"}}, "extra_query"),
    ({"extra_query": {"\ud800": "a"}}, "extra_query"),
    ({"extra_body": {"a": "\ud800"}}, "extra_body"),
    ({"extra_body": {5: "a"}}, "extra_body"),
]


@pytest.mark.parametrize(("options", "words"), UNUSABLE)
def test_an_unusable_option_is_rejected_at_once(options: dict[str, Any], words: str) -> None:
    """An invalid option raises UsageError with its name in `with_options`."""
    with pytest.raises(UsageError, match=words) as caught:
        answering()[0].with_options(**options)
    assert (caught.value.argument or "nothing").partition(".")[0] in str(options)


async def test_closing_a_view_closes_nothing() -> None:
    """Closing a view leaves its client open, and closing the client closes the view."""
    client, requests = answering()
    async with client.with_options(timeout=5.0) as view:
        await view.itwins.get_primary_account()
    await view.aclose()
    await client.itwins.get_primary_account()
    await client.aclose()
    with pytest.raises(UsageError, match="the client is closed"):
        await view.itwins.get_primary_account()
    assert len(requests) == 2


def test_a_view_shows_no_headers() -> None:
    """The `repr` of a view shows no headers and no correlation id."""
    view = answering()[0].with_options(headers={"X-Key": "planted"}, correlation_id="planted")
    assert repr(view) == "PlatformClient(base_url='https://service.example/api', vendor='acme', with options)"


async def test_views_share_the_token() -> None:
    """One token refresh serves the client and all its views."""
    refreshes = 0

    async def provider() -> AccessToken:
        nonlocal refreshes
        refreshes += 1
        await asyncio.sleep(0)
        return AccessToken("planted-token", datetime.now(UTC) + timedelta(hours=1))

    client, requests = answering(token=provider)
    async with client:
        await asyncio.gather(*(client.with_options(timeout=n).itwins.get_primary_account() for n in range(1, 20)))
    assert (refreshes, len(requests)) == (1, 19)
