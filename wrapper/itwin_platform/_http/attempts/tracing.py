"""OpenTelemetry spans: one for each call, and below it one for each attempt.

They are made when the application has set a tracer provider. Nothing is imported: the application's own import of
OpenTelemetry is found in `sys.modules`. No span names an id, a query, a body or a token.
"""

import asyncio
from collections.abc import Awaitable
from contextlib import AbstractContextManager
from functools import lru_cache
from types import ModuleType, TracebackType
from typing import Any, Self, TypeVar

from ..._version import LOG, __version__
from ..connections.lazy import Request, Response, route_of

T = TypeVar("T")
#: The module that the application imports when it traces.
OPENTELEMETRY = "opentelemetry.trace"


def trace_of(request: Request, api: ModuleType) -> "Trace | None":
    """Return the trace of a call; None when the application has set no tracer provider."""
    provider = api.get_tracer_provider()
    if isinstance(provider, api.ProxyTracerProvider):
        return None
    attributes: dict[str, Any] = {
        "http.request.method": request.method,
        "url.template": route_of(request),
        "server.address": request.url.host,
        "server.port": request.url.port or (443 if request.url.scheme == "https" else 80),
    }
    return Trace(api, _tracer(provider), attributes, kind=api.SpanKind.INTERNAL)


@lru_cache(maxsize=4)
def _tracer(provider: Any) -> Any:
    return provider.get_tracer(LOG.name, __version__)


class Trace:
    """The span of a call or of an attempt, while in `with`."""

    __slots__ = ("_api", "_attributes", "_current", "_kind", "_span", "_tracer", "_waits")

    def __init__(self, api: ModuleType, tracer: Any, attributes: dict[str, Any], *, kind: object) -> None:
        self._api, self._tracer, self._attributes, self._kind = api, tracer, attributes, kind
        self._waits: dict[str, float] = {}

    def __enter__(self) -> Self:
        name = f"{self._attributes['http.request.method']} {self._attributes['url.template']}"
        self._span: Any = self._tracer.start_span(name, kind=self._kind, attributes=self._attributes)
        # Spans of other libraries, and those that a token provider makes, belong below this one.
        self._current: AbstractContextManager[object] = self._api.use_span(
            self._span, end_on_exit=True, record_exception=False, set_status_on_exception=False
        )
        self._current.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self._failed(kind.__name__)
        self._current.__exit__(None, None, None)

    async def waiting(self, name: str, work: Awaitable[T]) -> T:
        """Await what stands before the next attempt, and measure how long that takes."""
        clock = asyncio.get_running_loop().time
        started = clock()
        try:
            return await work
        finally:
            key = f"itwin_platform.{name}"
            self._waits[key] = self._waits.get(key, 0.0) + clock() - started

    def attempt(self, number: int) -> "Trace":
        """Return the span of an attempt, to use in `with`."""
        resent = {"http.request.resend_count": number - 1} if number > 1 else {}
        attributes = {**self._attributes, **resent, **self._waits}
        self._waits.clear()
        return Trace(self._api, self._tracer, attributes, kind=self._api.SpanKind.CLIENT)

    def ended(self, response: Response | None, error: Exception | None = None) -> None:
        """Record what the call or the attempt ended in."""
        if response is None:
            self._failed(type(error).__name__)
            return
        self._span.set_attribute("http.response.status_code", response.status_code)
        if correlation_id := response.headers.get("x-correlation-id"):
            self._span.set_attribute("itwin_platform.correlation_id", correlation_id)
        if response.status_code >= 400:
            self._failed(str(response.status_code))

    def _failed(self, kind: str) -> None:
        self._span.set_attribute("error.type", kind)
        self._span.set_status(self._api.StatusCode.ERROR)
