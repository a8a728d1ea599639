"""Concurrent listings return what sequential ones return, whatever the service does."""

import asyncio
import gc
from contextlib import aclosing
from dataclasses import dataclass

from hypothesis import event, given, strategies as st
from itwin_platform import BackoffPolicy, Gate, ITwin, Pager, PlatformClient, PlatformError

from tests.support.page_schedules import Schedule, ScheduledPages
from tests.support.scripted_transport import ScriptedTransport
from tests.support.virtual_time import in_virtual_time

POLICY = BackoffPolicy(max_attempts=20, max_wait=600.0, deadline=None, max_in_flight=64)
PLACES = st.integers(0, 40)
SCHEDULES = st.builds(
    Schedule,
    total=st.integers(0, 40),
    sizes=st.one_of(st.just((100,)), st.lists(st.sampled_from([100, 67, 50, 150]), min_size=1, max_size=5).map(tuple)),
    links=st.one_of(
        st.sampled_from([("plain",), ("relative",), ("without size",), ("cursor",), ("both",)]),
        st.lists(
            st.sampled_from(["plain", "relative", "blank", "without size", "cursor", "both", "other size", "foreign"]),
            min_size=1,
            max_size=5,
        ).map(tuple),
    ),
    latencies=st.lists(st.sampled_from([0.0, 0.1, 1.0, 3.0, 30.0]), min_size=1, max_size=7).map(tuple),
    faults=st.dictionaries(
        PLACES, st.lists(st.sampled_from(["429", "503", "502", "reset", "unsent"]), max_size=3).map(tuple), max_size=6
    ),
    broken=st.none() | PLACES,
    cap=st.none() | st.integers(1, 45),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a caller reads: the numbers that are given, seconds of work on one item after the other, where to stop."""

    page_size: int
    limit: int | None
    work: tuple[float, ...]
    stop: int | None


READINGS = st.builds(
    Reading,
    page_size=st.integers(1, 9),
    limit=st.none() | st.integers(0, 45),
    work=st.lists(st.sampled_from([0.0, 0.0, 0.5, 5.0]), min_size=1, max_size=3).map(tuple),
    stop=st.none() | st.integers(1, 45),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a caller saw: the ids until the end, how it ended, what the pager said, and the rest from there on."""

    ids: list[str]
    ended: str
    truncated: bool
    max_return: int | None
    rest: list[str]


async def outcome(schedule: Schedule, reading: Reading, *, concurrency: int) -> Outcome:
    """Read, and then again from where that ended, when the service has calmed down."""
    pages = ScheduledPages(schedule)
    service = ScriptedTransport(pages)
    ids: list[str] = []
    ended = "whole"
    async with PlatformClient(
        "https://service.example/prefix", vendor="v", token="t", transport=service, backoff=POLICY
    ) as platform:

        def listing(resume: str | None = None, limit: int | None = None) -> Pager[ITwin]:
            size = reading.page_size
            return platform.itwins.list(page_size=size, limit=limit, concurrency=concurrency, resume=resume)

        pager = listing(limit=reading.limit)
        resume = pager.resume
        try:
            async for itwin in pager:
                ids.append(str(itwin.id))
                resume = pager.resume
                await asyncio.sleep(reading.work[len(ids) % len(reading.work)])
                if len(ids) == reading.stop:
                    ended = "stopped"
                    break
        except PlatformError as error:
            ended, resume = type(error).__name__, error.resume or ""
        for _ in range(10):
            await asyncio.sleep(0)
        assert service.in_flight == 0
        assert service.most_in_flight <= concurrency
        pages.calm = True
        rest = [str(itwin.id) async for itwin in listing(resume)]
        assert len(asyncio.all_tasks()) == 1
    return Outcome(ids=ids, ended=ended, truncated=pager.truncated, max_return=pager.max_return, rest=rest)


@given(SCHEDULES, READINGS, st.integers(2, 17))
def test_the_same_items_in_the_same_order(schedule: Schedule, reading: Reading, concurrency: int) -> None:
    """For any schedule: as sequentially, with the same end, and with the rest neither twice nor lost."""
    sequential = in_virtual_time(outcome(schedule, reading, concurrency=1))
    parallel = in_virtual_time(outcome(schedule, reading, concurrency=concurrency))
    event(sequential.ended)
    assert parallel == sequential
    everything = [str(number) for number in range(min(schedule.total, schedule.cap or 10_000))]
    assert sequential.ids + sequential.rest == everything
    if sequential.ended == "whole":
        assert sequential.ids == everything[: reading.limit]


def test_pages_ahead_pass_the_gate() -> None:
    """A gate for two requests limits a listing of any concurrency to two."""
    service = ScriptedTransport(ScheduledPages(Schedule(total=200)))

    async def read() -> int:
        gate = Gate(max_in_flight=2)
        async with PlatformClient(
            "https://service.example/prefix", vendor="v", token="t", transport=service, gate=gate
        ) as platform:
            return len(await platform.itwins.list(page_size=10, concurrency=9).collect())

    assert in_virtual_time(read()) == 200
    assert service.most_in_flight == 2


def models() -> int:
    """Return how many iTwins were made since `gc.freeze()` and are still there."""
    gc.collect()
    return sum(isinstance(found, ITwin) for found in gc.get_objects())


def test_pages_wait_undecoded() -> None:
    """While the caller works on a page, the pages behind it are kept undecoded."""
    gc.collect()
    gc.freeze()  # what other tests left behind is not looked at

    async def read() -> list[int]:
        counts: list[int] = []
        service = ScriptedTransport(ScheduledPages(Schedule(total=200)))
        async with (
            PlatformClient("https://service.example/prefix", vendor="v", token="t", transport=service) as platform,
            aclosing(platform.itwins.list(page_size=10, concurrency=4).pages()) as pages,
        ):
            for _ in range(3):
                page = await anext(pages)
                await asyncio.sleep(100)
                counts.append(models() - len(page.items))
        return counts

    try:
        assert in_virtual_time(read()) == [0, 0, 0]
    finally:
        gc.unfreeze()
