"""`list_all` interrupted: `resume`, `limit` and errors lose no iTwin and repeat none."""

from collections.abc import Iterator
from datetime import datetime

import pytest
from hypothesis import assume, given, strategies as st
from itwin_platform._errors import NotSentError

from tests.support.timed_itwin_strategies import ORDERS, TIMES, within_the_cap
from tests.support.timed_itwins import TimedITwins, days
from tests.support.virtual_time import in_virtual_time


@given(TIMES, st.integers(3, 30), st.integers(1, 12), ORDERS, st.sampled_from([1, 3]), st.integers(1, 40))
def test_a_listing_that_stops_anywhere_continues(  # what there is, how it is read, and how often it stops
    times: list[datetime | str | None], cap: int, page_size: int, order: str, concurrency: int, stop: int
) -> None:
    """A reader that stops after every few items and resumes with a new pager reads every iTwin once."""
    assume(within_the_cap(times, cap))
    itwins = TimedITwins(
        times={str(number): time for number, time in enumerate(times)}, cap=cap, page_size=page_size, order=order
    )

    async def read_on() -> Iterator[str]:
        ids: list[str] = []
        resume, more = None, True
        while more:
            pager, before = itwins.pager(concurrency=concurrency, resume=resume), len(ids)
            async for itwin in pager:
                ids.append(str(itwin.id))
                if len(ids) - before == stop:
                    break
            assert pager.items_read == len(ids) - before
            resume, more = pager.resume, len(ids) > before
        return iter(ids)

    if not order.startswith("sorts"):
        assume(len(times) < cap)  # such a range is read again, and a resume does not know which items it returned
    assert sorted(in_virtual_time(read_on()), key=int) == [str(number) for number in range(len(times))]


def test_each_page_continues_the_listing() -> None:
    """`page.resume` gives the pages after it, also at the end of a range, and is None on the last page."""
    itwins = TimedITwins(times=days(57) | {"none": None})

    async def pages() -> None:
        read = [page async for page in itwins.pager(concurrency=3).pages()]
        ids = [[str(itwin.id) for itwin in page.items] for page in read]
        for number, page in enumerate(read[:-1], 1):
            rest = await itwins.pager(resume=page.resume).collect()
            assert [str(itwin.id) for itwin in rest] == [identity for page in ids[number:] for identity in page]
        assert read[-1].resume is None

    in_virtual_time(pages())


@pytest.mark.parametrize("limit", [0, 1, 15, 16, 30, 57, 58, 99])
@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_limit_holds_for_all_ranges(limit: int, concurrency: int) -> None:
    """`limit` counts the items of all ranges, and resuming without a limit reads the rest."""
    itwins = TimedITwins(times=days(57) | {"none": None})

    async def pages() -> list[str]:
        first = itwins.pager(limit=limit, concurrency=concurrency)
        ids = [str(itwin.id) for itwin in await first.collect()]
        assert len(ids) == min(limit, 58)
        return ids + [str(itwin.id) for itwin in await itwins.pager(resume=first.resume).collect()]

    assert in_virtual_time(pages()) == ["none", *(str(number) for number in range(57))]


@pytest.mark.parametrize("number", range(1, 11))
def test_a_listing_resumes_from_an_error(number: int) -> None:
    """Whichever request fails, the collected items and those of the resumed listing are all iTwins once."""
    itwins = TimedITwins(times=days(50), errors={number: NotSentError("broken")})

    async def resumed() -> list[str]:
        with pytest.raises(NotSentError) as caught:
            await itwins.pager(concurrency=3).collect()
        rest = await itwins.pager(concurrency=3, resume=caught.value.resume).collect()
        return [str(itwin.id) for itwin in [*caught.value.collected, *rest]]  # type: ignore[attr-defined]  # iTwins

    assert in_virtual_time(resumed()) == [str(number) for number in range(50)]
