"""What both stand-ins of a service share: the requests that they record and the responses that they send."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Generic, Literal, TypeVar

import httpx

Step = TypeVar("Step")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedRequest:
    """A request as the service saw it, and when its first byte arrived, in the event loop's time."""

    at: float
    method: str
    target: str  # path and query
    headers: httpx.Headers
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedResponse:
    """What the service sends after `delay` seconds.

    Faults: `reset` closes the connection without a byte, `cut` breaks off within the body, `hang` never responds.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    body: bytes = b"{}"
    delay: float = 0.0
    fault: Literal["reset", "cut", "hang"] | None = None


class Script(Generic[Step]):
    """Steps that are taken in order, the last one for ever; a function is called with each request."""

    def __init__(self, *steps: Step | Callable[[ReceivedRequest], Step]) -> None:
        self._steps = list(steps)

    def step(self, request: ReceivedRequest) -> Step:
        """Return the step for the next request."""
        step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        if callable(step):
            return step(request)  # pyright: ignore[reportReturnType]  # a step of any type may be callable, for pyright
        return step


def now() -> float:
    """Return the event loop's time."""
    return asyncio.get_running_loop().time()
