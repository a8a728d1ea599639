"""A listing above X-Max-Return, read completely: range by range, in the order of time. Source: section 4.3.

A probe asks for one item near the cap, in order of time. It tells whether a range reaches the cap, and where to split
it: what comes before that item fits. The next range is probed while the one before it is read.

Invariant: the ranges that are left to read follow from the one that is being read, so that its bounds are all that a
`resume` must carry.
"""

import warnings
from collections import deque
from dataclasses import dataclass, replace
from datetime import datetime

from .._api import ITwin, RequestValues
from .._errors import PagingError, PlatformError, UnprocessableError
from .links import MOST_RETURNED, SKIP, TOP, parameters_of
from .resume import (
    CLOSEST,
    EVERYTHING,
    TIMELESS,
    TIMES,
    Position,
    TimeRange,
    condition,
    following,
    split,
    write_resume,
)
from .run import Listing, ListingRun, Page, PageContent, PageRequest, Run, TruncatedWarning


@dataclass(frozen=True, slots=True, kw_only=True)
class _KnownRange:
    """A range to read. It holds `at_most` so many items, where this is known, and nearly as many when it is `full`."""

    range: TimeRange
    at_most: int | None = None
    full: bool = False


class TimeRangeRun(Run[ITwin]):
    """Reads every iTwin, in ranges that stay below the cap.

    Args:
        listing: what the caller asked for.
        start: where to begin.
        time: the property to partition by.
        within: the filter of the caller.
    """

    def __init__(self, listing: Listing[ITwin], start: Position, *, time: str, within: str | None) -> None:
        self._listing, self._time, self._within = listing, time, within
        self._first, self._cap, self._ordered = listing.first, MOST_RETURNED, True
        self._start = start = replace(start, range=start.range or EVERYTHING)
        time_range = start.range or EVERYTHING
        #: The ids of one range, and the range that is read again because it was not complete.
        self._seen: set[str] = set()
        self._again: TimeRange | None = None
        #: Ranges in order: those that are known to fit, and after them those that are still to be probed.
        self._known: deque[_KnownRange] = deque()
        self._unknown = deque(following(time_range))
        self._run: ListingRun[ITwin] | None = None
        if start.query is None and time_range.until is None and not time_range.timeless:
            self._unknown.appendleft(time_range)
        else:
            self._known.append(_KnownRange(range=time_range))
            self._run = self._begin(self._known[0], start)
        #: The run of the last page, and the position after that page where another range begins there.
        self._taken = self._begin(_KnownRange(range=time_range), start)
        self._after: Position | None = start
        self._earlier = start.earlier
        self._ended = listing.limit is not None and start.earlier + start.items >= listing.limit

    @property
    def position(self) -> Position:
        """The position after the item that was handed out last."""
        return self._after if self._after is not None and self._taken.is_handed_out else self._taken.position

    @property
    def items_read(self) -> int:
        """Items handed out in this run."""
        position, start = self.position, self._start
        return position.earlier + position.items - start.earlier - start.items

    def hand_out(self, count: int) -> None:
        """Count items of the page that was taken last as handed out."""
        self._taken.hand_out(count)

    def requests(self, count: int) -> list[PageRequest]:
        """Return the next requests in order, among them the probe of the range after those that are known."""
        if self._ended or self.problem is not None:
            return []
        probe = self._probe()
        if len(self._known) < 2 and self._unknown and not probe:
            self._known.append(_KnownRange(range=self._unknown.popleft()))
        if not self._known:
            return probe
        if self._run is None:
            self._run = self._begin(self._known[0], Position(range=self._known[0].range, earlier=self._earlier))
        if self._listing.concurrency == 1:
            return self._run.requests(count)
        return self._side_by_side(self._run, probe, count)[:count]

    def _side_by_side(self, run: ListingRun[ITwin], probe: list[PageRequest], count: int) -> list[PageRequest]:
        """Return requests for two ranges: one range ahead is known before the pages of the one before are requested."""
        current, *ahead = self._known
        if not ahead:
            return probe + run.requests(count - len(probe))
        wanted = run.requests(count)
        if not run.steady:
            return wanted
        wanted += probe
        begun = Position(range=ahead[0].range, earlier=self._earlier + (current.at_most or 0))
        return wanted + self._begin(ahead[0], begun).requests(count - len(wanted))

    def _probe(self) -> list[PageRequest]:
        """Return the request that probes the next range; none for the range without a time."""
        if not self._unknown or self._unknown[0].timeless:
            return []
        first = self._values(self._unknown[0])
        headers = {name: value for name, value in first.headers.items() if name != "Prefer"}
        first = replace(first, query={**parameters_of(first), "$select": self._time}, headers=headers)
        return [PageRequest(first=first, query=((SKIP, str(self._reach)), (TOP, "1")))]

    @property
    def _reach(self) -> int:
        """Items of a full range: a page below the cap, because some may come to it while it is read."""
        return max(1, self._cap // 2, self._cap - self._listing.page_size)

    def _begin(self, known: _KnownRange, start: Position) -> ListingRun[ITwin]:
        values, eager = self._values(known.range), known.full or self._listing.eager
        listing = replace(self._listing, first=values, expected=known.at_most, eager=eager)
        return ListingRun(listing, start, seen=self._seen)

    def _values(self, time_range: TimeRange) -> RequestValues:
        query = {**parameters_of(self._first)}
        text = condition(time_range, self._time, within=self._within)
        if text is not None:
            query["$filter"] = text
        if self._ordered and not time_range.timeless:
            query["$orderby"] = f"{self._time} ASC"
        return replace(self._first, query=query)

    def take(self, request: PageRequest, content: PageContent[ITwin]) -> Page[ITwin] | None:
        """Take the content of the first request, and return its page; None after a probe."""
        probe = self._probe()
        run = self._run
        if run is None or (probe and request == probe[0]):
            self._take_probe(content)
            return None
        dropped = run.duplicates
        page = run.take(request, content)
        self._taken, self._after = run, None
        self.pages_read += 1
        self.duplicates += run.duplicates - dropped
        self.max_return = run.max_return
        return self._end(run, page) if run.ended else page

    def _take_probe(self, content: PageContent[ITwin]) -> None:
        if content.max_return is not None and content.max_return < self._cap:
            self._cap = content.max_return  # the probe may have been past the cap
            return
        time_range = self._unknown.popleft()
        if not content.items:
            self._known.append(_KnownRange(range=time_range, at_most=self._reach))
            return
        moment = getattr(content.items[0], TIMES[self._time], None)
        moment = moment if isinstance(moment, datetime) else None
        halves = split(time_range, moment)
        if halves is None:
            self._known.append(_KnownRange(range=time_range))
            return
        if time_range == EVERYTHING:
            self._unknown.append(TIMELESS)
        self._unknown.extendleft(reversed(halves))
        if self._ordered and moment is not None:
            full = moment != time_range.since
            at_most = self._reach if full else None
            self._known.append(_KnownRange(range=self._unknown.popleft(), at_most=at_most, full=full))

    def _end(self, run: ListingRun[ITwin], page: Page[ITwin]) -> Page[ITwin]:
        """Continue with the next range, unless the listing ends here."""
        limit, time_range = self._listing.limit, self._known[0].range
        self._earlier, self.problem = run.end.earlier + run.end.items, run.problem
        self._ended = limit is not None and self._earlier >= limit
        if self.problem is not None or (self._ended and page.resume is not None):
            return page
        if run.truncated and not self._ended:
            self._probe_again(time_range, run)
            if self.problem is not None:
                return replace(page, resume=write_resume(run.end, listing=self._listing.name))
            return self._continue([time_range], page)
        self._forget(time_range)
        self._known.popleft()
        return self._continue(following(time_range), page)

    def _continue(self, left: list[TimeRange], page: Page[ITwin]) -> Page[ITwin]:
        """Leave the range that was read for what is left."""
        self._run = None
        self._ended = self._ended or not left
        self._after = after = Position(range=left[0], earlier=self._earlier) if left else None
        return replace(page, resume=None if after is None else write_resume(after, listing=self._listing.name))

    def _forget(self, time_range: TimeRange) -> None:
        """Forget the ids of a range that was read, unless another part of it is read again."""
        if self._again is None or (self._again != EVERYTHING and self._again.until == time_range.until):
            self._seen.clear()
            self._again = None

    def _probe_again(self, time_range: TimeRange, run: ListingRun[ITwin]) -> None:
        """Probe a range again that reached the cap: it grew, or the service ignores the order."""
        what = f"{self.max_return} iTwins or more match {condition(time_range, self._time, within=self._within)!r}"
        if run.end.items == 0:
            self.problem = PagingError(f"{what}, but the service returns no new ones: try again later")
        elif time_range.timeless or (
            time_range.since and time_range.until and time_range.until - time_range.since <= CLOSEST
        ):
            shared = "have no such time" if time_range.timeless else "share one timestamp"
            self.problem = PagingError(
                f"{what}: more iTwins {shared} than the cap of X-Max-Return allows, so this cannot be split further. "
                "Narrow the listing by sub_class or filter, or pass the other time as partition_by"
            )
        else:
            self._again = self._again or time_range
            self._ordered = False
            self._unknown.extendleft(reversed([each.range for each in self._known]))
            self._known.clear()

    def recovers(self, error: PlatformError) -> bool:
        """Tell whether the run continues without what the service rejected: a cap of 10000, an order, a null."""
        if not isinstance(error, UnprocessableError):
            return False
        alternative = self._listing.alternative if self._first == self._listing.first else None
        first = alternative and alternative(error, self._first)
        if first:
            self._first = first
        elif self._known and self._known[0].range.timeless:
            rejected = condition(TIMELESS, self._time, within=self._within)
            what = f"the service rejects the filter {rejected!r}: iTwins without this time are not among those read"
            warnings.warn(what, TruncatedWarning, stacklevel=5)
            self._ended = True
        elif self._ordered:
            self._ordered = False
        else:
            raise PagingError(f"the service does not list iTwins by their {self._time}: {error}") from error
        if self._run is not None:
            self._run = self._begin(self._known[0], self._run.end)
        return True
