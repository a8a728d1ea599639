"""Backoff as an httpx transport: each request is attempted, and repeated where the policy says so.

The way of one attempt: gate -> token -> the transport beneath -> the whole body -> decide -> wait.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import httpx

from ._answers import moment_after
from ._backoff import (
    BackoffPolicy,
    GiveUp,
    Happened,
    Progress,
    RetryTokens,
    decide,
    happened,
    parse_retry_after,
    wait_before,
)
from ._errors import DeadlineExceededError, NotSentError, OutcomeUnknownError, TransportError
from ._gate import Gate, RequestGate
from ._response_body import read_answer
from ._tokens import utc_now
from ._window import Pass, WaitTooLongError

MAX_RESPONSE_BYTES = 64 * 1024 * 1024
#: Under this name an answer's `extensions` say how many requests were sent for it.
ATTEMPTS = "itwin_platform.attempts"
#: A hostile `retry-after` must not stop a client for ever: nobody is held at the gate for longer than this.
LONGEST_COOLDOWN = 3600.0

_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError, httpx.UnsupportedProtocol)


@dataclass(slots=True)
class _Call:
    """One request on its way through its attempts."""

    began: float
    ticket: int
    jitter: float = 0.0
    attempts: int = 0
    refusals: int = 0
    sent: int = 0
    spent: int = 0
    may_have_had_an_effect: bool = False


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
        random_number: Callable[[], float] = random.random,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._transport = transport
        self._policy = policy or BackoffPolicy()
        self._gate = gate or Gate(self._policy.max_in_flight)
        self._auth = auth
        self._most = max_response_bytes
        self._random = random_number
        self._now = now
        self._tokens = RetryTokens(self._policy.retry_tokens)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request as often as the policy says and returns the last answer, read."""
        await request.aread()
        call = _Call(began=asyncio.get_running_loop().time(), ticket=self._gate.ticket())
        try:
            async with asyncio.timeout(self._policy.deadline) as limit:
                return await self._repeat(request, call)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise DeadlineExceededError(
                f"{_name(request)}: the deadline of {self._policy.deadline:g} s passed after {call.sent} requests",
                attempts=call.sent,
                sent=call.may_have_had_an_effect,
            ) from error
        except WaitTooLongError as error:
            raise DeadlineExceededError(
                f"{_name(request)}: the service asked everybody to wait {error.seconds:g} s more, which is longer than "
                "max_wait or the deadline allows",
                attempts=call.sent,
                sent=call.may_have_had_an_effect,
                retry_at=moment_after(self._now(), error.seconds),
            ) from error

    async def _repeat(self, request: httpx.Request, call: _Call) -> httpx.Response:
        while True:
            outcome = await self._attempt(request, call)
            if isinstance(outcome, httpx.Response):
                what, retry_after = happened(outcome.status_code), self._retry_after(outcome)
            else:
                what = Happened.NOT_SENT if isinstance(outcome, _NOT_SENT) else Happened.OUTCOME_UNKNOWN
                retry_after = None
            call.attempts += what is not Happened.REFUSED
            call.may_have_had_an_effect |= what in (Happened.UNAVAILABLE, Happened.OUTCOME_UNKNOWN)
            decision = decide(
                method=request.method,
                what=what,
                retry_after=retry_after,
                progress=self._progress(call),
                policy=self._policy,
                tokens=self._tokens.left,
                jitter=call.jitter,
            )
            if isinstance(decision, GiveUp):
                return self._given_up(request, call, outcome, decision)
            call.spent = decision.cost
            self._tokens.spend(decision.cost)
            if what is not Happened.REFUSED:
                await asyncio.sleep(decision.after)

    def _given_up(
        self, request: httpx.Request, call: _Call, outcome: httpx.Response | Exception, decision: GiveUp
    ) -> httpx.Response:
        if isinstance(outcome, httpx.Response):
            if happened(outcome.status_code) is Happened.FINAL:
                self._tokens.refund(call.spent)
            outcome.extensions[ATTEMPTS] = call.sent
            return outcome
        lost = call.may_have_had_an_effect
        error: type[TransportError] = OutcomeUnknownError if lost else NotSentError
        effect = "it may have had an effect" if lost else "it had no effect"
        raise error(
            f"{_name(request)}: no answer after {call.sent} requests, {effect} "
            f"({type(outcome).__name__}; {decision.reason})",
            attempts=call.sent,
        ) from outcome

    async def _attempt(self, request: httpx.Request, call: _Call) -> httpx.Response | Exception:
        if self._auth is None:
            return await self._exchange(request, await self._enter(call), call)
        flow = self._auth.async_auth_flow(request)
        try:
            given = await self._enter(call)
            try:
                outgoing = await anext(flow)
            except BaseException:
                self._gate.abandoned(given)
                raise
            while True:
                while self._gate.cooldown_left() > 0:
                    # The token took its time, and meanwhile somebody was told to wait: so do we.
                    self._gate.abandoned(given)
                    given = await self._enter(call)
                outcome = await self._exchange(outgoing, given, call)
                if not isinstance(outcome, httpx.Response):
                    return outcome
                try:
                    outgoing = await flow.asend(outcome)
                except StopAsyncIteration:
                    return outcome
                given = await self._enter(call)
        finally:
            await flow.aclose()

    async def _enter(self, call: _Call) -> Pass:
        until = None if self._policy.deadline is None else call.began + self._policy.deadline
        return await self._gate.enter(call.ticket, max_wait=self._policy.max_wait, until=until)

    async def _exchange(self, request: httpx.Request, given: Pass, call: _Call) -> httpx.Response | Exception:
        call.sent += 1
        call.jitter = self._random()
        try:
            answer = await read_answer(await self._transport.handle_async_request(request), most=self._most)
        except (httpx.RequestError, OSError) as error:
            self._gate.abandoned(given)
            return error
        except BaseException:
            call.may_have_had_an_effect = True
            self._gate.abandoned(given)
            raise
        if happened(answer.status_code) is not Happened.REFUSED:
            self._gate.answered(given)
            return answer
        call.refusals += 1
        wait = wait_before(
            retry_after=self._retry_after(answer),
            progress=self._progress(call),
            policy=self._policy,
            jitter=call.jitter,
        )
        self._gate.refused(given, wait=min(wait, LONGEST_COOLDOWN))
        return answer

    def _progress(self, call: _Call) -> Progress:
        elapsed = asyncio.get_running_loop().time() - call.began
        return Progress(attempts=call.attempts, refusals=call.refusals, elapsed=elapsed)

    def _retry_after(self, answer: httpx.Response) -> float | None:
        headers = answer.headers
        return parse_retry_after(headers.get("retry-after"), date=headers.get("date"), now=self._now())

    async def aclose(self) -> None:
        """Closes the transport beneath."""
        await self._transport.aclose()


def _name(request: httpx.Request) -> str:
    # The template, not the address: what is in a path or a query may be confidential.
    return f"{request.method} {request.extensions.get('route', request.url.path)}"
