"""Retries as an httpx transport: gate -> token -> head -> body -> decide -> wait -> gate ..."""

import asyncio
import logging
import random
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx

from ..._errors import PlatformError, ResponseDecodeError, StateError, TransportError, UsageError
from ..._status_errors import limited_by
from ..._version import LOG
from ..connections.given_client import HTTPTransport, as_transport, cancelled_in_order
from ..connections.messages import (
    NO_RESPONSE,
    NOT_CONNECTED,
    UNSENDABLE,
    CompleteRequest,
    Request,
    Response,
    copy_of,
    is_nowhere,
    tls_failure,
    without_frames,
)
from ..events import AttemptEnded, BackoffEvent, CooldownStarted, RetryScheduled, log, tell
from ..gates.gate import Gate
from ..gates.window import Permit, WaitTooLongError
from ..policy import OUTCOMES, BackoffPolicy, GiveUp, Outcome, decide, delay_before, retry_after_of
from .body import read_body
from .call import (
    Attempt,
    Call,
    OperationDownError,
    call_info,
    closed,
    found_down,
    given_up,
    held_back,
    not_admitted,
    out_of_time,
)
from .outage import shared_by
from .tokens import TokenAuth, utc_now
from .tracing import OPENTELEMETRY, trace_of

MAX_RESPONSE_BYTES = 64 * 1024 * 1024
#: A hostile `retry-after` must not stop a client for ever: no cooldown is longer, and the gate probes it each minute.
LONGEST_COOLDOWN = 86_400.0
#: A token that has waited longer for a permit, in seconds, is asked for again before it is sent.
LONGEST_UNSENT_TOKEN = 5.0

#: How failures are classified, first match first; what is not listed may have had an effect.
_OUTCOMES: tuple[tuple[tuple[type[Exception], ...], Outcome], ...] = (
    (UNSENDABLE, Outcome.UNSENDABLE),
    (NOT_CONNECTED, Outcome.NOT_SENT),
    (NO_RESPONSE, Outcome.OUTCOME_UNKNOWN),
)


