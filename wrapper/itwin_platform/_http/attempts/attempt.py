"""One attempt: a request is sent once, its response is read, and the gate, the log and the callback learn of it."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from ..._version import LOG
from ..connections.cancellation import cancelled_in_order
from ..connections.failures import NO_RESPONSE, NOT_CONNECTED, UNSENDABLE, tls_failure
from ..connections.given_client import HTTPTransport
from ..connections.lazy import Request, Response, route_of
from ..events import AttemptEnded, BackoffEvent, CooldownStarted, tell
from ..gates.gate import Gate
from ..gates.window import Permit
from ..policy import OUTCOMES, BackoffPolicy, Outcome, Progress, delay_before
from ..status_errors import SENT_TOKEN, limited_by
from .auth import ObtainedToken
from .body import read_body
from .retry_after import retry_after_of
from .tracing import Trace

#: A hostile `retry-after` must not stop a client for ever: no cooldown is longer, and the gate probes it each minute.
LONGEST_COOLDOWN = 86_400.0

#: How failures are classified, first match first; what is not listed may have had an effect.
_OUTCOMES: tuple[tuple[tuple[type[Exception], ...], Outcome], ...] = (
    (UNSENDABLE, Outcome.UNSENDABLE),
    (NOT_CONNECTED, Outcome.NOT_SENT),
    (NO_RESPONSE, Outcome.OUTCOME_UNKNOWN),
)


@dataclass(slots=True, eq=False, kw_only=True)
class Call:
    """One request on its way through its attempts.

    Args:
        request: the request as the caller made it.
        policy: the limits of this call.
        limit: ends the call when its time is over, or when the client is closed.
        trace: its spans, when the application traces.
        ticket: its position in the gate's queue, once it has one.
        permit: the gate's permission for the present attempt, until that has ended.
        admitted_at: when the gate first admitted it, in the event loop's time.
        token: the token of the last attempt.
        refreshed_token: the token for the next attempt, when the last one got a 401.
        has_refreshed_token: whether a 401 has led to a refresh; it does so once.
        token_failures: how often the token provider had failed when the call began.
        progress: what its attempts have come to.
        sent: how many requests were sent.
        spent: what its last retry has cost of the retry budget.
        is_in_flight: whether an attempt has begun and has not ended.
        is_rate_limited: whether the last response was a 429, and nothing was sent since.
        was_closed: whether the client was closed before the call's time was over.
    """

    request: Request
    policy: BackoffPolicy
    limit: asyncio.Timeout
    trace: Trace | None
    ticket: int | None = None
    permit: Permit | None = None
    admitted_at: float | None = None
    token: ObtainedToken | None = None
    refreshed_token: ObtainedToken | None = None
    has_refreshed_token: bool = False
    token_failures: int = 0
    progress: Progress = Progress()  # noqa: RUF009  # a frozen value
    sent: int = 0
    spent: int = 0
    is_in_flight: bool = False
    is_rate_limited: bool = False
    was_closed: bool = False

    def close(self, *, now: float) -> None:
        """End the call because the client closes, unless its time is over already: the first cause is reported."""
        ends_at = self.limit.when()
        if not self.limit.expired() and (ends_at is None or ends_at > now):
            self.was_closed = True
            self.limit.reschedule(now)

    @property
    def longest_cooldown(self) -> float:
        """The longest cooldown, in seconds, that the call waits for."""
        deadline = self.policy.deadline
        if self.admitted_at is not None or deadline is None:
            return self.policy.max_wait
        # The gate gets the time of the deadline once it has started. Until then, its length limits the cooldown.
        return min(self.policy.max_wait, deadline)

    @property
    def elapsed(self) -> float:
        """The seconds since the gate first admitted the call."""
        return 0.0 if self.admitted_at is None else asyncio.get_running_loop().time() - self.admitted_at


class Attempt(NamedTuple):
    """What one attempt ended in, with everything that follows from it: computed once, when the head has arrived.

    Args:
        outcome: how the policy sees it.
        response: the response, read; None when none came.
        error: what came instead of a response.
        retry_after: the delay that the service named, in seconds.
        delay: how long to wait before a retry, in seconds.
    """

    outcome: Outcome
    response: Response | None = None
    error: Exception | None = None
    retry_after: float | None = None
    delay: float = 0.0


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
            sending = self._protected(self._send(request, call))
            attempt = await (sending if call.trace is None else self._traced(sending, call.trace, number))
        except BaseException as error:
            call.progress = call.progress.after(Outcome.OUTCOME_UNKNOWN)
            self._report(request, error, number=number, started=started)
            self._end(call, self.gate.abandoned)
            raise
        call.is_in_flight = False
        self._end(call, self.gate.abandoned if attempt.response is None else self.gate.answered)
        self._report(request, attempt.response or attempt.error, number=number, started=started)
        return attempt

    @staticmethod
    def _end(call: Call, end: Callable[[Permit], None]) -> None:
        permit, call.permit = call.permit, None
        if permit is not None:  # a 429 has ended it
            end(permit)

    def _protected(self, sending: Coroutine[Any, Any, Attempt]) -> Coroutine[Any, Any, Attempt]:
        # The protection costs a task for each attempt; a transport says by itself when it needs none.
        return sending if getattr(self.transport, "cancels_cleanly", False) else cancelled_in_order(sending)

    async def _traced(self, sending: Coroutine[Any, Any, Attempt], trace: Trace, number: int) -> Attempt:
        with trace.attempt(number) as span:
            attempt = await sending
            span.ended(attempt.response, attempt.error)
            return attempt

    async def _send(self, request: Request, call: Call) -> Attempt:
        try:
            response = await self.transport.handle_async_request(request)
            outcome, retry_after, delay = self._head(request, response, call)
            read = await read_body(response, limit=self.max_response_bytes)
            if read.status_code >= 300 and call.token is not None:
                read.extensions[SENT_TOKEN] = call.token.token
            return Attempt(outcome=outcome, response=read, retry_after=retry_after, delay=delay)
        except NO_RESPONSE as error:
            outcome = next(outcome for kinds, outcome in _OUTCOMES if isinstance(error, kinds))
            if tls_failure(error) is not None:
                outcome = Outcome.UNTRUSTED
                call.sent -= 1
            call.progress = call.progress.after(outcome)
            return Attempt(outcome=outcome, error=error, delay=self._delay(call, retry_after=None))

    def _head(self, request: Request, response: Response, call: Call) -> tuple[Outcome, float | None, float]:
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
            self._start_cooldown(request, response, call, seconds=min(delay, LONGEST_COOLDOWN))
        return outcome, retry_after, delay

    def _delay(self, call: Call, *, retry_after: float | None) -> float:
        return delay_before(
            retry_after=retry_after, progress=call.progress, policy=call.policy, jitter=self.random_number()
        )

    def _start_cooldown(self, request: Request, response: Response, call: Call, *, seconds: float) -> None:
        permit, call.permit = call.permit, None
        assert permit is not None  # noqa: S101  # only the head of a response ends it
        is_new = self.gate.cooldown_left() == 0
        self.gate.rate_limited(permit, wait=seconds)
        if not is_new:
            return
        tier, api, operation = limited_by(response.headers)
        event = CooldownStarted(
            method=request.method,
            route=route_of(request),
            seconds=max(seconds, self.gate.cooldown_left()),  # the gate may have prolonged it
            tier=tier,
            api=api,
            operation=operation,
        )
        tell(event, self.on_event)

    def _report(self, request: Request, ended: Response | BaseException | None, *, number: int, started: float) -> None:
        if self.on_event is None and not LOG.isEnabledFor(logging.DEBUG):
            return
        response = ended if isinstance(ended, Response) else None
        headers = request.headers if response is None else response.headers
        event = AttemptEnded(
            method=request.method,
            route=route_of(request),
            status=None if response is None else response.status_code,
            error=type(ended).__name__ if response is None else None,
            seconds=asyncio.get_running_loop().time() - started,
            attempt=number,
            correlation_id=headers.get("x-correlation-id") or request.headers.get("x-correlation-id"),
        )
        tell(event, self.on_event)
