"""Retries as an httpx transport: gate -> token -> head -> body -> decide -> wait -> gate ..."""

import asyncio
import logging
import random
import ssl
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from types import ModuleType
from typing import Any, Literal

import httpx

from .. import conventions
from ..connections.engine import EngineTransport, innermost
from ..connections.given_client import cancelled_in_order, check_kind
from ..connections.messages import (
    NO_RESPONSE,
    NOT_CONNECTED,
    UNSENDABLE,
    Request,
    Response,
    is_not_http,
    is_nowhere,
    send_through,
    why_final,
    without_frames,
)
from ..errors import PlatformError, StateError, TokenError, TransportError, UsageError, check_integer
from ..events import AttemptEnded, BackoffEvent, CooldownStarted, RetryScheduled, log, tell
from ..gates.gate import Gate, gate_with
from ..gates.window import WaitTooLongError
from ..policy import DOWN, OUTCOMES, RULES, BackoffPolicy, Outcome, check_seconds, decide, delay_before, retry_after_of
from .call import Attempt, Call, CallInfo, CallResult, Finding, OperationDownError
from .outage import shared_by
from .tokens import LONGEST_REFRESH, TokenAuth, TokenProvider, utc_now

#: The largest response by default, in bytes.
MAX_RESPONSE_BYTES = 64 * 1024 * 1024
#: A hostile `retry-after` must not stop a client for ever: no cooldown is longer, and the gate probes it each minute.
LONGEST_COOLDOWN = 86_400.0
#: A token that has waited longer for a permit, in seconds, is asked for again before it is sent.
LONGEST_UNSENT_TOKEN = 5.0
#: The module that the application imports when it traces. Nothing is imported here: it is found in `sys.modules`.
_OPENTELEMETRY = "opentelemetry.trace"
#: The ways in which a permit ends.
Ending = Literal["responded", "rate_limited", "abandoned", "unused"]


