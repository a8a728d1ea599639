"""Access tokens: what can be sent as one, when one is refreshed, and one refresh for all tasks."""

import asyncio
import enum
import inspect
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from ..errors import TokenError

#: A token with less than this left before its expiry is not sent: it could expire on the way.
EXPIRY_MARGIN = timedelta(seconds=10)
#: With less than this left, one task refreshes the token and the others continue with it.
EARLY_WINDOW = timedelta(minutes=2)
#: Both windows are at most these shares of a token's life, so that a short-lived one is used at all.
EXPIRY_SHARE, EARLY_SHARE = 0.05, 0.2


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class AccessToken:
    """A bearer token and when it expires.

    Args:
        value: the access token; `repr` never shows it.
        expires_at: an aware datetime, or None for a token without a known expiry.
        expires_in: seconds from now instead, as identity providers return them.

    Raises:
        TokenError: the value is empty or holds what a header cannot, or the time has no zone.
    """

    value: str = field(repr=False)
    expires_at: datetime | None = None

    def __init__(self, value: str, expires_at: datetime | None = None, *, expires_in: float | None = None) -> None:
        text = value.strip(" ") if isinstance(value, str) else ""
        if not text or not text.isascii() or not text.isprintable() or " " in text:
            del value, text  # tools that report errors show what frames hold
            raise TokenError(
                "the token must be a non-empty string of visible ASCII characters, without spaces, line breaks or "
                "the word 'Bearer'"
            )
        if expires_at is not None and not (isinstance(expires_at, datetime) and expires_at.utcoffset() is not None):
            del value, text
            said = "expires_at must be an aware datetime, such as datetime.now(timezone.utc), or None"
            raise TokenError(said, argument="expires_at")
        if expires_in is not None:
            expires_at = _expiry(expires_at, expires_in)
        object.__setattr__(self, "value", text)
        object.__setattr__(self, "expires_at", expires_at)


def _expiry(expires_at: datetime | None, expires_in: float) -> datetime:
    moment = None
    if expires_at is None and isinstance(expires_in, int | float) and not isinstance(expires_in, bool):
        with suppress(ValueError, OverflowError):
            moment = utc_now() + timedelta(seconds=expires_in)
    if moment is None:
        said = "expires_in must be a number of seconds, and takes the place of expires_at"
        raise TokenError(said, argument="expires_in")
    return moment


#: A shorter token may be a part of many words: it is redacted where it stands alone, unless it is a word itself.
_SHORTEST_HIDDEN = 8


def hidden(token: AccessToken, text: str) -> str:
    """Redact a token in a text."""
    value = token.value
    if len(value) >= _SHORTEST_HIDDEN:
        return text.replace(value, "[redacted]")
    return text if value.isalpha() else re.sub(rf"(?<![\w-]){re.escape(value)}(?![\w-])", "[redacted]", text)


class Freshness(enum.Enum):
    """What to do with a token, by the time that is left before its expiry."""

    FRESH = "send it"
    EARLY = "send it, and let one task refresh it"
    EXPIRED = "refresh it before anything is sent"


def freshness(token: AccessToken, *, obtained_at: datetime, now: datetime) -> Freshness:
    """Decide by the two windows; a token without a known expiry is fresh."""
    if token.expires_at is None:
        return Freshness.FRESH
    life, left = token.expires_at - obtained_at, token.expires_at - now
    if left <= min(EXPIRY_MARGIN, life * EXPIRY_SHARE) or left <= timedelta(0):
        return Freshness.EXPIRED
    return Freshness.EARLY if left <= min(EARLY_WINDOW, life * EARLY_SHARE) else Freshness.FRESH


def utc_now() -> datetime:
    """Return the time of the wall clock, in which tokens expire and HTTP dates are written."""
    return datetime.now(UTC)


#: What a client accepts as its token: a string, an AccessToken, or a function that returns one of them.
TokenProvider = str | AccessToken | Callable[[], str | AccessToken | Awaitable[str | AccessToken]]

