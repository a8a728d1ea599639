"""What a group of operations needs of its client: where to send, and how to say that it is a page of a listing."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import TYPE_CHECKING

import httpx

from .. import _api

if TYPE_CHECKING:
    from .._api import AuthenticatedClient
    from .._listings.page import Place

#: While it is set, what is sent is a page of a listing, on top of the keywords of its first request.
page_place: "ContextVar[Place | None]" = ContextVar("page_place", default=None)


@contextmanager
def page_at(place: "Place") -> Iterator[None]:
    """Sends what is sent within it for a page of a listing."""
    token = page_place.set(place)
    try:
        yield
    finally:
        page_place.reset(token)


class Connection:
    """What a group of operations needs of its client.

    Args:
        http: what the generated functions send through.
        address: the service's address, without a slash at its end.
        check_requests: whether the documented rules are checked before sending.
    """

    def __init__(self, *, http: httpx.AsyncClient, address: str, check_requests: bool) -> None:
        self._http = http
        self.address = address
        self.check_requests = check_requests

    @cached_property
    def generated(self) -> "AuthenticatedClient":
        """The generated client; made when it is first needed, because it brings in attrs."""
        client = _api.AuthenticatedClient(base_url=self.address, token="")
        client.set_async_httpx_client(self._http)
        return client


class Group:
    """A group of operations, which share their client's connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._connection.address!r})"
