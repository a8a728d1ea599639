"""Generated functions and requests of the caller: token, Accept, backoff, errors, checks and limits apply to them."""

from dataclasses import replace
from functools import partial

import httpx
import pytest
from itwin_platform import AuthenticationError, NotFoundError, ResponseDecodeError, UsageError
from itwin_platform_api.api.itwins import get_primary_account, list_itwins
from itwin_platform_api.api.repositories import update_repository
from itwin_platform_api.api.scenes import create_scene
from itwin_platform_api.models import RepositoryUpdate, SceneCreate
from itwin_platform_api.request import send
from pytest_httpx import HTTPXMock

from tests.wrapper.client.conftest import ACCOUNT, answering


async def test_a_generated_function_raises_typed_errors() -> None:
    """An error response is raised before generated code looks at the body, also one that it does not know."""
    responses = [httpx.Response(404), httpx.Response(200, text="<html>"), httpx.Response(401)]
    client, requests = answering(lambda _: responses[len(requests) - 1])
    async with client:
        for kind in (NotFoundError, ResponseDecodeError, AuthenticationError):
            with pytest.raises(kind):
                await get_primary_account.asyncio(client=client.generated)
    assert len(requests) == 3


async def test_a_generated_function_is_retried_with_a_fresh_token() -> None:
    """A generated function sends vendor, version and token, and is retried after a 503 and once after a 401."""
    tokens = iter(["old", "older", "new", "newer"])
    responses = [httpx.Response(status, headers={"retry-after": "0.001"}, json=ACCOUNT) for status in (503, 401, 200)]
    client, requests = answering(lambda _: responses.pop(0), token=lambda: next(tokens))
    async with client:
        response = await get_primary_account.asyncio(client=client.generated)
    assert response.itwin.id == "a"
    assert {request.headers["accept"] for request in requests} == {"application/vnd.acme.itwin-platform.v1+json"}
    assert [request.headers["authorization"] for request in requests] == ["Bearer old", "Bearer older", "Bearer new"]


async def test_a_generated_function_stays_on_its_path_and_sends_no_other_header() -> None:
    """An id that would be resolved away, and a value that no query or header can hold, are rejected before sending."""
    client, requests = answering()
    update = partial(update_repository.asyncio, "i", client=client.generated, body=RepositoryUpdate(uri="u"))
    create = partial(create_scene.asyncio, client=client.generated, itwin_id="i", body=SceneCreate(display_name="S"))
    async with client:
        for repository_id in ("", ".", ".."):
            with pytest.raises(UsageError, match="would reach another path"):
                await update(repository_id)
        for header in ("a\r\nX-Evil: 1", "", "é", "a\x00b"):
            with pytest.raises(UsageError, match="x-correlation-id must be a string of visible ASCII"):
                await create(x_correlation_id=header)
        with pytest.raises(UsageError, match="a lone surrogate"):
            await list_itwins.asyncio(client=client.generated, search="\ud800")
        for path in ("/a b", "/é", "/a\nb", "/a#b", "/a<b", "/a>b", '/a"b'):
            values = replace(get_primary_account.build_request(), path=path)
            with pytest.raises(UsageError, match="percent-encoded"):
                await send(client.generated.get_async_httpx_client(), values)
    assert requests == []


@pytest.mark.parametrize(("method", "length"), [("POST", "0"), ("PUT", "0"), ("PATCH", "0"), ("GET", None)])
async def test_a_request_without_a_body_states_its_length(method: str, length: str | None) -> None:
    """A POST, PUT or PATCH without a body states its length of 0. Source: RFC 9110, section 8.6."""
    client, requests = answering()
    values = get_primary_account.build_request()
    async with client:
        await send(client.generated.get_async_httpx_client(), replace(values, method=method))
    assert requests[0].headers.get("content-length") == length


async def test_another_accept_is_sent_as_it_is() -> None:
    """Accept can be given for one call; the placeholder of the vendor is filled in."""
    client, requests = answering()
    async with client:
        await get_primary_account.asyncio(client=client.generated, accept="application/vnd.{vendor}.v3+json")
    assert requests[0].headers["accept"] == "application/vnd.acme.v3+json"


@pytest.mark.parametrize("is_given", [False, True], ids=["default", "another's client"])
async def test_cookies_are_neither_stored_nor_sent(httpx_mock: HTTPXMock, is_given: bool) -> None:
    """A cookie of Set-Cookie is not sent back, and neither is a cookie of the caller."""
    cookies = [(b"set-cookie", value) for value in (b"session=1; Path=/", b"bad=\xc3\xa9\x01; Path=/", b"=;;")]
    httpx_mock.add_response(json=ACCOUNT, headers=cookies, is_reusable=True)
    async with httpx.AsyncClient() as theirs:
        client, _ = answering(transport=None, http_client=theirs if is_given else None)
        async with client:
            generated = client.generated.get_async_httpx_client()
            for _ in range(2):
                await generated.request("GET", "/itwins/myprimaryaccount", headers={"Cookie": "mine=1"})
            await client.itwins.get_primary_account()
            assert list(generated.cookies.jar) == []
    assert ["cookie" in request.headers for request in httpx_mock.get_requests()] == [False] * 3


MOST = 4_718_592  # 4.5 MiB
SCENE = '{"displayName":""}'


@pytest.mark.parametrize("letter", ["x", "é", "\u20ac", '"'])
async def test_the_body_is_measured_as_it_is_sent(letter: str) -> None:
    """Exactly 4.5 MiB is sent, one byte more is rejected, in bytes of the encoded body. Source: section 8."""
    created = {"scene": {"id": "s"}}
    client, requests = answering(lambda _: httpx.Response(201, json=created))
    unchecked, _ = answering(lambda _: httpx.Response(201, json=created), check_requests=False)
    count, rest = divmod(MOST - len(SCENE), 2 if letter == '"' else len(letter.encode()))
    exactly = letter * count + "x" * rest
    async with client, unchecked:
        await client.scenes.create("itwin", display_name=exactly)
        await unchecked.scenes.create("itwin", display_name=exactly + "x")
        with pytest.raises(UsageError, match=f"has {MOST + 1:,} bytes, at most {MOST:,} are allowed") as caught:
            await client.scenes.create("itwin", display_name=exactly + "x")
    assert (caught.value.code, caught.value.target) == ("RequestTooLarge", None)
    assert [len(request.content) for request in requests] == [MOST]
