"""Tokens: valid texts, the refresh that all tasks share, failures of the provider, and the retry after a 401."""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from datetime import timedelta

import pytest
from itwin_platform_transport import (
    AccessToken,
    BackoffPolicy,
    BackoffTransport,
    CallInfo,
    DeadlineExceededError,
    Gate,
    TokenError,
    TokenProvider,
)
from itwin_platform_transport.attempts.tokens import TokenCache, hide_token

from tests.support.requests import request_to
from tests.support.services import START, ReceivedRequest, ScriptedTransport, now, rate_limited, send, wall_clock


class WatchedProvider:
    """Returns `t-1`, `t-2` and so on after `latency` seconds, valid for `life` seconds, and records its calls."""

    def __init__(self, *, life: float | None = 3600.0, latency: float = 1.0) -> None:
        self.life = life
        self.latency = latency
        self.asked: list[float] = []
        self.failure: BaseException | None = None
        self.always: str | None = None

    async def __call__(self) -> AccessToken:
        """Return the next token, or raise the failure."""
        self.asked.append(now())
        number = len(self.asked)
        await asyncio.sleep(self.latency)
        if self.failure is not None:
            raise self.failure
        expires_at = None if self.life is None else wall_clock() + timedelta(seconds=self.life)
        return AccessToken(self.always or f"t-{number}", expires_at)


class GuardedService(ScriptedTransport):
    """Responds with 401 to every token that `accepts` rejects. Attempts carry the tokens of `provider`."""

    def __init__(
        self,
        provider: str | AccessToken | TokenProvider,
        accepts: Callable[[str], bool] = lambda token: True,
        *,
        latency: float = 0.0,
        max_in_flight: int = 10_000,
    ) -> None:
        super().__init__(lambda request: 200 if accepts(_token(request)) else 401, latency=latency)
        policy = BackoffPolicy(deadline=None, max_attempts=1)
        self._backoff = BackoffTransport(self, token=provider, gate=Gate(max_in_flight), policy=policy, now=wall_clock)

    @property
    def tokens(self) -> list[str]:
        """The token of each request."""
        return [_token(request) for request in self.requests]

    async def call(self) -> int:
        """Send one request and return the status of its response."""
        return (await send(self._backoff)).status_code

    async def calls(self, count: int = 100) -> list[int | BaseException]:
        """Send a number of requests at once."""
        return await asyncio.gather(*(self.call() for _ in range(count)), return_exceptions=True)


def _token(request: ReceivedRequest) -> str:
    return request.headers["authorization"].removeprefix("Bearer ")


@pytest.mark.parametrize(
    "value",
    [
        *("", " ", "\n", "a\nb", "abc\r\nX: 1", "abc\n", "a\tb", "a b", "Bearer abc", "\x00", "a\x7f", "tökén"),
        *("a\u2028b", None, 7, b"abc", ["abc"]),
    ],
)
def test_a_text_that_cannot_be_sent_is_rejected_without_showing_it(value: object) -> None:
    """An invalid token raises a TokenError without the token."""
    with pytest.raises(TokenError, match="the token must be a non-empty string") as raised:
        AccessToken(value)  # type: ignore[arg-type]  # a wrong type
    assert "abc" not in str(raised.value)


@pytest.mark.parametrize(("life", "waits"), [(3600.0, (0, 3470, 120)), (8.0, (0, 6, 2))])
async def test_a_hundred_tasks_share_a_token_until_it_expires(life: float, waits: tuple[int, ...]) -> None:
    """A hundred calls share one call of the provider, for the first token and after its expiry."""
    source = WatchedProvider(life=life)
    service = GuardedService(source)
    for wait in waits:
        await asyncio.sleep(wait)
        assert set(await service.calls()) == {200}
    assert source.asked == [0.0, source.latency + sum(waits)]
    assert service.tokens == ["t-1"] * 200 + ["t-2"] * 100


