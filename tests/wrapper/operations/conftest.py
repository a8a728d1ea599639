"""The eight operations as these tests see them: a plain call of each, its responses, its documented errors."""

import json
import operator
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from itwin_platform import BackoffPolicy, Pager, PlatformClient
from pytest_httpx import HTTPXMock

from tests.support.specification import specification
from tools.generation.unwrapped import wrapped_part

PROJECT = Path(__file__).resolve().parents[3]
SPECIFICATION = wrapped_part(specification())

BASE_URL = "https://service.example/api"
ITWIN = "dc90a5f3-2f61-4c87-9f35-1a4b7c6d8e90"
SCENE = "6a2d2381-6c57-9332-387a-5b7c00000000"
#: What the plain calls name.
IDS = {
    "itwin_id": ITWIN,
    "repository_id": "5f6e7d8c-0000-4000-8000-000000000003",
    "scene_id": SCENE,
    "webhook_id": "8d9e0f1a-0000-4000-8000-000000000004",
}
#: The method of each operation, the ids that it takes, and no more keywords than it needs.
METHODS: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "update_repository": ("repositories.update", ("itwin_id", "repository_id"), {"display_name": "Tiles"}),
    "create_repository_resource": (
        *("repositories.create_resource", ("itwin_id", "repository_id")),
        {"id": "roads", "display_name": "Roads"},
    ),
    "list_itwins": ("itwins.list", (), {}),
    "get_primary_account": ("itwins.get_primary_account", (), {}),
    "create_scene": ("scenes.create", ("itwin_id",), {"display_name": "Overview"}),
    "list_scene_objects": ("scenes.list_objects", ("scene_id", "itwin_id"), {}),
    "create_detector": ("detectors.create", (), {"name": "@a/cracks", "type": "PhotoObjectDetector"}),
    "update_webhook": ("webhooks.update", ("webhook_id",), {"active": True}),
}


async def called(platform: PlatformClient, name: str, keywords: dict[str, Any] | None = None) -> Any:
    """Call an operation with these keywords and those that it needs, and read a listing to its end."""
    method, ids, needed = METHODS[name]
    given = {each: IDS[each] for each in ids} | needed | (keywords or {})
    found = operator.attrgetter(method)(platform)(**given)
    return await (found.collect() if isinstance(found, Pager) else found)


def shown(value: object) -> str:
    """A value as the name of a case, without the address of an object."""
    return ascii(value).partition(" at 0x")[0][:60]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation of the specification."""

    name: str
    method: str
    path: str
    success: int
    parameters: tuple[dict[str, Any], ...]
    body: dict[str, Any] | None
    error: dict[str, Any]
    errors: tuple[tuple[int, str, dict[str, Any]], ...]

    def sample(self, *, seen: bool = False) -> Any:
        """The success as described, or as it has been seen beyond the description."""
        name = f"{self.name}.{self.success}{'.seen' if seen else ''}.json"
        return json.loads((PROJECT / "tests" / "support" / "samples" / name).read_text(encoding="utf-8"))


def followed(node: Mapping[str, Any]) -> dict[str, Any]:
    """What a reference of the specification leads to, with what stands beside it."""
    if "$ref" not in node:
        return dict(node)
    found: dict[str, Any] = SPECIFICATION
    for step in node["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return followed(found) | {key: value for key, value in node.items() if key != "$ref"}


def _operations() -> Iterator[Operation]:
    for path, methods in SPECIFICATION["paths"].items():
        for method, operation in methods.items():
            responses = operation["responses"].items()
            success = next(status for status in operation["responses"] if int(status) < 300)
            yield Operation(
                name=operation["operationId"],
                method=method.upper(),
                path=path,
                success=int(success),
                parameters=tuple(map(followed, operation.get("parameters", ()))),
                body=operation.get("requestBody", {"content": {}})["content"].get("application/json", {}).get("schema"),
                error=operation.get("x-error", {}),
                errors=tuple(
                    (int(status), name, example["value"])
                    for status, response in responses
                    if int(status) >= 300
                    for name, example in followed(response)["content"]["application/json"]["examples"].items()
                ),
            )


OPERATIONS = {operation.name: operation for operation in _operations()}


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
    """A client with request checks, one without, and what they send."""
    async with _client(check_requests=True) as platform, _client(check_requests=False) as unchecked:
        yield Exchange(platform, unchecked, httpx_mock)
