"""A listing above the cap, in parts: disjoint, whole, each iTwin once, or an error that says why not."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import assume, given, strategies as st
from itwin_platform import PagingError, TruncatedWarning, UnprocessableError
from itwin_platform._api import UNSET
from itwin_platform._listings.time_ranges import TimeRange, split

from tests.support.timed_itwins import TimedITwins
from tests.support.virtual_time import in_virtual_time

DAY = datetime(2026, 1, 1, tzinfo=UTC)


def day(number: float) -> datetime:
    """A day of January, by its number from 0 on."""
    return DAY + timedelta(days=number)


def read(itwins: TimedITwins, within: str | None = None) -> list[str]:
    """Reads all of it, and returns the ids."""

    async def collect() -> list[str]:
        return [str(itwin.id) async for itwin in itwins.whole(within)]

    return in_virtual_time(collect())


@pytest.mark.parametrize(
    ("part", "within", "condition"),
    [
        (TimeRange(), None, UNSET),
        (TimeRange(), "a eq 1 or b eq 2", "a eq 1 or b eq 2"),
        (TimeRange(since=DAY), None, "t ge 2026-01-01T00:00:00.000000Z"),
        (TimeRange(until=DAY.replace(microsecond=5)), None, "t lt 2026-01-01T00:00:00.000005Z"),
        (
            TimeRange(since=DAY, until=day(1).astimezone(timezone(timedelta(hours=-5)))),
            "a eq 1 or b eq 2",
            "(a eq 1 or b eq 2) and t ge 2026-01-01T00:00:00.000000Z and t lt 2026-01-02T00:00:00.000000Z",
        ),
        (TimeRange(timeless=True), None, "t eq null"),
        (TimeRange(timeless=True), "a", "(a) and t eq null"),
    ],
)
def test_parts_as_filters(part: TimeRange, within: str | None, condition: object) -> None:
    """Bounds are half open, times in UTC, and the caller's own filter holds in every part."""
    assert part.condition("t", within=within) == condition


@pytest.mark.parametrize(
    ("part", "times", "parts"),
    [
        (
            TimeRange(),
            [day(1), day(2), day(3)],
            [TimeRange(until=day(2)), TimeRange(since=day(2)), TimeRange(timeless=True)],
        ),
        (
            TimeRange(since=day(1), until=day(9)),
            [day(1), day(2)],
            [TimeRange(since=day(1), until=day(2)), TimeRange(since=day(2), until=day(9))],
        ),
        (TimeRange(until=day(9)), [day(5), day(5)], [TimeRange(until=day(5)), TimeRange(since=day(5), until=day(9))]),
        (
            TimeRange(since=day(5), until=day(9)),
            [day(5), day(5)],
            [
                TimeRange(since=day(5), until=day(5) + timedelta(microseconds=1)),
                TimeRange(since=day(5) + timedelta(microseconds=1), until=day(9)),
            ],
        ),
        (TimeRange(since=day(5), until=day(5) + timedelta(microseconds=1)), [day(5)], []),
        (TimeRange(since=day(5)), [], []),
        (TimeRange(timeless=True), [], []),
        (
            TimeRange(),
            [],
            [
                TimeRange(until=datetime(1970, 1, 1, tzinfo=UTC)),
                TimeRange(since=datetime(1970, 1, 1, tzinfo=UTC)),
                TimeRange(timeless=True),
            ],
        ),
        (TimeRange(until=datetime(1970, 1, 1, tzinfo=UTC)), [], []),
    ],
)
def test_splits(part: TimeRange, times: list[datetime], parts: list[TimeRange]) -> None:
    """In the middle of what was seen, at the next microsecond where all are equal, or not at all."""
    assert split(part, times) == parts


@pytest.mark.parametrize(
    ("part", "time"),
    [(TimeRange(since=day(5)), day(4)), (TimeRange(until=day(5)), day(5)), (TimeRange(timeless=True), day(5))],
)
def test_a_filter_that_is_ignored_is_noticed(part: TimeRange, time: datetime) -> None:
    """Times outside the part are an error: parts would overlap for ever."""
    with pytest.raises(PagingError, match="iTwins of other times"):
        split(part, [time])


