"""The counting server without a network, for virtual time: the same answers, each after a millisecond."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self

import httpx

from .counting_server import Answer, Received

LATENCY = 0.001


class InMemoryService(httpx.AsyncBaseTransport):
    """Stands where a `CountingServer` stands; `requests` holds all that came."""

    address = "https://service.example"

    def __init__(self, answer: Callable[[Received], Answer]) -> None:
        self._answer = answer
        self.requests: list[Received] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        """Nothing is open."""

    @property
    def transport(self) -> httpx.AsyncBaseTransport:
        """What sends to it."""
        return self

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Counts, and answers."""
        await asyncio.sleep(LATENCY / 2)
        at = asyncio.get_running_loop().time()
        received = Received(
            at=at, method=request.method, path=request.url.path, headers=dict(request.headers), body=request.content
        )
        self.requests.append(received)
        answer = self._answer(received)
        await asyncio.sleep(3600.0 if answer.fault == "hang" else LATENCY / 2 + answer.delay)
        if answer.fault is not None:
            raise httpx.ReadError(f"planned: {answer.fault}")
        return httpx.Response(answer.status, headers=dict(answer.headers), content=answer.body)
