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

from tests.support.calls import IDS, METHODS
from tests.support.specification import specification
from tools.generation.unwrapped import wrapped_part

PROJECT = Path(__file__).resolve().parents[3]
SPECIFICATION = wrapped_part(specification())

BASE_URL = "https://service.example/api"


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
    example: Any
    response: dict[str, Any]

    @property
    def seen(self) -> Path:
        """The file of a success as it has been seen beyond the description."""
        return PROJECT / "tests" / "support" / "samples" / f"{self.name}.{self.success}.seen.json"

    def sample(self, *, seen: bool = False) -> Any:
        """The success as the specification shows it, or as it has been seen; what is secret in it is planted."""
        text = self.seen.read_text(encoding="utf-8") if seen else json.dumps(self.example)
        return json.loads(text.replace('"example-', '"planted-'))


def schema_of(response: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a response; empty without a body."""
    media: dict[str, Any] = next(iter(followed(response).get("content", {}).values()), {})
    return followed(media.get("schema", {}))


def example_of(response: Mapping[str, Any]) -> Any:
    """The first example of a response; None without one."""
    media: dict[str, Any] = next(iter(followed(response).get("content", {}).values()), {})
    return next((example["value"] for example in media.get("examples", {}).values()), None)


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
                example=example_of(operation["responses"][success]),
                response=schema_of(operation["responses"][success]),
                errors=tuple(
                    (int(status), name, example["value"])
                    for status, response in responses
                    if int(status) >= 300
                    for name, example in followed(response)["content"]["application/json"]["examples"].items()
                ),
            )


#: Those with a call: of another one, `test_the_calls_are_those_of_the_specification` tells.
OPERATIONS = {operation.name: operation for operation in _operations() if operation.name in METHODS}


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
