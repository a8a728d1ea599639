"""A listing above X-Max-Return, read completely: range by range, in the order of time. Source: section 4.3.

Every item that is read shows its time. When a range reaches the cap, the next one begins at the last time that came;
the items that came with this time are known by their ids. If the service does not sort by time, a range that reaches
the cap is split in the middle, and read again without what came before.

Invariants: a range is complete when it stays below the cap; what is left of a range that does not is smaller.
"""

import warnings
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import takewhile

from itwin_platform_api.models import ITwin
from itwin_platform_api.types import Unset
from itwin_platform_transport import PlatformError

from .._errors import PagingError, UnprocessableError
from .._requests.sender import ResponseInfo
from .position import Listing, Moment, PageQuery, Position, TimeRange, carried, parameters_of
from .run import Page, PageContent, Run, TruncatedWarning

#: The times of an iTwin that a listing can be partitioned by, and what reads them. Source: section 2.5.
TIMES: Mapping[str, Callable[[ITwin], datetime | Unset | None]] = {
    "createdDateTime": lambda itwin: itwin.created_date_time,
    "lastModifiedDateTime": lambda itwin: itwin.last_modified_date_time,
}
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_EPOCH, _LATEST = "1970-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.999999Z"


def moment_of(time: object) -> Moment | None:
    """Return a time of an iTwin as it stands in a filter; None where it is missing, or not a time in any zone."""
    if not isinstance(time, datetime) or not _FIRST <= time <= _LAST:
        return None
    return f"{time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def condition(time_range: TimeRange, time: str, *, within: str | None) -> str | None:
    """Return a range as a `$filter`, together with the filter of the caller; None for everything."""
    since, until = time_range.since, time_range.until
    terms = [f"{time} ge {since}"] if since else []
    terms += [f"{time} lt {until}"] if until else []
    if since and not until and time_range.timeless:
        terms = [f"({terms[0]} or {time} eq null)"]
    if within:
        terms.insert(0, f"({within})" if terms else within)
    return " and ".join(terms) or None


