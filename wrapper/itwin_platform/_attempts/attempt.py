"""One attempt: a request is sent once, its response is read, and the gate, the log and the callback learn of it."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from .._transports.cancellation import cancelled_in_order
from .._transports.connections.failures import NO_RESPONSE, NOT_CONNECTED, UNSENDABLE, tls_failure
from .._transports.lazy import Request, Response, route_of
from .._transports.status_errors import SENT_TOKEN, limited_by
from .._version import LOG
from .admission.gate import RequestGate
from .admission.window import Permit
from .bodies.body import read_body
from .policy import EFFECT_POSSIBLE, OUTCOMES, BackoffPolicy, Outcome, Progress, delay_before
from .retry_after import retry_after_of
from .telemetry.events import AttemptEnded, BackoffEvent, CooldownStarted, tell
from .telemetry.tracing import Trace
from .token import AccessToken

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
        ticket: its position in the gate's queue.
        limit: ends the call when its time is over, or when the client is closed.
        task: the task that waits for the response.
        trace: its spans, when the application traces.
    """

    request: Request
    policy: BackoffPolicy
    ticket: int
    limit: asyncio.Timeout
    task: "asyncio.Task[Any] | None"
    trace: Trace | None = None
    permit: Permit | None = None
    admitted_at: float | None = None
    token: AccessToken | None = None
    has_refreshed_token: bool = False
    attempts: int = 0
    rate_limits: int = 0
    sent: int = 0
    spent: int = 0
    is_in_flight: bool = False
    is_rate_limited: bool = False
    may_have_had_an_effect: bool = False
    was_closed: bool = False

    def close(self, *, now: float) -> None:
        """End the call because the client closes, unless its time is over already: the first cause is reported."""
        ends_at = self.limit.when()
        if not self.limit.expired() and (ends_at is None or ends_at > now):
            self.was_closed = True
            self.limit.reschedule(now)

    def note(self, outcome: Outcome) -> None:
        """Count an attempt by its outcome."""
        self.is_rate_limited = outcome is Outcome.RATE_LIMITED
        if self.is_rate_limited:
            self.rate_limits += 1
        else:
            self.attempts += 1
        self.may_have_had_an_effect |= outcome in EFFECT_POSSIBLE

    @property
    def longest_cooldown(self) -> float:
        """The longest cooldown, in seconds, that the call waits for."""
        deadline = self.policy.deadline
        if self.admitted_at is not None or deadline is None:
            return self.policy.max_wait
        # The gate gets the time of the deadline once it has started. Until then, its length limits the cooldown.
        return min(self.policy.max_wait, deadline)

    @property
    def progress(self) -> Progress:
        """What the policy needs to know of the call so far."""
        return Progress(
            attempts=self.attempts,
            rate_limits=self.rate_limits,
            elapsed=0.0 if self.admitted_at is None else asyncio.get_running_loop().time() - self.admitted_at,
            may_have_had_an_effect=self.may_have_had_an_effect,
        )


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


class SingleTransport(Protocol):
    """What attempts need of a transport; it may also say of itself that it `cancels_cleanly`."""

    async def handle_async_request(self, request: Request) -> Response:
        """Send a request once, or raise one of `NO_RESPONSE`."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptSender:
    """Sends single attempts through `transport`, and ends the permit of each of them, whatever happens."""

    transport: SingleTransport
    gate: RequestGate
    max_response_bytes: int
    on_event: Callable[[BackoffEvent], None] | None
    random_number: Callable[[], float]
    now: Callable[[], datetime]

    async def send(self, request: Request, call: Call) -> Attempt:
        """Send a request once and return what it ended in."""
        call.sent += 1
        call.is_in_flight, call.is_rate_limited = True, False
        assert call.permit is not None  # noqa: S101  # a call is admitted before each attempt
        self.gate.sending(call.permit)
        started = asyncio.get_running_loop().time()
        try:
            exchange = self._protected(self._exchange(request, call))
            attempt = await (exchange if call.trace is None else call.trace.attempt(call.sent, exchange))
        except BaseException as error:
            call.may_have_had_an_effect = True
            self.release(call)
            self._report(request, call, error, started=started)
            raise
        call.is_in_flight = False
        if attempt.response is None:
            self.release(call)
        elif call.permit is not None:
            self.gate.answered(call.permit)
            call.permit = None
        if self.on_event is not None or LOG.isEnabledFor(logging.DEBUG):
            self._report(request, call, attempt.response or attempt.error, started=started)
        return attempt

    def release(self, call: Call) -> None:
        """Give back the permit of a call that still holds one: no response came, or nothing was sent."""
        if call.permit is not None:
            permit, call.permit = call.permit, None
            self.gate.abandoned(permit)

    def _protected(self, exchange: Coroutine[Any, Any, Attempt]) -> Coroutine[Any, Any, Attempt]:
        # The protection costs a task for each attempt; a transport says by itself when it needs none.
        return exchange if getattr(self.transport, "cancels_cleanly", False) else cancelled_in_order(exchange)

    async def _exchange(self, request: Request, call: Call) -> Attempt:
        try:
            response = await self.transport.handle_async_request(request)
            outcome, retry_after, delay = self._head(request, response, call)
            read = await read_body(response, limit=self.max_response_bytes)
            if read.status_code >= 300 and call.token is not None:
                read.extensions[SENT_TOKEN] = call.token
            return Attempt(outcome=outcome, response=read, retry_after=retry_after, delay=delay)
        except NO_RESPONSE as error:
            outcome = next(outcome for kinds, outcome in _OUTCOMES if isinstance(error, kinds))
            if tls_failure(error) is not None:
                outcome = Outcome.UNTRUSTED
                call.sent -= 1
            call.note(outcome)
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
        call.note(outcome)
        delay = self._delay(call, retry_after=retry_after)
        if outcome is Outcome.RATE_LIMITED and call.permit is not None:
            permit, call.permit = call.permit, None
            self._start_cooldown(request, response, permit, seconds=min(delay, LONGEST_COOLDOWN))
        return outcome, retry_after, delay

    def _start_cooldown(self, request: Request, response: Response, permit: Permit, *, seconds: float) -> None:
        is_new = self.gate.cooldown_left() == 0
        self.gate.rate_limited(permit, wait=seconds)
        if not is_new:
            return
        tier, api, operation = limited_by(response.headers)
        event = CooldownStarted(
            method=request.method, route=route_of(request), seconds=seconds, tier=tier, api=api, operation=operation
        )
        tell(event, self.on_event)

    def _delay(self, call: Call, *, retry_after: float | None) -> float:
        return delay_before(
            retry_after=retry_after, progress=call.progress, policy=call.policy, jitter=self.random_number()
        )

    def _report(self, request: Request, call: Call, ended: Response | BaseException | None, *, started: float) -> None:
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
            attempt=call.sent,
            correlation_id=headers.get("x-correlation-id") or request.headers.get("x-correlation-id"),
        )
        tell(event, self.on_event)
