"""Backoff as an httpx transport: each request is attempted, and repeated where the policy says so.

The way of one attempt: gate -> token -> the transport beneath -> the whole body -> decide -> wait.
"""

import asyncio
import random
from collections.abc import Callable
from datetime import datetime

import httpx

from .._errors import DeadlineExceededError
from .._transports.status_errors import moment_after
from .attempt import Call, Exchange, loop_time, route_of, what_happened
from .auth import another
from .events import BackoffEvent
from .gate import Gate, RequestGate
from .policy import EFFECT_POSSIBLE, BackoffPolicy, GiveUp, Outcome, RetryBudget, decide
from .token import utc_now
from .window import Permit, WaitTooLongError

MAX_RESPONSE_BYTES = 64 * 1024 * 1024
#: Under this name an answer's `extensions` say how many requests were sent for it.
ATTEMPTS = "itwin_platform.attempts"


class BackoffTransport(httpx.AsyncBaseTransport):
    """Attempts each request, waits as the service asks, and repeats it where that is safe. Source: section 7.

    It works in any `httpx.AsyncClient(transport=...)`. Answers are read to their end within the attempt, so that one
    that breaks off is repeated too. On giving up it returns the last answer, or raises.

    Args:
        transport: what sends one attempt; it is closed with this one.
        policy: how often and how long.
        gate: shared by all that send to the same address with the same credential; a new one where left out.
        auth: puts the credential on each attempt, so that one after a long wait carries a fresh token.
        max_response_bytes: decoded bytes of an answer over which it is refused.
        on_event: is called with each attempt that ended and each cooldown that began; it must not wait.
        random_number: gives jitter, from 0 to 1.
        now: the wall clock.

    Raises (from a request):
        NotSentError, OutcomeUnknownError: no answer, and no repeat.
        DeadlineExceededError: the deadline, or a cooldown longer than the policy waits.
        ResponseDecodeError: a success that is too large or cannot be decoded.
    """

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport,
        *,
        policy: BackoffPolicy | None = None,
        gate: RequestGate | None = None,
        auth: httpx.Auth | None = None,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        on_event: Callable[[BackoffEvent], None] | None = None,
        random_number: Callable[[], float] = random.random,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._policy = policy or BackoffPolicy()
        self._gate = Gate(self._policy.max_in_flight) if gate is None else gate
        self._auth = auth or httpx.Auth()
        self._now = now
        self._tokens = RetryBudget(self._policy.retry_budget)
        self._exchange = Exchange(
            transport=transport,
            policy=self._policy,
            gate=self._gate,
            max_response_bytes=max_response_bytes,
            on_event=on_event,
            random_number=random_number,
            now=now,
        )

    def __repr__(self) -> str:
        return f"BackoffTransport({self._exchange.transport!r}, gate={self._gate!r})"

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request as often as the policy says and returns the last answer, read."""
        await request.aread()
        call = Call(began=loop_time(), ticket=self._gate.ticket())
        limit = asyncio.timeout(self._policy.deadline)
        try:
            async with limit:
                return await self._repeat(request, call)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise self._too_late(request, call, f"the deadline of {self._policy.deadline:g} s passed") from error
        except WaitTooLongError as error:
            reason = (
                f"the service asked everybody to wait {error.seconds:g} s more, which is longer than max_wait or the "
                "deadline allows"
            )
            raise self._too_late(request, call, reason, wait=error.seconds) from error

    def _too_late(
        self, request: httpx.Request, call: Call, reason: str, *, wait: float | None = None
    ) -> DeadlineExceededError:
        return DeadlineExceededError(
            f"{request.method} {route_of(request)}: {reason}; requests sent: {call.sent}",
            attempts=call.sent,
            sent=call.may_have_had_an_effect,
            retry_at=moment_after(self._now(), wait),
        )

    async def _repeat(self, request: httpx.Request, call: Call) -> httpx.Response:
        while True:
            outcome = await self._attempt(request, call)
            what = what_happened(outcome)
            call.attempts += what is not Outcome.REFUSED
            call.may_have_had_an_effect |= what in EFFECT_POSSIBLE
            decision = decide(
                method=request.method,
                what=what,
                retry_after=self._exchange.retry_after(outcome),
                progress=call.progress,
                policy=self._policy,
                tokens=self._tokens.left,
                jitter=call.jitter,
            )
            if isinstance(decision, GiveUp):
                return self._given_up(request, call, outcome, decision)
            call.spent = decision.cost or call.spent
            self._tokens.spend(decision.cost)
            # After a 429 the gate is closed, and the next attempt waits there; here others get their turn.
            await asyncio.sleep(0 if what is Outcome.REFUSED else decision.after)

    def _given_up(
        self, request: httpx.Request, call: Call, outcome: httpx.Response | Exception, decision: GiveUp
    ) -> httpx.Response:
        if isinstance(outcome, httpx.Response):
            if outcome.status_code < 500 and outcome.status_code != 429:
                self._tokens.refund(call.spent)
            outcome.extensions[ATTEMPTS] = call.sent
            return outcome
        effect = "it may have had an effect" if decision.error.sent else "it had no effect"
        raise decision.error(
            f"{request.method} {route_of(request)}: no answer from {request.url.scheme}://"
            f"{request.url.netloc.decode('ascii')} after {call.sent} requests, {effect} "
            f"({type(outcome).__name__}; {decision.reason})",
            attempts=call.sent,
        ) from outcome

    async def _attempt(self, request: httpx.Request, call: Call) -> httpx.Response | Exception:
        flow = self._auth.async_auth_flow(another(request) if call.sent else request)
        try:
            given = await self._enter(call)
            try:
                outgoing = await anext(flow)
            except BaseException:
                self._gate.abandoned(given)
                raise
            if self._gate.cooldown_left() > 0:
                # The token took its time, and meanwhile somebody was told to wait: so do we.
                self._gate.abandoned(given)
                given = await self._enter(call)
            while isinstance(outcome := await self._exchange.send(outgoing, given, call), httpx.Response):
                try:
                    outgoing = await flow.asend(outcome)
                except StopAsyncIteration:
                    break
                given = await self._enter(call)
            return outcome
        finally:
            await flow.aclose()

    async def _enter(self, call: Call) -> Permit:
        until = None if self._policy.deadline is None else call.began + self._policy.deadline
        return await self._gate.enter(call.ticket, max_wait=self._policy.max_wait, until=until)

    async def aclose(self) -> None:
        """Closes the transport beneath."""
        await self._exchange.transport.aclose()
