"""A stand-in for a client of redis-py, with prepared replies, in virtual time."""

import asyncio
import json
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from itwin_platform_transport.gates.redis import Reply
from itwin_platform_transport.gates.window import Permit


class Exchange(NamedTuple):
    """One exchange of a process: its time, and the values that the process sent."""

    at: float
    process: str
    rejoins: bool
    wants: int
    listens: bool
    kept: list[int]
    reports: list[tuple[Any, ...]]


NOTHING = Reply(wait=None, rank=0, cooldown=0.0, rejecting_for=None, is_contended=False, differs=False, permits=[])


def reply(*numbers: int, **values: Any) -> Reply:
    """Return a reply that grants permits with these numbers."""
    return replace(NOTHING, permits=[Permit(number=number, at=9.0) for number in numbers], **values)


@dataclass(kw_only=True)
class PreparedRedis:
    """Stands in for a client of redis-py. Each exchange takes the next step, and the last step repeats.

    A step is a reply, an error, or None for a server that does not respond.
    """

    steps: list[Reply | Exception | None] = field(default_factory=lambda: [reply()])
    latency: float = 0.0
    #: The error that a subscription raises.
    listening: Exception | None = None
    exchanges: list[Exchange] = field(default_factory=list)
    commands: list[tuple[Any, ...]] = field(default_factory=list)

    async def execute_command(self, *command: Any) -> bytes:
        """Respond to a command."""
        self.commands.append(command)
        if command[0] == "PUBLISH":
            return b"0"
        *_, process, rejoins, wants, listens, kept, reports = json.loads(command[-1])
        at, ends = round(asyncio.get_running_loop().time(), 6), [tuple(report) for report in reports]
        self.exchanges.append(Exchange(at, process, rejoins, wants, listens, kept, ends))
        await asyncio.sleep(self.latency)
        step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        if isinstance(step, Exception):
            raise step
        if step is None:
            await asyncio.Event().wait()
        assert isinstance(step, Reply)
        return encoded(step)

    def pubsub(self) -> "PreparedSubscription":
        """Return a connection for subscriptions."""
        return PreparedSubscription(self)

    async def aclose(self) -> None:
        """Close nothing: there is no connection."""


def encoded(step: Reply) -> bytes:
    """Return a reply in the form of the script."""
    wait, rejecting_for = (-1.0 if each is None else each for each in (step.wait, step.rejecting_for))
    numbers = "".join(f" {permit.number}" for permit in step.permits)
    text = f"{wait} {step.rank} {step.cooldown} {rejecting_for} {step.is_contended:d} {step.differs:d} 9.0{numbers}"
    return text.encode()


class PreparedSubscription:
    """Stands in for a connection of redis-py for subscriptions, which receives no message."""

    def __init__(self, redis: PreparedRedis) -> None:
        self._redis = redis
        self._is_first = not redis.commands

    async def subscribe(self, channel: str) -> None:
        """Subscribe, or fail to."""
        if self._redis.listening is not None and not self._is_first:
            raise self._redis.listening

    async def get_message(self, *, timeout: float) -> dict[str, str] | None:  # noqa: ASYNC109  # that of redis-py
        """Confirm the subscription before the first exchange. Later subscriptions wait for ever."""
        if self._is_first:
            return {"type": "subscribe"}
        await asyncio.Event().wait()
        return None

    async def ping(self) -> None:
        """Send nothing."""

    async def aclose(self) -> None:
        """There is no connection."""
