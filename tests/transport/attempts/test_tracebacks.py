"""Exceptions of the application keep their tracebacks, whatever fails while it handles them."""

import traceback
from collections.abc import Awaitable, Callable

import httpx
import pytest
from itwin_platform_transport import (
    BackoffPolicy,
    BackoffTransport,
    DeadlineExceededError,
    NotSentError,
    PlatformError,
    TokenError,
)

from tests.support.services import PreparedResponse, ScriptedTransport, send

ONCE = BackoffPolicy(max_attempts=1, deadline=5.0)
Call = Callable[[], Awaitable[object]]


def failing(outcome: Exception | PreparedResponse) -> Call:
    """A call that fails."""
    transport = BackoffTransport(ScriptedTransport(outcome), policy=ONCE)
    return lambda: send(transport)


def connecting() -> Call:
    """A call whose deadline passes while the default transport connects: virtual time does not wait for sockets."""
    transport = BackoffTransport(policy=ONCE)
    return lambda: transport.handle_async_request(httpx.Request("GET", "http://127.0.0.1:1/"))


def asking_for_a_token() -> Call:
    """A call whose token provider fails."""

    def provider() -> str:
        raise LookupError("no key")

    transport = BackoffTransport(ScriptedTransport(200), token=provider, policy=ONCE)
    return lambda: send(transport)


CALLS: dict[str, tuple[Callable[[], Call], type[PlatformError]]] = {
    "not connected": (lambda: failing(httpx.ConnectError("x")), NotSentError),
    "deadline": (lambda: failing(PreparedResponse(fault="hang")), DeadlineExceededError),
    "deadline while connecting": (connecting, DeadlineExceededError),
    "token": (asking_for_a_token, TokenError),
}


def raised_within(depth: int) -> ValueError:
    """Raise an error in some functions of the application, and return it."""
    try:
        _raise(depth)
    except ValueError as error:
        return error
    raise AssertionError


def _raise(depth: int) -> None:
    if depth == 1:
        raise ValueError("of the application")
    _raise(depth - 1)


@pytest.mark.parametrize("case", CALLS)
async def test_an_exception_that_the_application_handles_keeps_its_traceback(case: str) -> None:
    """Also its cause and its context; a call that fails meanwhile removes only frames of its own."""
    make, kind = CALLS[case]
    call, cause, context = make(), raised_within(2), raised_within(3)
    context.__context__ = cause
    try:
        try:
            raise context
        except ValueError:
            raise LookupError("later") from cause
    except LookupError as handled:
        with pytest.raises(kind):
            await call()
        errors = [handled.__cause__, handled.__context__]
    for error in errors:
        assert error is not None
        assert "_raise" in [frame.name for frame in traceback.extract_tb(error.__traceback__)]


async def test_what_a_transport_of_the_caller_has_caught_keeps_its_traceback() -> None:
    """The transport raises an error of httpx from one of its own, which it may keep."""
    kept = raised_within(2)

    class Tunnel(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            try:
                raise kept
            except ValueError as error:
                raise httpx.ConnectError("the tunnel is down") from error

    with pytest.raises(NotSentError) as raised:
        await send(BackoffTransport(Tunnel(), policy=ONCE))
    assert isinstance(raised.value.__cause__, httpx.ConnectError)
    assert raised.value.__cause__.__cause__ is kept
    assert "_raise" in [frame.name for frame in traceback.extract_tb(kept.__traceback__)]


async def test_what_a_token_provider_raises_keeps_the_frames_of_the_application() -> None:
    """It says where the provider failed; the frames that called the provider are gone."""
    with pytest.raises(TokenError) as raised:
        await asking_for_a_token()()
    assert raised.value.__cause__ is not None
    frames = traceback.extract_tb(raised.value.__cause__.__traceback__)
    assert [frame.name for frame in frames] == ["provider"]