def first_half(time_range: TimeRange, moments: list[Moment | None]) -> TimeRange | None:
    """Return the first half of a range that holds these times, and more; None where it cannot be split."""
    since, until = time_range.since, time_range.until
    known = sorted(moment for moment in moments if moment is not None)
    # Where nothing tells where the times lie, this splits nothing, but tells whether there are any.
    moment = known[len(known) // 2] if known else _EPOCH if since is until is None else until
    if since is not None and moment == since:
        # Times are decoded to the microsecond: what lies closer together cannot be distinguished.
        moment = moment_of(datetime.fromisoformat(since) + timedelta(microseconds=1))
    timeless = since is None or time_range.timeless
    return None if moment == until else TimeRange(since=since, until=moment, timeless=timeless)


def behind(time_range: TimeRange) -> TimeRange | None:
    """Return the range behind a complete one; None after the last."""
    until = time_range.until
    return None if until is None else TimeRange(since=until, timeless=time_range.timeless)


def advanced(time_range: TimeRange, moments: list[Moment | None]) -> TimeRange:
    """Return a range after items with these times were handed out."""
    if not moments:
        return time_range
    last = moments[-1]
    ties = sum(1 for _ in takewhile(lambda moment: moment == last, reversed(moments)))
    if ties == len(moments) and last == time_range.reached:
        ties += time_range.ties
    # Where the first ones of all have no time, there are none without it at the end.
    is_first = time_range.since is None and time_range.ties == 0
    timeless = time_range.timeless and not (is_first and moments[0] is None)
    return time_range._replace(reached=last, ties=ties, timeless=timeless)


def rest(time_range: TimeRange, moments: list[Moment | None]) -> TimeRange | None:
    """Return what is left of a range that reached the cap; None where the order of its times does not tell."""
    since = time_range.reached or (_LATEST if time_range.timeless else None)
    known = sorted(moment for moment in moments if moment is not None)
    missing: list[Moment | None] = [None] * (len(moments) - len(known))
    is_sorted = moments in (missing + known, known + missing)
    if not is_sorted or since in (None, time_range.since) or not time_range.ties:
        return None
    timeless = time_range.timeless and (moments[0] is not None or moments[-1] is None)
    return time_range._replace(since=since, timeless=timeless)


class TimeRangeRun(Run[ITwin]):
    """Reads every iTwin, in ranges that stay below the cap.

    Args:
        listing: what the caller asked for; each item shows its time.
        start: where to begin.
        time: the property to partition by.
        within: the filter of the caller.
    """

    distinct = True

    def __init__(self, listing: Listing, start: Position, *, time: str, within: str | None) -> None:
        self._time, self._within, self._is_sorted = time, within, True
        super().__init__(listing, start)
        self._begin_range(start)

    def _begin_range(self, start: Position) -> None:
        """Begin a range, after the items of the range before that come again."""
        ties, text = start.range.ties, condition(start.range, self._time, within=self._within)
        if start.query is None and ties > len(self._seen):
            # Ids are safer than an offset, but a run that was resumed does not know those of the run before.
            start = start._replace(query=PageQuery(skip=ties), received=ties)
        order = {"$orderby": f"{self._time} ASC"} if self._is_sorted else {}
        narrowed = {"$filter": text} if text else {}
        self._begin(start, carried({**parameters_of(self._listing.first), **narrowed, **order}))
        #: The id and the time of all that came in this range, also of what was known and dropped.
        self._came: list[tuple[object, Moment | None]] = []

    def _after(self, count: int) -> Position:
        position = super()._after(count)
        return position._replace(range=advanced(position.range, [*map(self._moment, self._items[:count])]))

    def requests(self, count: int) -> list[str]:
        """Return the queries of the next requests. Later ranges may be short, so fewer pages are requested ahead."""
        return super().requests(min(count, 2 + self.pages_read // 10) if self._end.range.since else count)

    def take(self, content: PageContent[ITwin], *, response: ResponseInfo) -> Page[ITwin]:
        """Take the content of the response to the first request, and return its page.

        Raises:
            PagingError: the service ignores the filter, so the listing would never come to an end.
        """
        since, until = self._end.range.since, self._end.range.until
        came = [(getattr(item, "id", None), self._moment(item)) for item in content.items]
        if any(moment and ((since and moment < since) or (until and moment >= until)) for _, moment in came):
            raise PagingError(
                "the service returns iTwins of other times for a filter by time, so the listing cannot be "
                "partitioned by it"
            )
        self._came += came
        return super().take(content, response=response)

    def _moment(self, item: ITwin) -> Moment | None:
        return moment_of(TIMES[self._time](item))

    def _finish(self, following: PageQuery | None, *, is_left: bool) -> bool:
        """Continue with what is left of the range, or with the next one, unless the listing ends here."""
        is_left = super()._finish(following, is_left=is_left)
        if not self._ended or (is_left and not self.truncated):
            return is_left
        next_range = self._split(self._end.range) if self.truncated else behind(self._end.range)
        self.truncated = False
        if next_range is not None:
            self._ended = self._remaining(self._end) == 0
            self._begin_range(Position(range=next_range, items=self._end.items))
        return next_range is not None or self.problem is not None

    def _split(self, time_range: TimeRange) -> TimeRange | None:
        """Return what is left of a range that reached the cap; a half of it where it is not sorted by time."""
        moments = [moment for _, moment in self._came]
        following = rest(time_range, moments)
        if following is not None:
            came = (each for each, moment in self._came if moment == following.reached)
            self._seen = {each for each in came if isinstance(each, str)}
            return following
        following = first_half(time_range, moments)
        if following is None:
            self.problem = PagingError(
                f"{self.max_return} iTwins or more match "
                f"{condition(time_range, self._time, within=self._within)!r}: more iTwins share one timestamp, or have "
                "none, than the cap of X-Max-Return allows, so this cannot be split further. Narrow the listing by "
                "sub_class or filter, or pass the other time as partition_by"
            )
        return following

    def recovers(self, error: PlatformError) -> bool:
        """Tell whether the run continues without what the service rejected: a null, an order."""
        if not self._is_first or not isinstance(error, UnprocessableError):
            return False
        time_range = self._end.range
        rejected = condition(time_range, self._time, within=self._within)
        bounded = time_range._replace(timeless=False)
        has_null = rejected != condition(bounded, self._time, within=self._within)
        if has_null and not (self._is_sorted and self.pages_read == 0):
            time_range = bounded
            warnings.warn(
                f"the service rejects the filter {rejected!r}: iTwins without this time are not among those read",
                TruncatedWarning,
                stacklevel=4,
            )
        elif self._is_sorted:
            self._is_sorted = False
        else:
            raise PagingError(f"the service does not list iTwins by their {self._time}: {error}") from error
        self._begin_range(self._end._replace(range=time_range))
        return True