async def test_calls_do_not_wait_for_an_early_refresh() -> None:
    """Shortly before the expiry, calls send the old token while one refresh runs, and then the new one."""
    source = WatchedProvider(latency=5.0)
    service = GuardedService(source)
    await service.call()
    await asyncio.sleep(3589.5)
    before = now()
    assert set(await service.calls()) == {200}
    assert now() == before
    await asyncio.sleep(6)
    await service.call()
    assert len(source.asked) == 2
    assert service.tokens == ["t-1"] * 101 + ["t-2"]


@pytest.mark.parametrize("cancelled", [99, 100])
async def test_cancelled_tasks_do_not_cancel_the_refresh(cancelled: int) -> None:
    """The refresh continues when the task that started it is cancelled, or all waiting tasks are."""
    source = WatchedProvider()
    service = GuardedService(source)
    tasks = [asyncio.create_task(service.call()) for _ in range(100)]
    await asyncio.sleep(0.5)
    for task in tasks[:cancelled]:
        task.cancel()
    assert (await asyncio.gather(*tasks, return_exceptions=True))[cancelled:] == [200] * (100 - cancelled)
    assert await service.call() == 200
    assert len(source.asked) == 1


async def test_closing_a_client_ends_its_refresh(caplog: pytest.LogCaptureFixture) -> None:
    """No task is left of a refresh that no call waits for, and nothing is logged."""
    transport = BackoffTransport(ScriptedTransport(200), token=WatchedProvider(), now=wall_clock)
    call = asyncio.create_task(send(transport))
    await asyncio.sleep(0.5)
    call.cancel()
    await asyncio.wait([call])
    await transport.aclose()
    assert (asyncio.all_tasks(), caplog.text) == ({asyncio.current_task()}, "")


@pytest.mark.parametrize("given", ["x-0-x", AccessToken(" x-0-x "), AccessToken("x-0-x", START)])
async def test_a_fixed_token_is_sent_as_it_is(given: str | AccessToken) -> None:
    """A token without a provider is sent also after its expiry, and its 401 is the response of the call."""
    service = GuardedService(given, lambda token: False)
    assert await service.call() == 401
    assert service.tokens == ["x-0-x"]


async def test_cancelling_a_call_cancels_its_own_call_of_the_provider() -> None:
    """A call of the provider for a single attempt is cancelled with the attempt, and the call raises CancelledError."""
    service = GuardedService(WatchedProvider(life=None))
    await service.call()
    call = asyncio.create_task(service.call())
    await asyncio.sleep(0.5)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert service.tokens == ["t-1"]


@pytest.mark.parametrize("response", ["", "a\nb", None, 7, b"abc"])
async def test_a_result_of_the_provider_that_is_no_token_is_a_failure(response: object) -> None:
    """The TokenError has the reason and not the result, and no request is sent."""
    service = GuardedService(lambda: response)  # type: ignore[arg-type]  # a wrong type
    message = r"the token provider failed: (the token must be a non-empty string|a token must be a str)"
    with pytest.raises(TokenError, match=message):
        await service.call()
    assert service.tokens == []


def test_a_token_of_another_kind_is_rejected_at_once() -> None:
    """A token must be a string, an AccessToken or a function."""
    with pytest.raises(TokenError, match="a token must be a str or an AccessToken, not int"):
        BackoffTransport(token=7)  # type: ignore[arg-type]  # a wrong type


@pytest.mark.parametrize(
    ("failure", "message"), [(ConnectionError("planted-secret"), "ConnectionError"), (TokenError("no key"), "no key")]
)
async def test_a_failed_refresh_is_shared_by_the_calls_that_wait(failure: Exception, message: str) -> None:
    """All calls that began before the failure raise it, also calls that need the token later."""
    source = WatchedProvider()
    source.failure = failure
    errors = await GuardedService(source, max_in_flight=20).calls()
    assert len(set(map(id, errors))) == 100
    assert {(type(error), str(error)) for error in errors} == {(TokenError, f"the token provider failed: {message}")}
    assert all(isinstance(error, TokenError) and error.__cause__ is failure for error in errors)
    # The provider is called again after half a second, unless it has raised a TokenError.
    assert source.asked == ([0.0] if isinstance(failure, TokenError) else [0.0, 1.5])


