"""A web service with one shared client: what its callers see, and what the platform sees when they go away."""

import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus

import httpx
import pytest
import pytest_asyncio
from itwin_platform_sandbox import Sandbox
from itwin_platform_sandbox._faults.catalogue import FaultName

from examples import web_service
from tests.support.real_time import LONGEST, until

#: As many as may be in flight: if they continued, the next call would never be admitted.
IN_FLIGHT = 20


@pytest_asyncio.fixture
async def browser(
    request: pytest.FixtureRequest, itwin_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[httpx.AsyncClient]:
    """A browser of the running service, whose platform is the sandbox, or a path of it where nothing is."""
    path: str = getattr(request, "param", "")
    monkeypatch.setenv("ITWIN_PLATFORM_BASE_URL", itwin_sandbox.base_url + path)
    monkeypatch.setenv("ITWIN_PLATFORM_VENDOR", "sandbox")
    monkeypatch.setenv("ITWIN_PLATFORM_TOKEN", itwin_sandbox.token)
    async with web_service.running() as client:
        yield client


async def test_responses(browser: httpx.AsyncClient) -> None:
    """The account and the projects come as the service's own JSON."""
    account, projects = await asyncio.gather(browser.get("/account"), browser.get("/projects", params={"limit": 3}))
    assert account.json()["name"] == "Northwind Engineering"
    assert len(projects.json()) == 3
    assert all(set(each) == {"id", "name", "status"} for each in projects.json())


async def test_a_request_that_is_given_up_ends_ours(itwin_sandbox: Sandbox, browser: httpx.AsyncClient) -> None:
    """When callers go away, their requests to the platform end, and the client's connections are there for others."""
    itwin_sandbox.fault("stall", operation="list_itwins", count=IN_FLIGHT)
    asking = [asyncio.create_task(browser.get("/projects", timeout=None)) for _ in range(IN_FLIGHT + 5)]
    await until(lambda: not itwin_sandbox.faults)
    for each in asking:
        each.cancel()
    assert all(
        isinstance(each, asyncio.CancelledError) for each in await asyncio.gather(*asking, return_exceptions=True)
    )
    after = await browser.get("/account", timeout=LONGEST)
    assert after.status_code == HTTPStatus.OK
    await until(lambda: [request.status for request in itwin_sandbox.requests].count(None) >= IN_FLIGHT)


@pytest.mark.parametrize("fault", ["text_500", "gateway_401", "truncated_json"])
async def test_the_platforms_failure_is_a_bad_gateway(
    fault: FaultName, itwin_sandbox: Sandbox, browser: httpx.AsyncClient
) -> None:
    """What fails behind the service is not the caller's doing, and its text is not shown to the caller."""
    itwin_sandbox.fault(fault, count=None)
    response = await browser.get("/account")
    assert response.status_code == HTTPStatus.BAD_GATEWAY
    assert set(response.json()) == {"error", "correlation_id"}


@pytest.mark.parametrize("browser", ["/nothing-here"], indirect=True)
async def test_what_the_platform_does_not_have_is_not_found(browser: httpx.AsyncClient) -> None:
    """404 stays 404."""
    response = await browser.get("/account")
    assert response.status_code == HTTPStatus.NOT_FOUND
    assert response.json()["error"] == "NotFoundError"


async def test_a_rate_limit_says_when_to_come_again(itwin_sandbox: Sandbox, browser: httpx.AsyncClient) -> None:
    """A rate limited call and one that would wait for it fail immediately, and the second is not sent."""
    itwin_sandbox.fault("rate_limited", seconds=3_000)
    responses = [await browser.get("/account"), await browser.get("/projects")]
    assert [response.status_code for response in responses] == [503, 503]
    assert all(2_500 <= int(response.headers["retry-after"]) <= 3_000 for response in responses)
    assert len(itwin_sandbox.requests) == 1
