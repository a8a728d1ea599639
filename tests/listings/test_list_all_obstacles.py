"""`list_all` when ranges cannot be split, filters do not work or iTwins change while they are read."""

from dataclasses import replace
from datetime import datetime

import pytest
from itwin_platform import ITwin, PagingError, TruncatedWarning, UnprocessableError
from itwin_platform._listings.run import PageContent

from tests.support.timed_itwins import DAY, TimedITwins, day, days, read
from tests.support.virtual_time import in_virtual_time


def test_a_filter_that_is_ignored_is_noticed() -> None:
    """A time outside the requested range raises PagingError, because the ranges would overlap."""
    with pytest.raises(PagingError, match="iTwins of other times"):
        read(TimedITwins(times=days(50), ignores_filter=True))


@pytest.mark.parametrize(
    ("times", "named"), [([DAY] * 20, "ge 2026-01-01T00:00:00.000000Z.*"), ([None] * 20, ".*eq null.*")]
)
@pytest.mark.parametrize("order", ["sorts", "sorts nulls last", "rejects"])
def test_a_range_that_cannot_be_split_is_named(times: list[datetime | None], named: str, order: str) -> None:
    """When as many iTwins as the cap share one time or have none, the error names the filter and what to do."""
    known: dict[str, datetime | None] = {"a": day(1), "b": day(2)}
    itwins = TimedITwins(times=known | {str(number): time for number, time in enumerate(times)}, order=order)
    with pytest.raises(
        PagingError, match=f"20 iTwins or more match '.*{named}': more iTwins share one.*sub_class.*partition_by"
    ):
        read(itwins)


def test_a_rejected_filter_is_explained() -> None:
    """When the service cannot filter by the time, the error says so and quotes the service."""
    itwins = TimedITwins(times=days(50), rejects=lambda condition: "createdDateTime" in condition)
    with pytest.raises(
        PagingError, match=r"does not list iTwins by their createdDateTime: 422.*\[\$filter\]"
    ) as caught:
        read(itwins)
    assert isinstance(caught.value.__cause__, UnprocessableError)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_rejected_null_is_a_warning(concurrency: int) -> None:
    """When the service rejects only the filter for iTwins without a time, the others are read, with one warning."""
    itwins = TimedITwins(times=days(50), rejects=lambda condition: "null" in condition)
    with pytest.warns(TruncatedWarning, match=r"or createdDateTime eq null\)'.*are not among those read") as caught:
        assert len(read(itwins, concurrency=concurrency)) == 50
    assert len(caught) == 1


def test_an_itwin_whose_time_changes_is_not_lost() -> None:
    """An iTwin whose time changes during the listing appears in a later range, a second time if it came before."""
    itwins = TimedITwins(times=days(100))

    def touch(number: int) -> None:
        if number > 9:
            itwins.times = {**itwins.times, "7": day(100 + number)}

    itwins.before = touch
    ids = read(itwins)
    assert set(ids) == set(days(100))
    assert ids.count("7") == 2


def test_a_range_that_grows_past_the_cap_is_split() -> None:
    """iTwins that are created while a range is read are returned too, and none comes twice."""
    itwins = TimedITwins(times=days(14))

    def grow(number: int) -> None:
        if number == 2:
            itwins.times = days(60) | {"none": None}

    itwins.before = grow
    assert sorted(read(itwins)) == sorted(itwins.times)


def test_items_without_an_id_are_never_dropped() -> None:
    """Items without an id, or that are no objects, are all returned."""
    itwins = TimedITwins(times=days(30) | {"": day(1)})
    assert read(itwins).count("UNSET") == 1

    async def collect() -> list[object]:
        return [*await TimedITwins(times={}, cap=5, others=[None, 5, 5]).pager().collect()]

    assert in_virtual_time(collect()) == [None, 5, 5]


def test_links_to_another_origin_are_not_followed() -> None:
    """A next link to another origin raises PagingError in a range too."""
    itwins = TimedITwins(times=days(50))
    read_page = itwins.read
    itwins.read = lambda response: _led_away(read_page(response))  # type: ignore[method-assign]  # another service
    with pytest.raises(PagingError, match="another origin"):
        read(itwins)


def _led_away(content: PageContent[ITwin]) -> PageContent[ITwin]:
    return replace(content, next_href=content.next_href and f"//elsewhere.example/itwins/{content.next_href}")
