"""Settings of a client that a test can change one by one, and an environment that has none of them."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from itwin_platform import BackoffPolicy, PlatformClient, PlatformError

ACCOUNT = {"iTwin": {"id": "a", "displayName": "Example"}}
#: The required settings of a client.
SETTINGS: dict[str, Any] = {"base_url": "https://service.example/api", "vendor": "acme", "token": "planted-token"}

Handler = Callable[[httpx.Request], httpx.Response]


def answering(handler: Handler | None = None, **changes: Any) -> tuple[PlatformClient, list[httpx.Request]]:
    """Return a client whose requests are handled by `handler`, by default with the account, and their list."""
    requests: list[httpx.Request] = []

    def noting(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return handler(request) if handler else httpx.Response(200, json=ACCOUNT)

    settings: dict[str, Any] = SETTINGS | {"transport": httpx.MockTransport(noting)} | changes
    return PlatformClient(**settings), requests


class Index:
    """An integer of another library, such as numpy."""

    def __index__(self) -> int:
        return 3599

    def __repr__(self) -> str:
        return "Index()"


class Array:
    """Several integers of another library, or a truth value: it has the method of an integer, and is none."""

    def __index__(self) -> int:
        raise TypeError("only integer scalar arrays can be converted to a scalar index")


async def error_of(outcome: httpx.Response | Exception, **changes: Any) -> PlatformError:
    """Return the error of a call without retries, after a response or an exception of the transport."""

    def respond(_: httpx.Request) -> httpx.Response:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    client, _ = answering(respond, backoff=BackoffPolicy(max_attempts=1, max_wait=0.0), **changes)
    async with client:
        with pytest.raises(PlatformError) as caught:
            await client.itwins.get_primary_account()
    return caught.value


SCENE = "6a2d2381-6c57-9332-387a-5b7c00000000"


def pages(request: httpx.Request) -> httpx.Response:
    """Return two pages of iTwins or scene objects, or the account."""
    if request.url.path.endswith("/myprimaryaccount"):
        return httpx.Response(200, json=ACCOUNT)
    following = request.url.copy_set_param("$skip", "1")
    links = {} if request.url.params.get("$skip") == "1" else {"next": {"href": str(following)}}
    headers = {"x-correlation-id": "answered", "x-max-return": "10000"}
    content = {"iTwins": [{"id": "i"}], "objects": [{"id": "o"}], "_links": links}
    return httpx.Response(200, json=content, headers=headers)
