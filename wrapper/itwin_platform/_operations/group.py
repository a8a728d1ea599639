"""What the groups of operations share: their connection to the client, and taking a model out of its envelope."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import httpx

from .._api import RequestValues
from .._errors import ResponseDecodeError

M = TypeVar("M")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """What a group of operations needs of its client.

    Args:
        send: sends a request and returns its response, read.
        address: the base URL of the service, without a slash at its end.
        check_requests: whether the documented rules are checked before sending.
    """

    send: Callable[[RequestValues], Awaitable[httpx.Response]]
    address: str
    check_requests: bool


class Group:
    """A group of operations on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._connection.address!r})"


def unwrap(response: httpx.Response, value: object, kind: type[M]) -> M:
    """Return a value that the description promises.

    Raises:
        ResponseDecodeError: the value is missing, or something else; the response stays on the error.
    """
    if isinstance(value, kind):
        return value
    raise ResponseDecodeError(
        response.status_code,
        response.headers,
        response.content,
        reason=f"the response has no {kind.__name__} where the description promises one",
    )
