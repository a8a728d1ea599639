"""Retries as an httpx transport: gate -> token -> attempt -> decision -> delay -> gate ..."""

import asyncio
import logging
import random
import ssl
from collections.abc import Awaitable, Callable, Coroutine
from datetime import datetime
from functools import partial
from typing import cast

import httpx

from ..connections.engine import EngineTransport, innermost, sender_of
from ..connections.failures import (
    NO_RESPONSE,
    NOT_CONNECTED,
    UNSENDABLE,
    is_not_http,
    is_wrong_address,
    remove_frames,
    why_final,
)
from ..connections.given_client import cancelled_in_order
from ..connections.httpx2_adapter import HTTPX2Client, HTTPX2Transport
from ..connections.messages import Origin, Request, Response, Sending
from ..errors import PlatformError, StateError, TokenError, TransportError, UsageError, check_integer, check_seconds
from ..events import AttemptEnded, BackoffEvent, CooldownStarted, OutageEnded, OutageStarted, RetryScheduled, log, tell
from ..gates.breaker import Breaker, CircuitOpenError, Failure
from ..gates.gate import Gate
from ..gates.window import Permit, WaitTooLongError
from ..names import LOGGER, ServiceHeaders
from ..policy import (
    DOWN,
    NO_ATTEMPTS,
    OR_NONE,
    OUTCOMES,
    BackoffPolicy,
    GiveUp,
    Outcome,
    Progress,
    decide,
    delay_before,
)
from ..retry_after import retry_after_of
from .call import Attempt, Call, CallInfo, OpenCalls
from .results import CallResult, SharedAttempt, circuit_open, closed, cooling_down, not_admitted, out_of_time, result_of
from .tokens import LONGEST_REFRESH, AccessToken, TokenCache, TokenProvider, hide_token, utc_now
from .tracing import Trace, trace_of

#: The default of the largest response, in bytes.
MAX_RESPONSE_BYTES = 64 * 1024 * 1024


