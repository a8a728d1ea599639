"""The operations of the service, one module for each group, and the documented rules that they apply.

This is the thin layer over the generated functions: it checks arguments, builds bodies, and returns models.
"""

from .._api import Reject
from .._requests.platform import PlatformSender
from .rules import usage_error


class Group:
    """A group of operations, whose requests go through one sender."""

    def __init__(self, sender: PlatformSender) -> None:
        self._sender = sender

    @property
    def _reject(self) -> Reject | None:
        """What makes the error of a broken rule of the document; None where the checks are lifted."""
        return usage_error if self._sender.service.check_requests else None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._sender.service.address!r})"
