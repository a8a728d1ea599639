"""A listing above X-Max-Return, read completely: range by range, in the order of time. Source: section 4.3.

Every item that is read shows its time. When a range reaches the cap, the next one begins at the last time that came;
the items that came with this time are known by their ids. If the service does not sort by time, a range that reaches
the cap is split in the middle, and read again without what came before.

Invariants: a range is complete when it stays below the cap; what is left of a range that does not is smaller.
"""

import warnings
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from .._api import ITwin
from .._errors import PagingError, PlatformError, UnprocessableError
from .links import SKIP, parameters_of
from .resume import Position, TimeRange, write_resume
from .run import Listing, ListingRun, Page, PageContent, PageRequest, Run, TruncatedWarning

#: The times of an iTwin that a listing can be partitioned by, and where its model has them. Source: section 2.5.
TIMES = {"createdDateTime": "created_date_time", "lastModifiedDateTime": "last_modified_date_time"}
EVERYTHING = TimeRange()
#: Times are decoded to the microsecond: what lies closer together cannot be distinguished.
_CLOSEST = timedelta(microseconds=1)
_EPOCH, _LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def condition(time_range: TimeRange, time: str, *, within: str | None) -> str | None:
    """Return a range as a `$filter`, together with the filter of the caller; None for everything."""
    since, until = time_range.since, time_range.until
    terms = [f"{time} ge {_literal(since)}"] if since else []
    terms += [f"{time} lt {_literal(until)}"] if until else []
    if since and not until and time_range.timeless:
        terms = [f"({terms[0]} or {time} eq null)"]
    if within:
        terms.insert(0, f"({within})" if terms else within)
    return " and ".join(terms) or None


def _literal(moment: datetime) -> str:
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def is_sorted(moments: list[datetime | None]) -> bool:
    """Tell whether times ascend, with those that are missing at one end."""
    known = [moment for moment in moments if moment is not None]
    nulls = len(moments) - len(known)
    at_one_end = [None] * nulls in (moments[:nulls], moments[len(known) :])
    return at_one_end and all(before <= after for before, after in pairwise(known))


