"""Access tokens: their validation, their expiry, and one refresh for all tasks."""

import asyncio
import inspect
import math
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from ..connections.failures import without_own_frames
from ..errors import TokenError

#: A token that expires within this time is not sent: it could expire before it arrives.
EXPIRY_MARGIN = timedelta(seconds=10)
#: A token that expires within this time is refreshed in the background, and is sent meanwhile.
EARLY_WINDOW = timedelta(minutes=2)
#: Both times are at most these shares of a token's lifetime, so that a token that lives for a minute is sent too.
EXPIRY_SHARE, EARLY_SHARE = 0.05, 0.2
#: A token with fewer characters may be part of a word: it is redacted only where it stands alone and is no word.
SHORTEST_REDACTED = 8
#: The default time limit of one call of the provider, in seconds.
LONGEST_REFRESH = 30.0
#: Seconds before the provider is called once more, after it has raised an exception or taken too long.
PAUSE_AFTER_FAILURE = 0.5
#: Seconds for which a failed refresh is the result of all calls that began before it failed.
FAILURE_SHARED = 1.0


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class AccessToken:
    """A bearer token and when it expires.

    Args:
        value: the access token; `repr` never shows it.
        expires_at: an aware datetime, or None for a token without a known expiry.
        expires_in: seconds from now instead, as identity providers return them: a number, or a string of digits.

    Raises:
        TokenError: the value is empty or has characters that a header must not have, or the time has no zone.
    """

    value: str = field(repr=False)
    expires_at: datetime | None = None

    def __init__(
        self, value: str, expires_at: datetime | None = None, *, expires_in: float | str | None = None
    ) -> None:
        text = value.strip(" ") if isinstance(value, str) else ""
        if not text or not text.isascii() or not text.isprintable() or " " in text:
            del value, text  # error trackers capture the variables of frames
            raise TokenError(
                "the token must be a non-empty string of visible ASCII characters, without spaces, line breaks or "
                "the word 'Bearer'"
            )
        if expires_at is not None and not (isinstance(expires_at, datetime) and expires_at.utcoffset() is not None):
            del value, text
            rule = "expires_at must be an aware datetime, such as datetime.now(timezone.utc), or None"
            raise TokenError(rule, argument="expires_at")
        if expires_in is not None:
            expires_at = _expiry(expires_at, expires_in)
        object.__setattr__(self, "value", text)
        object.__setattr__(self, "expires_at", expires_at)


def _expiry(expires_at: datetime | None, expires_in: float | str) -> datetime:
    moment = None
    if expires_at is None and not isinstance(expires_in, bool):
        with suppress(TypeError, ValueError, OverflowError):
            # Some identity providers write the number as a string.
            moment = utc_now() + timedelta(seconds=float(expires_in))
    if moment is None:
        rule = "expires_in must be a number of seconds, and takes the place of expires_at"
        raise TokenError(rule, argument="expires_in")
    return moment


def hide_token(token: AccessToken | None, text: str) -> str:
    """Redact the token of a request in a text of the service, also percent-encoded: a service may echo the token."""
    if token is None:
        return text
    for value in dict.fromkeys((token.value, quote(token.value), quote(token.value, safe=""))):
        if len(value) >= SHORTEST_REDACTED:
            text = text.replace(value, "[redacted]")
        elif not value.isalpha():
            text = re.sub(rf"(?<![\w-]){re.escape(value)}(?![\w-])", "[redacted]", text)
    return text


def utc_now() -> datetime:
    """Return the time of the wall clock, in which tokens expire and HTTP dates are written."""
    return datetime.now(UTC)


#: The argument `token` of a client: a string, an AccessToken, or a function that returns one of them.
TokenProvider = str | AccessToken | Callable[[], str | AccessToken | Awaitable[str | AccessToken]]


