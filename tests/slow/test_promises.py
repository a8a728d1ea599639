"""The promises of `make reliability`, each on a scale that costs about a second."""

import logging
import threading
from collections.abc import Iterator

import pytest

from measure.promises import shared_limit as shared_limit_module
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
from measure.promises.shared_limit import shared_limit, shared_limit_of_the_system
from measure.promises.token_calls import token_calls
from tests.support.virtual_time import in_virtual_time


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


@pytest.mark.parametrize(("measurement", "seconds"), [(fails, 60.0), (never_ends, 0.1)], ids=["fails", "never ends"])
def test_a_measurement_that_yields_no_figures_does_not_hold(measurement: Measurement, seconds: float) -> None:
    """It is a line of the table that says so, and the others go on."""
    (figure,) = measured_within(measurement, seconds=seconds)
    assert (figure.promise, figure.holds) == (measurement.__name__, False)


async def test_what_cannot_be_measured_here_is_a_line_that_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a Redis server nothing of RedisGate is measured, and nothing fails."""
    monkeypatch.setattr(shared_limit_module, "server_program", lambda: None)
    monkeypatch.setattr(shared_limit_module, "system_programs", list)
    figures = [*await shared_limit(), *await shared_limit_of_the_system()]
    assert [(figure.measured.partition(":")[0], figure.holds) for figure in figures] == [("not measured", True)] * 2


def broken(figures: list[Figure]) -> list[Figure]:
    """Those that do not hold, of which there must be some to look at."""
    assert figures
    return [figure for figure in figures if not figure.holds]


def test_a_herd_is_served_at_the_rate_of_the_service() -> None:
    """The worst of eight herds in virtual time: all succeed, 1.2 requests a call, 1.1 times the ideal."""
    assert broken(modelled_herd()) == []


def test_a_deadline_is_kept() -> None:
    """Two hundred calls, in virtual time."""
    assert broken(in_virtual_time(deadlines(calls=200, service=in_memory))) == []


def test_processes_share_an_unknown_limit() -> None:
    """The cases of `make reliability`, in virtual time, with a model of the script as the server."""
    assert broken(modelled_processes()) == []


def test_many_processes_share_a_rate_fairly() -> None:
    """Twenty processes under a known rate, in virtual time, with a model of the script as the server."""
    assert broken(thousand_processes(processes=20, calls=5)) == []


async def test_a_token_is_asked_for_once() -> None:
    """By a hundred tasks: fresh, rejected, expired, failing and cancelled."""
    assert broken(await token_calls(tasks=100)) == []


@pytest.mark.parametrize("name", TRANSPORTS)
async def test_connections_break_in_every_way(name: str) -> None:
    """Closed, cut, out of step, and closed from this side, over both transports."""
    make = TRANSPORTS[name]
    lost, _ = await closing(name, make, posts=20)  # how long its GETs take depends on the machine
    figures = [lost, *await cuts(name, make, step=13)]
    figures += [await surplus(name, make, schedules=200), await closed(name, make)]
    assert broken(figures) == []


def test_no_post_is_sent_again_after_a_lost_response() -> None:
    """In a hundred random schedules of faults."""
    assert broken(lost_responses(schedules=100)) == []


async def test_any_response_raises_only_our_exceptions() -> None:
    """Ten thousand bodies and a thousand waits."""
    assert broken(await fuzzing(responses=10_000, waits=1_000, calls=400)) == []


async def test_no_link_and_no_redirect_leads_away() -> None:
    """Four hundred of them."""
    assert broken(await hostile_links(count=400)) == []


async def test_list_all_sends_few_requests() -> None:
    """Listings of one page, and beyond the cap, one page after the other and several at once."""
    assert broken(await list_all_requests(sizes=((900, 1.0), (12_000, 1.3)))) == []


def test_a_cancelled_call_leaves_nothing_behind() -> None:
    """A call is cancelled at every iteration of the event loop, over real connections."""
    assert broken(cancellation()) == []


async def test_no_secret_is_written() -> None:
    """Eighty calls with random responses."""
    assert broken(await secrets(rounds=10)) == []
