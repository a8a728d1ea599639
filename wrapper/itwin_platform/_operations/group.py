"""What the groups of operations share: their connection to the client."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple, Self

from .._api import RequestValues
from .._transports.lazy import Response
from .._transports.platform import PlatformSender


class Connection(NamedTuple):
    """What a group of operations needs of its client.

    A named tuple, because each view makes one, and making a frozen dataclass takes several times as long.

    Args:
        send: sends a request and returns its response, read.
        address: the base URL of the service, without a slash at its end.
        check_requests: whether the documented rules are checked before sending.
    """

    send: Callable[[RequestValues], Awaitable[Response]]
    address: str
    check_requests: bool

    @classmethod
    def of(cls, sender: PlatformSender, *, check_requests: bool) -> Self:
        """Return the connection that a sender makes."""
        return cls(send=sender.send, address=sender.service.address, check_requests=check_requests)


class Group:
    """A group of operations on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._connection.address!r})"