MOMENTS = st.integers(0, 40).map(lambda number: DAY + timedelta(microseconds=number // 3 * 10 ** (number % 7)))


@given(st.lists(MOMENTS | st.none() | st.just("lately"), max_size=120), st.integers(2, 30), st.integers(1, 12))
def test_every_itwin_once(times: list[datetime | str | None], cap: int, page_size: int) -> None:
    """Whatever the times, all iTwins come once, unless more than the cap have the same time or none."""
    known = [time if isinstance(time, datetime) else None for time in times]
    assume(all(known.count(time) < cap for time in known))
    itwins = TimedITwins(times={str(number): time for number, time in enumerate(times)}, cap=cap, page_size=page_size)
    assert sorted(read(itwins), key=int) == [str(number) for number in range(len(times))]


def test_below_the_cap_nothing_is_parted() -> None:
    """What fits into one listing is read as one, after one look; the cap is learned from the first answer."""
    itwins = TimedITwins(times={str(number): day(number) for number in range(19)})
    assert len(read(itwins, "a eq 1")) == 19
    assert itwins.conditions == ["a eq 1"] * 3
    assert itwins.selects == ["createdDateTime", "createdDateTime", ""]


def test_parts_come_in_the_order_of_time() -> None:
    """Earlier ranges first, what has no time last; within a range the order is the service's."""
    itwins = TimedITwins(times={"none": None} | {str(number): day(number) for number in range(100)})
    ids = read(itwins)
    assert ids[-1] == "none"
    assert ids[:-1] == [str(number) for number in range(100)]


@pytest.mark.parametrize(
    ("times", "named"),
    [
        ([DAY] * 20, "ge 2026-01-01T00:00:00.000000Z and createdDateTime lt 2026-01-01T00:00:00.000001Z"),
        ([None] * 20, "eq null"),
    ],
)
def test_what_cannot_be_split_is_named(times: list[datetime | None], named: str) -> None:
    """As many iTwins as the cap with one time, or without one, are an error that names them and the ways on."""
    itwins = TimedITwins(times={"a": day(1), "b": day(2)} | {str(number): time for number, time in enumerate(times)})
    with pytest.raises(PagingError, match=f"20 iTwins or more fit '.*{named}'.*sub_class.*filter.*another time"):
        read(itwins)


def test_a_refused_filter_is_explained() -> None:
    """Where the service does not filter by the time, the error says so, and what the service said."""
    itwins = TimedITwins(
        times={str(n): day(n) for n in range(50)}, refuses=lambda condition: "createdDateTime" in condition
    )
    with pytest.raises(
        PagingError, match=r"refuses to list iTwins by their createdDateTime: 422.*\[\$filter\]"
    ) as caught:
        read(itwins)
    assert isinstance(caught.value.__cause__, UnprocessableError)


def test_a_refused_null_is_a_warning() -> None:
    """Where the service only refuses to look for iTwins without the time, the others are read, and it is told."""
    itwins = TimedITwins(times={str(n): day(n) for n in range(50)}, refuses=lambda condition: "null" in condition)
    with pytest.warns(TruncatedWarning, match=r"'createdDateTime eq null'.*are not among those read"):
        assert len(read(itwins)) == 50


def test_a_filter_that_the_service_ignores() -> None:
    """A service that gives everything to every filter is an error, and not an endless listing."""
    with pytest.raises(PagingError, match="iTwins of other times"):
        read(TimedITwins(times={str(n): day(n) for n in range(50)}, ignores_filter=True))


def test_an_itwin_that_moves_on_comes_once() -> None:
    """What is modified while it is read shows up in a later part: it is neither lost nor given twice."""
    itwins = TimedITwins(times={str(number): day(number) for number in range(100)})

    def touch(number: int) -> None:
        itwins.times = {**itwins.times, str(number * 7 % 100): day(100 + number)}

    itwins.before = touch
    assert sorted(read(itwins), key=int) == [str(number) for number in range(100)]


def test_a_part_that_grows_past_the_cap_is_parted_after_all() -> None:
    """iTwins that are made while a part is read are read too."""
    itwins = TimedITwins(times={str(number): day(number) for number in range(19)})

    def grow(number: int) -> None:
        if number == 3:
            itwins.times = {str(each): day(each) for each in range(60)}

    itwins.before = grow
    assert sorted(read(itwins), key=int) == [str(number) for number in range(60)]


def test_a_part_that_is_never_whole_is_an_error() -> None:
    """A service that shows less to a look than to a listing does not keep the client busy for ever."""
    itwins = TimedITwins(times={})

    def flicker(_: int) -> None:
        itwins.times = {str(number): day(number) for number in range(0 if itwins.selects[-1] else 50)}

    itwins.before = flicker
    with pytest.raises(PagingError, match="changes too fast"):
        read(itwins)


def test_what_has_no_id_is_never_dropped() -> None:
    """Where `select` leaves out the id, or the service sends no object at all, everything is given."""
    itwins = TimedITwins(times={"": day(1)} | {str(number): day(number) for number in range(30)})
    assert read(itwins).count("UNSET") == 1

    async def collect() -> list[object]:
        return [itwin async for itwin in TimedITwins(times={}, others=[None, 5, 5]).whole()]

    assert in_virtual_time(collect()) == [None, 5, 5]


def test_an_error_of_a_part_has_no_resume() -> None:
    """A place in a part is no place in the whole, so none is offered."""
    itwins = TimedITwins(times={str(number): day(number) for number in range(50)})

    def fail(number: int) -> None:
        if number == 9:
            raise PagingError("made up")

    itwins.before = fail
    with pytest.raises(PagingError, match="made up") as caught:
        read(itwins)
    assert caught.value.resume is None
