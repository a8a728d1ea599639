"""OpenTelemetry spans: one for each call, and below it one for each attempt.

They are made when the application has set a tracer provider. Nothing is imported: the application's own import of
OpenTelemetry is found in `sys.modules`. No span names an id, a query, a body or a token.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from functools import lru_cache
from types import ModuleType, TracebackType
from typing import Any, Self

from ..._version import LOG, SPAN_PREFIX, __version__
from ..connections.messages import Request, Response
from .call import Attempt, Call

#: The module that the application imports when it traces.
OPENTELEMETRY = "opentelemetry.trace"


def trace_of(call: Call, api: ModuleType) -> "Trace | None":
    """Return the trace of a call; None when the application has set no tracer provider."""
    provider = api.get_tracer_provider()
    if isinstance(provider, api.ProxyTracerProvider):
        return None
    url = call.request.url
    attributes: dict[str, Any] = {
        "http.request.method": call.info.method,
        "url.template": call.info.route,
        "server.address": url.host,
        "server.port": url.port or (443 if url.scheme == "https" else 80),
    }
    return Trace(api, _tracer(provider), attributes, kind=api.SpanKind.INTERNAL)


@lru_cache(maxsize=4)
def _tracer(provider: Any) -> Any:
    return provider.get_tracer(LOG.name, __version__)


class Trace:
    """The span of a call or of an attempt, while in `with`."""

    __slots__ = ("_api", "_attributes", "_current", "_kind", "_span", "_tracer")

    def __init__(self, api: ModuleType, tracer: Any, attributes: dict[str, Any], *, kind: object) -> None:
        self._api, self._tracer, self._attributes, self._kind = api, tracer, attributes, kind

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

    async def around(self, respond: Callable[[Call], Awaitable[Response]], call: Call) -> Response:
        """Make a call within this span, each of its attempts within a span of its own."""
        send = call.send

        async def traced(request: Request, call: Call) -> Attempt:
            with self._of_attempt(call) as span:
                attempt = await send(request, call)
                span.ended(attempt.response, attempt.error)
                return attempt

        call.send = traced
        with self:
            response = await respond(call)
            self.ended(response)
            return response

    def _of_attempt(self, call: Call) -> "Trace":
        resent = {"http.request.resend_count": call.sent} if call.sent else {}
        waits = {f"{SPAN_PREFIX}gate_wait": call.gate_wait, f"{SPAN_PREFIX}token_wait": call.token_wait}
        if call.outage_wait:
            waits[f"{SPAN_PREFIX}outage_wait"] = call.outage_wait
        call.gate_wait = call.token_wait = call.outage_wait = 0.0
        attributes = {**self._attributes, **resent, **waits}
        return Trace(self._api, self._tracer, attributes, kind=self._api.SpanKind.CLIENT)

    def ended(self, response: Response | None, error: Exception | None = None) -> None:
        """Record what the call or the attempt ended in."""
        if response is None:
            self._failed(type(error).__name__)
            return
        self._span.set_attribute("http.response.status_code", response.status_code)
        if correlation_id := response.headers.get("x-correlation-id"):
            self._span.set_attribute(f"{SPAN_PREFIX}correlation_id", correlation_id)
        if response.status_code >= 400:
            self._failed(str(response.status_code))

    def _failed(self, kind: str) -> None:
        self._span.set_attribute("error.type", kind)
        self._span.set_status(self._api.StatusCode.ERROR)
