"""One exchange: a request is sent once, its answer is read, and the gate, the log and the callback are told."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import httpx

from .._transports.cancellation import cancelled_in_order
from .body import read_body
from .events import LOG, AttemptEnded, BackoffEvent, CooldownStarted, tell
from .gate import RequestGate
from .policy import BackoffPolicy, Outcome, Progress, delay_before, happened, parse_retry_after
from .window import Permit

#: A hostile `retry-after` must not stop a client for ever: nobody is held at the gate for longer than this.
LONGEST_COOLDOWN = 3600.0

#: What a transport may raise instead of an answer.
NO_ANSWER = (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, httpx.CookieConflict, OSError)
#: How it is sorted, first match first; what is not listed may have had an effect.
SORTED: tuple[tuple[tuple[type[Exception], ...], Outcome], ...] = (
    ((httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL), Outcome.UNSENDABLE),
    ((httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError), Outcome.NOT_SENT),
    (NO_ANSWER, Outcome.OUTCOME_UNKNOWN),
)


@dataclass(slots=True)
class Call:
    """One request on its way through its attempts."""

    began: float
    ticket: int
    jitter: float = 0.0
    attempts: int = 0
    refusals: int = 0
    sent: int = 0
    spent: int = 0
    may_have_had_an_effect: bool = False

    @property
    def progress(self) -> Progress:
        """What is behind it now, as the policy wants to know it."""
        return Progress(
            attempts=self.attempts,
            refusals=self.refusals,
            elapsed=loop_time() - self.began,
            may_have_had_an_effect=self.may_have_had_an_effect,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """Sends through `transport`; what a pass of the gate was given for ends here, whatever happens."""

    transport: httpx.AsyncBaseTransport
    policy: BackoffPolicy
    gate: RequestGate
    max_response_bytes: int
    on_event: Callable[[BackoffEvent], None] | None
    random_number: Callable[[], float]
    now: Callable[[], datetime]

    async def send(self, request: httpx.Request, given: Permit, call: Call) -> httpx.Response | Exception:
        """Sends a request once and returns the answer, read, or what came in its place."""
        call.sent += 1
        call.jitter = self.random_number()
        began = loop_time()
        try:
            outcome = await self._outcome(request)
        except BaseException as error:
            call.may_have_had_an_effect = True
            self.gate.abandoned(given)
            self._tell(request, call, error, began=began)
            raise
        if not isinstance(outcome, httpx.Response):
            self.gate.abandoned(given)
        elif happened(outcome.status_code) is Outcome.REFUSED:
            self._refused(request, outcome, given, call)
        else:
            self.gate.answered(given)
        self._tell(request, call, outcome, began=began)
        return outcome

    async def _outcome(self, request: httpx.Request) -> httpx.Response | Exception:
        # aiohttp's connections need no protection from being cancelled, which costs a task for each request.
        answer = self._answer(request)
        return await (answer if getattr(self.transport, "cancels_cleanly", False) else cancelled_in_order(answer))

    async def _answer(self, request: httpx.Request) -> httpx.Response | Exception:
        try:
            return await read_body(await self.transport.handle_async_request(request), limit=self.max_response_bytes)
        except NO_ANSWER as error:
            return error

    def retry_after(self, outcome: httpx.Response | Exception) -> float | None:
        """Reads the wait that an answer names, in seconds; None where it names none that counts."""
        if not isinstance(outcome, httpx.Response) or "retry-after" not in outcome.headers:
            return None
        headers = outcome.headers
        return parse_retry_after(headers.get("retry-after"), date=headers.get("date"), now=self.now())

    def _refused(self, request: httpx.Request, answer: httpx.Response, given: Permit, call: Call) -> None:
        call.refusals += 1
        named = self.retry_after(answer)
        wait = delay_before(retry_after=named, progress=call.progress, policy=self.policy, jitter=call.jitter)
        cooldown = min(wait, LONGEST_COOLDOWN)
        known = self.gate.cooldown_left() > 0
        self.gate.refused(given, wait=cooldown)
        if not known:
            tell(CooldownStarted(method=request.method, route=route_of(request), seconds=cooldown), self.on_event)

    def _tell(
        self, request: httpx.Request, call: Call, outcome: httpx.Response | BaseException, *, began: float
    ) -> None:
        if self.on_event is None and not LOG.isEnabledFor(logging.DEBUG):
            return
        answer = outcome if isinstance(outcome, httpx.Response) else None
        headers = request.headers if answer is None else answer.headers
        event = AttemptEnded(
            method=request.method,
            route=route_of(request),
            status=None if answer is None else answer.status_code,
            error=type(outcome).__name__ if answer is None else None,
            seconds=loop_time() - began,
            attempt=call.sent,
            correlation_id=headers.get("x-correlation-id") or request.headers.get("x-correlation-id"),
        )
        tell(event, self.on_event)


def what_happened(outcome: httpx.Response | Exception) -> Outcome:
    """Sorts an answer by its status, and what came in its place by its kind."""
    if isinstance(outcome, httpx.Response):
        return happened(outcome.status_code)
    return next(what for kinds, what in SORTED if isinstance(outcome, kinds))


def route_of(request: httpx.Request) -> str:
    """Names what was asked for without what may be confidential: by its template, else its path, never its query."""
    return str(request.extensions.get("route", request.url.path))


def loop_time() -> float:
    """The event loop's clock."""
    return asyncio.get_running_loop().time()
