"""OpenTelemetry spans: one for a call, and below it one for each attempt. They contain no id, query or secret."""

import sys
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from ..connections.messages import Request, Response
from ..names import PACKAGE, SPAN_PREFIX, VERSION, ServiceHeaders
from .call import Attempt, CallInfo
from .results import CallResult

#: The module that an application with tracing has imported. It is looked up in `sys.modules`, and never imported here.
_OPENTELEMETRY = "opentelemetry.trace"


def trace_of(info: CallInfo, request: Request, headers: ServiceHeaders) -> "Trace | None":
    """Return the trace of a call; None when the application has set no tracer provider."""
    api = sys.modules.get(_OPENTELEMETRY)
    if api is None or isinstance(provider := api.get_tracer_provider(), api.ProxyTracerProvider):
        return None
    # A tracer for each call: a provider need not be hashable, so it cannot be the key of a cache.
    return Trace(info, request, headers, api, provider.get_tracer(PACKAGE, VERSION))


class Trace:
    """The spans of one call."""

    def __init__(self, info: CallInfo, request: Request, headers: ServiceHeaders, api: ModuleType, tracer: Any) -> None:
        url = request.url
        self._headers, self._api, self._tracer = headers, api, tracer
        self._attributes: dict[str, Any] = {
            "http.request.method": info.method,
            "url.template": info.route,
            "server.address": url.host,
            "server.port": url.port or (443 if url.scheme == "https" else 80),
        }
        #: Seconds of the waits before the next attempt, by the names of its span attributes.
        self._waits: dict[str, float] = {}

    async def around_call(self, work: Awaitable[CallResult]) -> CallResult:
        """Make the attempts of the call within its span."""
        with self._span(self._api.SpanKind.INTERNAL, {}) as span:
            result = await work
            self._end(span, None if result.ended_by_cooldown else result.response, "429", result.hide_token)
            return result

    async def around_attempt(self, work: Awaitable[Attempt], *, made: int, hide: Callable[[str], str]) -> Attempt:
        """Make an attempt within a span, after `made` other ones; `hide` redacts the token in a text."""
        waits = {"token_wait": 0.0} | self._waits  # each attempt waits at the gate, if only for a moment
        attributes: dict[str, Any] = {f"{SPAN_PREFIX}{name}": seconds for name, seconds in waits.items()}
        self._waits = {}
        with self._span(
            self._api.SpanKind.CLIENT, {"http.request.resend_count": made, **attributes} if made else attributes
        ) as span:
            attempt = await work
            self._end(span, attempt.response, str(attempt.error_name), hide)
            return attempt

    def waited(self, name: str, seconds: float) -> None:
        """Add seconds to a wait before the next attempt, by the name of its span attribute."""
        self._waits[name] = self._waits.get(name, 0.0) + seconds

    @contextmanager
    def _span(self, kind: object, more: Mapping[str, Any]) -> Generator[Any]:
        attributes = {**self._attributes, **more}
        name = f"{attributes['http.request.method']} {attributes['url.template']}"
        # The current span, so that spans of other libraries and of a token provider become its children.
        with self._tracer.start_as_current_span(
            name, kind=kind, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as error:
                self._fail(span, type(error).__name__)
                raise

    def _end(self, span: Any, response: Response | None, failure: str, hide: Callable[[str], str]) -> None:
        """Set the status of an attempt or of the call; `failure` is its type if it has no response."""
        if response is None:
            self._fail(span, failure)
        else:
            span.set_attribute("http.response.status_code", response.status_code)
            if correlation_id := self._headers.correlation_id_of(response.headers):
                span.set_attribute(f"{SPAN_PREFIX}correlation_id", hide(correlation_id))
            if response.status_code >= 400:
                self._fail(span, str(response.status_code))

    def _fail(self, span: Any, kind: str) -> None:
        span.set_attribute("error.type", kind)
        span.set_status(self._api.StatusCode.ERROR)
