"""Exceptions of the application keep their tracebacks when a call fails while they are handled."""

import asyncio
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
    StateError,
    TokenError,
)

from tests.support.frames import errors_of
from tests.support.services import PreparedResponse, ScriptedTransport, send

ONCE = BackoffPolicy(max_attempts=1, deadline=5.0)
Call = Callable[[], Awaitable[object]]


def failing(outcome: Exception | PreparedResponse) -> Call:
    """Return a call with an outcome that raises."""
    transport = BackoffTransport(ScriptedTransport(outcome), policy=ONCE)
    return lambda: send(transport)


def asking_for_a_token() -> Call:
    """Return a call whose token provider raises."""

    def provider() -> str:
        raise LookupError("no key")

    transport = BackoffTransport(ScriptedTransport(200), token=provider, policy=ONCE)
    return lambda: send(transport)


CALLS: dict[str, tuple[Callable[[], Call], type[PlatformError]]] = {
    "not connected": (lambda: failing(httpx.ConnectError("x")), NotSentError),
    "deadline": (lambda: failing(PreparedResponse(fault="hang")), DeadlineExceededError),
    "token": (asking_for_a_token, TokenError),
}


def raised(error: Exception) -> Exception:
    """Raise an error in a function of the application, and return it."""
    try:
        _raise(error)
    except type(error):
        return error
    raise AssertionError


def _raise(error: Exception) -> None:
    raise error


async def handling(error: Exception, call: Call) -> None:
    """Make a call while the application handles an error."""
    try:
        _raise(error)
    except type(error):
        await call()


@pytest.mark.parametrize("call", CALLS)
async def test_an_exception_that_the_application_handles_keeps_its_traceback(call: str) -> None:
    """A failing call removes only its own frames, and none of the exception, its causes or the members of a group."""
    make, kind = CALLS[call]
    cause, member, handled = (raised(ValueError(number)) for number in range(3))
    handled.__cause__, handled.__context__ = cause, ExceptionGroup("several", [member])
    with pytest.raises(kind) as caught:
        await handling(handled, make())
    assert caught.value.__context__ is not None
    for error in (cause, member, handled):
        assert "_raise" in [frame.name for frame in traceback.extract_tb(error.__traceback__)]


async def test_an_exception_of_a_token_provider_keeps_the_frames_of_the_application() -> None:
    """The traceback shows where the provider failed, without the frames that called it."""
    with pytest.raises(TokenError) as raised:
        await asking_for_a_token()()
    assert raised.value.__cause__ is not None
    frames = traceback.extract_tb(raised.value.__cause__.__traceback__)
    assert [frame.name for frame in frames] == ["provider"]


async def test_a_chain_of_errors_may_be_a_cycle() -> None:
    """A transport may raise an error that is the cause of its own cause."""
    first, second = httpx.ConnectError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    with pytest.raises(NotSentError):
        await failing(first)()


class Reconnecting(httpx.AsyncBaseTransport):
    """Responds to the first attempt with 503. The second one never gets a connection."""

    def __init__(self) -> None:
        self.attempts = 0
        self.connects = asyncio.Event()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Respond, or report a connection attempt as httpcore does, and hang."""
        self.attempts += 1
        if self.attempts == 2:
            await request.extensions["trace"]("connection.connect_tcp.started", {})
            self.connects.set()
            await asyncio.Event().wait()
        return httpx.Response(503)


async def test_a_call_that_closing_ends_before_a_retry_keeps_no_frame_of_an_attempt() -> None:
    """The causes of its StateError have no tracebacks: a frame of an attempt holds the request with its token."""
    service = Reconnecting()
    transport = BackoffTransport(service, policy=BackoffPolicy(base_delay=0.0))
    call = asyncio.create_task(send(transport))
    await service.connects.wait()
    await transport.aclose()
    with pytest.raises(StateError) as raised:
        await call
    _, *causes = errors_of(raised.value)
    assert [cause.__traceback__ for cause in causes] == [None, None]
