"""One call with its time limits, the values of its attempts, and the open calls of a client."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

from ..connections.messages import Request, Response
from ..errors import StateError
from ..policy import BackoffPolicy, Outcome


# Not frozen, like the other values of a call: a frozen dataclass takes several times as long to make (row "GET" of
# docs/benchmarks.md). `Final` lets type checkers reject changes.
@dataclass(slots=True, eq=False)
class CallInfo:
    """The values of a call that its attempts need.

    Args:
        method: the HTTP method.
        route: the template of the path; the path itself when no template is known.
        policy: the limits of this call.
        has_template: whether the route is a template.
        takes_token: whether its attempts carry the token.
    """

    method: Final[str]
    route: Final[str]
    policy: Final[BackoffPolicy]
    has_template: Final[bool] = True
    takes_token: Final[bool] = True


@dataclass(slots=True, eq=False)
class Attempt:
    """The result of one attempt.

    Args:
        outcome: how the policy classifies it.
        delay: the delay before a retry, in seconds.
        response: the response, read; None when none came.
        error: the exception of an attempt without a response.
        retry_after: the delay that the service named, in seconds.
    """

    outcome: Final[Outcome]
    delay: Final[float]
    response: Final[Response | None] = None
    error: Final[Exception | None] = None
    retry_after: Final[float | None] = None

    @property
    def status(self) -> int | None:
        """The status of the response; None when none came."""
        return None if self.response is None else self.response.status_code

    @property
    def error_name(self) -> str | None:
        """The class of the error; None when a response came."""
        return None if self.error is None else type(self.error).__name__


class CallTrace(Protocol):
    """The spans of a call, when the application traces."""

    def waited(self, name: str, seconds: float) -> None:
        """Add seconds to a wait before the next attempt, by the name of its span attribute."""

    async def around_attempt(self, work: Awaitable[Attempt], *, made: int, hide: Callable[[str], str]) -> Attempt:
        """Make an attempt within a span, after `made` other ones; `hide` redacts the token in a text."""
        ...


class Call:
    """A call as other tasks see it: its ticket, the time at which it ends, and `close()`.

    `ends_at` is first the queue timeout. A call that waits for a circuit breaker ends at its deadline if that is
    earlier. When the gate admits the call, the deadline replaces the queue timeout. `close()` sets `ends_at` to now.
    At that time `OpenCalls` ends the call, wherever it waits.
    """

    def __init__(
        self, request: Request, info: CallInfo, ticket: int, calls: "OpenCalls", trace: CallTrace | None
    ) -> None:
        self.request: Request = request
        self.info: CallInfo = info
        self.ticket: int = ticket
        self.clock: Callable[[], float] = calls.clock()
        self._calls = calls
        self.trace: CallTrace | None = trace
        #: The operation, which has limits and a circuit breaker of its own; the host when no template is known.
        self.operation: str = f"{info.method} {info.route if info.has_template else request.url.host}"
        self.began_at: float = self.clock()
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  # asyncio runs: the clock is that of its event loop
        self.task: asyncio.Task[object] = task
        self._cancelling = task.cancelling()
        #: When the call ends, in the event loop's time; infinity for no limit.
        self.ends_at: float = math.inf
        #: Whether `OpenCalls` has ended the call.
        self.has_expired: bool = False
        #: When its deadline started; None before that.
        self.started_at: float | None = None
        #: When its last attempt began.
        self.attempt_began_at: float = self.began_at
        self.was_admitted: bool = False
        self.waits_for_token: bool = False
        self.was_closed: bool = False

    @property
    def scopes(self) -> tuple[tuple[str, str], str]:
        """The keys of its two circuit breakers: that of its path, and that of its operation."""
        return (self.operation, self.request.path), self.operation

    @property
    def elapsed(self) -> float:
        """The seconds since its deadline started."""
        return 0.0 if self.started_at is None else self.clock() - self.started_at

    @property
    def longest_cooldown(self) -> float:
        """The longest cooldown, in seconds, that the call waits for."""
        policy = self.info.policy
        if self.started_at is not None or policy.deadline is None:
            return policy.max_wait
        # A deadline that has started reaches the gate as `ends_at`. Before that, its length limits the cooldown.
        return min(policy.max_wait, policy.deadline)

    def __enter__(self) -> None:
        self._calls.open[self] = None
        if (seconds := self.info.policy.queue_timeout) is not None:
            self._calls.end_by(self, self.began_at + seconds)

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Raise TimeoutError in place of the cancellation by `OpenCalls`, as `asyncio.timeout` does."""
        del self._calls.open[self]
        if self._calls.is_closed:
            self._calls.ended.set()
        if self.has_expired and self.task.uncancel() <= self._cancelling and isinstance(error, asyncio.CancelledError):
            raise TimeoutError from error

    def queued(self, rejecting_since: float) -> None:
        """Let the deadline include the time in the queue since which only 429s have come; infinity for none."""
        if self.started_at is None and rejecting_since < math.inf:
            self.started_at = max(self.began_at, rejecting_since)

    def admit(self, now: float) -> None:
        """Record that the gate has admitted an attempt. At the first one, the deadline replaces the queue timeout."""
        self.attempt_began_at = now
        if not self.was_admitted:
            self.was_admitted, self.ends_at = True, math.inf
            self.start_deadline(now)

    def start_deadline(self, now: float) -> None:
        """Start the deadline. A call that waits for a circuit breaker keeps its queue timeout too."""
        if self.started_at is None:
            # Not when the call begins: queueing behind other tasks of the program must not fail a call.
            self.started_at = now
        if (deadline := self.info.policy.deadline) is not None:
            self._calls.end_by(self, self.started_at + deadline)

    @contextmanager
    def waiting_for_token(self) -> Generator[None]:
        """Record that the call waits for a token. A call that ends meanwhile says so in its error."""
        began, self.waits_for_token = self.clock(), True
        yield
        self.waits_for_token = False
        self.waited("token_wait", since=began)

    def waited(self, name: str, *, since: float) -> None:
        """Report a wait for the next attempt to the trace."""
        if self.trace is not None:
            self.trace.waited(name, self.clock() - since)

    def close(self) -> None:
        """End the call because the client closes. If `ends_at` has passed already, its timeout is reported."""
        now = self.clock()
        if self.ends_at > now and not self.has_expired:
            self.was_closed = True
            self._calls.end_by(self, now)


