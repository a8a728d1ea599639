"""A token provider that fails: who raises its failure, and when it is called again."""

import asyncio

import pytest
from itwin_platform import TokenError

from tests.support.faces import TokenAuth
from tests.support.token_provider import GuardedService, TokenProvider, guarded, send, wall_clock


@pytest.mark.parametrize(
    ("failure", "said"), [(ConnectionError("planted-secret"), "ConnectionError"), (TokenError("no key"), "no key")]
)
async def test_a_failed_refresh_is_shared_by_the_calls_that_wait(failure: Exception, said: str) -> None:
    """All calls that began before the failure raise it, those too that reach the provider only after it."""
    source, service = TokenProvider(), GuardedService()
    source.failure = failure
    transport = guarded(service, TokenAuth(source, now=wall_clock), max_in_flight=20)
    errors = await asyncio.gather(*(send(transport) for _ in range(100)), return_exceptions=True)
    assert {type(error) for error in errors} == {TokenError}
    assert len(set(map(id, errors))) == 100
    assert {str(error) for error in errors} == {f"the token provider failed: {said}"}
    assert all(isinstance(error, TokenError) and error.__cause__ is source.failure for error in errors)
    assert len(source.asked) == 1


@pytest.mark.parametrize("life", [3600.0, None])
async def test_a_call_after_a_failed_refresh_calls_the_provider_again(life: float | None) -> None:
    """What failed for an earlier call need not fail for this one."""
    source, service = TokenProvider(life=life), GuardedService()
    transport = guarded(service, TokenAuth(source, now=wall_clock))
    for failure in (ConnectionError(), asyncio.CancelledError(), None, asyncio.CancelledError(), None):
        source.failure = failure
        if failure is None:
            assert await send(transport) == 200
            await asyncio.sleep(3600)
        else:
            with pytest.raises(TokenError):
                await send(transport)
    assert service.tokens == ["t-3", "t-5"]


async def test_a_failure_is_shared_for_one_second() -> None:
    """A call that began before the failure calls the provider again when it needs a token long after it."""
    source = TokenProvider()
    auth = TokenAuth(source, now=wall_clock)
    source.failure = ConnectionError()
    for wait in (0.0, 0.9, 0.2):
        await asyncio.sleep(wait)
        with pytest.raises(TokenError):
            await auth.token(since=0)
    assert source.asked == [0.0, 2.1]


async def test_a_failure_in_the_early_window_fails_no_call() -> None:
    """After a failed refresh in the early window, calls send the old token and retry the provider once a second."""
    source, service = TokenProvider(latency=0.0), GuardedService()
    transport = guarded(service, TokenAuth(source, now=wall_clock))
    await send(transport)
    source.failure = ConnectionError()
    await asyncio.sleep(3500)
    for _ in range(50):
        assert await send(transport) == 200
        await asyncio.sleep(0.1)
    assert set(service.tokens) == {"t-1"}
    assert 5 <= len(source.asked) - 1 <= 6
