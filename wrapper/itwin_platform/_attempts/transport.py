"""Retries as an httpx transport: one loop of attempts for each request.

gate -> token -> head -> body -> decide -> wait -> gate ...
"""

import asyncio
import random
from collections.abc import Callable
from datetime import datetime

import httpx

from .._errors import (
    DeadlineExceededError,
    NotSentError,
    OutcomeUnknownError,
    RateLimitError,
    TransportError,
    UsageError,
)
from .._transports.status_errors import ATTEMPTS, RETRY_AFTER, RETRY_AT, moment_after, status_error
from .attempt import Attempt, AttemptSender, Call, loop_time, route_of
from .auth import TokenAuth, copy_of
from .events import BackoffEvent
from .gate import Gate, RequestGate
from .policy import BackoffPolicy, GiveUp, Outcome, RetryBudget, decide
from .token import utc_now
from .window import WaitTooLongError

MAX_RESPONSE_BYTES = 64 * 1024 * 1024


class BackoffTransport(httpx.AsyncBaseTransport):
    """An httpx transport that retries: it waits as the service asks, and retries what is safe to retry.

    It works in any `httpx.AsyncClient(transport=...)`. The body is read within the attempt, so that a response that
    breaks off is retried too. When it gives up, it returns the last response, or raises. Source: section 7.

    Args:
        transport: sends one attempt; it is closed with this transport.
        policy: how often and how long to retry.
        gate: shared by everything that sends to one service with one credential; a new one by default.
        auth: puts an access token on each attempt, so that a retry after a long wait carries a fresh one.
        max_response_bytes: the largest decoded response, in bytes.
        on_event: is called with each attempt that ended and each cooldown that started; it must not block.
        random_number: returns jitter, from 0 to 1.
        now: the wall clock.

    Raises (from a request):
        NotSentError, OutcomeUnknownError: no response, and no retry is left or allowed.
        DeadlineExceededError: the deadline passed.
        RateLimitError: a cooldown lasts longer than the policy waits.
        ResponseDecodeError: a success that is too large or cannot be decoded.
        UsageError: the transport is closed.
    """

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport,
        *,
        policy: BackoffPolicy | None = None,
        gate: RequestGate | None = None,
        auth: TokenAuth | None = None,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        on_event: Callable[[BackoffEvent], None] | None = None,
        random_number: Callable[[], float] = random.random,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._policy = policy or BackoffPolicy()
        self._gate = Gate(self._policy.max_in_flight) if gate is None else gate
        self._auth = auth
        self._now = now
        self._budget = RetryBudget(self._policy.retry_budget)
        self._calls: set[Call] = set()
        self._ended = asyncio.Event()
        self._is_closed = False
        self._last_rate_limit: httpx.Response | None = None
        self._sender = AttemptSender(
            transport=transport,
            policy=self._policy,
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
        if self._is_closed:
            raise UsageError("the client is closed: make the call before `aclose()`, or inside its `async with`")
        await request.aread()
        limit = asyncio.timeout(None)
        call = Call(request=request, ticket=self._gate.ticket(), limit=limit, task=asyncio.current_task())
        try:
            async with limit:
                self._calls.add(call)
                return await self._run(call)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise self._out_of_time(call) from error
        except WaitTooLongError as error:
            raise self._held_back(call, error.seconds) from None
        finally:
            self._calls.discard(call)
            self._ended.set()

    async def _run(self, call: Call) -> httpx.Response:
        while True:
            attempt = await self._attempt(call)
            if attempt.outcome is Outcome.RATE_LIMITED:
                self._last_rate_limit = attempt.response
            if await self._has_new_token(attempt, call):
                continue
            decision = decide(
                method=call.request.method,
                outcome=attempt.outcome,
                delay=attempt.delay,
                progress=call.progress,
                policy=self._policy,
                budget=self._budget.left,
            )
            if isinstance(decision, GiveUp):
                return self._given_up(call, attempt, decision)
            call.spent = decision.cost or call.spent
            self._budget.spend(decision.cost)
            # After a 429 the gate holds the next attempt back; here other tasks get their turn.
            await asyncio.sleep(0 if attempt.outcome is Outcome.RATE_LIMITED else attempt.delay)

    async def _attempt(self, call: Call) -> Attempt:
        try:
            await self._admit(call)
            request = copy_of(call.request) if call.sent else call.request
            if self._auth is not None:
                renewed = call.token if call.has_renewed_token else None
                call.token = await self._auth.authorize(request, renewed)
                if self._gate.cooldown_left() > 0:
                    # The token took its time, and meanwhile another call was rate limited: wait with the others.
                    self._sender.release(call)
                    await self._admit(call)
            return await self._sender.send(request, call)
        finally:
            self._sender.release(call)

    async def _admit(self, call: Call) -> None:
        deadline = self._policy.deadline
        until = None if deadline is None or call.admitted_at is None else call.admitted_at + deadline
        call.permit = await self._gate.enter(call.ticket, max_wait=self._policy.max_wait, until=until)
        if call.admitted_at is None:
            # Queueing behind one's own tasks must not fail a call: its deadline starts here.
            call.admitted_at = loop_time()
            call.limit.reschedule(None if deadline is None else call.admitted_at + deadline)

    async def _has_new_token(self, attempt: Attempt, call: Call) -> bool:
        is_401 = attempt.response is not None and attempt.response.status_code == 401
        if not is_401 or self._auth is None or call.token is None or call.has_renewed_token:
            return False
        renewed = await self._auth.renew(rejected=call.token)
        call.token, call.has_renewed_token = renewed or call.token, True
        return renewed is not None

    def _given_up(self, call: Call, attempt: Attempt, decision: GiveUp) -> httpx.Response:
        if attempt.response is not None:
            if attempt.response.status_code < 500 and attempt.outcome is not Outcome.RATE_LIMITED:
                self._budget.refund(call.spent)
            attempt.response.extensions |= {
                ATTEMPTS: call.sent,
                RETRY_AFTER: attempt.retry_after,
                RETRY_AT: moment_after(self._now(), attempt.retry_after),
            }
            return attempt.response
        request = call.request
        effect = "it may have had an effect" if decision.error.sent else "it had no effect"
        raise decision.error(
            f"{request.method} {route_of(request)}: no answer from {request.url.scheme}://"
            f"{request.url.netloc.decode('ascii')} after {call.sent} requests, {effect} "
            f"({type(attempt.error).__name__}; {decision.reason})",
            attempts=call.sent,
        ) from attempt.error

    def _out_of_time(self, call: Call) -> TransportError:
        where = f"{call.request.method} {route_of(call.request)}"
        if not self._is_closed:
            return DeadlineExceededError(
                f"{where}: the deadline of {self._policy.deadline:g} s passed; requests sent: {call.sent}",
                attempts=call.sent,
                sent=call.may_have_had_an_effect,
            )
        kind = OutcomeUnknownError if call.may_have_had_an_effect else NotSentError
        return kind(f"{where}: the client was closed; requests sent: {call.sent}", attempts=call.sent)

    def _held_back(self, call: Call, seconds: float) -> RateLimitError:
        """Make the error for a call that a known cooldown holds back for longer than the call may wait."""
        seen = self._last_rate_limit
        error = status_error(
            status=429,
            headers=httpx.Headers() if seen is None else seen.headers,
            body=b"" if seen is None else seen.content,
            attempts=call.sent,
            retry_after=seconds,
            retry_at=moment_after(self._now(), seconds),
        )
        assert isinstance(error, RateLimitError)  # noqa: S101  # the class of the tree for status 429
        return error

    async def aclose(self) -> None:
        """End the calls that wait or are in flight, send nothing afterwards, and close the transport beneath."""
        if self._is_closed:
            return
        self._is_closed = True
        for call in self._calls:
            if not call.limit.expired():
                call.limit.reschedule(loop_time())
        while any(call.task is not asyncio.current_task() for call in self._calls):
            self._ended.clear()
            await self._ended.wait()
        await self._sender.transport.aclose()
