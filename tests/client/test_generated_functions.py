"""Generated functions through `platform.generated`: token, Accept, backoff, errors and checks of the address apply."""

import dataclasses

import httpx
import pytest
from itwin_platform import (
    AuthenticationError,
    ErrorCode,
    NotFoundError,
    ResponseDecodeError,
    UsageError,
)
from itwin_platform_api.api.detectors import create_detector
from itwin_platform_api.api.itwins import get_primary_account
from itwin_platform_api.api.repositories import update_repository
from itwin_platform_api.api.scenes import create_scene
from itwin_platform_api.models import DetectorCreate, DetectorType, RepositoryUpdate, SceneCreate
from itwin_platform_api.request import send

from tests.client.conftest import ACCOUNT, answering


async def test_a_generated_function_is_called_as_it_is() -> None:
    """It needs no more than the generated client: vendor, version and token are put on."""
    client, requests = answering(lambda _: httpx.Response(201, json={"detector": {"name": "n"}}))
    async with client:
        response = await create_detector.asyncio(
            client=client.generated, body=DetectorCreate(name="n", type_=DetectorType.PHOTO_OBJECT_DETECTOR)
        )
    assert response.detector.name == "n"
    assert requests[0].headers["accept"] == "application/vnd.acme.itwin-platform.v2+json"
    assert requests[0].headers["authorization"] == "Bearer planted-token"


async def test_a_generated_function_raises_typed_errors() -> None:
    """An error response is raised before generated code looks at the body, also one that it does not know."""
    client, _ = answering(lambda _: httpx.Response(404, json={"error": {"code": "ResourceNotFound"}}))
    async with client:
        with pytest.raises(NotFoundError) as caught:
            await get_primary_account.asyncio(client=client.generated)
    assert caught.value.code == ErrorCode.RESOURCE_NOT_FOUND
    client, _ = answering(lambda _: httpx.Response(200, text="<html>"))
    async with client:
        with pytest.raises(ResponseDecodeError) as broken:
            await get_primary_account.asyncio(client=client.generated)
    assert broken.value.body == b"<html>"


async def test_a_generated_function_is_retried_with_a_fresh_token() -> None:
    """A 503 is retried, and a 401 once with a refreshed token, where there is another one."""
    tokens = iter(["old", "older", "new", "newer"])
    responses = [httpx.Response(status, headers={"retry-after": "0.001"}, json=ACCOUNT) for status in (503, 401, 200)]
    client, requests = answering(lambda _: responses.pop(0), token=lambda: next(tokens))
    async with client:
        response = await get_primary_account.asyncio(client=client.generated)
    assert response.itwin.id == "a"
    assert [request.headers["authorization"] for request in requests] == ["Bearer old", "Bearer older", "Bearer new"]
    client, requests = answering(lambda _: httpx.Response(401))
    async with client:
        with pytest.raises(AuthenticationError):
            await get_primary_account.asyncio(client=client.generated)
    assert len(requests) == 1


@pytest.mark.parametrize("repository_id", ["", ".", ".."])
async def test_a_generated_function_cannot_climb(repository_id: str) -> None:
    """An id that would be resolved away is rejected below the generated code, too."""
    client, requests = answering()
    async with client:
        with pytest.raises(UsageError, match="would reach another path"):
            await update_repository.asyncio("i", repository_id, client=client.generated, body=RepositoryUpdate(uri="u"))
    assert requests == []


@pytest.mark.parametrize("header", ["a\r\nX-Evil: 1", "", "é", "a\x00b"], ids=ascii)
async def test_a_generated_function_sends_no_broken_header(header: str) -> None:
    """A line break would start another header."""
    client, requests = answering()
    async with client:
        with pytest.raises(UsageError, match="x-correlation-id must be a string of visible ASCII"):
            await create_scene.asyncio(
                client=client.generated, itwin_id="i", x_correlation_id=header, body=SceneCreate(display_name="S")
            )
    assert requests == []


@pytest.mark.parametrize(("method", "length"), [("POST", "0"), ("PUT", "0"), ("PATCH", "0"), ("GET", None)])
async def test_a_request_without_a_body_states_that_where_one_is_usual(method: str, length: str | None) -> None:
    """What a new operation without a body sends ends where its service expects it. Source: RFC 9110, section 8.6."""
    client, requests = answering()
    values = get_primary_account.build_request()
    async with client:
        await send(client.generated.get_async_httpx_client(), dataclasses.replace(values, method=method))
    assert requests[0].headers.get("content-length") == length


async def test_another_accept_is_sent_as_it_is() -> None:
    """Accept can be given for one call: only the placeholder of the vendor is filled in."""
    client, requests = answering()
    async with client:
        await get_primary_account.asyncio(client=client.generated, accept="application/json")
        await get_primary_account.asyncio(
            client=client.generated, accept="application/vnd.{vendor}.itwin-platform.v3+json"
        )
    assert [request.headers["accept"] for request in requests] == [
        "application/json",
        "application/vnd.acme.itwin-platform.v3+json",
    ]
