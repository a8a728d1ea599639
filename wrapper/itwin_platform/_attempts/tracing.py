"""OpenTelemetry spans: one for each call, and below it one for each attempt.

They are made when the application has set a tracer provider. Nothing is imported: the application's own import of
OpenTelemetry is found in `sys.modules`. No span names an id, a query, a body or a token.
"""

import asyncio
import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from types import ModuleType, TracebackType
from typing import Any, Self

import httpx

from .._version import __version__
from .events import LOG


class Trace:
    """The trace of a call or of an attempt when nobody traces: all of it does nothing."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None

    def waiting(self, name: str) -> "Trace":
        """Measure a wait before the next attempt, in `with`."""
        return self

    def attempt(self, number: int) -> "Trace":
        """Start the trace of an attempt, in `with`."""
        return self

    def ended(self, response: httpx.Response | None, error: Exception | None = None) -> None:
        """Record what the call or the attempt ended in."""


OFF = Trace()


def trace_of(request: httpx.Request) -> Trace:
    """Return the trace of a call: one that does nothing when the application has set no tracer provider."""
    api = sys.modules.get("opentelemetry.trace")
    if api is None:
        return OFF
    provider = api.get_tracer_provider()
    if isinstance(provider, api.ProxyTracerProvider):
        return OFF
    attributes: dict[str, Any] = {
        "http.request.method": request.method,
        "url.template": str(request.extensions.get("route", request.url.path)),
        "server.address": request.url.host,
        "server.port": request.url.port or (443 if request.url.scheme == "https" else 80),
    }
    return _Span(api, _tracer(provider), attributes, kind=api.SpanKind.INTERNAL)


@lru_cache(maxsize=4)
def _tracer(provider: Any) -> Any:
    return provider.get_tracer(LOG.name, __version__)


class _Span(Trace):
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

    def waiting(self, name: str) -> Trace:
        return _Wait(self._waits, f"itwin_platform.{name}")

    def attempt(self, number: int) -> Trace:
        resent = {"http.request.resend_count": number - 1} if number > 1 else {}
        attributes = {**self._attributes, **resent, **self._waits}
        self._waits.clear()
        return _Span(self._api, self._tracer, attributes, kind=self._api.SpanKind.CLIENT)

    def ended(self, response: httpx.Response | None, error: Exception | None = None) -> None:
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


class _Wait(Trace):
    __slots__ = ("_name", "_started", "_waits")

    def __init__(self, waits: dict[str, float], name: str) -> None:
        self._waits, self._name, self._started = waits, name, asyncio.get_running_loop().time()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        waited = asyncio.get_running_loop().time() - self._started
        self._waits[self._name] = self._waits.get(self._name, 0.0) + waited
