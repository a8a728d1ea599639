"""The promises of `make reliability`, each on a scale that costs about a second."""

import logging
from collections.abc import Iterator
from functools import partial
from types import ModuleType

import pytest

from measure.promises import lost_state as lost_state_module, shared as shared_module
from measure.promises.__main__ import Measurement, measured
from measure.promises.cancellation import cancellation
from measure.promises.connections import closed, closing, cuts, surplus
from measure.promises.figure import Figure, at_most, exactly
from measure.promises.learning import worst
from measure.promises.limits import FixedWindow, TokenBucket
from measure.promises.list_all_requests import list_all_requests
from measure.promises.lost_responses import lost_responses


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Hide the warnings of hundreds of cooldowns."""
    logger = logging.getLogger("itwin_platform")
    logger.propagate = False
    yield
    logger.propagate = True


def test_a_measurement_that_fails_does_not_hold() -> None:
    """It is a line of the table that says so, and the others go on."""

    def fails() -> list[Figure]:
        raise RuntimeError("planned")

    (figure,) = measured("planned", fails)
    assert (figure.promise, figure.holds) == ("planned", False)


@pytest.mark.parametrize("module", [shared_module, lost_state_module])
def test_what_cannot_be_measured_here_is_a_line_that_says_why(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a Redis server nothing of RedisGate is measured, and nothing fails."""
    monkeypatch.setattr(module, "server_programs", list)
    name = module.__name__.rpartition(".")[2]
    (figure,) = measured(name, vars(module)[name])
    assert (figure.measured.partition(":")[0], figure.holds) == ("not measured", True)


async def connections() -> list[Figure]:
    """Return the figures of connections that are closed, cut, out of step, and closed from this side."""
    lost, _ = await closing(posts=20)  # how long its GETs take depends on the machine
    return [lost, *await cuts(step=13), await surplus(schedules=200), await closed()]


def herd() -> list[Figure]:
    """Return the figures of a hundred calls at ten a second, in virtual time."""
    undone, per_call, against = worst(
        [FixedWindow(10, 1.0), TokenBucket(10, 1.0)], calls=100, latency=0.005, is_whole=True
    )
    return [
        exactly("calls that were not done", undone, 0),
        at_most("requests per call", per_call, 1.2),
        at_most("time against the ideal", against, 1.1),
    ]


#: What is measured, and the promise.
PROMISES: dict[str, Measurement] = {
    "a herd is served at the rate of the service": herd,
    "connections break in every way": connections,
    "no POST is sent again after a lost response": partial(lost_responses, schedules=100),
    "list_all sends few requests": partial(list_all_requests, sizes=((900, 1.0), (12_000, 1.3))),
    "a cancelled call leaves nothing behind": cancellation,
}


@pytest.mark.parametrize("name", PROMISES)
def test_a_promise_holds(name: str) -> None:
    """Each figure of a measurement holds, on a small scale."""
    figures = measured(name, PROMISES[name])
    assert figures
    assert [figure for figure in figures if not figure.holds] == []