class BackoffTransport(httpx.AsyncBaseTransport):
    """An httpx transport that retries: it waits as the service asks, and retries requests that are safe to retry.

    It works in any `httpx.AsyncClient(transport=...)`. It reads each response to its end within the attempt, so that
    a response that breaks off is retried too. So it does not stream: an event stream is returned when the server ends
    it, and a download above `max_response_bytes` fails. Send those through a client of their own.

    When it gives up, it returns the last response, or raises. If the call may not wait for the end of a known
    cooldown, it returns the 429 that started the cooldown.

    Args:
        transport: an `httpx.AsyncBaseTransport`, or one of httpx2, that sends one attempt, and is closed with this
            transport; connections of its own by default.
        http_client: an `httpx.AsyncClient`, or one of httpx2, to send through instead. It is neither changed nor
            closed.
        ssl_context: the TLS settings of its own connections; by default those of httpx.
        trust_env: False ignores the proxies and the certificates that the environment names for its own connections.
        policy: how often and how long to retry.
        gate: shared by everything that sends to one service with one credential; a new one by default.
        token: a string, an AccessToken, or a sync or async function that returns one: put on each attempt, so that a
            retry after a long wait carries a fresh one. It is sent to the origin of the first response alone, also if
            that redirects to another one; a request with an `Authorization` of its own keeps it.
        token_timeout: the time limit of one call of an async `token`, in seconds; None for no limit.
        max_response_bytes: the largest response body, in bytes, before it is decoded: httpx decodes it later, without a
            limit. 64 MiB by default.
        headers: the headers of responses that are read beside `retry-after`.
        on_event: is called with each attempt that ended, each cooldown and each outage; it must not block.
        random_number: returns jitter, from 0 to 1.
        now: the wall clock.

    Raises:
        UsageError: an argument is unusable, or two of them exclude each other.
        TokenError: the token is a string that cannot be sent; from a request: the token provider failed.
        NotSentError: from a request: it was certainly not sent, and no retry is left; or a cooldown lasts longer than
            the policy waits, and this process did not get the 429 that started it.
        OutcomeUnknownError: from a request: no response, and no retry is left or allowed.
        DeadlineExceededError: from a request: the deadline or the queue timeout passed.
        ResponseDecodeError: from a request: a success that is too large.
        StateError: from a request: the transport is closed.
    """

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport | HTTPX2Transport | None = None,
        *,
        http_client: httpx.AsyncClient | HTTPX2Client | None = None,
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
            token_timeout = check_seconds("token_timeout", token_timeout, bounds=OR_NONE)
        try:
            self._tokens = None if token is None else TokenCache(token, timeout=token_timeout, now=now)
        except TokenError as error:
            raise error.with_traceback(None) from None
        finally:
            del token  # error trackers capture the variables of frames
        self._policy = policy or BackoffPolicy()
        limit = check_integer("max_response_bytes", max_response_bytes, least=1)
        if not isinstance(gate, Gate | None):
            raise UsageError("gate must be a Gate or a RedisGate", argument="gate")
        self._transport = network = innermost(transport, http_client, ssl_context, trust_env=trust_env)
        self._engine = network if isinstance(network, EngineTransport) else None
        self._send_once = sender_of(network)
        self._gate = gate or Gate(self._policy.max_in_flight, random_number=random_number)
        self._headers = headers
        self._max_response_bytes = limit
        self._on_event = on_event
        self._random_number, self._now = random_number, now
        self._calls = OpenCalls()
        self._was_reached = False
        #: The origin of the first response.
        self._origin: Origin | None = None

    def __repr__(self) -> str:
        return f"BackoffTransport({self._transport!r}, gate={self._gate!r})"

    @property
    def is_closed(self) -> bool:
        """Whether `aclose()` was called: it sends nothing afterwards."""
        return self._calls.is_closed

    @property
    def is_in_use(self) -> bool:
        """Whether it has made a call, and was not closed since."""
        return self._calls.is_in_use

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request as often as the policy allows, and return the last response, read."""
        values = await Request.of(request)
        # A client that follows a redirect to another origin removes Authorization.
        takes_token = self._origin in (None, values.origin) and "authorization" not in request.headers
        info = CallInfo(request.method, request.url.path, self._policy, has_template=False, takes_token=takes_token)
        result = await self.send(values, info)
        if result.response is not None:
            self._origin = self._origin or values.origin
        headers = httpx.Headers() if result.response is None else result.response.headers
        return result.returned(info, correlation_id=self._headers.correlation_id_of(headers)).as_httpx()

    def send(self, request: Request, info: CallInfo) -> Coroutine[object, object, CallResult]:
        """Send a request as often as its policy allows; return its last response and a summary of its attempts."""
        trace = trace_of(info, request, self._headers)
        work = self._run(request, info, trace)
        return work if trace is None else trace.around_call(work)

    async def _run(self, request: Request, info: CallInfo, trace: Trace | None) -> CallResult:  # noqa: C901  # a call on one screen
        """Make attempts until one of them decides: gate and token, attempt, decision, delay."""
        gate, tokens = self._gate, self._tokens if info.takes_token else None
        call = Call(request, info, gate.ticket(), self._calls, trace)
        progress, attempt, permit, sending = NO_ATTEMPTS, None, None, None
        token, new_token, has_refreshed = None, None, False
        try:
            with call:
                while True:
                    permit = None
                    if gate.breakers.active:
                        await self._wait_for_breakers(call, progress)
                    began = call.clock()
                    permit = await gate.enter(
                        call.ticket,
                        max_wait=call.longest_cooldown,
                        until=call.ends_at,
                        deadline=info.policy.deadline,
                        operation=call.operation,
                    )
                    call.waited("gate_wait", since=began)
                    is_ready, new_token = self._prepare_attempt(call, progress, permit, new_token)
                    if not is_ready:
                        # Other calls use the permit meanwhile. This call keeps its ticket: its place in the queue.
                        if tokens is not None and new_token is None:
                            with call.waiting_for_token():
                                new_token = await tokens.get(since=call.began_at)
                        continue
                    token, sending = new_token, Sending(request.extensions.get("trace"))
                    attempt = await self._attempt(call, sending, permit, token, progress)
                    sending, new_token = None, None
                    self._attempt_ended(call, attempt, permit, token, progress)
                    progress = progress.after(attempt.outcome)
                    if tokens is not None and token is not None and attempt.status == 401 and not has_refreshed:
                        has_refreshed = True
                        with call.waiting_for_token():
                            new_token = await tokens.after_401(token, since=call.began_at)
                        if new_token is not None:
                            continue
                    if attempt.outcome is Outcome.FINAL:
                        return result_of(call, progress, attempt, token=token, now=self._now)
                    outcome, delay = attempt.outcome, attempt.delay
                    verdict = decide(
                        info.method, outcome, progress, delay=delay, elapsed=call.elapsed, policy=info.policy
                    )
                    if isinstance(verdict, GiveUp):
                        return result_of(call, progress, attempt, reason=verdict.reason, token=token, now=self._now)
                    log(_retry_event(call, attempt, progress, seconds=verdict.seconds))
                    # After a 429 the call waits in the gate. `sleep(0)` lets other tasks run first.
                    await asyncio.sleep(0.0 if outcome is Outcome.RATE_LIMITED else verdict.seconds)
        except BaseException as error:  # noqa: BLE001  # it is raised again
            if sending is not None and permit is not None:
                self._report(call, progress, None, error, token)
                gate.abandoned(permit)
            return self._end(call, progress, attempt, token, permit, sending, error)
        finally:
            if gate.breakers.active:
                gate.breakers.call_ended(call, call.scopes)
            del call, attempt, token, new_token  # the traceback of an error would keep them in memory

    def _end(
        self,
        call: Call,
        progress: Progress,
        attempt: Attempt | None,
        token: AccessToken | None,
        permit: Permit | None,
        sending: Sending | None,
        error: BaseException,
    ) -> CallResult:
        """Return the result of a call that an exception has ended, or raise an error.

        `permit` is None if the call waited for the gate, and `sending` is None unless an attempt is in flight. A
        TimeoutError of a call whose time is not over comes from a function of the application.
        """
        now = self._now
        call.queued(self._gate.rejecting_since(call.operation))
        try:
            if isinstance(error, TimeoutError) and call.has_expired:
                left = self._gate.cooldown_left(call.operation) or None
                if sending is None and attempt is not None and attempt.status == 429 and not call.was_closed:
                    return cooling_down(
                        call, progress, SharedAttempt(attempt, token, call.clock()), seconds=left, now=now
                    )
                is_in_flight = sending is not None and sending.may_have_begun
                raise out_of_time(call, progress, is_in_flight=is_in_flight, seconds=left, now=now) from error
            if isinstance(error, WaitTooLongError):
                cause = cast("SharedAttempt | None", self._gate.last_429(call.operation))
                return cooling_down(call, progress, cause, seconds=error.seconds, now=now)
            if isinstance(error, CircuitOpenError):
                return circuit_open(call, progress, cast("SharedAttempt", error.record), token=token, now=now)
            has_gate_failed = permit is None and isinstance(error, Exception)
            if has_gate_failed and (progress.made or not isinstance(error, PlatformError)):
                raise not_admitted(call, progress, error) from error
            raise error
        except (TransportError, StateError, asyncio.CancelledError) as raised:
            remove_frames(raised)
            raise
        finally:
            del error  # its traceback has this frame: both would keep each other in memory

    def _prepare_attempt(
        self, call: Call, progress: Progress, permit: Permit, token: AccessToken | None
    ) -> tuple[bool, AccessToken | None]:
        """Start the deadline of an admitted call and take its token; return whether to send now, and the token.

        If the attempt cannot be sent, because a token takes time or a breaker is open, the permit is given back.

        Args:
            call: the call, which the gate has admitted.
            progress: its attempts so far.
            permit: the permit of the attempt.
            token: a token that has not been sent yet; None to take the present one.
        """
        tokens, is_ready = self._tokens if call.info.takes_token else None, False
        try:
            if self._calls.is_closed:
                # `aclose()` ran in the loop iteration that granted the permit, and `admit` would replace its `ends_at`.
                raise closed(call, progress, is_in_flight=False)
            call.queued(self._gate.rejecting_since(call.operation))
            call.admit(call.clock())
            if tokens is not None:
                token = tokens.ready() or token
            # The breaker may have opened while the call was queued.
            is_open = self._gate.breakers.active and self._breaker_of(call) is not None
            is_ready = (tokens is None or token is not None) and not is_open
        finally:
            if not is_ready:
                self._gate.unused(permit)
        return is_ready, token

    def _breaker_of(self, call: Call) -> Breaker | None:
        """Return the open circuit breaker that the call has to wait for; None when there is none."""
        return self._gate.breakers.blocking(call, call.scopes, now=call.clock())

    async def _wait_for_breakers(self, call: Call, progress: Progress) -> None:
        """Wait until no open circuit breaker keeps the call waiting."""
        while (breaker := self._breaker_of(call)) is not None:
            began = call.clock()
            call.start_deadline(began)
            await breaker.wait(call, progress=progress, policy=call.info.policy, until=call.ends_at)
            call.waited("outage_wait", since=began)

    def _attempt(
        self, call: Call, sending: Sending, permit: Permit, token: AccessToken | None, before: Progress
    ) -> Awaitable[Attempt]:
        """Send a request once, and return the result."""
        work, trace = self._send_and_read(call, sending, permit, token, before), call.trace
        if self._engine is None or not self._engine.cancels_cleanly:
            work = cancelled_in_order(work)
        return work if trace is None else trace.around_attempt(work, made=before.made, hide=partial(hide_token, token))

    async def _send_and_read(
        self, call: Call, sending: Sending, permit: Permit, token: AccessToken | None, before: Progress
    ) -> Attempt:
        policy, request = call.info.policy, call.request
        if self._calls.is_closed:
            # `aclose()` ran before the task of this attempt did.
            raise closed(call, before, is_in_flight=False)
        if token is not None:
            request = request.with_bearer(token.value)
        try:
            response = await self._send_once(request, sending)
            is_success = response.status_code < 300
            attempt = Attempt(Outcome.FINAL, 0.0, response) if is_success else self._failed(response, before, policy)
            if attempt.outcome is Outcome.RATE_LIMITED:
                # The cooldown starts before the body has arrived.
                self._start_cooldown(call, permit, attempt, token)
            if response.stream is not None or len(response.content) > self._max_response_bytes:
                await response.read(limit=self._max_response_bytes)
        except NO_RESPONSE as error:
            outcome = outcome_of_error(error, request, sending, was_reached=self._was_reached)
            return Attempt(outcome, self._delay(outcome, None, before, policy), error=error)
        return attempt

    def _attempt_ended(
        self, call: Call, attempt: Attempt, permit: Permit, token: AccessToken | None, before: Progress
    ) -> None:
        """End the permit of an attempt, and report its result to the application and to the circuit breakers."""
        if attempt.response is None:
            self._gate.abandoned(permit)
        else:
            self._was_reached = True
            if attempt.outcome is not Outcome.RATE_LIMITED:  # the head of a 429 has ended its permit
                self._gate.responded(permit)
        self._report(call, before, attempt.response, attempt.error, token)
        if attempt.outcome is not Outcome.FINAL or self._gate.breakers.active:
            self._tell_breakers(call, attempt, token)

    def _failed(self, response: Response, before: Progress, policy: BackoffPolicy) -> Attempt:
        """Return the result of an attempt that got a status of 300 or above."""
        outcome = OUTCOMES.get(response.status_code, Outcome.FINAL)
        if outcome is Outcome.TIMED_OUT_IDLE and not response.extensions.get("connection_was_idle"):
            outcome = Outcome.FINAL
        retry_after = retry_after_of(response.headers, names=self._headers.retry_after, now=self._now())
        return Attempt(outcome, self._delay(outcome, retry_after, before, policy), response, None, retry_after)

    def _delay(self, outcome: Outcome, retry_after: float | None, before: Progress, policy: BackoffPolicy) -> float:
        jitter, progress = self._random_number(), before.after(outcome)
        return delay_before(retry_after=retry_after, progress=progress, policy=policy, jitter=jitter)

    def _start_cooldown(self, call: Call, permit: Permit, attempt: Attempt, token: AccessToken | None) -> None:
        assert attempt.response is not None  # noqa: S101  # a 429
        gate, seconds = self._gate, attempt.delay
        names = self._headers.limit_of(attempt.response.headers)
        tier, api, operation = (None if name is None else hide_token(token, name) for name in names)
        is_new = not gate.cooldown_left(call.operation)
        record = SharedAttempt(attempt, token, call.clock())
        gate.rate_limited(permit, wait=seconds, is_named=operation is not None, record=record)
        if is_new:
            left = max(seconds, gate.cooldown_left(call.operation))  # the gate may have made it longer
            method, route = call.info.method, call.info.route
            event = CooldownStarted(method=method, route=route, seconds=left, tier=tier, api=api, operation=operation)
            tell(event, self._on_event)

    def _tell_breakers(self, call: Call, attempt: Attempt, token: AccessToken | None) -> None:
        """Report the result of an attempt to the circuit breakers of its path and of its operation."""
        breakers, now, info = self._gate.breakers, call.clock(), call.info
        if attempt.outcome in DOWN:
            record = SharedAttempt(attempt, token, now)
            delay = None if attempt.retry_after is None else attempt.delay
            failure = Failure(record, now, retry_after=delay, jitter=self._random_number())
            seconds = breakers.failed(call, call.scopes, failure)
            if seconds is not None:
                status, error = attempt.status, attempt.error_name
                event = OutageStarted(method=info.method, route=info.route, status=status, error=error, seconds=seconds)
                tell(event, self._on_event)
        elif attempt.outcome in (Outcome.FINAL, Outcome.RATE_LIMITED):
            ended = breakers.succeeded(call.scopes, now=now)
            if ended is not None:
                tell(OutageEnded(method=info.method, route=info.route, **ended._asdict()), self._on_event)

    def _report(
        self,
        call: Call,
        before: Progress,
        response: Response | None,
        error: BaseException | None,
        token: AccessToken | None,
    ) -> None:
        if self._on_event is None and not LOGGER.isEnabledFor(logging.DEBUG):
            return
        id_of = self._headers.correlation_id_of
        returned = None if response is None else id_of(response.headers)
        event = AttemptEnded(
            method=call.info.method,
            route=call.info.route,
            status=None if response is None else response.status_code,
            error=None if error is None else type(error).__name__,
            seconds=call.clock() - call.attempt_began_at,
            attempt=before.made + 1,
            correlation_id=hide_token(token, returned) if returned else id_of(call.request.headers),
        )
        tell(event, self._on_event)

    async def aclose(self) -> None:
        """End the calls that wait or are in flight, send nothing afterwards, and close the transport below."""
        if self._calls.is_closed:
            return
        try:
            await self._calls.close()
        finally:
            # Also when the task that closes is cancelled.
            if self._calls.is_closed:
                try:
                    await self._transport.aclose()
                finally:
                    if self._tokens is not None:
                        await self._tokens.aclose()


def _retry_event(call: Call, attempt: Attempt, progress: Progress, *, seconds: float) -> RetryScheduled:
    return RetryScheduled(
        method=call.info.method,
        route=call.info.route,
        status=attempt.status,
        error=attempt.error_name,
        attempt=progress.made + 1,
        seconds=seconds,
    )


def outcome_of_error(error: Exception, request: Request, sending: Sending, *, was_reached: bool) -> Outcome:
    """Classify a failure. After a failure of no known kind, the request may have had an effect."""
    if why_final(error) is not None:
        return Outcome.UNTRUSTED
    if not was_reached and is_wrong_address(error, host=request.origin.host.decode("ascii")):
        return Outcome.NEVER_REACHED
    if not was_reached and is_not_http(error, scheme=request.origin.scheme.decode()):
        return Outcome.NOT_HTTP
    if isinstance(error, UNSENDABLE):
        return Outcome.UNSENDABLE
    is_unsent = isinstance(error, NOT_CONNECTED) or not sending.may_have_begun
    return Outcome.NOT_SENT if is_unsent else Outcome.OUTCOME_UNKNOWN