@pytest.mark.parametrize("is_shared", [True, False])
async def test_a_provider_that_hangs_once_fails_no_call(is_shared: bool) -> None:
    """A refresh ends after 30 s, and the provider is called again: all waiting calls get that token."""
    asked: list[float] = []

    async def provider() -> AccessToken:
        asked.append(now())
        if now() == 0.0:
            await asyncio.sleep(1e9)
        return AccessToken("t-2", wall_clock() + timedelta(hours=1) if is_shared else None)

    service = GuardedService(provider)
    assert set(await service.calls(10)) == {200}
    assert asked[:2] == [0.0, 30.5]
    assert await service.call() == 200


async def test_a_provider_that_hangs_is_named() -> None:
    """The error names the provider and its time limit after two calls of it, and so does the error of the deadline."""

    async def provider() -> str:
        await asyncio.sleep(100.0)
        raise TimeoutError("planted-secret")

    for timeout, deadline, kind, message in (
        (2.0, None, TokenError, "the token provider failed: it did not return within 2 s"),
        (None, None, TokenError, "the token provider failed: TimeoutError$"),
        (2.0, 3.0, DeadlineExceededError, "deadline of 3 s passed while the token provider was called"),
    ):
        policy = BackoffPolicy(deadline=deadline)
        transport = BackoffTransport(ScriptedTransport(200), token=provider, token_timeout=timeout, policy=policy)
        with pytest.raises(kind, match=message):
            await send(transport)


async def test_the_token_of_a_429_is_known_while_the_next_one_takes_time() -> None:
    """A result hides the token that was sent, also if the deadline passes in the next call of the provider."""
    seconds, policy = iter([0.0, 60.0]), BackoffPolicy(deadline=10.0)

    async def provider() -> str:
        await asyncio.sleep(next(seconds))
        return "planted-token"

    info = CallInfo(method="GET", route="/things", policy=policy)
    transport = BackoffTransport(ScriptedTransport(429), token=provider)
    result = await transport.send(request_to("https://service.example/"), info)
    assert result.hide_token("planted-token") == "[redacted]"


async def test_a_failure_before_the_expiry_fails_no_call(caplog: pytest.LogCaptureFixture) -> None:
    """After a failed early refresh, calls send the old token, log nothing, and call the provider once a second."""
    source = WatchedProvider(latency=0.0)
    service = GuardedService(source)
    await service.call()
    source.failure = TokenError("x")
    await asyncio.sleep(3500)
    for _ in range(50):
        assert await service.call() == 200
        await asyncio.sleep(0.1)
    assert (set(service.tokens), caplog.text) == ({"t-1"}, "")
    assert 5 <= len(source.asked) - 1 <= 6


async def test_after_a_401_the_call_is_retried_once_with_a_new_token() -> None:
    """A rejected token is refreshed once for all calls, and each call is retried once."""
    source = WatchedProvider()
    service = GuardedService(source, lambda token: token != "t-1", latency=0.1)
    assert await service.calls() == [200] * 100
    assert len(source.asked) == 2
    assert service.tokens == ["t-1"] * 100 + ["t-2"] * 100


@pytest.mark.parametrize(
    ("always", "life", "sent"), [(None, 3600.0, ["t-1", "t-2"]), ("same", 3600.0, ["same"]), ("same", None, ["same"])]
)
async def test_a_call_sends_at_most_two_requests_because_of_401(
    always: str | None, life: float | None, sent: list[str]
) -> None:
    """A second 401 is the response of the call; if the provider returns the same token, there is no retry."""
    source = WatchedProvider(life=life)
    source.always = always
    service = GuardedService(source, lambda token: False)
    assert await service.call() == 401
    assert (service.tokens, len(source.asked)) == (sent, 2)


