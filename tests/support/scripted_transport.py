"""A service without a network: an httpx transport that responds by a script."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping

import httpx
from itwin_platform import BackoffEvent, BackoffPolicy, BackoffTransport, Gate

from tests.support.exchange import PreparedResponse, ReceivedRequest, Script, now

#: What the service does with a request: a status, a response, or an exception of the transport; or it takes its time.
Outcome = int | PreparedResponse | httpx.Response | Exception
Step = Outcome | Awaitable[Outcome]

ADDRESS = "https://service.example/things"


class ScriptedTransport(httpx.AsyncBaseTransport):
    """Takes the next step for each request, each after `latency` seconds, and records the requests."""

    address = "https://service.example"

    def __init__(self, *steps: Step | Callable[[ReceivedRequest], Step], latency: float = 0.0) -> None:
        self._script = Script[Step](*steps)
        self._latency = latency
        self.requests: list[ReceivedRequest] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.closed = False

    @property
    def transport(self) -> httpx.AsyncBaseTransport:
        """What sends to the service, as a `RawServer` has it."""
        return self

    @property
    def times(self) -> list[float]:
        """When each request began, in seconds since the first."""
        return [round(request.at - self.requests[0].at, 6) for request in self.requests]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Record the request and take the next step."""
        assert isinstance(request.stream, httpx.AsyncByteStream)
        body = b"".join([chunk async for chunk in request.stream])  # a body that can be read once is then gone
        target, headers = request.url.raw_path.decode("ascii"), request.headers.copy()
        received = ReceivedRequest(at=now(), method=request.method, target=target, headers=headers, body=body)
        self.requests.append(received)
        step = self._script.step(received)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self._latency)
            outcome = await step if isinstance(step, Awaitable) else step
            return await _respond(outcome)
        finally:
            self.in_flight -= 1
            if isinstance(step, Coroutine):
                step.close()  # of a request that was cancelled before its step began

    async def aclose(self) -> None:
        """Record that the client closed it."""
        self.closed = True


class CutBody(httpx.AsyncByteStream):
    """A body whose connection breaks halfway."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body[: len(self._body) // 2]
        raise httpx.ReadError("the body was cut")


async def _respond(outcome: Outcome) -> httpx.Response:
    if isinstance(outcome, Exception):
        raise outcome
    if isinstance(outcome, httpx.Response):
        return outcome
    if isinstance(outcome, int):
        return response(outcome)
    await asyncio.sleep(3_600.0 if outcome.fault == "hang" else outcome.delay)
    if outcome.fault in ("hang", "reset"):
        raise httpx.ReadError(f"planned: {outcome.fault}")
    # As from a network, the body is a stream that is not decoded yet.
    stream = CutBody(outcome.body) if outcome.fault == "cut" else httpx.ByteStream(outcome.body)
    return httpx.Response(outcome.status, headers=dict(outcome.headers), stream=stream)


def response(status: int, *, headers: Mapping[str, str] | None = None, content: bytes = b"{}") -> httpx.Response:
    """Return a response with a body."""
    return httpx.Response(status, headers=dict(headers or {}), content=content)


def rate_limited(retry_after: str | None = None) -> httpx.Response:
    """Return a response with status 429."""
    return response(429, headers=None if retry_after is None else {"retry-after": retry_after})


def backoff(
    service: httpx.AsyncBaseTransport,
    *,
    policy: BackoffPolicy | None = None,
    gate: Gate | None = None,
    jitter: float = 0.0,
    on_event: Callable[[BackoffEvent], None] | None = None,
) -> BackoffTransport:
    """Return a backoff transport over the service whose jitter is known."""
    gate = gate or Gate(random_number=lambda: jitter)
    return BackoffTransport(service, policy=policy, gate=gate, random_number=lambda: jitter, on_event=on_event)


async def send(transport: httpx.AsyncBaseTransport, method: str = "GET", **headers: str) -> httpx.Response:
    """Send one request."""
    content = b"{}" if method in ("POST", "PATCH", "PUT") else None
    return await transport.handle_async_request(httpx.Request(method, ADDRESS, headers=headers, content=content))
