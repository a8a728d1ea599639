"""Where tokens come from and how they get onto a request: one refresh for all tasks, one repeat after a 401."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

import httpx

from .._errors import TokenError
from .._transports.lazy import LazyRequest, set_header
from .._transports.request import with_known_length
from .token import AccessToken, Freshness, freshness, utc_now

#: What may be given as `token`: a text, a token, or a function that returns one or the other.
TokenProvider = str | AccessToken | Callable[[], str | AccessToken | Awaitable[str | AccessToken]]

#: For so many seconds a failure of the source is everybody's: a herd does not ask a broken source once each.
FAILURE_SHARED = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """A failure of the source, from which each task makes an error of its own: errors are changed on their way."""

    text: str
    at: float
    cause: Exception | None = None


class TokenAuth(httpx.Auth):
    """Puts a bearer token on each request, and repeats it once with a new one after a 401. Source: section 5.

    A source that is a function is asked for every attempt; where its token says when it expires, that token serves
    all tasks until shortly before, and one call renews it: in the early window the others go on with the old one,
    after it all wait for the new one. Cancelling one that waits disturbs nobody else.

    Args:
        source: a text, an AccessToken, or a function, plain or async, that returns one of them.
        now: the wall clock.

    Raises:
        TokenError: a text that cannot be sent as a token.
    """

    def __init__(self, source: TokenProvider, *, now: Callable[[], datetime] = utc_now) -> None:
        self._ask = source if callable(source) else None
        #: True when tokens come from a provider, which may take its time.
        self.is_provided: bool = self._ask is not None
        self._token = None if callable(source) else _access_token(source)
        self._obtained_at = now()
        self._now = now
        self._asking: asyncio.Task[AccessToken | _Failure] | None = None
        #: Refreshes are numbered: how many have started, and which one the token comes from.
        self._started = self._token_number = 0
        #: The token that was rejected last, and how many refreshes had started then.
        self._rejected: str | None = None
        self._rejected_after = 0
        self._failure: _Failure | None = None

    def __repr__(self) -> str:
        return "TokenAuth(<hidden>)"

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """Yield the request with a token, and once more with a new token after a 401."""
        sent = await self.authorize(request)
        response = yield request
        if response.status_code == 401 and (renewed := await self.renew(rejected=sent)) is not None:
            again = copy_of(request)
            await self.authorize(again, renewed)
            yield again

    async def authorize(self, request: httpx.Request, token: AccessToken | None = None) -> AccessToken:
        """Put a token on a request, the given one or else the current one, and return it."""
        current = await self._current() if token is None else token
        set_header(request, "Authorization", f"Bearer {current.value}")
        return current

    async def renew(self, *, rejected: AccessToken) -> AccessToken | None:
        """Return a token to try after a 401; None when there is no other than the rejected one."""
        if self._ask is None:
            return None
        if self._rejected != rejected.value:
            self._rejected, self._rejected_after = rejected.value, self._started
        if self._asking is not None and self._started == self._rejected_after:
            # This refresh began before the 401: what it returns may be rejected as well.
            await self._outcome(self._asking)
        if self._token_number <= self._rejected_after:
            self._token = None
        renewed = await self._current()
        return None if renewed.value == rejected.value else renewed

    async def _current(self) -> AccessToken:
        token = self._token
        if self._ask is None and token is not None:
            return token
        if token is not None and token.expires_at is not None:
            state = freshness(token, obtained_at=self._obtained_at, now=self._now())
            if state is Freshness.EARLY and self._recent_failure() is None:
                self._start()
            if state is not Freshness.EXPIRED:
                return token
        outcome = self._recent_failure() or await self._outcome(self._start())
        if isinstance(outcome, _Failure):
            raise TokenError(outcome.text) from outcome.cause
        return outcome

    def _recent_failure(self) -> _Failure | None:
        failure = self._failure
        lasts = failure is not None and asyncio.get_running_loop().time() < failure.at + FAILURE_SHARED
        return failure if lasts else None

    def _start(self) -> "asyncio.Task[AccessToken | _Failure]":
        if self._asking is None:
            self._started += 1
            self._asking = asyncio.create_task(self._renew())
            self._asking.add_done_callback(self._ended)
        return self._asking

    def _ended(self, _: object) -> None:
        self._asking = None

    async def _outcome(self, asking: "asyncio.Task[AccessToken | _Failure]") -> "AccessToken | _Failure":
        # `wait` neither ends the renewal when this task is cancelled, nor this task when the renewal is.
        await asyncio.wait([asking])
        return self._failed("it was cancelled") if asking.cancelled() else asking.result()

    async def _renew(self) -> "AccessToken | _Failure":
        assert self._ask is not None  # noqa: S101  # only a source that can be asked is renewed
        try:
            answer = self._ask()
            token = _access_token(await answer if inspect.isawaitable(answer) else answer)
        except TokenError as error:
            self._failure = self._failed(str(error), cause=error.with_traceback(None))
        except Exception as error:  # noqa: BLE001  # a source may raise anything; each task that waits raises it
            frames = error.__traceback__
            # Without the frame of this function, which holds what the provider returned.
            cause = error.with_traceback(frames and frames.tb_next)
            self._failure = self._failed(type(error).__name__, cause=cause)
        else:
            self._token, self._obtained_at, self._failure = token, self._now(), None
            self._token_number = self._started
            return token
        return self._failure

    def _failed(self, what: str, *, cause: Exception | None = None) -> _Failure:
        return _Failure(text=f"the token provider failed: {what}", at=asyncio.get_running_loop().time(), cause=cause)

    async def aclose(self) -> None:
        """Ends a renewal that is under way; those who wait for it get a TokenError."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait([self._asking])


def copy_of(request: httpx.Request) -> httpx.Request:
    """Copy a request, so that each one that was sent stays as it was for those who keep it."""
    if isinstance(request, LazyRequest):
        return request.copy()
    return httpx.Request(
        request.method,
        request.url,
        headers=with_known_length(request.headers),
        content=request.content or None,
        extensions=request.extensions,
    )


def _access_token(value: object) -> AccessToken:
    if isinstance(value, AccessToken):
        return value
    if isinstance(value, str):
        return AccessToken(value)
    raise TokenError(f"a token must be a str or an AccessToken, not {type(value).__name__}")