async def test_a_401_for_an_old_token_keeps_the_new_one() -> None:
    """After a late 401, the call is retried with the present token, without a call of the provider."""
    source = WatchedProvider()
    service = GuardedService(source, lambda token: token != "t-1", latency=60.0)
    late = asyncio.create_task(service.call())
    await asyncio.sleep(10)
    assert (await service.call(), await late) == (200, 200)
    assert (service.tokens, len(source.asked)) == (["t-1", "t-1", "t-2", "t-2"], 2)


async def test_each_call_gets_the_token_of_its_own_context() -> None:
    """A provider without expiries may read the user from a ContextVar: no call sends the token of another user.

    The same holds after a 401, when the provider is called again.
    """
    user: ContextVar[str] = ContextVar("user")
    asked: list[str] = []

    async def provider() -> str:
        await asyncio.sleep(1.0)
        asked.append(user.get())
        return f"{user.get()}-{asked.count(user.get())}"

    async def call(name: str) -> None:
        user.set(name)
        assert await service.call() == 200

    service = GuardedService(provider, lambda token: not token.endswith("-1"), latency=2.0)
    names = [f"u-{number}" for number in range(5)]
    await asyncio.gather(*(call(name) for name in names))
    await asyncio.gather(*(call(name) for name in names))
    assert sorted(service.tokens) == sorted(f"{name}-{number}" for name in names for number in (1, 2, 3))


async def test_a_later_retry_carries_a_fresh_token() -> None:
    """The token after a 401 is for the next attempt: an attempt after a long cooldown does not send it expired.

    A 429 uses no attempt, also when the 401 has used the last one.
    """
    source, service = WatchedProvider(life=50.0, latency=0.0), ScriptedTransport(401, rate_limited("55"), 200)
    gate, once = Gate(random_number=lambda: 0.0), BackoffPolicy(max_attempts=1)
    transport = BackoffTransport(
        service, token=source, now=wall_clock, gate=gate, random_number=lambda: 0.0, policy=once
    )
    assert (await send(transport)).status_code == 200
    assert [request.headers["authorization"][-3:] for request in service.requests] == ["t-1", "t-2", "t-3"]


@pytest.mark.parametrize(
    ("value", "text", "shown"),
    [
        ("1234567a", "x1234567ax", "x[redacted]x"),
        ("abcdefgh", "xabcdefghx", "x[redacted]x"),
        ("123456a", "x123456ax", "x123456ax"),
        ("123456a", "-123456a 123456a-", "-123456a 123456a-"),
        ("123456a", "(123456a)", "([redacted])"),
        ("a.c", "abc a.c", "abc [redacted]"),
        ("invalid", "an invalid token", "an invalid token"),
        ("ab/cd+ef=", "ab%2Fcd%2Bef%3D ab/cd%2Bef%3D", "[redacted] [redacted]"),
    ],
)
def test_a_token_is_redacted_in_a_text(value: str, text: str, shown: str) -> None:
    """A long token is redacted anywhere, also percent-encoded; a short one only alone, and not if it is a word."""
    assert hide_token(AccessToken(value), text) == shown


@pytest.mark.parametrize("life", [3600.0, None])
async def test_a_call_after_a_failed_refresh_calls_the_provider_again(life: float | None) -> None:
    """The failure of an earlier call is not raised again."""
    source = WatchedProvider(life=life)
    service = GuardedService(source)
    for failure in (ConnectionError(), TokenError("x"), asyncio.CancelledError(), None, asyncio.CancelledError(), None):
        source.failure = failure
        if failure is None:
            assert await service.call() == 200
            await asyncio.sleep(3600)
        else:
            with pytest.raises(TokenError):
                await service.call()
    assert service.tokens == ["t-5", "t-7"]


async def test_a_failure_is_shared_for_one_second() -> None:
    """A call that began before the failure calls the provider again if it needs a token later than that."""
    source = WatchedProvider()
    auth = TokenCache(source, now=wall_clock)
    source.failure = TokenError("x")
    for wait in (0.0, 0.9, 0.2):
        await asyncio.sleep(wait)
        with pytest.raises(TokenError):
            await auth.get(since=0.0)
    assert source.asked == [0.0, 2.1]
