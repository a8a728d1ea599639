"""Exceptions of the application keep their tracebacks, whatever fails while it handles them."""

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


async def handled(call: Call) -> list[BaseException]:
    """The call is made in an `except` block."""
    try:
        _raise(3)
    except ValueError as error:
        await call()
        return [error]
    raise AssertionError


async def handled_with_a_cause(call: Call) -> list[BaseException]:
    """The error that is handled has a cause and a context."""
    cause, context = raised_within(2), raised_within(3)
    context.__context__ = cause
    try:
        try:
            raise context
        except ValueError:
            raise LookupError("later") from cause
    except LookupError as error:
        await call()
        return [error]
    raise AssertionError


async def handled_in_a_task_group(call: Call) -> list[BaseException]:
    """The call is made in a task of a group, one of which has failed."""
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(0.0))
            _raise(3)
    except* ValueError:
        async with asyncio.TaskGroup() as group:
            group.create_task(call())  # type: ignore[arg-type]  # a coroutine
    return []


SITUATIONS = (
    handled,
    handled_with_a_cause,
    handled_in_a_task_group,
)


def applications_of(error: BaseException) -> list[BaseException]:
    """Return the exceptions of the application in a chain."""
    found: list[BaseException] = []
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        if (current := left.pop()) is not None and id(current) not in seen:
            seen.add(id(current))
            if isinstance(current, ValueError) and not isinstance(current, PlatformError):
                found.append(current)
            left += [current.__context__, current.__cause__]
            left += current.exceptions if isinstance(current, BaseExceptionGroup) else []
    return found


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
async def test_an_exception_that_the_application_handles_keeps_its_traceback(
    situation: Callable[[Call], Awaitable[object]], call: str
) -> None:
    """Also its causes, and the members of a group; a call that fails meanwhile removes only frames of its own."""
    make, kind = CALLS[call]
    with pytest.raises((kind, ExceptionGroup)) as raised:
        await situation(make())
    errors = applications_of(raised.value)
    if situation is not handled_in_a_task_group:  # another task does not handle it
        assert errors
    for error in errors:
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
