"""A service that answers by a script, for what the backoff transport does with its answers."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import httpx
from itwin_platform import BackoffEvent, BackoffPolicy, BackoffTransport, Gate, RequestGate

#: What the service does with a request: a status, a whole answer, or an exception of the transport.
Step = int | httpx.Response | Exception

ADDRESS = "https://service.example/things"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A request as the service saw it: when it began, and what it carried."""

    at: float
    method: str
    headers: httpx.Headers
    content: bytes


class ScriptedService(httpx.AsyncBaseTransport):
    """Answers each request with the next step, with the last one for ever, each after `latency` seconds."""

    def __init__(self, *steps: Step, latency: float = 0.0) -> None:
        self._steps = list(steps)
        self._latency = latency
        self.seen: list[Seen] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.closed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Notes the request and does what the script says."""
        now = asyncio.get_running_loop().time()
        seen = Seen(at=now, method=request.method, headers=request.headers.copy(), content=request.content)
        self.seen.append(seen)
        step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self._latency)
        finally:
            self.in_flight -= 1
        if isinstance(step, Exception):
            raise step
        return answer(step) if isinstance(step, int) else step

    @property
    def times(self) -> list[float]:
        """When each request began, in seconds since the first."""
        return [round(seen.at - self.seen[0].at, 6) for seen in self.seen]

    async def aclose(self) -> None:
        """Notes it."""
        self.closed = True


def answer(status: int, *, headers: Mapping[str, str] | None = None, content: bytes = b"{}") -> httpx.Response:
    """An answer with a body."""
    return httpx.Response(status, headers=headers, content=content)


def refusal(retry_after: str | None = None) -> httpx.Response:
    """An answer with status 429."""
    return answer(429, headers=None if retry_after is None else {"retry-after": retry_after})


def backoff(
    service: httpx.AsyncBaseTransport,
    *,
    policy: BackoffPolicy | None = None,
    gate: RequestGate | None = None,
    jitter: float = 0.0,
    on_event: Callable[[BackoffEvent], None] | None = None,
) -> BackoffTransport:
    """A backoff transport over the service, whose jitter is known."""
    return BackoffTransport(
        service, policy=policy, gate=gate or Gate(), random_number=lambda: jitter, on_event=on_event
    )


async def send(transport: httpx.AsyncBaseTransport, method: str = "GET", **headers: str) -> httpx.Response:
    """Sends one request."""
    content = b"{}" if method in ("POST", "PATCH", "PUT") else None
    return await transport.handle_async_request(httpx.Request(method, ADDRESS, headers=headers, content=content))
