"""A listing above X-Max-Return, read completely: range by range, in the order of time. Source: section 4.3.

Every item that is read shows its time. When a range reaches the cap, the next one begins at the last time that came;
the items that came with this time are known by their ids. If the service does not sort by time, a range that reaches
the cap is split in the middle, and read again without what came before.

Invariants: a range is complete when it stays below the cap; what is left of a range that does not is smaller.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from itwin_platform_api.models import ITwin

from .._errors import PagingError, UnprocessableError
from .._requests.sender import DecodedResponse
from .pager import Decode, PageReader
from .position import Listing, Moment, PageRequest, Position, TimeRange, as_moment, parameters_of
from .run import Page, PageContent, State, TruncatedWarning

_EPOCH, _LATEST = "1970-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.999999Z"


def condition(time_range: TimeRange, listing: Listing) -> str:
    """Return a range as a `$filter`, together with the filter of the caller; empty for everything."""
    since, until, time = time_range.since, time_range.until, listing.time
    terms = [f"{time} ge {since}"] if since else []
    terms += [f"{time} lt {until}"] if until else []
    if since and not until and time_range.timeless:
        terms = [f"({terms[0]} or {time} eq null)"]
    if within := parameters_of(listing.first).get("$filter", ""):
        terms.insert(0, f"({within})" if terms else within)
    return " and ".join(terms)


def behind(time_range: TimeRange) -> TimeRange | None:
    """Return the range behind a complete one; None after the last."""
    return TimeRange(since=time_range.until, timeless=time_range.timeless) if time_range.until else None


def rest(time_range: TimeRange, moments: Sequence[Moment | None]) -> TimeRange | None:
    """Return what is left of a range that reached the cap, whose items came with these times.

    Returns:
        The range from the last time on; the first half of the range if the order of its times does not tell; None if it
        cannot be split.
    """
    since, until = time_range.since, time_range.until
    last = time_range.reached or (_LATEST if time_range.timeless else None)
    known = sorted(moment for moment in moments if moment is not None)
    missing: list[Moment | None] = [None] * (len(moments) - len(known))
    is_sorted = moments in (missing + known, known + missing)
    if is_sorted and last not in (None, since) and time_range.ties:
        timeless = time_range.timeless and (moments[0] is not None or moments[-1] is None)
        return time_range._replace(since=last, timeless=timeless)
    # With no times known, split at the epoch: the response tells whether any item has one.
    middle = known[len(known) // 2] if known else _EPOCH if since is until is None else until
    if since is not None and middle == since:
        # Times are decoded to the microsecond: what lies closer together cannot be distinguished.
        middle = as_moment(datetime.fromisoformat(since) + timedelta(microseconds=1))
    timeless = since is None or time_range.timeless
    return None if middle == until else TimeRange(since=since, until=middle, timeless=timeless)


class RangeReader(PageReader[ITwin]):
    """Reads every iTwin, in ranges that stay below the cap: one listing after the other.

    Args:
        decode: decodes a response.
        listing: the listing of all ranges.
        state: where to begin.
    """

    def __init__(self, decode: Decode[ITwin], listing: Listing, state: State[ITwin]) -> None:
        super().__init__(decode, listing, state)
        self._whole, self._is_sorted = listing, True
        #: The ids and times of all that came in this range, also of what was known and dropped.
        self._came: list[tuple[object, Moment | None]] = []
        self._begin(state, state.end)

    async def read(self) -> State[ITwin] | None:
        """Return the listing after its next page; None behind the last one."""
        try:
            state = await super().read()
        except UnprocessableError as error:
            if self.state.is_steady is not None:
                raise
            self._begin_without_rejected(self.state, error)
            return await self.read()
        if state is None:
            return None
        is_left = state.following is not None or state.page.resume is not None
        if state.truncated or not is_left:
            state = self._next_range(state)
            is_left = state.following is not None
        resume = (state.end, self._whole.name, self._whole.first) if is_left else None
        page = Page(items=state.page.items, resume=resume, response=state.page.response)
        self.state = state = state._replace(page=page, truncated=False)
        return state

    def _begin(self, state: State[ITwin], at: Position) -> State[ITwin]:
        """Begin a range, without the items of the range before that come again."""
        if at.request is None and at.range.ties > len(self._seen):
            # Ids are safer than an offset, but a run that was resumed does not know those of the run before.
            at = at._replace(request=PageRequest(skip=at.range.ties), received=at.range.ties)
        query = {"$filter": text} if (text := condition(at.range, self._whole)) else {}
        query |= {"$orderby": f"{self._whole.time} ASC"} if self._is_sorted else {}
        # Later ranges may be short, so fewer pages are requested ahead.
        count = self._whole.concurrency if at.range.since is None else 1 + state.pages_read // 10
        first = self._whole.first._replace(query={**parameters_of(self._whole.first), **query})
        self._listing = replace(self._whole, first=first, concurrency=min(count, self._whole.concurrency))
        self._came, self._followed = [], set()
        self.state = state._replace(end=at, following=at.request or PageRequest(), is_steady=None, empty_pages=0)
        return self.state

    def _content(self, response: DecodedResponse) -> PageContent[ITwin]:
        """Decode a response of a range.

        Raises:
            PagingError: the service ignores the filter, so the listing would never come to an end.
        """
        content, time_range = super()._content(response), self.state.end.range
        came = [(getattr(item, "id", None), self._whole.moment(item)) for item in content.items]
        since, until = time_range.since or "", time_range.until or "~"
        if not all(since <= moment < until for _, moment in came if moment is not None):
            said = "the service returns iTwins of other times for a filter by time, so they cannot be partitioned by it"
            raise PagingError(said)
        self._came += came
        return content

    def _next_range(self, state: State[ITwin]) -> State[ITwin]:
        """Begin what is left of a range that reached the cap, or the range behind a complete one."""
        time_range, moments = state.end.range, [moment for _, moment in self._came]
        following = rest(time_range, moments) if state.truncated else behind(time_range)
        if following is not None:
            if following.ties:
                self._seen = {str(each) for each, moment in self._came if moment == following.reached}
            return self._begin(state, Position(range=following, items=state.end.items))
        if not state.truncated:
            return state
        problem = PagingError(
            f"{state.max_return} iTwins or more match {condition(time_range, self._whole)!r}: more iTwins share one "
            "timestamp, or have none, than the cap of X-Max-Return allows. Narrow the listing by sub_class or filter, "
            "or pass the other time as partition_by"
        )
        return state._replace(following=problem)

    def _begin_without_rejected(self, state: State[ITwin], error: UnprocessableError) -> None:
        """Continue without what the service rejects in the first request of a range: a null, or the order.

        Raises:
            PagingError: neither is to blame.
        """
        time_range, rejected = state.end.range, condition(state.end.range, self._whole)
        bounded = time_range._replace(timeless=False)
        if rejected != condition(bounded, self._whole) and not (self._is_sorted and state.pages_read == 0):
            time_range = bounded
            said = f"the service rejects the filter {rejected!r}: iTwins without this time are not among those read"
            warnings.warn(said, TruncatedWarning, stacklevel=5)
        elif self._is_sorted:
            self._is_sorted = False
        else:
            raise PagingError(f"the service does not list iTwins by their {self._whole.time}: {error}") from error
        self._begin(state, state.end._replace(range=time_range))
