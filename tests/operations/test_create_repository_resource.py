"""Create repository resource on the wire. Source: section 4.2."""

from typing import Any

import pytest
from itwin_platform import UNSET, PlatformClient, Resource, ResourceClass
from pytest_httpx import HTTPXMock

from tests.operations.conftest import ITWIN, OPERATIONS, request_of

CREATE = OPERATIONS["create_repository_resource"]


@pytest.mark.parametrize(
    ("keywords", "body"),
    [
        ({"id": "roads", "display_name": "Roads"}, b'{"id":"roads","displayName":"Roads"}'),
        ({"id": "r", "display_name": "R", "type": "Layer"}, b'{"id":"r","displayName":"R","type":"Layer"}'),
        ({"id": "r", "display_name": "R", "type": UNSET}, b'{"id":"r","displayName":"R"}'),
        ({"id": "a/b #?%", "display_name": "é"}, '{"id":"a/b #?%","displayName":"é"}'.encode()),
    ],
    ids=["required", "type", "UNSET", "any characters"],
)
async def test_the_body_holds_what_is_given(
    keywords: dict[str, Any], body: bytes, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Id, display name and type go into the body as they are, and nothing else."""
    httpx_mock.add_response(status_code=201, json=CREATE.sample())
    await platform.repositories.create_resource(ITWIN, "repository", **keywords)
    assert request_of(httpx_mock).content == body


async def test_the_longest_strings_are_sent(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """The limits themselves are allowed: 200, 100 and 200 characters."""
    httpx_mock.add_response(status_code=201, json=CREATE.sample())
    await platform.repositories.create_resource(ITWIN, "r", id="i" * 200, display_name="n" * 200, type="t" * 100)
    assert len(request_of(httpx_mock).content) > 500


async def test_ids_are_percent_encoded_in_the_path(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """Ids stay one part of the path each."""
    httpx_mock.add_response(status_code=201, json=CREATE.sample())
    await platform.repositories.create_resource("a/#?%", "b/#?%", id="r", display_name="R")
    assert request_of(httpx_mock).url.raw_path == b"/api/itwins/a%2F%23%3F%25/repositories/b%2F%23%3F%25/resources"


async def test_the_resource_is_unwrapped(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """The result is the resource itself; an access key in its address does not show in `repr`."""
    httpx_mock.add_response(status_code=201, json=CREATE.sample())
    resource = await platform.repositories.create_resource(ITWIN, "r", id="r", display_name="R")
    assert type(resource) is Resource
    assert resource.to_dict() == CREATE.sample()["resource"]
    assert resource.class_ is ResourceClass.GEOGRAPHIC_INFORMATION_SYSTEM
    assert resource.id == "layer/1 #a?b%"
    assert resource.capabilities.graphics.uri.endswith("planted-access-key")
    assert "planted-access-key" not in repr(resource)


async def test_a_resource_as_seen_is_unwrapped(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """A resource of an unknown class without sub class, type and capabilities is a resource all the same."""
    httpx_mock.add_response(status_code=201, json=CREATE.sample(seen=True))
    resource = await platform.repositories.create_resource(ITWIN, "r", id="r", display_name="R")
    assert resource.to_dict() == CREATE.sample(seen=True)["resource"]
    assert resource.class_ == "Cesium"
    assert (resource.sub_class, resource.type_) == (UNSET, UNSET)
