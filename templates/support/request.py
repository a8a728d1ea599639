"""A request as values, before it is sent."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import httpx

from .encoding import encode
from .unset import UNSET


@dataclass(slots=True)
class RequestValues:
    """A request as values: build one with an operation's `build_request`, change it with `dataclasses.replace`.

    Its `repr` does not show the body.

    Args:
        method: the HTTP method, in capitals.
        route: the path's template, such as `/scenes/{sceneId}/objects`.
        path: the path with its parameters filled in and percent-encoded.
        query: the parameters by name, or the encoded query.
        headers: the headers of this operation.
        body: a JSON value, with the fields of a model by their names in JSON; UNSET when the operation sends no body.
        given: the body that the caller passed, from which errors take the names of arguments.
    """

    method: Final[str]
    route: Final[str]
    path: Final[str]
    query: Final[Mapping[str, str] | str]
    headers: Final[Mapping[str, str]]
    body: Final[object] = UNSET
    given: Final[object] = UNSET

    def __repr__(self) -> str:
        return f"RequestValues({self.method} {self.path}, query={self.query!r}, headers={self.headers!r})"


class Received(Protocol):
    """The attributes of a response that the generated code reads; an `httpx.Response` has them."""

    status_code: int

    @property
    def headers(self) -> httpx.Headers:
        """The headers."""
        ...

    @property
    def content(self) -> bytes:
        """The decoded body."""
        ...

    def json(self) -> Any:
        """Deserialize the body."""
        ...


async def send(http: httpx.AsyncClient, values: RequestValues) -> Received:
    """Send a request through an `httpx.AsyncClient`.

    A client with a method `send_values` sends the values itself: a wrapper adds retries and rate limits there.
    """
    send_values: Callable[[RequestValues], Awaitable[Received]] | None = getattr(http, "send_values", None)
    if send_values is not None:
        return await send_values(values)
    query = values.query if isinstance(values.query, str) else None
    return await http.request(
        values.method,
        f"{values.path}?{query}" if query else values.path,
        params=None if isinstance(values.query, str) else values.query,
        headers=values.headers,
        json=None if values.body is UNSET else encode(values.body),
    )
