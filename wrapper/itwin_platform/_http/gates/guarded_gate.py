"""A guard around gates of other libraries: an exception in one of them never loses a response."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from ..._version import LOG
from .gate import RequestGate
from .window import Permit

T = TypeVar("T")


class GuardedGate:
    """Passes everything on to a gate, and logs what it raises where a response or a permit could be lost.

    Exceptions of `ticket` and `enter` pass: nothing has been sent then.
    """

    __slots__ = ("_gate",)

    def __init__(self, gate: RequestGate) -> None:
        self._gate = gate

    def __repr__(self) -> str:
        return repr(self._gate)

    def ticket(self) -> int:
        """Return a position in the queue."""
        return self._gate.ticket()

    async def enter(self, ticket: int, *, max_wait: float, until: float | None) -> Permit:
        """Wait for permission to send one attempt, and be cancelled even if the gate ignores that."""
        task = asyncio.current_task()
        cancellations = 0 if task is None else task.cancelling()
        permit = await self._gate.enter(ticket, max_wait=max_wait, until=until)
        if task is not None and task.cancelling() > cancellations:
            # `asyncio.wait_for` of Python 3.11 loses a cancellation that comes together with a result.
            self.abandoned(permit)
            raise asyncio.CancelledError
        return permit

    def sending(self, permit: Permit) -> None:
        """Count the attempt against the rates."""
        self._tell("sending", lambda: self._gate.sending(permit))

    def answered(self, permit: Permit) -> None:
        """End an attempt that got a response other than 429."""
        self._tell("answered", lambda: self._gate.answered(permit))

    def rate_limited(self, permit: Permit, *, wait: float) -> None:
        """End an attempt that got a 429."""
        self._tell("rate_limited", lambda: self._gate.rate_limited(permit, wait=wait))

    def abandoned(self, permit: Permit) -> None:
        """End an attempt without a response."""
        self._tell("abandoned", lambda: self._gate.abandoned(permit))

    def cooldown_left(self) -> float:
        """Return the seconds in which no request may start; 0 when the gate fails to tell."""
        return self._tell("cooldown_left", lambda: self._gate.cooldown_left()) or 0.0  # noqa: PLW0108  # naming it may raise

    async def aclose(self) -> None:
        """Close the gate."""
        await self._gate.aclose()

    def _tell(self, name: str, call: Callable[[], T]) -> T | None:
        try:
            return call()
        except Exception:  # noqa: BLE001  # a gate of another library may raise anything
            LOG.warning("the gate failed in %s()", name, exc_info=True)
            return None