#: A provider may take so many seconds by default. When it fails or takes longer, it is called once more after a pause.
LONGEST_REFRESH, PAUSE_AFTER_FAILURE = 30.0, 0.5
#: A failed refresh is shared by the calls that started before it, and cached for so many seconds.
FAILURE_SHARED = 1.0


class ObtainedToken(NamedTuple):
    """An access token, when it was obtained, and the number of the refresh that returned it; 0 for a given one."""

    token: AccessToken
    at: datetime
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """A failed refresh. Each waiting task raises an error of its own, because errors are changed on their way."""

    text: str
    at: float
    cause: Exception | None = None


class _TooSlowError(TimeoutError):
    pass


class TokenAuth:
    """The access tokens of a client.

    A provider that is a function is called for every attempt. When its token has an expiry, one refresh serves all
    tasks: shortly before the expiry the others continue with the old token, after it all wait for the new one.
    Cancelling a waiting task leaves the refresh and the other tasks as they are.

    So one call of the provider decides for all tasks. It has a time limit, and a second opinion: one that fails is made
    once more, unless it raised TokenError.

    Args:
        provider: a string, an AccessToken, or a function, sync or async, that returns one of them.
        timeout: how long one call of an async function may take, in seconds; None for no limit.
        now: the wall clock.

    `failures` counts how often the provider has failed.

    Raises:
        TokenError: a string that cannot be sent as a token.
    """

    def __init__(
        self,
        provider: TokenProvider,
        *,
        timeout: float | None = LONGEST_REFRESH,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        if callable(provider):
            _check_parameters(provider)
        self._provider = provider if callable(provider) else None
        self._timeout = timeout
        self._now = now
        self._given = None if callable(provider) else ObtainedToken(_access_token(provider), now(), 0)
        self._current: ObtainedToken | None = None
        self._refresh: asyncio.Task[ObtainedToken | _Failure] | None = None
        #: Refreshes are numbered from 1: the last one that started, and the last one whose token may be rejected.
        self._started = self._rejected_up_to = 0
        self._failure: _Failure | None = None
        self.failures: int = 0

    def __repr__(self) -> str:
        return "TokenAuth(<hidden>)"

    @property
    def takes_time(self) -> bool:
        """Whether the next token comes from a function that may take its time."""
        return self._provider is not None and (self._current is None or not self._serves(self._current))

    async def token(self, *, since: int) -> ObtainedToken:
        """Return the token of the next attempt.

        Args:
            since: `failures` when its call began: what failed before that may work for it.
        """
        return self._given or await self._provided(since=since)

    async def refresh(self, *, rejected: ObtainedToken, since: int) -> ObtainedToken | None:
        """Return a token to try after a 401; None when there is no other than the rejected one."""
        if self._provider is None:
            return None
        if rejected.number > self._rejected_up_to:
            # The first 401 of this token. What any refresh that started before it returns may be rejected as well.
            self._rejected_up_to = self._started
        if self._refresh is not None and self._started == self._rejected_up_to:
            await self._outcome(self._refresh)
        if self._current is not None and self._current.number <= self._rejected_up_to:
            self._current = None
        refreshed = await self._provided(since=since)
        return None if refreshed.token.value == rejected.token.value else refreshed

    async def _provided(self, *, since: int) -> ObtainedToken:
        current, failure = self._current, self._recent_failure()
        if current is not None and self._serves(current):
            return current
        if failure is not None and self.failures > since:
            outcome: ObtainedToken | _Failure = failure
        elif current is not None and current.token.expires_at is None:
            outcome = await self._call_provider()
        else:
            outcome = await self._shared_refresh()
        if isinstance(outcome, _Failure):
            raise TokenError(outcome.text) from outcome.cause
        return outcome

    def _serves(self, current: ObtainedToken) -> bool:
        """Return whether another attempt may carry a token, and refresh it when its expiry is near."""
        if current.token.expires_at is None:
            return False
        state = freshness(current.token, obtained_at=current.at, now=self._now())
        if state is Freshness.EARLY and self._recent_failure() is None:
            self._start()
        return state is not Freshness.EXPIRED

    async def _shared_refresh(self) -> "ObtainedToken | _Failure":
        joined = self._refresh is not None
        outcome = await self._outcome(self._start())
        if joined and isinstance(outcome, ObtainedToken) and outcome.token.expires_at is None:
            # Only a token with an expiry serves several attempts.
            return await self._call_provider()
        return outcome

    def _recent_failure(self) -> _Failure | None:
        failure = self._failure
        lasts = failure is not None and asyncio.get_running_loop().time() < failure.at + FAILURE_SHARED
        return failure if lasts else None

    def _start(self) -> "asyncio.Task[ObtainedToken | _Failure]":
        if self._refresh is None:
            self._started += 1
            self._refresh = asyncio.create_task(self._obtain(self._started))
            self._refresh.add_done_callback(self._ended)
        return self._refresh

    def _ended(self, _: object) -> None:
        self._refresh = None

    async def _outcome(self, refresh: "asyncio.Task[ObtainedToken | _Failure]") -> "ObtainedToken | _Failure":
        # `wait` neither ends the refresh when this task is cancelled, nor this task when the refresh is.
        await asyncio.wait([refresh])
        return self._failed("it was cancelled") if refresh.cancelled() else refresh.result()

    async def _call_provider(self) -> "ObtainedToken | _Failure":
        """Call the provider for one attempt, in the task of the attempt."""
        self._started += 1
        task = asyncio.current_task()
        try:
            return await self._obtain(self._started)
        except asyncio.CancelledError:
            if task is not None and task.cancelling():
                raise
            return self._failed("it was cancelled")

    async def _obtain(self, number: int) -> "ObtainedToken | _Failure":
        try:
            try:
                token = await self._provided_once()
            except TokenError:
                raise
            except Exception:  # noqa: BLE001  # a provider may raise anything
                await asyncio.sleep(PAUSE_AFTER_FAILURE)
                token = await self._provided_once()
        except TokenError as error:
            self._failure = self._failed(str(error), cause=error.with_traceback(None))
        except Exception as error:  # noqa: BLE001  # a provider may raise anything; each waiting task raises it
            # Without our own frames, which hold what the provider returned.
            frames = error.__traceback__ and error.__traceback__.tb_next
            cause = error.with_traceback(frames and frames.tb_next)
            self._failure = self._failed(
                str(error) if isinstance(error, _TooSlowError) else type(error).__name__, cause=cause
            )
        else:
            self._current, self._failure = ObtainedToken(token, self._now(), number), None
            return self._current
        self.failures += 1
        return self._failure

    async def _provided_once(self) -> AccessToken:
        assert self._provider is not None  # noqa: S101  # there is no token to obtain without a function to call
        limit = asyncio.timeout(self._timeout)
        try:
            async with limit:
                provided = self._provider()
                return _access_token(await provided if inspect.isawaitable(provided) else provided)
        except TimeoutError:
            if limit.expired():
                raise _TooSlowError(f"it did not return within {self._timeout:g} s") from None
            raise

    def _failed(self, what: str, *, cause: Exception | None = None) -> _Failure:
        return _Failure(text=f"the token provider failed: {what}", at=asyncio.get_running_loop().time(), cause=cause)

    async def aclose(self) -> None:
        """Cancel a refresh in progress: the tasks that wait for it get a TokenError."""
        if self._refresh is not None:
            self._refresh.cancel()
            await asyncio.wait([self._refresh])


def _check_parameters(provider: Callable[[], object]) -> None:
    try:
        inspect.signature(provider).bind()
    except TypeError:
        raise TokenError("the function that is passed as token must be callable without arguments") from None
    except ValueError:
        return  # what is written in C may not tell


def _access_token(value: object) -> AccessToken:
    if isinstance(value, AccessToken):
        return value
    if isinstance(value, str):
        return AccessToken(value)
    if inspect.iscoroutine(value):
        value.close()
        raise TokenError("token is a coroutine: pass the coroutine function itself, without calling it")
    raise TokenError(f"a token must be a str or an AccessToken, not {type(value).__name__}")
