"""Whose limit a 429 has met: that of the credential, which stops all calls, or that of one operation.

A 429 that names no operation stops all, and the gate tries another operation first after the cooldown. There are two
cases in which a 429 stops only the operation that got it, by method and route:

- It names an operation, and other operations are in use. Whether that means a limit of the operation is not known, so
  one call of the others asks, and the rest wait for its response, for a second at most.
- It names none, but the same operation was limited before, and others have succeeded since.

Such an operation gets a gate of its own, before the gate of all: cooldown, slow start and learned rate are as there.
If another operation gets a 429 during its cooldown, the limit is the credential's: for the next hour each 429 stops
all. So a wrong guess costs one request an hour. What else was possible: docs/decisions/limits-of-operations.md.
"""

import asyncio
from typing import NamedTuple

from ..gates.gate import Gate
from .call import Attempt, Call, Finding
from .waiting import wait_for_change, wake

#: What is known of a limit counts for so many seconds: whose it is, and the gate of an operation after its last 429.
KNOWN_FOR = 3_600.0
#: So long after a 429, a success of another operation says that the limit was not everybody's.
REMEMBERED_FOR = 120.0
#: The others wait for the response of the call that asks for so many seconds.
LONGEST_QUESTION = 1.0

Operation = tuple[str, str]


class Limit(NamedTuple):
    """The limit of one operation.

    Args:
        gate: holds its calls back.
        found: the last 429.
    """

    gate: Gate
    found: Finding


class Limits:
    """The operations that are limited, while others are not."""

    __slots__ = ("_last", "_others_succeed", "_own", "_question", "_shared_until")

    def __init__(self) -> None:
        self._own: dict[Operation, Limit] = {}
        self._question: Question | None = None
        self._shared_until = 0.0
        #: The operation that was limited last and when, and whether another one has succeeded since.
        self._last: tuple[Operation, float] | None = None
        self._others_succeed: bool

    @property
    def are_watched(self) -> bool:
        """Whether successes have to be noted."""
        return bool(self._own) or self._last is not None

    def gate_of(self, call: Call) -> Gate | None:
        """Return the gate of a call's operation; None when it has none of its own."""
        limit = self._own.get(call.operation)
        return None if limit is None else limit.gate

    def admit(self, call: Call) -> bool:
        """Return whether nothing is known of a limit of the operation that was not known when it entered."""
        if call.own is None:
            return call.operation not in self._own
        gate, permit = call.own
        return gate.may_send(permit)

    def found(self, call: Call) -> Finding | None:
        """Return the 429 that stopped a call's operation; None when it is not stopped."""
        limit = self._own.get(call.operation)
        return limit.found if limit is not None and limit.gate.cooldown_left() > 0 else None

    def left(self, call: Call) -> float:
        """Return the seconds for which a call's operation is stopped."""
        limit = self._own.get(call.operation)
        return 0.0 if limit is None else limit.gate.cooldown_left()

    def holds_back(self, call: Call) -> "Question | None":
        """Return what a call has to wait for."""
        question = self._question
        if question is None or call.operation in self._own or question.asker is call:
            return None
        if question.asker is None:
            question.asker, question.until = call, call.clock() + LONGEST_QUESTION
            return None
        return question if call.clock() < question.until else None

    async def is_of_operation(
        self, call: Call, attempt: Attempt, *, seconds: float, is_named: bool, gate: Gate
    ) -> bool:
        """Note a 429, and return whether it stops its operation alone, which is stopped then.

        Args:
            call: the call that got it.
            attempt: what came.
            seconds: how long the limit lasts.
            is_named: whether it names an operation, and others are in use.
            gate: the gate of all.
        """
        now, operation = call.clock(), call.operation
        if self._is_of_all(operation, now=now) or not (is_named or self._is_own(operation, now=now)):
            self._last, self._others_succeed = (operation, now), False
            self._own.clear()
            self._end_question()
            return False
        limit, found = self._own.get(operation), Finding(attempt, call.token, now + seconds)
        if limit is None:
            own = gate.for_one_operation()
            call.own = own, await own.enter(call.ticket, max_wait=0.0, until=None)
            if is_named:
                self._end_question()
                self._question = Question()
        else:
            own = limit.gate
        self._own[operation] = Limit(own, found)
        if call.own is not None:
            (own, permit), call.own = call.own, None
            own.rate_limited(permit, wait=seconds)
        return True

    def _is_of_all(self, operation: Operation, *, now: float) -> bool:
        """Return whether a 429 stops all: another operation is limited too, or was so within the last hour."""
        if any(each != operation and limit.gate.cooldown_left() > 0 for each, limit in self._own.items()):
            self._shared_until = now + KNOWN_FOR
        return now < self._shared_until

    def _is_own(self, operation: Operation, *, now: float) -> bool:
        """Return whether an operation was limited before, and others have succeeded since."""
        if operation in self._own:
            return True
        is_last = self._last is not None and self._last[0] == operation and now < self._last[1] + REMEMBERED_FOR
        return is_last and self._others_succeed

    def _end_question(self) -> None:
        if self._question is not None:
            wake(self._question.waiting)
            self._question = None

    def succeeded(self, call: Call) -> None:
        """Note a response other than 429: the others are not limited where it is one of theirs."""
        operation, now = call.operation, call.clock()
        if self._last is not None:
            self._others_succeed = self._others_succeed or operation != self._last[0]
            if now > self._last[1] + REMEMBERED_FOR:
                self._last = None
        if operation not in self._own:
            self._end_question()
        for each, limit in list(self._own.items()):
            if now > limit.found.until + KNOWN_FOR:
                del self._own[each]

    def left_by(self, call: Call) -> None:
        """Let another call ask if this one did: it has ended."""
        if self._question is not None and self._question.asker is call:
            self._question.asker = None
            wake(self._question.waiting)


class Question:
    """What the calls of other operations wait for: the response of one that asks whether they are limited too."""

    __slots__ = ("asker", "until", "waiting")

    def __init__(self) -> None:
        #: The call that asks, and how long the others wait, by the clock.
        self.asker: Call | None = None
        self.until: float
        self.waiting: set[asyncio.Future[None]] = set()

    async def wait(self, call: Call) -> None:
        """Wait until the response has come, or it takes too long."""
        await wait_for_change(self.waiting, seconds=self.until - call.clock())