class TokenCache:
    """The access tokens of a client.

    A token with an expiry is sent with all attempts until shortly before it expires. One refresh serves all tasks that
    wait for it. It is a task of its own, so cancelling a call does not cancel it, and it starts in the background when
    the expiry is near. A token without an expiry is sent once: the provider is called for each attempt, in the task of
    the call, so that a provider may return another token for another user.

    Args:
        provider: a string, an AccessToken, or a function, sync or async, that returns one of them.
        timeout: the time limit of one call of an async function, in seconds; None for no limit.
        now: the wall clock.

    Raises:
        TokenError: a string that cannot be sent as a token.
    """

    def __init__(
        self, provider: TokenProvider, *, timeout: float | None = LONGEST_REFRESH, now: Callable[[], datetime] = utc_now
    ) -> None:
        self._provider = provider if callable(provider) else None
        if self._provider is not None:
            _check_parameters(self._provider)
        self._constant = None if callable(provider) else _access_token(provider)
        self._timeout, self._now = timeout, now
        #: The last token with an expiry, and when the provider returned it.
        self._current: tuple[AccessToken, datetime] | None = None
        self._refresh: asyncio.Task[AccessToken] | None = None
        #: Whether one refresh serves all tasks: False while the last token of the provider had no expiry.
        self._is_shared = True
        #: The error of the provider's last call and its time, if that call failed.
        self._failed: tuple[TokenError, float] | None = None

    def ready(self) -> AccessToken | None:
        """Return a token that can be sent now, without a wait; None when the provider has to be called first.

        Near the expiry of the token, this starts a refresh in the background.
        """
        if self._constant is not None or self._current is None:
            return self._constant
        token, obtained_at = self._current
        assert token.expires_at is not None  # noqa: S101  # others are not kept
        life, left = token.expires_at - obtained_at, token.expires_at - self._now()
        if left <= min(EXPIRY_MARGIN, life * EXPIRY_SHARE):
            return None
        if left <= min(EARLY_WINDOW, life * EARLY_SHARE) and self._recent_failure() is None:
            self._start()
        return token

    async def get(self, *, since: float) -> AccessToken:
        """Wait for a token: for the refresh that is in progress, or for a new one.

        Args:
            since: when the call began, in the event loop's time. A refresh that failed before is tried again.

        Raises:
            TokenError: the provider failed, or returned no usable token.
        """
        if (token := self.ready()) is not None:
            return token
        failure = self._recent_failure(since)
        if failure is None:
            try:
                return await (self._refreshed() if self._is_shared else self._obtain_for_one_call())
            except TokenError as error:
                failure = error
        # Each task raises an exception of its own: method and route are set on it.
        raise TokenError(str(failure)) from failure.__cause__

    async def after_401(self, rejected: AccessToken, *, since: float) -> AccessToken | None:
        """Wait for a new token after a 401; return None when there is no other than the rejected one."""
        if self._current is not None and self._current[0] is rejected:
            self._current = None
        token = await self.get(since=since)
        return None if token.value == rejected.value else token

    def _recent_failure(self, since: float = -math.inf) -> TokenError | None:
        failure, at = self._failed or (None, -math.inf)
        return failure if since < at and asyncio.get_running_loop().time() < at + FAILURE_SHARED else None

    async def _refreshed(self) -> AccessToken:
        has_started, refresh = self._refresh is None, self._start()
        # `wait` keeps cancellations apart: of this task, and of the refresh.
        await asyncio.wait([refresh])
        if refresh.cancelled():
            raise TokenError("the token provider failed: it was cancelled")
        token = refresh.result()
        return token if has_started or token.expires_at is not None else await self._obtain_for_one_call()

    async def _obtain_for_one_call(self) -> AccessToken:
        task = asyncio.current_task()
        try:
            return await self._obtain()
        except asyncio.CancelledError:
            if task is not None and task.cancelling():
                raise
            raise TokenError("the token provider failed: it was cancelled") from None

    def _start(self) -> "asyncio.Task[AccessToken]":
        if self._refresh is None:
            self._refresh = asyncio.create_task(self._obtain())
            self._refresh.add_done_callback(self._ended)
        return self._refresh

    def _ended(self, refresh: "asyncio.Task[AccessToken]") -> None:
        self._refresh = None
        if not refresh.cancelled():
            refresh.exception()  # else asyncio logs an exception that no task has retrieved

    async def _obtain(self) -> AccessToken:
        try:
            try:
                token = await self._call_provider()
            except TokenError:
                raise
            except Exception:  # noqa: BLE001  # a provider may raise anything
                await asyncio.sleep(PAUSE_AFTER_FAILURE)
                token = await self._call_provider()
        except Exception as error:  # noqa: BLE001  # a provider may raise anything
            reason = str(error) if isinstance(error, TokenError | _TooSlowError) else type(error).__name__
            failure = TokenError(f"the token provider failed: {reason}")
            self._failed = failure, asyncio.get_running_loop().time()
            raise failure from without_own_frames(error)
        self._failed, self._is_shared = None, token.expires_at is not None
        self._current = None if token.expires_at is None else (token, self._now())
        return token

    async def _call_provider(self) -> AccessToken:
        assert self._provider is not None  # noqa: S101  # a constant token is never obtained
        limit = asyncio.timeout(self._timeout)
        try:
            async with limit:
                provided = self._provider()
                return _access_token(await provided if inspect.isawaitable(provided) else provided)
        except TimeoutError:
            if limit.expired():
                raise _TooSlowError(f"it did not return within {self._timeout:g} s") from None
            raise

    async def aclose(self) -> None:
        """Cancel a refresh in progress: the tasks that wait for it raise TokenError."""
        if self._refresh is not None:
            self._refresh.cancel()
            await asyncio.wait([self._refresh])


class _TooSlowError(TimeoutError):
    pass


def _check_parameters(provider: Callable[[], object]) -> None:
    try:
        inspect.signature(provider).bind()
    except TypeError:
        raise TokenError("the function that is passed as token must be callable without arguments") from None
    except ValueError:
        return  # a function written in C may have no signature


def _access_token(value: object) -> AccessToken:
    if isinstance(value, AccessToken):
        return value
    if isinstance(value, str):
        return AccessToken(value)
    if inspect.iscoroutine(value):
        value.close()
        raise TokenError("token is a coroutine: pass the coroutine function itself, without calling it")
    raise TokenError(f"a token must be a str or an AccessToken, not {type(value).__name__}")
