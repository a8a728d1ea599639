"""Retries as an httpx transport: gate -> token -> head -> body -> decide -> wait -> gate ..."""

import asyncio
import random
import sys
from collections.abc import Callable
from datetime import datetime

import httpx

from ..._errors import PlatformError, ResponseDecodeError, TransportError, UsageError
from ..connections.failures import without_frames
from ..connections.given_client import HTTPTransport, as_transport
from ..connections.lazy import LazyRequest, copy_of
from ..events import BackoffEvent
from ..gates.gate import Gate
from ..gates.window import WaitTooLongError
from ..policy import POLICY, BackoffPolicy, GiveUp, Outcome, RetryBudget, decide
from ..status_errors import ATTEMPTS, REASON, RETRY_AFTER, RETRY_AT, moment_after
from .attempt import Attempt, AttemptSender, Call
from .auth import TokenAuth
from .call_errors import closed, given_up, held_back, last_rate_limit_of, not_admitted, out_of_time
from .token import utc_now
from .tracing import OPENTELEMETRY, trace_of

MAX_RESPONSE_BYTES = 64 * 1024 * 1024


class BackoffTransport(httpx.AsyncBaseTransport):
    """An httpx transport that retries: it waits as the service asks, and retries what is safe to retry.

    It works in any `httpx.AsyncClient(transport=...)`. The body is read within the attempt, so that a response that
    breaks off is retried too. When it gives up, it returns the last response, or raises. Source: section 7.

    Args:
        transport: an `httpx.AsyncBaseTransport` that sends one attempt; it is closed with this transport.
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
            raise UsageError("gate must be a Gate or a RedisGate")
        self._gate = gate or Gate(self._policy.max_in_flight, random_number=random_number)
        self._auth = auth
        self._budget = RetryBudget(self._policy.retry_budget)
        self._calls: dict[Call, asyncio.Task[object] | None] = {}
        self._ended = asyncio.Event()
        self._is_closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._seen = last_rate_limit_of(self._gate)
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
        if not isinstance(request, LazyRequest):
            await request.aread()
        self._check_use()
        policy: BackoffPolicy = request.extensions.get(POLICY, self._policy)
        tracing = sys.modules.get(OPENTELEMETRY)
        trace = None if tracing is None else trace_of(request, tracing)
        call = Call(request=request, policy=policy, limit=asyncio.timeout(policy.queue_timeout), trace=trace)
        call.token_failures = 0 if self._auth is None else self._auth.failures
        if trace is None:
            return await self._respond(call)
        with trace:
            response = await self._respond(call)
            trace.ended(response)
            return response

    async def _respond(self, call: Call) -> httpx.Response:
        self._calls[call] = asyncio.current_task()
        try:
            async with call.limit:
                return await self._run(call)
        except TimeoutError as error:
            if not call.limit.expired():
                raise
            left, now = self._gate.cooldown_left() or None, self._sender.now()
            raise out_of_time(call, self._seen.response, seconds=left, now=now) from without_frames(error)
        except WaitTooLongError as error:
            seen = self._seen.at(asyncio.get_running_loop().time())
            raise held_back(call, seen, seconds=error.seconds, now=self._sender.now()) from None
        except (TransportError, ResponseDecodeError, asyncio.CancelledError) as error:
            if isinstance(error, ResponseDecodeError):
                error.attempts = call.sent
            without_frames(error)
            raise
        finally:
            del self._calls[call]
            self._ended.set()

    def _check_use(self) -> None:
        if self._is_closed:
            raise UsageError("the client is closed: make the call before `aclose()`, or inside its `async with`")
        loop = asyncio.get_running_loop()
        self._loop = self._loop or loop
        if self._loop is not loop:
            raise UsageError("a client belongs to the event loop of its first call: make another client here")

    async def _run(self, call: Call) -> httpx.Response:
        while True:
            attempt = await self._attempt(call)
            if attempt.outcome is Outcome.FINAL and attempt.response is not None:
                if attempt.response.status_code == 401 and await self._refresh_token(call):
                    continue
                return self._final(call, attempt, attempt.response)
            decision = decide(
                method=call.request.method,
                outcome=attempt.outcome,
                delay=attempt.delay,
                progress=call.progress,
                elapsed=call.elapsed,
                policy=call.policy,
                budget=self._budget.left,
            )
            if isinstance(decision, GiveUp):
                return self._given_up(call, attempt, decision)
            call.spent = decision.cost or call.spent
            self._budget.spend(decision.cost)
            # After a 429 the gate holds the next attempt back; here other tasks may run.
            await asyncio.sleep(0 if attempt.outcome is Outcome.RATE_LIMITED else attempt.delay)

    async def _attempt(self, call: Call) -> Attempt:
        try:
            await self._admit(call)
            request = copy_of(call.request) if call.sent else call.request
            if self._auth is not None:
                refreshed, call.refreshed_token = call.refreshed_token, None
                if refreshed is None and self._auth.takes_time:
                    # Meanwhile other calls use the permit; this one keeps its place in the queue.
                    self._release(call)
                token = self._auth.authorize(request, refreshed, since=call.token_failures)
                call.token = await (token if call.trace is None else call.trace.waiting("token_wait", token))
                if call.permit is None:
                    await self._admit(call)
            attempt = await self._sender.send(request, call)
            if attempt.outcome is Outcome.RATE_LIMITED:
                self._seen.response = attempt.response
                self._seen.until = asyncio.get_running_loop().time() + self._gate.cooldown_left()
            return attempt
        finally:
            self._release(call)

    async def _admit(self, call: Call) -> None:
        try:
            if call.ticket is None:
                call.ticket = self._gate.ticket()
            permit = self._gate.enter(call.ticket, max_wait=call.longest_cooldown, until=call.limit.when())
            call.permit = await (permit if call.trace is None else call.trace.waiting("gate_wait", permit))
        except WaitTooLongError:
            raise
        except Exception as error:
            if isinstance(error, PlatformError) and not call.sent:
                raise
            raise not_admitted(call, error) from error
        if self._is_closed:
            # In the turn of the event loop in which the permit came: the end of the call is already due.
            raise closed(call)
        if call.admitted_at is None:
            # Queueing behind one's own tasks must not fail a call: its deadline starts here.
            call.admitted_at, deadline = asyncio.get_running_loop().time(), call.policy.deadline
            call.limit.reschedule(None if deadline is None else call.admitted_at + deadline)

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

    def _final(self, call: Call, attempt: Attempt, response: httpx.Response) -> httpx.Response:
        if response.status_code < 500 and self._budget.left < self._budget.capacity:
            self._budget.refund(call.spent)
        return self._described(call, attempt, response)

    def _given_up(self, call: Call, attempt: Attempt, decision: GiveUp) -> httpx.Response:
        if attempt.response is None:
            raise given_up(call, attempt, decision) from attempt.error
        attempt.response.extensions[REASON] = decision.reason
        return self._described(call, attempt, attempt.response)

    def _described(self, call: Call, attempt: Attempt, response: httpx.Response) -> httpx.Response:
        response.extensions[ATTEMPTS] = call.sent
        if attempt.retry_after is not None:
            response.extensions[RETRY_AFTER] = attempt.retry_after
            response.extensions[RETRY_AT] = moment_after(self._sender.now(), attempt.retry_after)
        return response

    async def aclose(self) -> None:
        """End the calls that wait or are in flight, send nothing afterwards, and close the transport below."""
        if self._is_closed:
            return
        loop, closing = asyncio.get_running_loop(), asyncio.current_task()
        if self._loop is not None and self._loop is not loop:
            raise UsageError("close a client in the event loop of its first call")
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
