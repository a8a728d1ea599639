"""Limits of single operations: which 429 shows one, and a window for each operation that has one.

**Theory.** The service counts per credential, so a 429 stops all calls of a gate. If the limit is that of one
operation, the others suffer for nothing: they wait for each of its cooldowns, and the learned rate falls with each of
its 429s. So a 429 stops its operation alone in two cases:

1. *It names its operation*, and others are in use.
2. *The operation is limited again, and others have succeeded since.* A limit of all operations would have stopped
   these too.

A 429 that names its operation may only say which call has met the limit of all. So when a second operation is limited
during the cooldown of the first one, this limit and those of the next hour count as limits of all.

The figures: docs/decisions/limits-of-operations.md.
"""

import math
from collections.abc import Hashable

from .window import Permit, TooManyRequests, Window

#: Seconds in which each 429 stops all operations, after two operations were limited at once.
SHARED_FOR = 3_600.0


class OperationLimits:
    """The operations of a gate that have a limit of their own. Almost always there is none.

    Args:
        max_in_flight: requests in flight at once, of each operation.
    """

    def __init__(self, *, max_in_flight: int) -> None:
        self._max_in_flight = max_in_flight
        self.windows: dict[Hashable, Window] = {}
        #: Until this time, each 429 stops all operations.
        self._shared_until = -math.inf
        #: The operation of the last 429, and whether another one has succeeded since.
        self._last: Hashable = self  # equal to no operation
        self._has_other_succeeded = True

    def responded(self, operation: Hashable) -> None:
        """Record a response other than 429."""
        if operation != self._last:
            self._has_other_succeeded = True

    def rate_limited(self, operation: Hashable, *, now: float, is_named: bool) -> bool:
        """Record a 429, and return whether it stops its operation alone.

        Args:
            operation: the operation of its request.
            now: the event loop's time.
            is_named: whether it names its operation, and others are in use.
        """
        if any(other != operation and window.cooldown.left(now) > 0 for other, window in self.windows.items()):
            self._shared_until = now + SHARED_FOR
        is_repeated = operation == self._last and self._has_other_succeeded
        self._last, self._has_other_succeeded = operation, False
        stops_alone = now >= self._shared_until and (is_named or is_repeated or operation in self.windows)
        if not stops_alone:
            self.windows.clear()
        return stops_alone

    def start_cooldown(
        self, operation: Hashable, permit: Permit, granted_by: Window | None, rejection: TooManyRequests
    ) -> None:
        """Start the cooldown of an operation. The 429 of a permit that this window has not granted only prolongs it."""
        if operation not in self.windows:
            window = self.windows[operation] = Window(max_in_flight=self._max_in_flight)
            window.join(permit)
            window.rate_limited(permit, rejection)
        elif self.windows[operation] is granted_by:
            self.windows[operation].rate_limited(permit, rejection)
        else:
            self.windows[operation].extend(rejection)
