"""Circuit breakers by themselves: states, probes, and the memory that they take."""

import asyncio

import pytest
from itwin_platform_transport import BackoffPolicy
from itwin_platform_transport.gates.breaker import (
    FAILURES_TO_OPEN,
    MOST_REMEMBERED,
    Breakers,
    Failure,
    OperationDownError,
)
from itwin_platform_transport.policy import Progress

from tests.support.services import now

OPERATION = ("GET", "/things/{id}")


def scopes_of(path: str) -> tuple[tuple[str, ...], ...]:
    """The scopes of a call: its path, and its operation."""
    return (*OPERATION, path), OPERATION


def fail(breakers: Breakers[str], path: str, *, call: object = "failed", at: float = 0.0) -> float | None:
    """Count a failure of a path."""
    return breakers.failed(call, scopes_of(path), Failure(path, at))


def opened() -> Breakers[str]:
    """Breakers of which that of the operation is open."""
    breakers = Breakers[str]()
    assert [fail(breakers, f"/things/{number}") for number in range(FAILURES_TO_OPEN)][-1] == 0.6
    return breakers


def is_held_back(breakers: Breakers[str], call: object, *, path: str = "/things/x", at: float = 0.0) -> bool:
    """Whether a call has to wait."""
    return breakers.blocking(call, scopes_of(path), now=at) is not None


async def wait(breakers: Breakers[str], call: object, *, policy: BackoffPolicy | None = None) -> float:
    """Wait until a call may pass, and return the time."""
    while (breaker := breakers.blocking(call, scopes_of("/things/x"), now=now())) is not None:
        await breaker.wait(call, progress=Progress(), policy=policy or BackoffPolicy(), until=None)
    return now()


def test_a_closed_breaker_stops_nothing() -> None:
    """One failure fewer than open it, or as many after a success; a success without a failure is nothing either."""
    breakers = Breakers[str]()
    assert breakers.succeeded(scopes_of("/things/0"), now=0.0) is None
    for _ in range(2):
        for number in range(FAILURES_TO_OPEN - 1):
            assert fail(breakers, f"/things/{number}") is None
        assert not is_held_back(breakers, "call")
        assert breakers.succeeded(scopes_of("/things/0"), now=0.0) is None


async def test_one_call_probes_and_any_success_closes() -> None:
    """Half-open: the probe passes, the others wait for its outcome or for any success."""
    breakers = opened()
    tasks = [asyncio.create_task(wait(breakers, call)) for call in range(3)]
    await asyncio.sleep(0.7)
    assert [task.done() for task in tasks] == [True, False, False]
    assert tasks[0].result() == pytest.approx(0.6)
    assert not is_held_back(breakers, 0, at=now())
    outage = breakers.succeeded(scopes_of("/things/y"), now=now())
    assert outage is not None
    assert (round(outage.seconds, 6), outage.probes) == (0.7, 1)
    assert await asyncio.gather(*tasks[1:]) == pytest.approx([0.7, 0.7])


async def test_a_failed_probe_gives_the_next_one_to_another_call() -> None:
    """0.6 s later, also when the operation succeeds in the same moment as it fails."""
    breakers = opened()
    tasks = [asyncio.create_task(wait(breakers, call)) for call in range(2)]
    await asyncio.sleep(0.7)
    fail(breakers, "/things/x", call=0, at=now())
    await asyncio.sleep(0.7)
    assert tasks[1].result() == pytest.approx(1.3)
    late = asyncio.create_task(wait(breakers, 2))
    await asyncio.sleep(0)
    fail(breakers, "/things/x", call=1, at=now())
    breakers.succeeded(scopes_of("/things/x"), now=now())
    assert await late == now()


async def test_a_failure_of_an_earlier_request_delays_no_probe() -> None:
    """Only the failure of the probe counts."""
    breakers = opened()
    fail(breakers, "/things/slow", at=0.3)
    assert await wait(breakers, "call") == pytest.approx(0.6)


async def test_a_call_waits_as_long_as_its_own_retries_would_take() -> None:
    """A probe that hangs blocks the next one for five seconds; one that may not wait so long ends with the failure."""
    breakers = opened()
    assert await wait(breakers, "hangs") == pytest.approx(0.6)
    assert await wait(breakers, "next") == pytest.approx(5.6)
    with pytest.raises(OperationDownError) as raised:
        await wait(breakers, "short", policy=BackoffPolicy(max_attempts=2))
    assert raised.value.record == f"/things/{FAILURES_TO_OPEN - 1}"
    assert now() == pytest.approx(7.6)


def test_breakers_take_no_more_memory_however_many_paths_fail() -> None:
    """The oldest closed one is dropped; one that is open stays."""
    breakers = opened()
    for number in range(2 * MOST_REMEMBERED):
        fail(breakers, f"/more/{number}")
    assert len(breakers.active) == MOST_REMEMBERED
    assert is_held_back(breakers, "call")


def test_a_breaker_that_no_call_touches_is_dropped() -> None:
    """Half a minute after its next probe was due, by the next failure of its path, or any successes."""
    breakers = opened()
    breakers.succeeded(scopes_of("/other"), now=0.0)
    fail(breakers, "/others/1", at=100.0)
    for _ in range(FAILURES_TO_OPEN):
        breakers.succeeded((("POST", "/x", "/x"), ("POST", "/x")), now=100.0)
    assert set(breakers.active) == {(*OPERATION, "/others/1"), OPERATION}
