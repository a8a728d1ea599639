"""What a shared gate asks of the engine that its processes share, as values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from .window import Permit

#: A process that is silent for so many seconds gives its permits back: it crashed, or lost the engine.
LEASE = 8.0

NO_PERMIT = Permit(period=0, number=0)

Kind = Literal["sent", "unused", "abandoned", "answered", "rate_limited", "cooldown"]


class EngineUnreachableError(Exception):
    """The engine does not respond, or not in time."""


class EngineRejectsError(Exception):
    """The engine responds, and rejects the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What became of a permit, or a cooldown of `value` seconds that a process knows of.

    Args:
        kind: what happened.
        permit: the permit of the engine; a cooldown has none.
        value: how many seconds ago it was sent, or how long the cooldown lasts.
        jitter: a number from 0 to 1.
    """

    kind: Kind
    permit: Permit = NO_PERMIT
    value: float = 0.0
    jitter: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One exchange: what ended, and how many permits the process wants from now on.

    Args:
        process: names the process.
        wants: how many of its tasks wait.
        listens: whether it listens for permits, which then come without another exchange.
        holds: whether it holds permits, apart from those that it reports the end of.
        spent: the change of the retry budget.
        reports: what happened since the last exchange.
    """

    process: str
    wants: int
    listens: bool
    holds: bool
    spent: int
    reports: Sequence[Report]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the engine says.

    Args:
        known: whether the process still has what it holds: its lease had not expired.
        wait: the seconds until another permit may be free; None for until another ends.
        rank: how many processes are served before this one.
        cooldown: the seconds in which no request may start.
        is_contended: whether a process waits.
        budget: what is left of the retry budget.
        permits: granted now.
    """

    known: bool
    wait: float | None
    rank: int
    cooldown: float
    is_contended: bool
    budget: int
    permits: Sequence[Permit]


class Engine(Protocol):
    """Where the state of a shared gate lives."""

    async def exchange(self, request: Request) -> Reply:
        """Report and ask; raises EngineUnreachableError and EngineRejectsError."""
        ...

    async def listen(self, process: str, *, ready: Callable[[], None], grant: Callable[[Permit], None]) -> None:
        """Call `ready` once permits can be received, and `grant` with each; ends only by an exception."""
        ...

    async def aclose(self) -> None:
        """Close what was opened."""
        ...
