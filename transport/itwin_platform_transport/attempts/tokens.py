"""Access tokens: what can be sent as one, when one is refreshed, and one refresh for all tasks."""

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

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
        expires_in: seconds from now instead, as identity providers return them: a number, or a string of digits.

    Raises:
        TokenError: the value is empty or holds what a header cannot, or the time has no zone.
    """

    value: str = field(repr=False)
    expires_at: datetime | None = None

    def __init__(
        self, value: str, expires_at: datetime | None = None, *, expires_in: float | str | None = None
    ) -> None:
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


def _expiry(expires_at: datetime | None, expires_in: float | str) -> datetime:
    moment = None
    if expires_at is None and not isinstance(expires_in, bool):
        with suppress(TypeError, ValueError, OverflowError):
            # Some identity providers write the number as a string.
            moment = utc_now() + timedelta(seconds=float(expires_in))
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


def utc_now() -> datetime:
    """Return the time of the wall clock, in which tokens expire and HTTP dates are written."""
    return datetime.now(UTC)


#: What a client accepts as its token: a string, an AccessToken, or a function that returns one of them.
TokenProvider = str | AccessToken | Callable[[], str | AccessToken | Awaitable[str | AccessToken]]

#: A provider may take so many seconds by default. When it fails or takes longer, it is called once more after a pause.
LONGEST_REFRESH, PAUSE_AFTER_FAILURE = 30.0, 0.5
#: A failed refresh is shared by the calls that began before it, for so many seconds.
FAILURE_SHARED = 1.0


class TokenSource:
    """The access tokens of a client: one refresh at a time, which serves all tasks that wait for it.

    A token with an expiry serves all attempts until then. Shortly before, one task refreshes it, and the others continue
    with it. A token without an expiry serves the attempts that waited for it: the next one calls the provider again.

    Cancelling a waiting task leaves the refresh and the other tasks as they are.

    Args:
        provider: a string, an AccessToken, or a function, sync or async, that returns one of them.
        timeout: how long one call of an async function may take, in seconds; None for no limit.
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
        self._given = None if callable(provider) else _access_token(provider)
        self._timeout, self._now = timeout, now
        #: The last token if it has an expiry, and when it came.
        self._current: tuple[AccessToken, datetime] | None = None
        self._refresh: asyncio.Task[AccessToken] | None = None
        self._failed: tuple[TokenError, float] | None = None

    def __repr__(self) -> str:
        return "TokenSource(<hidden>)"

    def ready(self) -> AccessToken | None:
        """Return a token that can be sent now, without waiting; begin to refresh it when its expiry is near."""
        if self._given is not None or self._current is None:
            return self._given
        token, obtained_at = self._current
        assert token.expires_at is not None  # noqa: S101  # else it would not be kept
        life, left = token.expires_at - obtained_at, token.expires_at - self._now()
        if left <= min(EXPIRY_MARGIN, life * EXPIRY_SHARE) or left <= timedelta(0):
            return None
        if left <= min(EARLY_WINDOW, life * EARLY_SHARE) and self._recent_failure() is None:
            self._start()
        return token

    async def get(self, *, since: float) -> AccessToken:
        """Return a token to send, from the refresh that is in progress or a new one.

        Args:
            since: when the call began, in the event loop's time: what failed before may work for it.

        Raises:
            TokenError: the provider failed, or returned what cannot be sent.
        """
        if (token := self.ready()) is not None:
            return token
        if (failure := self._recent_failure(since)) is None:
            refresh = self._start()
            # `wait` neither ends the refresh when this task is cancelled, nor this task when the refresh is.
            await asyncio.wait([refresh])
            if refresh.cancelled():
                raise TokenError("the token provider failed: it was cancelled")
            if (error := refresh.exception()) is None:
                return refresh.result()
            failure = error if isinstance(error, TokenError) else TokenError(str(error))
        # An error of its own for each task, because errors are changed on their way.
        raise TokenError(str(failure), argument=failure.argument) from failure.__cause__

    async def after_401(self, rejected: AccessToken, *, since: float) -> AccessToken | None:
        """Return a token to try after a 401; None when there is no other than the rejected one."""
        if self._provider is None:
            return None
        if self._current is not None and self._current[0] is rejected:
            self._current = None
        token = await self.get(since=since)
        return None if token.value == rejected.value else token

    def _recent_failure(self, since: float = 0.0) -> TokenError | None:
        failure, at = self._failed or (None, 0.0)
        return failure if since < at and asyncio.get_running_loop().time() < at + FAILURE_SHARED else None

    def _start(self) -> "asyncio.Task[AccessToken]":
        if self._refresh is None:
            self._refresh = asyncio.create_task(self._obtain())
            self._refresh.add_done_callback(self._ended)
        return self._refresh

    def _ended(self, refresh: "asyncio.Task[AccessToken]") -> None:
        self._refresh = None
        if not refresh.cancelled():
            refresh.exception()  # asyncio reports an error that nobody has asked for

    async def _obtain(self) -> AccessToken:
        try:
            try:
                token = await self._called()
            except TokenError:
                raise
            except Exception:  # noqa: BLE001  # a provider may raise anything
                await asyncio.sleep(PAUSE_AFTER_FAILURE)
                token = await self._called()
        except Exception as error:  # noqa: BLE001  # the same
            what = str(error) if isinstance(error, TokenError | _TooSlowError) else type(error).__name__
            failure = TokenError(f"the token provider failed: {what}")
            # Without our own frames, which hold what the provider returned.
            frames = error.__traceback__ and error.__traceback__.tb_next
            failure.__cause__ = error.with_traceback(frames and frames.tb_next)
            self._failed = failure, asyncio.get_running_loop().time()
            raise failure from failure.__cause__
        self._failed = None
        self._current = None if token.expires_at is None else (token, self._now())
        return token

    async def _called(self) -> AccessToken:
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

    async def aclose(self) -> None:
        """Cancel a refresh in progress: the tasks that wait for it get a TokenError."""
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
