"""Retries as an httpx transport: gate -> token -> head -> body -> decide -> wait -> gate ..."""

import asyncio
import logging
import random
import ssl
from collections.abc import Callable
from datetime import datetime
from functools import partial

import httpx

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
from ..events import AttemptEnded, BackoffEvent, CooldownStarted, OutageEnded, OutageStarted, RetryScheduled, log, tell
from ..gates.breaker import OperationDownError
from ..gates.gate import Gate, gate_with
from ..gates.window import Permit, WaitTooLongError
from ..names import LOGGER, ServiceHeaders
from ..policy import (
    DOWN,
    OUTCOMES,
    BackoffPolicy,
    GiveUp,
    Outcome,
    Progress,
    Retry,
    check_seconds,
    decide,
    delay_after,
)
from ..retry_after import retry_after_of
from .call import Attempt, Call, CallInfo, Place
from .endings import CallResult, Found, closed, found_down, held_back, not_admitted, out_of_time, result_of
from .tokens import LONGEST_REFRESH, AccessToken, TokenProvider, TokenSource, utc_now
from .tracing import trace_of

#: The largest response by default, in bytes.
MAX_RESPONSE_BYTES = 64 * 1024 * 1024
#: A hostile `retry-after` must not stop a client for ever: no cooldown is longer, and the gate probes it each minute.
LONGEST_COOLDOWN = 86_400.0
#: A token that has waited longer for a permit, in seconds, is asked for again before it is sent.
LONGEST_UNSENT_TOKEN = 5.0
_UNKNOWN = Outcome.OUTCOME_UNKNOWN


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
        headers: those of responses that are read beside `retry-after`.
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
        headers: ServiceHeaders = ServiceHeaders(),  # noqa: B008  # a frozen value
        on_event: Callable[[BackoffEvent], None] | None = None,
        random_number: Callable[[], float] = random.random,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        if token_timeout is not None:
            check_seconds("token_timeout", token_timeout, otherwise=", or None")
        try:
            self._tokens = None if token is None else TokenSource(token, timeout=token_timeout, now=now)
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
        # A transport that is derived from the engine may change the request on its way.
        self._send_once = network.send if type(network) is EngineTransport else partial(send_through, network)
        self._gate = gate or gate_with(random_number, self._policy.max_in_flight)
        self._headers = headers
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
        came = None if result.response is None else result.response.headers
        response = result.returned(info, correlation_id=came and self._headers.correlation_id_of(came))
        stream, extensions = httpx.ByteStream(response.content), {**response.extensions}
        return httpx.Response(response.status_code, headers=response.raw_headers, stream=stream, extensions=extensions)

    async def send(self, request: Request, info: CallInfo) -> CallResult:
        """Send a request as often as its policy allows; return its last response with what the attempts learned."""
        clock = self._used_here().time
        call = Call(request, info, ticket=self._gate.ticket(), clock=clock)
        trace = call.trace = trace_of(call, self._headers)
        self._calls[call] = asyncio.current_task()
        try:
            if trace is None:
                return await self._run(call)
            with trace.of_call() as span:
                result = await self._run(call)
                span.ended(result)
                return result
        except (TransportError, asyncio.CancelledError) as error:
            without_frames(error, until=call.handled)
            raise
        finally:
            del self._calls[call]
            if self._gate.breakers.active:
                self._gate.breakers.left_by(call, call.scopes)
            self._ended.set()

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

    async def _run(self, call: Call) -> CallResult:
        """Make attempts until one decides: gate and token, attempt, verdict, wait."""
        gate, tokens, policy = self._gate, self._tokens, call.info.policy
        progress, token, other_token = Progress(), None, None
        is_limited = has_refreshed = False  # by the last response, and nothing was sent since; after the first 401
        try:
            async with call.timer:
                while True:
                    permit, token = await self._admitted(call, progress, other_token)
                    # Whatever ends the attempt early: it may have had an effect.
                    before, progress, is_limited, other_token = progress, progress.after(_UNKNOWN), False, None
                    attempt = await self._attempt(call, permit, token, before)
                    progress, is_limited = before.after(attempt.outcome), attempt.outcome is Outcome.RATE_LIMITED
                    if attempt.outcome is not Outcome.FINAL or gate.breakers.active:
                        self._tell_others(call, attempt, token)
                    if attempt.status == 401 and token is not None and tokens is not None and not has_refreshed:
                        call.place, has_refreshed = Place.FOR_TOKEN, True
                        other_token = await tokens.after_401(token, since=call.began_at)
                        call.place = Place.WAITING
                        if other_token is not None:
                            continue
                    match decide(call.request.method, attempt, progress, elapsed=call.elapsed, policy=policy):
                        case GiveUp(reason):
                            return result_of(call, progress, attempt, reason=reason, token=token, now=self._now)
                        case Retry(seconds):
                            log(_scheduled(call, attempt, progress))
                            # After a 429 the gate holds the next attempt back; here other tasks may run.
                            await asyncio.sleep(0.0 if is_limited else seconds)
        except TimeoutError as error:
            if not call.timer.expired():
                raise
            left = gate.cooldown_left(call.operation) or None
            if is_limited and not call.was_closed:
                return held_back(call, progress, Found(attempt, token, 0.0), seconds=left, now=self._now)
            without_frames(error, until=call.handled)
            raise out_of_time(call, progress, seconds=left, now=self._now) from error
        except WaitTooLongError as error:
            return held_back(call, progress, gate.found(call.operation), seconds=error.seconds, now=self._now)
        except OperationDownError as error:
            return found_down(call, progress, error.found, token=token, now=self._now)

    async def _admitted(
        self, call: Call, progress: Progress, token: AccessToken | None
    ) -> tuple[Permit, AccessToken | None]:
        """Return a permit and a token for the next attempt. While a token takes time, the call holds no permit."""
        gate, tokens, clock, obtained_at = self._gate, self._tokens, call.clock, call.clock()
        while True:
            permit = await self._entered(call, progress)
            try:
                # Meanwhile it may have become known that the operation is down.
                if not gate.breakers.active or gate.breakers.holding_back(call, call.scopes, now=clock()) is None:
                    ready = None if tokens is None else tokens.ready()
                    if tokens is None or ready is not None:
                        return permit, ready
                    if token is not None and clock() - obtained_at <= LONGEST_UNSENT_TOKEN:
                        return permit, token
            except BaseException:
                gate.unused(permit)
                raise
            # Meanwhile other calls use the permit; this one keeps its place in the queue.
            gate.unused(permit)
            if tokens is not None and tokens.ready() is None:
                asked, call.place = clock(), Place.FOR_TOKEN
                token, obtained_at = await tokens.get(since=call.began_at), clock()
                call.place = Place.WAITING
                call.waited("token_wait", since=asked)

    async def _entered(self, call: Call, progress: Progress) -> Permit:
        """Wait until the operation is not known to be down, and the gate has a permit."""
        gate, asked = self._gate, call.clock()
        while (
            gate.breakers.active and (breaker := gate.breakers.holding_back(call, call.scopes, now=asked)) is not None
        ):
            call.start_deadline(is_admitted=False)
            await breaker.wait(call, progress=progress, policy=call.info.policy, until=call.timer.when())
            call.waited("outage_wait", since=asked)
            asked = call.clock()
        try:
            until = call.timer.when()
            permit = await gate.enter(
                call.ticket, max_wait=call.longest_cooldown, until=until, operation=call.operation
            )
        except WaitTooLongError:
            raise
        except Exception as error:
            if isinstance(error, PlatformError) and not progress.sent:
                raise
            raise not_admitted(call, progress, error) from error
        if self._is_closed:
            # In the turn of the event loop in which the permit came: the end of the call is already due.
            gate.unused(permit)
            raise closed(call, progress)
        call.start_deadline(is_admitted=True)
        call.waited("gate_wait", since=asked)
        return permit

    async def _attempt(self, call: Call, permit: Permit, token: AccessToken | None, before: Progress) -> Attempt:
        """Send a request once, and return what it ended in; the permit ends with it."""
        started, call.place, trace = call.clock(), Place.IN_FLIGHT, call.trace
        answering = self._answered(call, permit, token, before)
        # The protection costs a task for each attempt; a transport says by itself when it needs none.
        sending = answering if getattr(self._transport, "cancels_cleanly", False) else cancelled_in_order(answering)
        try:
            attempt = await (sending if trace is None else trace.around_attempt(sending, sent=before.sent))
        except BaseException as error:
            self._report(call, None, error, number=before.sent + 1, started=started)
            self._gate.abandoned(permit)
            raise
        call.place = Place.WAITING
        if attempt.response is None:
            self._gate.abandoned(permit)
        else:
            self._was_reached = True
            if attempt.outcome is not Outcome.RATE_LIMITED:  # that has ended the permit when its head came
                self._gate.responded(permit)
        self._report(call, attempt.response, attempt.error, number=before.sent + 1, started=started)
        return attempt

    async def _answered(self, call: Call, permit: Permit, token: AccessToken | None, before: Progress) -> Attempt:
        request, policy, retry_after = call.request, call.info.policy, None
        if token is not None:
            bearer = (b"Authorization", f"Bearer {token.value}".encode("ascii"))
            headers = [*request.raw_headers, bearer]
            request = Request(request.method, request.url, headers, request.content, request.extensions)
        try:
            response = await self._send_once(request)
            # Before the body has arrived: a cooldown starts at once.
            outcome = outcome_of_response(response)
            if response.status_code >= 300:
                retry_after = retry_after_of(response.headers, names=self._headers.retry_after, now=self._now())
            is_final = outcome is Outcome.FINAL
            delay = 0.0 if is_final else self._delay(outcome, retry_after, before, policy)
            attempt = Attempt(outcome, delay, response, None, retry_after)
            if outcome is Outcome.RATE_LIMITED:
                self._start_cooldown(call, permit, attempt, token)
            await response.read(limit=self._max_response_bytes)
        except NO_RESPONSE as error:
            outcome = outcome_of_error(error, url=request.url, was_reached=self._was_reached)
            return Attempt(outcome, self._delay(outcome, None, before, policy), error=error)
        return attempt

    def _delay(self, outcome: Outcome, retry_after: float | None, before: Progress, policy: BackoffPolicy) -> float:
        jitter, progress = self._random_number(), before.after(outcome)
        return delay_after(outcome, retry_after=retry_after, progress=progress, policy=policy, jitter=jitter)

    def _start_cooldown(self, call: Call, permit: Permit, attempt: Attempt, token: AccessToken | None) -> None:
        assert attempt.response is not None  # noqa: S101  # a 429
        gate, seconds = self._gate, min(attempt.delay, LONGEST_COOLDOWN)
        tier, api, operation = self._headers.limit_of(attempt.response.headers)
        is_new = not gate.cooldown_left(call.operation)
        is_own = operation is not None and gate.serves_others(call.operation)
        gate.rate_limited(permit, wait=seconds, is_own=is_own, found=Found(attempt, token, call.clock() + seconds))
        if is_new:
            left = max(seconds, gate.cooldown_left(call.operation))  # the gate may have prolonged it
            method, route = call.info.method, call.info.route
            event = CooldownStarted(method=method, route=route, seconds=left, tier=tier, api=api, operation=operation)
            tell(event, self._on_event)

    def _tell_others(self, call: Call, attempt: Attempt, token: AccessToken | None) -> None:
        """Note what an attempt tells of its operation."""
        breakers, now, info = self._gate.breakers, call.clock(), call.info
        if attempt.outcome in DOWN:
            found = Found(attempt, token, now + (attempt.retry_after or 0.0))
            named, jitter = None if attempt.retry_after is None else attempt.delay, self._random_number()
            seconds = breakers.failed(call, call.scopes, found, now=now, named=named, jitter=jitter)
            if seconds is not None:
                status, error = attempt.status, attempt.error_name
                event = OutageStarted(method=info.method, route=info.route, status=status, error=error, seconds=seconds)
                tell(event, self._on_event)
        elif breakers.active and attempt.outcome in (Outcome.FINAL, Outcome.RATE_LIMITED):
            if (ended := breakers.succeeded(call.scopes, now=now)) is not None:
                tell(OutageEnded(method=info.method, route=info.route, **ended._asdict()), self._on_event)

    def _report(
        self, call: Call, response: Response | None, error: BaseException | None, *, number: int, started: float
    ) -> None:
        if self._on_event is None and not LOGGER.isEnabledFor(logging.DEBUG):
            return
        requested, named = call.request.headers, self._headers.correlation_id_of
        event = AttemptEnded(
            method=call.info.method,
            route=call.info.route,
            status=None if response is None else response.status_code,
            error=None if error is None else type(error).__name__,
            seconds=call.clock() - started,
            attempt=number,
            correlation_id=(None if response is None else named(response.headers)) or named(requested),
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
                if self._tokens is not None:
                    await self._tokens.aclose()


def _scheduled(call: Call, attempt: Attempt, progress: Progress) -> RetryScheduled:
    return RetryScheduled(
        method=call.info.method,
        route=call.info.route,
        status=attempt.status,
        error=attempt.error_name,
        attempt=progress.sent + 1,
        seconds=attempt.delay,
    )


def outcome_of_response(response: Response) -> Outcome:
    """Classify a response by its status."""
    outcome = OUTCOMES.get(response.status_code, Outcome.FINAL)
    if outcome is Outcome.TIMED_OUT_IDLE and not response.extensions.get("connection_was_idle"):
        return Outcome.FINAL
    return outcome


def outcome_of_error(error: Exception, *, url: httpx.URL, was_reached: bool) -> Outcome:
    """Classify a failure; what is not known may have had an effect."""
    if why_final(error) is not None:
        return Outcome.UNTRUSTED
    if not was_reached and is_nowhere(error, host=url.host):
        return Outcome.NEVER_REACHED
    if not was_reached and is_not_http(error, scheme=url.scheme):
        return Outcome.NOT_HTTP
    if isinstance(error, UNSENDABLE):
        return Outcome.UNSENDABLE
    return Outcome.NOT_SENT if isinstance(error, NOT_CONNECTED) else Outcome.OUTCOME_UNKNOWN