class BackoffTransport(httpx.AsyncBaseTransport):
    """An httpx transport that retries: it waits as the service asks, and retries what is safe to retry.

    It works in any `httpx.AsyncClient(transport=...)`. The body is read within the attempt, so that a response that
    breaks off is retried too. When it gives up, it returns the last response, or raises. Of a call that a known
    cooldown holds back, that is the 429 which started it.

    Args:
        transport: an `httpx.AsyncBaseTransport` that sends one attempt, and is closed with this transport; connections
            of its own by default.
        http_client: an `httpx.AsyncClient` to send through instead. It is neither changed nor closed.
        ssl_context: the certificates of its own connections; by default those that httpx takes.
        trust_env: False ignores the proxies and the certificates that the environment names for its own connections.
        policy: how often and how long to retry.
        gate: shared by everything that sends to one service with one credential; a new one by default.
        token: a string, an AccessToken, or a sync or async function that returns one: put on each attempt, so that a
            retry after a long wait carries a fresh one.
        token_timeout: how long one call of an async `token` may take, in seconds; None for no limit.
        max_response_bytes: the largest response, in bytes, as it comes: httpx decodes it later, without a limit of its
            own. 64 MiB by default.
        on_event: is called with each attempt that ended, each cooldown and each outage; it must not block.
        random_number: returns jitter, from 0 to 1.
        now: the wall clock.

    Raises:
        UsageError: an argument is unusable, or two of them exclude each other.
        TokenError: the token is a string that cannot be sent; from a request: the token provider failed.
        NotSentError: from a request: it was certainly not sent, and no retry is left; or a cooldown lasts longer than
            the policy waits, of which this process got no response.
        OutcomeUnknownError: from a request: no response, and no retry is left or allowed.
        DeadlineExceededError: from a request: the deadline passed.
        ResponseDecodeError: from a request: a success that is too large.
        StateError: from a request: the transport is closed.
    """

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        http_client: httpx.AsyncClient | None = None,
        ssl_context: ssl.SSLContext | None = None,
        trust_env: bool = True,
        policy: BackoffPolicy | None = None,
        gate: Gate | None = None,
        token: TokenProvider | None = None,
        token_timeout: float | None = LONGEST_REFRESH,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        on_event: Callable[[BackoffEvent], None] | None = None,
        random_number: Callable[[], float] = random.random,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        if token_timeout is not None:
            check_seconds("token_timeout", token_timeout, otherwise=", or None")
        try:
            self._auth = None if token is None else TokenAuth(token, timeout=token_timeout, now=now)
        except TokenError as error:
            raise error.with_traceback(None) from None
        finally:
            del token  # tools that report errors show what frames hold
        self._policy = policy or BackoffPolicy()
        check_integer("max_response_bytes", max_response_bytes, least=1)
        if not isinstance(gate, Gate | None):
            raise UsageError("gate must be a Gate or a RedisGate", argument="gate")
        network = innermost(transport, http_client, ssl_context, trust_env=trust_env)
        check_kind("transport", network, httpx.AsyncBaseTransport)
        self._transport = network
        self._send_once = network.send if isinstance(network, EngineTransport) else partial(send_through, network)
        self._gate = gate or gate_with(random_number, self._policy.max_in_flight)
        self._findings = shared_by(self._gate)
        self._max_response_bytes = max_response_bytes
        self._on_event = on_event
        self._random_number = random_number
        self._now = now
        self._calls: dict[Call, asyncio.Task[object] | None] = {}
        self._ended = asyncio.Event()
        self._is_closed = self._was_reached = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"BackoffTransport({self._transport!r}, gate={self._gate!r})"

    @property
    def is_closed(self) -> bool:
        """Whether it sends nothing any more."""
        return self._is_closed

    @property
    def is_in_use(self) -> bool:
        """Whether it has made a call, and was not closed since."""
        return self._loop is not None and not self._is_closed

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request as often as the policy allows, and return the last response, read."""
        info = CallInfo(method=request.method, route=request.url.path, policy=self._policy, has_template=False)
        result = await self.send(await Request.of(request), info)
        response = result.returned(info)
        stream, extensions = httpx.ByteStream(response.content), {**response.extensions}
        return httpx.Response(response.status_code, headers=response.raw_headers, stream=stream, extensions=extensions)

    async def send(self, request: Request, info: CallInfo) -> CallResult:
        """Send a request as often as its policy allows; return its last response with what the attempts learned."""
        clock = self._used_here().time
        call = Call(
            request=request,
            info=info,
            clock=clock,
            began_at=clock(),
            ticket=self._gate.ticket(),
            limit=asyncio.timeout(info.policy.queue_timeout),
            send=self._send,
            now=self._now,
            token_failures=0 if self._auth is None else self._auth.failures,
        )
        tracing = sys.modules.get(_OPENTELEMETRY)
        trace = None if tracing is None else _trace_of(call, tracing)
        return await (self._respond(call) if trace is None else trace.around(self._respond, call))

    def _used_here(self) -> asyncio.AbstractEventLoop:
        if self._is_closed:
            raise StateError("the client is closed: make the call before `aclose()`, or inside its `async with`")
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise StateError(
                "the client needs asyncio: call it in a coroutine that an asyncio event loop runs"
            ) from None
        self._loop = self._loop or loop
        if self._loop is not loop:
            raise StateError("a client belongs to the event loop of its first call: make another client here")
        return loop

    async def _respond(self, call: Call) -> CallResult:
        self._calls[call] = asyncio.current_task()
        try:
            async with call.limit:
                return await self._run(call)
        except TimeoutError as error:
            if not call.limit.expired():
                raise
            return self._out_of_time(call, error)
        except WaitTooLongError as error:
            found = self._findings.limits.found(call) or self._findings.cause_of_cooldown(call.clock())
            return call.held_back(found, seconds=error.seconds)
        except OperationDownError as error:
            return call.found_down(error.found)
        except (TransportError, asyncio.CancelledError) as error:
            without_frames(error)
            raise
        finally:
            del self._calls[call]
            if self._findings.is_active:
                self._findings.left_by(call)
            self._ended.set()

    def _out_of_time(self, call: Call, error: TimeoutError) -> CallResult:
        left = self._findings.limits.left(call) or self._gate.cooldown_left() or None
        if call.is_rate_limited and not call.was_closed:
            return call.held_back(self._findings.limits.found(call) or self._findings.rate_limit, seconds=left)
        raise call.out_of_time(seconds=left) from without_frames(error)

    async def _run(self, call: Call) -> CallResult:
        findings = self._findings
        while True:
            try:
                await self._admit(call)
                request = call.request if self._auth is None else await self._authorized(call, auth=self._auth)
                attempt = await call.send(request, call)
            finally:
                # Nothing was sent if the call still has its permit.
                self._end(call, "unused")
            if findings.is_active or attempt.outcome in DOWN:
                findings.note(call, attempt, jitter=self._random_number(), on_event=self._on_event)
            if attempt.outcome is Outcome.FINAL:
                if attempt.status == 401 and await self._refresh_token(call):
                    continue
                return call.ended(attempt)
            reason = decide(
                method=call.request.method,
                outcome=attempt.outcome,
                delay=attempt.delay,
                progress=call.progress,
                elapsed=call.elapsed,
                policy=call.info.policy,
            )
            if reason is not None:
                return call.ended(attempt, reason=reason)
            retry = RetryScheduled(
                method=call.info.method,
                route=call.info.route,
                status=attempt.status,
                error=attempt.error_name,
                attempt=call.sent + 1,
                seconds=attempt.delay,
            )
            log(retry)
            # After a 429 the gate holds the next attempt back; here other tasks may run.
            await (asyncio.sleep(0) if attempt.outcome is Outcome.RATE_LIMITED else findings.pause(call, attempt))

    async def _admit(self, call: Call) -> None:
        """Wait until the operation is not known to be down, and the gate has a permit."""
        findings = self._findings
        while True:
            if findings.is_active and findings.holds_back(call):
                call.start_deadline(is_admitted=False)
                asked = call.clock()
                await findings.wait(call)
                call.outage_wait += call.clock() - asked
            await self._enter(call)
            # Meanwhile it may have become known that the operation is down, or limited.
            if not findings.is_active or (findings.holds_back(call) is None and findings.limits.admit(call)):
                return
            self._end(call, "unused")

    async def _enter(self, call: Call) -> None:
        try:
            asked = call.clock()
            if self._findings.is_active and (own := self._findings.limits.gate_of(call)) is not None:
                call.own = own, await own.enter(call.ticket, max_wait=call.longest_cooldown, until=call.limit.when())
            call.permit = await self._gate.enter(
                call.ticket, max_wait=call.longest_cooldown, until=call.limit.when(), operation=call.operation
            )
            call.gate_wait += call.clock() - asked
        except WaitTooLongError:
            raise
        except Exception as error:
            if isinstance(error, PlatformError) and not call.sent:
                raise
            raise call.not_admitted(error) from error
        if self._is_closed:
            # In the turn of the event loop in which the permit came: the end of the call is already due.
            raise call.closed()
        call.start_deadline(is_admitted=True)

    async def _authorized(self, call: Call, *, auth: TokenAuth) -> Request:
        """Return a request with a token. A call holds no permit while its token takes time, and sends no old token."""
        clock, refreshed, call.refreshed_token = call.clock, call.refreshed_token, None
        while True:
            if refreshed is None and auth.takes_time:
                # Meanwhile other calls use the permit; this one keeps its place in the queue.
                self._end(call, "unused")
            asked, call.waits_for_token = clock(), True
            call.token = refreshed or await auth.token(since=call.token_failures)
            call.waits_for_token = False
            call.token_wait += clock() - asked
            if call.permit is not None:
                break
            asked, refreshed = clock(), None
            await self._admit(call)
            if clock() - asked <= LONGEST_UNSENT_TOKEN:
                break
        sent, bearer = call.request, (b"Authorization", f"Bearer {call.token.token.value}".encode("ascii"))
        return Request(sent.method, sent.url, [*sent.raw_headers, bearer], sent.content, sent.extensions)

    async def _refresh_token(self, call: Call) -> bool:
        """Refresh the token of a call after its first 401; return whether there is another one to try."""
        if self._auth is None or call.token is None or call.has_refreshed_token:
            return False
        call.refreshed_token = await self._auth.refresh(rejected=call.token, since=call.token_failures)
        call.has_refreshed_token = True
        return call.refreshed_token is not None

    async def _send(self, request: Request, call: Call) -> Attempt:
        """Send a request once and return what it ended in; the permit of the call ends with it."""
        call.sent += 1
        call.is_in_flight, call.is_rate_limited = True, False
        number, started = call.sent, call.clock()
        sending = self._ending_of(request, call)
        try:
            # The protection costs a task for each attempt; a transport says by itself when it needs none.
            is_clean = getattr(self._transport, "cancels_cleanly", False)
            attempt = await (sending if is_clean else cancelled_in_order(sending))
        except BaseException as error:
            call.progress = call.progress.after(Outcome.OUTCOME_UNKNOWN)
            self._report(call, None, error, number=number, started=started)
            self._end(call, "abandoned")
            raise
        call.is_in_flight = False
        if attempt.response is None:
            self._end(call, "abandoned")
        else:
            self._was_reached = True
            self._end(call, "responded")
        self._report(call, attempt.response, attempt.error, number=number, started=started)
        return attempt

    def _end(self, call: Call, kind: Ending, **cooldown: float) -> None:
        """End the permits of a call, unless they have ended."""
        permit, call.permit = call.permit, None
        if permit is not None:
            getattr(self._gate, kind)(permit, **cooldown)
        if call.own is not None:
            (gate, permit), call.own = call.own, None
            getattr(gate, kind)(permit, **cooldown)

    async def _ending_of(self, request: Request, call: Call) -> Attempt:
        try:
            response = await self._send_once(request)
            # Before the body has arrived: a cooldown starts at once.
            outcome = OUTCOMES.get(response.status_code, Outcome.FINAL)
            if outcome is Outcome.TIMED_OUT_IDLE and not response.extensions.get("connection_was_idle"):
                outcome = Outcome.FINAL
            retry_after = None if response.status_code < 300 else retry_after_of(response.headers, now=self._now())
            delay = 0.0 if outcome is Outcome.FINAL else self._delay_after(outcome, call, retry_after=retry_after)
            attempt = Attempt(outcome=outcome, delay=delay, response=response, retry_after=retry_after)
            if outcome is Outcome.RATE_LIMITED:
                await self._start_cooldown(attempt, response.headers, call)
            await response.read(limit=self._max_response_bytes)
        except NO_RESPONSE as error:
            outcome = self._outcome_of(error, call)
            return Attempt(outcome=outcome, delay=self._delay_after(outcome, call), error=error)
        return attempt

    def _outcome_of(self, error: Exception, call: Call) -> Outcome:
        """Classify a failure; what is not known may have had an effect."""
        if why_final(error) is not None:
            call.sent -= 1
            return Outcome.UNTRUSTED
        if not self._was_reached and is_nowhere(error, host=call.request.url.host):
            return Outcome.NEVER_REACHED
        if not self._was_reached and is_not_http(error):
            return Outcome.NOT_HTTP
        if isinstance(error, UNSENDABLE):
            return Outcome.UNSENDABLE
        return Outcome.NOT_SENT if isinstance(error, NOT_CONNECTED) else Outcome.OUTCOME_UNKNOWN

    def _delay_after(self, outcome: Outcome, call: Call, *, retry_after: float | None = None) -> float:
        """Count an attempt, and return how long to wait before a retry, in seconds."""
        call.progress = call.progress.after(outcome)
        if outcome in RULES and not RULES[outcome].waits:
            return 0.0
        return delay_before(
            retry_after=retry_after, progress=call.progress, policy=call.info.policy, jitter=self._random_number()
        )

    async def _start_cooldown(self, attempt: Attempt, headers: httpx.Headers, call: Call) -> None:
        call.is_rate_limited = True
        seconds, findings, gate = min(attempt.delay, LONGEST_COOLDOWN), self._findings, self._gate
        tier, api, operation = conventions.current.limit_of(headers)
        is_new = not findings.limits.left(call) and not gate.cooldown_left()
        is_named = operation is not None and gate.serves_others(call.operation)
        findings.is_active = True
        if await findings.limits.is_of_operation(call, attempt, seconds=seconds, is_named=is_named, gate=gate):
            self._end(call, "abandoned")
        else:
            self._end(call, "rate_limited", wait=seconds)
            findings.rate_limit = Finding(attempt, call.token, call.clock() + gate.cooldown_left())
        if not is_new:
            return
        left = max(findings.limits.left(call), gate.cooldown_left())
        event = CooldownStarted(
            method=call.info.method,
            route=call.info.route,
            seconds=max(seconds, left),  # the gate may have prolonged it
            tier=tier,
            api=api,
            operation=operation,
        )
        tell(event, self._on_event)

    def _report(
        self, call: Call, response: Response | None, error: BaseException | None, *, number: int, started: float
    ) -> None:
        if self._on_event is None and not conventions.current.logger.isEnabledFor(logging.DEBUG):
            return
        requested = call.request.headers
        headers = requested if response is None else response.headers
        event = AttemptEnded(
            method=call.info.method,
            route=call.info.route,
            status=None if response is None else response.status_code,
            error=None if error is None else type(error).__name__,
            seconds=call.clock() - started,
            attempt=number,
            correlation_id=conventions.correlation_id_of(headers) or conventions.correlation_id_of(requested),
        )
        tell(event, self._on_event)

    async def aclose(self) -> None:
        """End the calls that wait or are in flight, send nothing afterwards, and close the transport below."""
        if self._is_closed:
            return
        # Before the first call no loop of asyncio may run, such as under trio, where that call has just failed.
        closing = None if self._loop is None else asyncio.current_task()
        if self._loop is not None and self._loop is not asyncio.get_running_loop():
            raise StateError("close a client in the event loop of its first call")
        self._is_closed = True
        for call in self._calls:
            call.close()
        try:
            while any(task is not closing for task in self._calls.values()):
                self._ended.clear()
                await self._ended.wait()
        finally:
            # Also when the task that closes is cancelled.
            try:
                await self._transport.aclose()
            finally:
                if self._auth is not None:
                    await self._auth.aclose()


def _trace_of(call: Call, api: ModuleType) -> "_Trace | None":
    """Return the trace of a call; None when the application has set no tracer provider."""
    provider = api.get_tracer_provider()
    if isinstance(provider, api.ProxyTracerProvider):
        return None
    # For each call: a provider may be of any class, also of one that cannot be a key.
    return _Trace(call, api, provider.get_tracer(conventions.current.package, conventions.current.version))


class _Trace:
    """OpenTelemetry spans: one for a call, and below it one for each attempt. None names an id, a query or a secret."""

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

    async def around(self, respond: Callable[[Call], Awaitable[CallResult]], call: Call) -> CallResult:
        """Make a call within a span, each of its attempts within a span of its own."""
        send = call.send

        async def traced(request: Request, call: Call) -> Attempt:
            with self._span(self._api.SpanKind.CLIENT, self._before(call)) as span:
                attempt = await send(request, call)
                self._ended(span, attempt.response, attempt.error_name)
                return attempt

        call.send = traced
        with self._span(self._api.SpanKind.INTERNAL, {}) as span:
            result = await respond(call)
            if result.is_held_back:
                self._failed(span, "429")
            else:
                self._ended(span, result.response, None)
            return result

    @contextmanager
    def _span(self, kind: object, more: dict[str, Any]) -> Generator[Any]:
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
        waits = {"gate_wait": call.gate_wait, "token_wait": call.token_wait}
        if call.outage_wait:
            waits["outage_wait"] = call.outage_wait
        call.gate_wait = call.token_wait = call.outage_wait = 0.0
        return resent | {f"{conventions.current.span_prefix}{name}": seconds for name, seconds in waits.items()}

    def _ended(self, span: Any, response: Response | None, error: str | None) -> None:
        if response is None:
            self._failed(span, str(error))
            return
        span.set_attribute("http.response.status_code", response.status_code)
        if correlation_id := conventions.correlation_id_of(response.headers):
            span.set_attribute(f"{conventions.current.span_prefix}correlation_id", correlation_id)
        if response.status_code >= 400:
            self._failed(span, str(response.status_code))

    def _failed(self, span: Any, kind: str) -> None:
        span.set_attribute("error.type", kind)
        span.set_status(self._api.StatusCode.ERROR)
