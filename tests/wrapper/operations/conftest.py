"""A plain call of each operation, to a service that responds through pytest-httpx."""

import json
import operator
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from itwin_platform import BackoffPolicy, Pager, PlatformClient
from pytest_httpx import HTTPXMock

from tests.support.calls import IDS, METHODS
from tests.support.operations import OPERATIONS

BASE_URL = "https://service.example/api"


async def called(platform: PlatformClient, name: str, keywords: dict[str, Any] | None = None) -> Any:
    """Call an operation with these and its required keywords, and collect a listing."""
    method, ids, needed = METHODS[name]
    given = {each: IDS[each] for each in ids} | needed | (keywords or {})
    found = operator.attrgetter(method)(platform)(**given)
    return await (found.collect() if isinstance(found, Pager) else found)


def shown(value: object) -> str:
    """Return a value as the name of a case, without the address of an object."""
    return ascii(value).partition(" at 0x")[0][:60]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Calls operations of a service that responds through pytest-httpx."""

    platform: PlatformClient
    unchecked: PlatformClient
    mock: HTTPXMock

    async def __call__(
        self, name: str, keywords: dict[str, Any] | None = None, *, checked: bool = True, **response: Any
    ) -> Any:
        """Call an operation, with the checks or without, that gets its documented response or another one."""
        response.setdefault("status_code", OPERATIONS[name].success)
        if not {"json", "content"} & response.keys():
            response["json"] = OPERATIONS[name].sample()
        self.mock.add_response(**response)
        return await called(self.platform if checked else self.unchecked, name, keywords)

    @property
    def request(self) -> httpx.Request:
        """The one request that was sent."""
        [request] = self.mock.get_requests()
        return request

    @property
    def sent(self) -> Any:
        """The body of the one request that was sent."""
        return json.loads(self.request.content)


def _client(*, check_requests: bool) -> PlatformClient:
    """A client of a service that responds through pytest-httpx; it never waits and never retries."""
    once = BackoffPolicy(max_attempts=1, max_wait=0.0)
    return PlatformClient(BASE_URL, vendor="acme", token="planted-token", backoff=once, check_requests=check_requests)


@pytest.fixture
async def exchange(httpx_mock: HTTPXMock) -> AsyncIterator[Exchange]:
    """A client with request checks and one without, and their requests."""
    async with _client(check_requests=True) as platform, _client(check_requests=False) as unchecked:
        yield Exchange(platform, unchecked, httpx_mock)
