"""A request as values: what a generated function sends, before anything is sent."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, Protocol

import httpx

from .encoding import encode
from .unset import UNSET


class RequestValues(NamedTuple):
    """A request as values: build one with an operation's `build_request`, change it with `_replace`.

    A named tuple, because making a frozen dataclass takes several times as long. Its `repr` shows no body.

    Args:
        method: the HTTP method, in capitals.
        route: the path's template, such as `/scenes/{sceneId}/objects`.
        path: the path with its parameters filled in and percent-encoded.
        query: the parameters by name; or the query as it is to be sent, encoded already.
        headers: the headers of this operation.
        body: a JSON value, with the fields of a model by their names in JSON; UNSET when the operation sends no body.
        given: the body as it was given, which errors take the names of arguments from.
    """

    method: str
    route: str
    path: str
    query: Mapping[str, str] | str
    headers: Mapping[str, str]
    body: object = UNSET
    given: object = UNSET

    def __repr__(self) -> str:
        return f"RequestValues({self.method} {self.path}, query={self.query!r}, headers={self.headers!r})"


class Received(Protocol):
    """What is read of a response; an `httpx.Response` has it."""

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

    A client with a method `send_values` writes the request itself; that is how a wrapper applies limits of its own.
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