class OpenCalls:
    """The calls of a client that have not ended, one timer for all of them, and the event loop that they belong to."""

    def __init__(self) -> None:
        self.is_closed: bool = False
        #: In the order in which they began.
        self.open: dict[Call, None] = {}
        #: Set when a call ends while the client is closing.
        self.ended: asyncio.Event = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        #: The clock of the event loop, stored because `loop.time` is a new object for each call that waits.
        self._clock: Callable[[], float] | None = None
        #: When the timer fires: at the first `ends_at`, or earlier, because a call that ends in time leaves it set.
        self._fires_at = math.inf
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_in_use(self) -> bool:
        """Whether a call was made, and the client was not closed since."""
        return self._loop is not None and not self.is_closed

    def clock(self) -> Callable[[], float]:
        """Return the clock of the event loop, which the client belongs to from its first call on.

        Raises:
            StateError: the client is closed, or asyncio does not run, or another event loop does.
        """
        if self.is_closed:
            raise StateError("the client is closed: make the call before `aclose()`, or inside its `async with`")
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise StateError(
                "the client needs asyncio: call it in a coroutine that an asyncio event loop runs"
            ) from None
        if self._loop is None or self._clock is None:
            self._loop, self._clock = loop, loop.time
        if self._loop is not loop:
            raise StateError("a client belongs to the event loop of its first call: make another client here")
        return self._clock

    def end_by(self, call: Call, ends_at: float) -> None:
        """End a call at this time, unless it has an earlier `ends_at`."""
        call.ends_at = min(call.ends_at, ends_at)
        if call.ends_at < self._fires_at:
            self._set_timer(call.ends_at)

    def _set_timer(self, fires_at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        loop, self._fires_at = asyncio.get_running_loop(), fires_at
        self._timer = None if fires_at == math.inf else loop.call_at(fires_at, self._on_timer)

    def _on_timer(self) -> None:
        for call in self.open:
            if call.ends_at <= call.clock():
                call.has_expired, call.ends_at = True, math.inf
                call.task.cancel()
        self._set_timer(min([call.ends_at for call in self.open], default=math.inf))

    async def close(self) -> None:
        """End all calls, and wait until they have ended. No call can begin afterwards.

        Raises:
            StateError: the client belongs to another event loop.
        """
        if self._loop is None:
            # No call was made. Under trio, where the first call has just failed, no loop of asyncio runs.
            self.is_closed = True
            return
        if self._loop is not asyncio.get_running_loop():
            raise StateError("close a client in the event loop of its first call")
        self.is_closed = True
        for call in self.open:
            call.close()
        closing = asyncio.current_task()
        while any(call.task is not closing for call in self.open):
            self.ended.clear()
            await self.ended.wait()
        self._set_timer(math.inf)
