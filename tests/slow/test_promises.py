"""The promises of `make reliability`, each on a scale that costs about a second."""

import asyncio
import inspect
import logging
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from measure.promises import foreign_responses as foreign_responses_module, shared_limit as shared_limit_module
from measure.promises.cancellation import cancellation
from measure.promises.connections import TRANSPORTS, closed, closing, cuts, surplus
from measure.promises.deadlines import deadlines
from measure.promises.figure import Figure
from measure.promises.fuzzing import fuzzing
from measure.promises.herd import modelled_herd
from measure.promises.hostile_links import hostile_links
from measure.promises.list_all_requests import list_all_requests
from measure.promises.lost_responses import lost_responses
from measure.promises.measurement import Measurement, measured_within
from measure.promises.modelled_processes import modelled_processes, thousand_processes
from measure.promises.secrets import secrets
from measure.promises.services import in_memory
from measure.promises.shared_limit import shared_limit, shared_limit_of_other_servers
from measure.promises.token_calls import token_calls
from tests.support.event_loops import in_virtual_time


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Hide the warnings of hundreds of cooldowns."""
    logger = logging.getLogger("itwin_platform")
    logger.propagate = False
    yield
    logger.propagate = True


def fails() -> list[Figure]:
    """A measurement that does not work."""
    raise RuntimeError("planned")


def never_ends() -> list[Figure]:
    """A measurement that hangs."""
    threading.Event().wait()
    return []


@pytest.mark.parametrize(("measurement", "seconds"), [(fails, 60.0), (never_ends, 0.1)])
def test_a_measurement_that_yields_no_figures_does_not_hold(measurement: Measurement, seconds: float) -> None:
    """It is a line of the table that says so, and the others go on."""
    (figure,) = measured_within(measurement, seconds=seconds)
    assert (figure.promise, figure.holds) == (measurement.__name__, False)


async def test_a_library_that_cannot_be_fetched_is_a_line_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a package index the responses of other libraries are not measured, and nothing fails."""
    monkeypatch.setattr(foreign_responses_module, "CACHE", Path("/missing"))
    monkeypatch.setattr(sys, "executable", "/missing/python")
    figures = await foreign_responses_module.foreign_responses()
    assert [figure.measured.partition(":")[0] for figure in figures] == ["not measured"] * 4


async def test_what_cannot_be_measured_here_is_a_line_that_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a Redis server nothing of RedisGate is measured, and nothing fails."""
    monkeypatch.setattr(shared_limit_module, "server_programs", list)
    figures = [*await shared_limit(), *await shared_limit_of_other_servers()]
    assert [(figure.measured.partition(":")[0], figure.holds) for figure in figures] == [("not measured", True)] * 2


def virtual_deadlines() -> list[Figure]:
    """Return the figures of two hundred calls."""
    return in_virtual_time(deadlines(calls=200, service=in_memory))


async def connections_of(name: str) -> list[Figure]:
    """Return the figures of connections that are closed, cut, out of step, and closed from this side."""
    make = TRANSPORTS[name]
    lost, _ = await closing(name, make, posts=20)  # how long its GETs take depends on the machine
    figures = [lost, *await cuts(name, make, step=13)]
    return [*figures, await surplus(name, make, schedules=200), await closed(name, make)]


#: What is measured, and the promise.
PROMISES: dict[str, Callable[[], Iterable[Figure] | Awaitable[Iterable[Figure]]]] = {
    "a herd is served at the rate of the service": modelled_herd,
    "a deadline is kept": virtual_deadlines,
    "processes share an unknown limit": modelled_processes,
    "many processes share a rate fairly": partial(thousand_processes, processes=20, calls=5),
    "a token is asked for once": partial(token_calls, tasks=100),
    **{f"connections of {name} break in every way": partial(connections_of, name) for name in TRANSPORTS},
    "no POST is sent again after a lost response": partial(lost_responses, schedules=100),
    "any response raises only our exceptions": partial(fuzzing, responses=10_000, waits=1_000, calls=400),
    "no link and no redirect leads away": partial(hostile_links, count=400),
    "list_all sends few requests": partial(list_all_requests, sizes=((900, 1.0), (12_000, 1.3))),
    "a cancelled call leaves nothing behind": cancellation,
    "no secret is written": partial(secrets, rounds=10),
}


@pytest.mark.parametrize("measure", PROMISES.values(), ids=PROMISES)
def test_a_promise_holds(measure: Callable[[], Any]) -> None:
    """Each figure of a measurement holds, on a small scale."""
    measured = measure()
    figures = asyncio.run(measured) if inspect.iscoroutine(measured) else measured
    assert figures
    assert [figure for figure in figures if not figure.holds] == []
