"""What holds for every operation on the wire. Source: sections 4, 5 and 9."""

import pytest
from itwin_platform import PlatformClient
from pytest_httpx import HTTPXMock

from tests.operations.conftest import BASE_URL, CALLS, IDS, ITWIN, OPERATIONS, REPOSITORY, SCENE, WEBHOOK, request_of

_IDS = {"iTwinId": ITWIN, "repositoryId": REPOSITORY, "sceneId": SCENE, "webhookId": WEBHOOK}


def test_the_calls_are_those_of_the_specification() -> None:
    """Every operation of the specification is called in these tests, and no other."""
    assert CALLS.keys() == OPERATIONS.keys()


@pytest.mark.parametrize("name", OPERATIONS)
async def test_method_and_path_are_those_of_the_specification(
    name: str, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """An operation sends one request with the documented method to the documented path below the base address."""
    operation = OPERATIONS[name]
    httpx_mock.add_response(status_code=operation.success, json=operation.sample())
    await CALLS[name](platform, IDS)
    request = request_of(httpx_mock)
    assert request.method == operation.method
    assert f"https://service.example{request.url.path}" == BASE_URL + operation.path.format(**_IDS)


@pytest.mark.parametrize("name", OPERATIONS)
async def test_headers_are_the_documented_ones_and_no_other(
    name: str, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Accept carries the vendor and the version of section 9, Authorization the token; nothing unexpected is sent."""
    operation = OPERATIONS[name]
    httpx_mock.add_response(status_code=operation.success, json=operation.sample())
    await CALLS[name](platform, IDS)
    headers = dict(request_of(httpx_mock).headers)
    version = "v2" if name in ("create_detector", "update_webhook") else "v1"
    assert headers.pop("accept") == f"application/vnd.acme.itwin-platform.{version}+json"
    assert headers.pop("authorization") == "Bearer planted-token"
    assert headers.pop("host") == "service.example"
    assert headers.pop("accept-encoding") == "gzip"
    assert headers.pop("user-agent").startswith("itwin-platform/")
    if operation.method != "GET":
        assert headers.pop("content-type") == "application/json"
        assert int(headers.pop("content-length")) == len(request_of(httpx_mock).content)
    assert headers == ({"x-max-return": "10000"} if name == "list_itwins" else {})


async def test_nothing_of_one_call_leaks_into_the_next(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """Headers and query of one call, and cookies of its response, are not sent with the next one."""
    scene, account = OPERATIONS["create_scene"], OPERATIONS["get_primary_account"]
    httpx_mock.add_response(status_code=201, json=scene.sample(), headers={"set-cookie": "session=1; Path=/"})
    httpx_mock.add_response(json=account.sample())
    await platform.scenes.create(ITWIN, display_name="Overview", correlation_id="first-call")
    await platform.itwins.get_primary_account()
    _, second = httpx_mock.get_requests()
    assert second.url == f"{BASE_URL}/itwins/myprimaryaccount"
    assert not {"x-correlation-id", "cookie", "content-type"} & set(second.headers)