def middle(time_range: TimeRange, moments: list[datetime | None]) -> datetime | None:
    """Return where to split a range that holds these times, and more; None where it cannot be split."""
    since, until = time_range.since, time_range.until
    known = sorted(moment for moment in moments if moment is not None)
    if not known:
        # Nothing tells where the times lie: this splits nothing, but tells whether there are any.
        return _EPOCH if since is None and until is None else None
    moment = known[len(known) // 2]
    if moment == since:
        moment += _CLOSEST
    return None if moment == until else moment


def next_start(time_range: TimeRange, reached: TimeRange, moments: list[datetime | None]) -> datetime | None:
    """Return the time from which what is left of a range is read; None where its order does not tell."""
    moment = reached.reached or (_LATEST if reached.timeless else None)
    is_new = moment != time_range.since and bool(moments or time_range.ties)
    return moment if is_new and is_sorted(moments) else None


def ties_at_the_end(moments: list[datetime | None]) -> tuple[datetime | None, int]:
    """Return the last time, None where it is missing, and how many of the last items have it."""
    count = next((count for count, moment in enumerate(reversed(moments)) if moment != moments[-1]), len(moments))
    return moments[-1], count


class TimeRangeRun(Run[ITwin]):
    """Reads every iTwin, in ranges that stay below the cap.

    Args:
        listing: what the caller asked for; each item shows its time.
        start: where to begin.
        time: the property to partition by.
        within: the filter of the caller.
    """

    def __init__(self, listing: Listing[ITwin], start: Position, *, time: str, within: str | None) -> None:
        self._listing, self._time, self._within = listing, time, within
        self._first, self._is_sorted, self._rejected_null = listing.first, True, ""
        self._start = start = replace(start, range=start.range or EVERYTHING)
        self._range = start.range or EVERYTHING
        #: The id and the time of what was read of the range of the last page, and the ids that may come again.
        self._read: list[tuple[object, datetime | None]] = []
        #: The times of all that came in this range, also of what was known and dropped: they tell where to split it.
        self._came: list[datetime | None] = []
        self._seen: set[str] = set()
        self._run = self._taken = self._begin(start)
        #: The position after the last page, where another range begins there.
        self._after: Position | None = None
        self._ended = listing.limit is not None and start.earlier + start.items >= listing.limit

    @property
    def position(self) -> Position:
        """The position after the item that was handed out last."""
        return self._position(self._taken.position, waiting=self._taken.waiting)

    def _position(self, position: Position, *, waiting: int) -> Position:
        if self._after is not None and not waiting:
            return self._after
        moments = [moment for _, moment in self._read[: len(self._read) - waiting]]
        time_range = position.range
        if time_range is None or not moments:
            return position
        last, count = ties_at_the_end(moments)
        if count == len(moments) and last == time_range.reached:
            count += time_range.ties
        timeless = time_range.timeless and (moments[0] is not None or time_range.ties > 0)
        # What came in the range before counts for the cap of this one.
        known = self._taken.duplicates
        return replace(
            position,
            range=replace(time_range, timeless=timeless, reached=last, ties=count),
            items=position.items + known,
            earlier=position.earlier - known,
        )

    @property
    def items_read(self) -> int:
        """Items handed out in this run."""
        position, start = self.position, self._start
        return position.earlier + position.items - start.earlier - start.items

    def hand_out(self, count: int) -> None:
        """Count items of the page that was taken last as handed out."""
        self._taken.hand_out(count)

    def requests(self, count: int) -> list[PageRequest]:
        """Return the next requests in order. Later ranges may be short, so fewer of their pages are requested ahead."""
        if self._ended or self.problem is not None:
            return []
        return self._run.requests(count if self._range.since is None else min(count, 2 + self.pages_read // 10))

    def _begin(self, start: Position) -> ListingRun[ITwin]:
        query = {**parameters_of(self._first)}
        text = condition(self._range, self._time, within=self._within)
        if text is not None:
            query["$filter"] = text
        if self._is_sorted:
            query["$orderby"] = f"{self._time} ASC"
        return ListingRun(replace(self._listing, first=replace(self._first, query=query)), start, seen=self._seen)

    def take(self, request: PageRequest, content: PageContent[ITwin]) -> Page[ITwin]:
        """Take the content of the first request, and return its page."""
        if self._taken is not self._run:
            self._taken, self._read, self._came, self._after = self._run, [], [], None
        run = self._run
        dropped = run.duplicates
        page = run.take(request, content)
        self._note(page.items)
        self._came += map(self._moment, content.items)
        self.pages_read += 1
        self.duplicates += run.duplicates - dropped
        self.max_return = run.max_return
        if run.ended:
            self._end(run, is_complete=page.resume is None and not run.truncated)
        if self._ended and self._after is None and page.resume is None and self.problem is None:
            return page
        return replace(page, resume=write_resume(self._position(run.end, waiting=0), listing=self._listing.name))

    def _moment(self, item: ITwin) -> datetime | None:
        moment = getattr(item, TIMES[self._time], None)
        return moment if isinstance(moment, datetime) else None

    def _note(self, items: list[ITwin]) -> None:
        """Note the ids and times of items. A service that ignores the filter would never come to an end."""
        since, until = self._range.since, self._range.until
        for item in items:
            moment = self._moment(item)
            if moment is not None and ((since and moment < since) or (until and moment >= until)):
                raise PagingError(
                    "the service returns iTwins of other times for a filter by time, so the listing cannot be "
                    "partitioned by it"
                )
            self._read.append((getattr(item, "id", None), moment))
        if self._rejected_null:
            warnings.warn(self._rejected_null, TruncatedWarning, stacklevel=5)
            self._rejected_null = ""

    def _end(self, run: ListingRun[ITwin], *, is_complete: bool) -> None:
        """Continue with what is left of the range, or with the next one, unless the listing ends here."""
        self.problem = run.problem
        if self.problem is not None:
            return
        limit, earlier = self._listing.limit, run.end.earlier + run.end.items
        is_limited = limit is not None and earlier >= limit
        if run.truncated:
            self._after = self._rest(run, earlier)
        elif is_complete:
            self._after = self._next(earlier)
        self._ended = is_limited or self._after is None

    def _next(self, earlier: int) -> Position | None:
        """Begin the next range, and return its position; None after the last one."""
        if self._range.until is None:
            return None
        self._range = TimeRange(since=self._range.until, timeless=self._range.timeless)
        start = Position(range=self._range, earlier=earlier)
        self._run = self._begin(start)
        return start

    def _rest(self, run: ListingRun[ITwin], earlier: int) -> Position | None:
        """Begin what is left of a range that reached the cap, and return its position."""
        time_range, moments = self._range, [moment for _, moment in self._read]
        reached = self._position(run.end, waiting=0).range or time_range
        moment = next_start(time_range, reached, moments)
        if moment is None:
            return self._first_half(time_range, earlier)
        self._range = TimeRange(since=moment, until=time_range.until, timeless=reached.timeless)
        ties = reached.ties
        self._seen = set()
        self._seen.update(identity for identity, _ in self._read[-ties:] if isinstance(identity, str))
        query = ((SKIP, str(ties)),) if ties else None
        after = Position(range=self._range, query=query, items=ties, earlier=earlier - ties)
        # Ids are safer than an offset, but a run that was resumed does not know those of the run before.
        are_known = ties <= len(self._read)
        self._run = self._begin(Position(range=self._range, earlier=earlier) if are_known else after)
        return after

    def _first_half(self, time_range: TimeRange, earlier: int) -> Position | None:
        """Begin the first half of a range that is read again, and return its position; None where none is shorter."""
        self._is_sorted = False
        moment = middle(time_range, self._came)
        if moment is None:
            self.problem = PagingError(
                f"{self.max_return} iTwins or more match "
                f"{condition(time_range, self._time, within=self._within)!r}: more iTwins share one timestamp, or have "
                "none, than the cap of X-Max-Return allows, so this cannot be split further. Narrow the listing by "
                "sub_class or filter, or pass the other time as partition_by"
            )
            return None
        timeless = time_range.since is None or time_range.timeless
        self._range = TimeRange(since=time_range.since, until=moment, timeless=timeless)
        start = Position(range=self._range, earlier=earlier)
        self._run = self._begin(start)
        return start

    def recovers(self, error: PlatformError) -> bool:
        """Tell whether the run continues without what the service rejected: a cap of 10000, a null, an order."""
        if not isinstance(error, UnprocessableError) or self._run.pages_read:
            return False
        alternative = self._listing.alternative if self._first == self._listing.first else None
        first = alternative and alternative(error, self._first)
        rejected = condition(self._range, self._time, within=self._within)
        bounded = replace(self._range, timeless=False)
        if first:
            self._first = first
        elif rejected != condition(bounded, self._time, within=self._within) and not (
            self._is_sorted and self.pages_read == 0
        ):
            self._range = bounded
            self._rejected_null = (
                f"the service rejects the filter {rejected!r}: iTwins without this time are not among those read"
            )
        elif self._is_sorted:
            self._is_sorted = False
        else:
            raise PagingError(f"the service does not list iTwins by their {self._time}: {error}") from error
        self._run = self._begin(replace(self._run.end, range=self._range))
        return True
