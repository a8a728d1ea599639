"""Promises of `make reliability` on a scale that takes about a second."""

import logging
from collections.abc import Iterator

import pytest

from measure.promises.__main__ import Measurement, measured
from measure.promises.connections import closing, cuts, surplus
from measure.promises.figure import Figure, at_most, exactly
from measure.promises.learning import worst
from measure.promises.limits import FixedWindow, TokenBucket


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Hide the warnings of hundreds of cooldowns."""
    logger = logging.getLogger("itwin_platform")
    logger.propagate = False
    yield
    logger.propagate = True


async def connections() -> list[Figure]:
    """Return the figures of connections that are closed, that are cut, or that get surplus bytes."""
    return [await closing(posts=20), *await cuts(step=13), await surplus(schedules=200)]


def herd() -> list[Figure]:
    """Return the figures of a hundred calls at a limit of ten a second, in virtual time."""
    undone, per_call, against = worst(
        [FixedWindow(10, 1.0), TokenBucket(10, 1.0)], calls=100, latency=0.005, is_whole=True
    )
    return [
        exactly("calls that were not done", undone, 0),
        at_most("requests per call", per_call, 1.2),
        at_most("time against the ideal", against, 1.1),
    ]


@pytest.mark.parametrize("measurement", [herd, connections])
def test_a_promise_holds(measurement: Measurement) -> None:
    """Each figure of a measurement holds, on a small scale."""
    figures = measured(measurement.__name__, measurement)
    assert figures
    assert [figure for figure in figures if not figure.holds] == []