class BackoffTransport(httpx.AsyncBaseTransport):
    """An httpx transport that retries: it waits as the service asks, and retries what is safe to retry.

    It works in any `httpx.AsyncClient(transport=...)`. The body is read within the attempt, so that a response that
    breaks off is retried too. When it gives up, it returns the last response, or raises. Source: section 7.

    Args:
        transport: an `httpx.AsyncBaseTransport` that sends one attempt; it is closed with this transport.
        policy: how often and how long to retry.
        gate: shared by everything that sends to one service with one credential; a new one by default.
        auth: puts an access token on each attempt, so that a retry after a long wait carries a fresh one.
        max_response_bytes: the largest decoded response, in bytes; 64 MiB by default.
        on_event: is called with each attempt that ended, each cooldown and each outage; it must not block.
        random_number: returns jitter, from 0 to 1.
        now: the wall clock.

    Raises:
        NotSentError: from a request: it was certainly not sent, and no retry is left.
        OutcomeUnknownError: from a request: no response, and no retry is left or allowed.
        DeadlineExceededError: from a request: the deadline passed.
        RateLimitError: from a request: a cooldown lasts longer than the policy waits.
        ResponseDecodeError: from a request: a success that is too large or cannot be decoded.
        UsageError: from a request: the transport is closed.
    """

    def __init__(
        self,
        transport: HTTPTransport,
        *,
        policy: BackoffPolicy | None = None,
        gate: Gate | None = None,
        auth: TokenAuth | None = None,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        on_event: Callable[[BackoffEvent], None] | None = None,
        random_number: Callable[[], float] = random.random,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._policy = policy or BackoffPolicy()
        if not isinstance(gate, Gate | None):
            raise UsageError("gate must be a Gate or a RedisGate", argument="gate")
        self._gate = gate or Gate(self._policy.max_in_flight, random_number=random_number)
        self._auth = auth
        self._calls: dict[Call, asyncio.Task[object] | None] = {}
        self._ended = asyncio.Event()
        self._is_closed = self._was_reached = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._operations, self._seen = shared_by(self._gate)
        self._sender = AttemptSender(
            transport=as_transport(transport),
            gate=self._gate,
            max_response_bytes=max_response_bytes,
            on_event=on_event,
            random_number=random_number,
            now=now,
        )

    def __repr__(self) -> str:
        return f"BackoffTransport({self._sender.transport!r}, gate={self._gate!r})"

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request as often as the policy allows, and return the last response, read."""
        if not isinstance(request, CompleteRequest):
            await request.aread()
        self._check_use()
        info = call_info(request, policy=self._policy)
        limit = asyncio.timeout(info.policy.queue_timeout)
        began_at = asyncio.get_running_loop().time()
        call = Call(request=request, info=info, began_at=began_at, limit=limit, send=self._sender.send)
        call.token_failures = 0 if self._auth is None else self._auth.failures
        tracing = sys.modules.get(OPENTELEMETRY)
        trace = None if tracing is None else trace_of(call, tracing)
        return await (self._respond(call) if trace is None else trace.around(self._respond, call))

    async def _respond(self, call: Call) -> httpx.Response:
        self._calls[call] = asyncio.current_task()
        try:
            async with call.limit:
                return await self._run(call)
        except TimeoutError as error:
            if not call.limit.expired():
                raise
            left, now = self._gate.cooldown_left() or None, self._sender.now()
            raise out_of_time(call, self._seen, seconds=left, now=now) from without_frames(error)
        except WaitTooLongError as error:
            # A later cooldown has another reason than the last response.
            seen = self._seen if asyncio.get_running_loop().time() <= self._seen.until else None
            raise held_back(call, seen, seconds=error.seconds, now=self._sender.now()) from None
        except OperationDownError as error:
            return found_down(call, error.found, now=self._sender.now())
        except (TransportError, ResponseDecodeError, asyncio.CancelledError) as error:
            if isinstance(error, ResponseDecodeError):
                error.attempts = call.sent
            without_frames(error)
            raise
        finally:
            del self._calls[call]
            self._operations.left_by(call)
            self._ended.set()

    def _check_use(self) -> None:
        if self._is_closed:
            raise StateError("the client is closed: make the call before `aclose()`, or inside its `async with`")
        loop = asyncio.get_running_loop()
        self._loop = self._loop or loop
        if self._loop is not loop:
            raise StateError("a client belongs to the event loop of its first call: make another client here")

    async def _run(self, call: Call) -> httpx.Response:
        while True:
            attempt = await self._attempt(call)
            rounds = self._operations.note(
                call, attempt, random_number=self._sender.random_number, on_event=self._sender.on_event
            )
            if attempt.outcome is Outcome.FINAL and attempt.response is not None:
                if attempt.response.status_code == 401 and await self._refresh_token(call):
                    continue
                return self._ended_call(call, attempt, attempt.response)
            decision = decide(
                method=call.request.method,
                outcome=attempt.outcome,
                delay=attempt.delay,
                progress=call.progress,
                elapsed=call.elapsed,
                policy=call.info.policy,
                rounds=rounds,
            )
            if decision is not None:
                return self._given_up(call, attempt, decision)
            self._sender.log_retry(call, attempt)
            # After a 429 the gate holds the next attempt back; here other tasks may run.
            await asyncio.sleep(0 if attempt.outcome is Outcome.RATE_LIMITED else attempt.delay)

    async def _attempt(self, call: Call) -> Attempt:
        try:
            await self._admit(call)
            request = copy_of(call.request) if call.sent else call.request
            if self._auth is not None:
                await self._authorize(request, call, auth=self._auth)
            attempt = await call.send(request, call)
            if attempt.outcome is Outcome.RATE_LIMITED:
                until = asyncio.get_running_loop().time() + self._gate.cooldown_left()
                self._seen.note(attempt.response, token=call.token, until=until)
            if attempt.response is not None:
                self._was_reached = True
            elif not self._was_reached and is_nowhere(attempt.error, host=call.request.url.host):
                return attempt._replace(outcome=Outcome.NEVER_REACHED)
            return attempt
        finally:
            self._release(call)

    async def _authorize(self, request: Request, call: Call, *, auth: TokenAuth) -> None:
        """Put a token on a request. A call holds no permit while its token takes time, and sends no old token."""
        clock = asyncio.get_running_loop().time
        refreshed, call.refreshed_token = call.refreshed_token, None
        while True:
            if refreshed is None and auth.takes_time:
                # Meanwhile other calls use the permit; this one keeps its place in the queue.
                self._release(call)
            asked = clock()
            call.token = await auth.authorize(request, refreshed, since=call.token_failures)
            call.token_wait += clock() - asked
            if call.permit is not None:
                return
            asked, refreshed = clock(), None
            await self._admit(call)
            if clock() - asked <= LONGEST_UNSENT_TOKEN:
                return

    async def _admit(self, call: Call) -> None:
        """Wait until the operation is not known to be down, and the gate has a permit."""
        while True:
            if self._operations.are_closed_to(call):
                call.start_deadline(is_admitted=False)
                asked = asyncio.get_running_loop().time()
                await self._operations.wait(call)
                call.outage_wait += asyncio.get_running_loop().time() - asked
            await self._enter(call)
            if not self._operations.are_closed_to(call):
                return
            self._release(call)

    async def _enter(self, call: Call) -> None:
        try:
            if call.ticket is None:
                call.ticket = self._gate.ticket()
            asked = asyncio.get_running_loop().time()
            call.permit = await self._gate.enter(call.ticket, max_wait=call.longest_cooldown, until=call.limit.when())
            call.gate_wait += asyncio.get_running_loop().time() - asked
        except WaitTooLongError:
            raise
        except Exception as error:
            if isinstance(error, PlatformError) and not call.sent:
                raise
            raise not_admitted(call, error) from error
        if self._is_closed:
            # In the turn of the event loop in which the permit came: the end of the call is already due.
            raise closed(call)
        call.start_deadline(is_admitted=True)

    def _release(self, call: Call) -> None:
        """Give back the permit of a call that still holds one: nothing was sent."""
        permit, call.permit = call.permit, None
        if permit is not None:
            self._gate.unused(permit)

    async def _refresh_token(self, call: Call) -> bool:
        """Refresh the token of a call after its first 401; return whether there is another one to try."""
        if self._auth is None or call.token is None or call.has_refreshed_token:
            return False
        call.refreshed_token = await self._auth.refresh(rejected=call.token, since=call.token_failures)
        call.has_refreshed_token = True
        return call.refreshed_token is not None

    def _given_up(self, call: Call, attempt: Attempt, decision: GiveUp) -> httpx.Response:
        if attempt.response is None:
            raise given_up(call, attempt, decision) from attempt.error
        return self._ended_call(call, attempt, attempt.response, reason=decision.reason)

    def _ended_call(
        self, call: Call, attempt: Attempt, response: httpx.Response, *, reason: str | None = None
    ) -> httpx.Response:
        return call.ended(response, retry_after=attempt.retry_after, reason=reason, now=self._sender.now())

    async def aclose(self) -> None:
        """End the calls that wait or are in flight, send nothing afterwards, and close the transport below."""
        if self._is_closed:
            return
        loop, closing = asyncio.get_running_loop(), asyncio.current_task()
        if self._loop is not None and self._loop is not loop:
            raise StateError("close a client in the event loop of its first call")
        self._is_closed = True
        for call in self._calls:
            call.close(now=loop.time())
        try:
            while any(task is not closing for task in self._calls.values()):
                self._ended.clear()
                await self._ended.wait()
        finally:
            # Also when the task that closes is cancelled.
            await self._sender.transport.aclose()


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptSender:
    """Sends single attempts through `transport`, and tells the gate, the log and the callback how they ended."""

    transport: HTTPTransport
    gate: Gate
    max_response_bytes: int
    on_event: Callable[[BackoffEvent], None] | None
    random_number: Callable[[], float]
    now: Callable[[], datetime]

    async def send(self, request: Request, call: Call) -> Attempt:
        """Send a request once and return what it ended in; the permit of the call ends with it."""
        call.sent += 1
        call.is_in_flight, call.is_rate_limited = True, False
        number, started = call.sent, asyncio.get_running_loop().time()
        try:
            attempt = await self._protected(self._exchange(request, call))
        except BaseException as error:
            call.progress = call.progress.after(Outcome.OUTCOME_UNKNOWN)
            self._report(call, error, number=number, started=started)
            self._end(call, self.gate.abandoned)
            raise
        call.is_in_flight = False
        self._end(call, self.gate.abandoned if attempt.response is None else self.gate.answered)
        self._report(call, attempt.response or attempt.error, number=number, started=started)
        return attempt

    @staticmethod
    def _end(call: Call, end: Callable[[Permit], None]) -> None:
        permit, call.permit = call.permit, None
        if permit is not None:  # a 429 has ended it
            end(permit)

    def _protected(self, sending: Coroutine[Any, Any, Attempt]) -> Coroutine[Any, Any, Attempt]:
        # The protection costs a task for each attempt; a transport says by itself when it needs none.
        return sending if getattr(self.transport, "cancels_cleanly", False) else cancelled_in_order(sending)

    async def _exchange(self, request: Request, call: Call) -> Attempt:
        try:
            response = await self.transport.handle_async_request(request)
            outcome, retry_after, delay = self._head(response, call)
            read = await read_body(response, limit=self.max_response_bytes)
            return Attempt(outcome=outcome, response=read, retry_after=retry_after, delay=delay)
        except NO_RESPONSE as error:
            outcome = next(outcome for kinds, outcome in _OUTCOMES if isinstance(error, kinds))
            if tls_failure(error) is not None:
                outcome = Outcome.UNTRUSTED
                call.sent -= 1
            call.progress = call.progress.after(outcome)
            return Attempt(outcome=outcome, error=error, delay=self._delay(call, retry_after=None))

    def _head(self, response: Response, call: Call) -> tuple[Outcome, float | None, float]:
        """Decide by status and headers, before the body has arrived: a cooldown starts at once.

        Returns:
            The outcome, the delay that the service named, and the delay before a retry.
        """
        outcome = OUTCOMES.get(response.status_code, Outcome.FINAL)
        is_success = response.status_code < 300
        retry_after = None if is_success else retry_after_of(response.headers, now=self.now())
        if outcome is Outcome.FINAL:
            return outcome, retry_after, 0.0
        call.progress = call.progress.after(outcome)
        delay = self._delay(call, retry_after=retry_after)
        if outcome is Outcome.RATE_LIMITED:
            call.is_rate_limited = True
            self._start_cooldown(response, call, seconds=min(delay, LONGEST_COOLDOWN))
        return outcome, retry_after, delay

    def _delay(self, call: Call, *, retry_after: float | None) -> float:
        return delay_before(
            retry_after=retry_after, progress=call.progress, policy=call.info.policy, jitter=self.random_number()
        )

    def _start_cooldown(self, response: Response, call: Call, *, seconds: float) -> None:
        permit, call.permit = call.permit, None
        assert permit is not None  # noqa: S101  # only the head of a response ends it
        is_new = self.gate.cooldown_left() == 0
        self.gate.rate_limited(permit, wait=seconds)
        if not is_new:
            return
        tier, api, operation = limited_by(response.headers)
        event = CooldownStarted(
            method=call.info.method,
            route=call.info.route,
            seconds=max(seconds, self.gate.cooldown_left()),  # the gate may have prolonged it
            tier=tier,
            api=api,
            operation=operation,
        )
        tell(event, self.on_event)

    def log_retry(self, call: Call, attempt: Attempt) -> None:
        """Log that a call waits before its next attempt."""
        retry = RetryScheduled(
            method=call.info.method,
            route=call.info.route,
            status=None if attempt.response is None else attempt.response.status_code,
            error=None if attempt.error is None else type(attempt.error).__name__,
            attempt=call.sent + 1,
            seconds=attempt.delay,
        )
        log(retry)

    def _report(self, call: Call, ended: Response | BaseException | None, *, number: int, started: float) -> None:
        if self.on_event is None and not LOG.isEnabledFor(logging.DEBUG):
            return
        response = ended if isinstance(ended, Response) else None
        requested = call.request.headers
        headers = requested if response is None else response.headers
        event = AttemptEnded(
            method=call.info.method,
            route=call.info.route,
            status=None if response is None else response.status_code,
            error=type(ended).__name__ if response is None else None,
            seconds=asyncio.get_running_loop().time() - started,
            attempt=number,
            correlation_id=headers.get("x-correlation-id") or requested.get("x-correlation-id"),
        )
        tell(event, self.on_event)
