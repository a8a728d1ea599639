"""The operations of the service, one module for each group, and the documented rules that they apply.

This is the thin layer over the generated functions: it checks arguments, builds bodies, and returns models.
"""

from .._requests.platform import PlatformSender


class Group:
    """A group of operations, whose requests go through one sender."""

    def __init__(self, sender: PlatformSender) -> None:
        self._sender = sender

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._sender.service.address!r})"
