"""Whose limit a 429 has met: that of the credential, which stops all calls, or that of one operation.

A 429 that names no operation stops all, and the gate tries another operation first after the cooldown. There are two
cases in which a 429 stops only the operation that got it, by method and route:

- It names an operation, and other operations are in use. Whether that means a limit of the operation is not known, so
  one call of the others asks, and the rest wait for its response, for a second at most.
- It names none, but the same operation was limited before, and others have succeeded since.

If another operation gets a 429 meanwhile, the limit is the credential's: for the next hour each 429 stops all. So a
wrong guess costs one request an hour. What else was possible: docs/decisions/limits-of-operations.md.
"""

import asyncio

from .call import Attempt, Call, Finding, OperationLimitedError
from .waiting import wait_for_change, wake

#: A 429 counts for all for so many seconds after more than one operation was limited at once.
SHARED_FOR = 3_600.0
#: So long after a 429, a success of another operation says that the limit was not everybody's.
REMEMBERED_FOR = 120.0
#: The others wait for the response of the call that asks for so many seconds.
LONGEST_QUESTION = 1.0
#: A hostile `retry-after` must not stop an operation for ever: one call a minute asks whether it still holds.
ASKED_AGAIN = 60.0

Operation = tuple[str, str]
#: Stands for all operations that are not limited, while one of their calls asks.
_OTHERS = ("*", "*")


class Limits:
    """The operations that are limited, while others are not."""

    __slots__ = ("_last", "_others_succeed", "_shared_until", "_stopped")

    def __init__(self) -> None:
        self._stopped: dict[Operation, Stop] = {}
        self._shared_until = 0.0
        #: The operation that was limited last and when, and whether another one has succeeded since.
        self._last: tuple[Operation, float] | None = None
        self._others_succeed = False

    @property
    def are_watched(self) -> bool:
        """Whether successes have to be noted."""
        return bool(self._stopped) or self._last is not None

    def found(self, call: Call) -> Finding | None:
        """Return the 429 that stopped a call's operation; None when it is not stopped."""
        stop = self._stopped.get(call.operation)
        return None if stop is None else stop.found

    def left(self, call: Call) -> float:
        """Return the seconds for which a call's operation is stopped."""
        stop = self._stopped.get(call.operation)
        return 0.0 if stop is None else max(0.0, stop.until - call.clock())

    def holds_back(self, call: Call) -> "Stop | None":
        """Return what a call has to wait for."""
        stop = self._stopped.get(call.operation) or self._stopped.get(_OTHERS)
        return stop if stop is not None and stop.asker is not call else None

    def is_of_operation(self, call: Call, attempt: Attempt, *, seconds: float, is_named: bool) -> bool:
        """Note a 429, and return whether it stops its operation alone, which is stopped then.

        Args:
            call: the call that got it.
            attempt: what came.
            seconds: how long the limit lasts.
            is_named: whether it names an operation, and others are in use.
        """
        now, operation = call.clock(), call.operation
        if self._is_of_all(operation, now=now) or not (is_named or self._is_own(operation, now=now)):
            self._last, self._others_succeed = (operation, now), False
            for each in list(self._stopped):
                self._end(each)
            return False
        if is_named and operation not in self._stopped:
            self._stopped[_OTHERS] = Stop(Finding(attempt, call.token, now), until=now)
        self._end(operation)
        self._stopped[operation] = Stop(Finding(attempt, call.token, now + seconds), until=now + seconds)
        return True

    def _is_of_all(self, operation: Operation, *, now: float) -> bool:
        """Return whether a 429 stops all: another operation is limited too, or was so within the last hour."""
        if any(each not in (operation, _OTHERS) and now < stop.until for each, stop in self._stopped.items()):
            self._shared_until = now + SHARED_FOR
        return now < self._shared_until

    def _is_own(self, operation: Operation, *, now: float) -> bool:
        """Return whether an operation was limited before, and others have succeeded since."""
        if operation in self._stopped:
            return True
        is_last = self._last is not None and self._last[0] == operation and now < self._last[1] + REMEMBERED_FOR
        return is_last and self._others_succeed

    def _end(self, operation: Operation) -> None:
        if (stop := self._stopped.pop(operation, None)) is not None:
            wake(stop.waiting)

    def succeeded(self, call: Call) -> None:
        """Note a response other than 429: its operation is not limited any more, and the others are not either."""
        operation = call.operation
        if self._last is not None:
            self._others_succeed = self._others_succeed or operation != self._last[0]
            if call.clock() > self._last[1] + REMEMBERED_FOR:
                self._last = None
        self._end(operation)
        self._end(_OTHERS)

    def left_by(self, call: Call) -> None:
        """Let another call ask if this one did: it has ended."""
        for stop in self._stopped.values():
            if stop.asker is call:
                stop.asker = None
                wake(stop.waiting)


class Stop:
    """What calls wait for: the end of a limit, and then the response of one call that asks whether it has ended.

    Args:
        found: the 429.
        until: when the limit ends, by the clock.
    """

    __slots__ = ("_asked_at", "asker", "found", "until", "waiting")

    def __init__(self, found: Finding, *, until: float) -> None:
        self.found: Finding = found
        self.until: float = until
        self.asker: Call | None = None
        self._asked_at = found.until - max(0.0, found.attempt.delay)
        self.waiting: set[asyncio.Future[None]] = set()

    async def wait(self, call: Call) -> None:
        """Wait until the call may ask, or what it waits for has changed.

        Raises:
            OperationLimitedError: that lasts longer than the call may wait.
        """
        now, ends_at = call.clock(), call.limit.when()
        due = min(self.until, self._asked_at + ASKED_AGAIN) if self.asker is None else self._asked_at + LONGEST_QUESTION
        if due <= now:
            self.asker, self._asked_at = call, now
            return
        # While one asks, its response decides; else the limit is believed.
        left = self.until - now if self.asker is None else due - now
        if (self.asker is None and left > call.longest_cooldown) or (ends_at is not None and now + left >= ends_at):
            raise OperationLimitedError(self.found, self.until - now)
        await wait_for_change(self.waiting, seconds=due - now)
