"""OpenTelemetry spans: one for each call, and below it one for each attempt.

They are made when the application has set a tracer provider. Nothing is imported: the application's own import of
OpenTelemetry is found in `sys.modules`. No span names an id, a query, a body or a token.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import ModuleType
from typing import Any

from ..._version import LOG, SPAN_PREFIX, __version__
from ..connections.messages import Request, Response
from .call import Attempt, Call

#: The module that the application imports when it traces.
OPENTELEMETRY = "opentelemetry.trace"


def trace_of(call: Call, api: ModuleType) -> "Trace | None":
    """Return the trace of a call; None when the application has set no tracer provider."""
    provider = api.get_tracer_provider()
    return None if isinstance(provider, api.ProxyTracerProvider) else Trace(call, api, _tracer(provider))


@lru_cache(maxsize=4)
def _tracer(provider: Any) -> Any:
    return provider.get_tracer(LOG.name, __version__)


class Trace:
    """The spans of a call and of its attempts."""

    __slots__ = ("_api", "_attributes", "_tracer")

    def __init__(self, call: Call, api: ModuleType, tracer: Any) -> None:
        url = call.request.url
        self._api, self._tracer = api, tracer
        self._attributes: dict[str, Any] = {
            "http.request.method": call.info.method,
            "url.template": call.info.route,
            "server.address": url.host,
            "server.port": url.port or (443 if url.scheme == "https" else 80),
        }

    async def around(self, respond: Callable[[Call], Awaitable[Response]], call: Call) -> Response:
        """Make a call within a span, each of its attempts within a span of its own."""
        send = call.send

        async def traced(request: Request, call: Call) -> Attempt:
            with self._span(self._api.SpanKind.CLIENT, self._before(call)) as span:
                attempt = await send(request, call)
                self._ended(span, attempt.response, attempt.error_name)
                return attempt

        call.send = traced
        with self._span(self._api.SpanKind.INTERNAL, {}) as span:
            response = await respond(call)
            self._ended(span, response, None)
            return response

    @contextmanager
    def _span(self, kind: object, more: dict[str, Any]) -> Iterator[Any]:
        attributes = {**self._attributes, **more}
        name = f"{attributes['http.request.method']} {attributes['url.template']}"
        # Spans of other libraries, and those that a token provider makes, belong below this one.
        with self._tracer.start_as_current_span(
            name, kind=kind, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as error:
                self._failed(span, type(error).__name__)
                raise

    def _before(self, call: Call) -> dict[str, Any]:
        """Return what came before an attempt."""
        resent = {"http.request.resend_count": call.sent} if call.sent else {}
        waits = {f"{SPAN_PREFIX}gate_wait": call.gate_wait, f"{SPAN_PREFIX}token_wait": call.token_wait}
        if call.outage_wait:
            waits[f"{SPAN_PREFIX}outage_wait"] = call.outage_wait
        call.gate_wait = call.token_wait = call.outage_wait = 0.0
        return resent | waits

    def _ended(self, span: Any, response: Response | None, error: str | None) -> None:
        if response is None:
            self._failed(span, str(error))
            return
        span.set_attribute("http.response.status_code", response.status_code)
        if correlation_id := response.headers.get("x-correlation-id"):
            span.set_attribute(f"{SPAN_PREFIX}correlation_id", correlation_id)
        if response.status_code >= 400:
            self._failed(span, str(response.status_code))

    def _failed(self, span: Any, kind: str) -> None:
        span.set_attribute("error.type", kind)
        span.set_status(self._api.StatusCode.ERROR)
