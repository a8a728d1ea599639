"""One refresh for all tasks: fresh, early, expired and cancelled."""

import asyncio

import pytest
from itwin_platform import AccessToken, TokenError

from tests.support.faces import TokenAuth
from tests.support.token_provider import START, GuardedService, TokenProvider, guarded, send, wall_clock


async def many(transport: object, count: int = 100) -> list[int | BaseException]:
    """Send so many requests at once."""
    return await asyncio.gather(*(send(transport) for _ in range(count)), return_exceptions=True)  # type: ignore[arg-type]  # a transport


async def test_a_hundred_tasks_share_the_first_token_while_it_is_fresh() -> None:
    """A hundred calls share one request for the first token, and later ones send it while it is fresh."""
    source, service = TokenProvider(), GuardedService()
    transport = guarded(service, TokenAuth(source, now=wall_clock))
    for _ in range(2):
        assert set(await many(transport)) == {200}
        await asyncio.sleep(3000)
    assert len(source.asked) == 1
    assert service.tokens == ["t-1"] * 200


async def test_one_task_refreshes_in_the_early_window() -> None:
    """In the early window, calls send the old token while one refresh runs; then they send the new one."""
    source, service = TokenProvider(latency=5.0), GuardedService()
    auth = TokenAuth(source, now=wall_clock)
    transport = guarded(service, auth)
    await send(transport)
    await asyncio.sleep(3500)
    before = asyncio.get_running_loop().time()
    assert set(await many(transport)) == {200}
    assert asyncio.get_running_loop().time() == before
    assert set(service.tokens) == {"t-1"}
    await asyncio.sleep(6)
    await send(transport)
    assert len(source.asked) == 2
    assert service.tokens[-1] == "t-2"


async def test_all_wait_for_the_refresh_of_an_expired_token() -> None:
    """An expired token is not sent: all calls wait for one refresh."""
    source, service = TokenProvider(), GuardedService()
    transport = guarded(service, TokenAuth(source, now=wall_clock))
    await send(transport)
    await asyncio.sleep(3600)
    assert set(await many(transport)) == {200}
    assert len(source.asked) == 2
    assert service.tokens[1:] == ["t-2"] * 100


async def test_cancelled_tasks_do_not_cancel_the_refresh() -> None:
    """Cancelling the task that started the refresh, or all but one, leaves the refresh to the others."""
    source, service = TokenProvider(), GuardedService()
    transport = guarded(service, TokenAuth(source, now=wall_clock))
    tasks = [asyncio.create_task(send(transport)) for _ in range(100)]
    await asyncio.sleep(0.5)
    for task in tasks[:99]:
        task.cancel()
    assert await tasks[99] == 200
    source.life = 0.0
    assert len(source.asked) == 1

    source, service = TokenProvider(), GuardedService()
    transport = guarded(service, TokenAuth(source, now=wall_clock))
    tasks = [asyncio.create_task(send(transport)) for _ in range(100)]
    await asyncio.sleep(0.5)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert await send(transport) == 200
    assert len(source.asked) == 1


@pytest.mark.parametrize("when", [0.0, 0.5])
async def test_closing_ends_a_refresh_and_tells_those_who_wait(when: float) -> None:
    """Waiting calls raise TokenError instead of CancelledError, and no task remains."""
    source = TokenProvider()
    auth = TokenAuth(source, now=wall_clock)
    transport = guarded(GuardedService(), auth)
    call = asyncio.create_task(send(transport))
    for _ in range(2):
        await asyncio.sleep(0)
    assert auth._refresh is not None
    await asyncio.sleep(when)
    await auth.aclose()
    with pytest.raises(TokenError, match="the token provider failed: it was cancelled"):
        await call
    assert asyncio.all_tasks() == {asyncio.current_task()}
    await auth.aclose()


@pytest.mark.parametrize("source", ["t-0", AccessToken("t-0"), AccessToken("t-0", START)])
async def test_a_token_that_is_given_is_sent_as_it_is(source: str | AccessToken) -> None:
    """A token without a provider is sent even when it has expired, and its 401 is the result."""
    service = GuardedService(lambda token: False)
    assert await send(guarded(service, TokenAuth(source, now=wall_clock))) == 401
    assert service.tokens == ["t-0"]


async def test_a_provider_without_expiry_is_called_for_each_attempt_at_once() -> None:
    """Only a token with an expiry serves several attempts: a hundred calls at once call it a hundred times."""
    source, service = TokenProvider(life=None), GuardedService()
    transport = guarded(service, TokenAuth(source, now=wall_clock))
    for _ in range(2):
        assert set(await many(transport)) == {200}
    assert len(source.asked) == 200
    assert len(set(service.tokens)) == 200


async def test_cancelling_a_call_cancels_its_own_call_of_the_provider() -> None:
    """A provider that is called for one attempt alone ends with it, and the cancellation stays one."""
    source, service = TokenProvider(life=None), GuardedService()
    transport = guarded(service, TokenAuth(source, now=wall_clock))
    await send(transport)
    call = asyncio.create_task(send(transport))
    await asyncio.sleep(0.5)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert service.tokens == ["t-1"]


async def test_a_token_that_does_not_say_is_asked_for_on_every_attempt() -> None:
    """A plain function that returns strings is asked each time."""
    tokens = iter(["a", "b", "c"])
    service = GuardedService(lambda token: token != "b")
    transport = guarded(service, TokenAuth(lambda: next(tokens), now=wall_clock))
    assert [await send(transport), await send(transport)] == [200, 200]
    assert service.tokens == ["a", "b", "c"]


@pytest.mark.parametrize("response", ["", "a\nb", None, 7, b"abc"])
async def test_a_response_of_the_source_that_is_no_token_is_a_failure(response: object) -> None:
    """A TokenError that tells what is wrong and not what it was; nothing is sent."""
    service = GuardedService()
    with pytest.raises(
        TokenError, match=r"the token provider failed: (the token must be a non-empty string|a token must be a str)"
    ):
        await send(guarded(service, TokenAuth(lambda: response, now=wall_clock)))  # type: ignore[arg-type,return-value]  # what must not work
    assert service.tokens == []


def test_a_source_of_another_kind_is_rejected_at_once() -> None:
    """Neither text nor token nor function."""
    with pytest.raises(TokenError, match="a token must be a str or an AccessToken, not int"):
        TokenAuth(7)  # type: ignore[arg-type]  # what must not work
