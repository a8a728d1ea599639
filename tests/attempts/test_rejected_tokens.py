"""A token that the service rejects with 401 is refreshed once for all tasks, and each call is retried once."""

import asyncio

import pytest
from itwin_platform import BackoffTransport, Gate

from tests.support import scripted_transport
from tests.support.faces import TokenAuth
from tests.support.scripted_transport import ScriptedTransport, rate_limited
from tests.support.token_provider import GuardedService, TokenProvider, guarded, send, wall_clock


async def test_after_a_401_the_call_is_retried_once_with_a_new_token() -> None:
    """A token that the service takes no more is refreshed once for all; each call is retried once."""
    source, service = TokenProvider(), GuardedService(lambda token: token != "t-1", latency=0.1)
    transport = guarded(service, TokenAuth(source, now=wall_clock))
    assert await asyncio.gather(*(send(transport) for _ in range(100))) == [200] * 100
    assert len(source.asked) == 2
    assert service.tokens == ["t-1"] * 100 + ["t-2"] * 100


async def test_a_401_with_the_new_token_as_well_is_the_response() -> None:
    """A call sends at most two requests because of 401, whatever the provider returns."""
    source, service = TokenProvider(), GuardedService(lambda token: False)
    assert await send(guarded(service, TokenAuth(source, now=wall_clock))) == 401
    assert service.tokens == ["t-1", "t-2"]


@pytest.mark.parametrize("life", [3600.0, None])
async def test_a_401_is_not_retried_with_the_same_token(life: float | None) -> None:
    """A provider that returns the same token again cannot help: the request is not retried."""
    source, service = TokenProvider(life=life), GuardedService(lambda token: False)
    source.always = "same"
    assert await send(guarded(service, TokenAuth(source, now=wall_clock))) == 401
    assert service.tokens == ["same"]
    assert len(source.asked) == 2


async def test_a_401_for_an_old_token_does_not_throw_the_new_one_away() -> None:
    """A late 401 retries with the token that is there, without asking."""
    source = TokenProvider()
    auth = TokenAuth(source, now=wall_clock)
    slow, fast = (
        GuardedService(lambda token: token != "t-1", latency=60.0),
        GuardedService(lambda token: token != "t-1"),
    )
    late = asyncio.create_task(send(guarded(slow, auth)))
    await asyncio.sleep(10)
    assert await send(guarded(fast, auth)) == 200
    assert await late == 200
    assert (fast.tokens, slow.tokens, len(source.asked)) == (["t-1", "t-2"], ["t-1", "t-2"], 2)


@pytest.mark.parametrize("life", [None, 2.0])
async def test_a_refresh_that_began_before_the_401_is_not_taken_for_a_new_one(life: float | None) -> None:
    """Its token may be one of those that were just revoked: the provider is called again, once for all tasks."""
    source = TokenProvider(life=life)
    service = GuardedService(lambda token: token not in ("t-1", "t-2"), latency=2.0)
    auth = TokenAuth(source, now=wall_clock)
    call = asyncio.create_task(send(guarded(service, auth)))
    await asyncio.sleep(2.7)
    # The request is on its way with t-1. For another one, a refresh begins that returns t-2 after the 401.
    other = asyncio.create_task(auth.token())
    assert await call == 200
    assert service.tokens == ["t-1", "t-3"]
    assert len(source.asked) == 3
    await other


async def test_each_401_of_a_token_that_stays_the_same_refreshes_it() -> None:
    """A provider may return a rejected token again; the next call's 401 asks it for another one all the same."""
    source, service = TokenProvider(), GuardedService(lambda token: token == "new-token")
    source.always = "old-token"
    transport = guarded(service, TokenAuth(source, now=wall_clock))
    assert await asyncio.gather(*(send(transport) for _ in range(100))) == [401] * 100
    assert len(source.asked) == 2
    source.always = "new-token"
    assert await asyncio.gather(*(send(transport) for _ in range(100))) == [200] * 100
    assert len(source.asked) == 3


async def test_a_retry_after_the_one_with_a_new_token_carries_a_fresh_one() -> None:
    """The token that a 401 led to is for the next attempt; one after a long cooldown does not carry it, expired."""
    source = TokenProvider(life=50.0, latency=0.0)
    service = ScriptedTransport(401, rate_limited("55"), 200)
    transport = BackoffTransport(
        service,
        auth=TokenAuth(source, now=wall_clock),
        gate=Gate(random_number=lambda: 0.0),
        random_number=lambda: 0.0,
    )
    assert (await scripted_transport.send(transport)).status_code == 200
    assert [request.headers["authorization"] for request in service.requests] == [
        "Bearer t-1",
        "Bearer t-2",
        "Bearer t-3",
    ]
