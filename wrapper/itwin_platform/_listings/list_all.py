"""A listing above X-Max-Return, read completely: range by range, in the order of time. Source: section 4.3.

Each item has its time. When a range reaches the cap, the next range begins at the last time, and items with this time
are recognized by their ids. If the service does not sort by time, a range that reaches the cap is split in the middle
and read again without the known items. Times in order do not prove that the service sorts: the first iTwins of an
unsorted listing may be in order by chance, or because they are of one class.

Invariants: a range below the cap is complete; the rest of a range that reaches the cap is smaller than the range.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from itwin_platform_api.models import ITwin

from .._errors import PagingError, UnprocessableError
from .._requests.request import encode_query
from .._requests.sender import DecodedResponse
from .pager import Decode, PageReader
from .pages import Listing, Moment, PageContent, PageRequest, Position, TimeRange, TruncatedWarning, as_moment

_EPOCH, _LATEST = "1970-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.999999Z"


def condition_of(time_range: TimeRange, listing: Listing) -> str:
    """Return a range as a `$filter`, together with the filter of the caller; empty for everything."""
    since, until, time = time_range.since, time_range.until, listing.time
    terms = [f"{time} ge {since}"] if since else []
    terms += [f"{time} lt {until}"] if until else []
    if since and not until and time_range.timeless:
        terms = [f"({terms[0]} or {time} eq null)"]
    if within := listing.keywords.get("$filter", ""):
        terms.insert(0, f"({within})" if terms else within)
    return " and ".join(terms)


def next_range(time_range: TimeRange) -> TimeRange | None:
    """Return the range behind a complete one; None after the last."""
    return TimeRange(since=time_range.until, timeless=time_range.timeless) if time_range.until else None


def rest_of(time_range: TimeRange, moments: Sequence[Moment | None], *, is_sorted: bool) -> TimeRange | None:
    """Return the rest of a range that reached the cap.

    Args:
        time_range: the range.
        moments: the times of its items, in the order of the responses.
        is_sorted: whether the service sorts by time.

    Returns:
        The range from the last time on; the first half of the range if it is not sorted; None if it cannot be split.
    """
    since, until = time_range.since, time_range.until
    last = time_range.reached or (_LATEST if time_range.timeless else None)
    known = sorted(moment for moment in moments if moment is not None)
    missing: list[Moment | None] = [None] * (len(moments) - len(known))
    if is_sorted and moments in (missing + known, known + missing) and last not in (None, since) and time_range.ties:
        timeless = time_range.timeless and (moments[0] is not None or not known)
        return time_range._replace(since=last, timeless=timeless)
    # With no times known, split at the epoch: the response tells whether any item has one.
    middle = known[len(known) // 2] if known else _EPOCH if since is until is None else until
    if since is not None and middle == since:
        # Times are decoded to the microsecond: closer times cannot be distinguished.
        middle = as_moment(datetime.fromisoformat(since) + timedelta(microseconds=1))
    timeless = since is None or time_range.timeless
    return None if middle == until else TimeRange(since=since, until=middle, timeless=timeless)


class RangeReader(PageReader[ITwin]):
    """Reads every iTwin, in ranges that stay below the cap: one listing after the other.

    Args:
        decode: decodes a response.
        listing: the listing of all ranges.
        start: where to begin.
    """

    def __init__(self, decode: Decode[ITwin], listing: Listing, start: Position) -> None:
        super().__init__(self._decode_within_range, listing, start)
        self._decode_page = decode
        #: Whether the service sorts by time; None until a range reaches the cap.
        self._is_sorted: bool | None = None
        #: The ids and times of all items of this range, known and dropped ones included.
        self._came: list[tuple[object, Moment | None]] = []
        self._begin(start)

    async def read(self) -> PageContent[ITwin] | None:
        """Read the next page; return the content of its response, or None behind the last page."""
        try:
            content = await super().read()
        except UnprocessableError as error:
            if self.state.is_steady is not None:
                raise
            self._begin_without_rejected(error)
            return await self.read()
        if content is not None and (self.state.truncated or self.state.is_last):
            if self.state.truncated and self._is_sorted is None:
                self._is_sorted = await self._first_id("ASC") != await self._first_id("DESC")
            self._begin_next_range()
            self.state = self.state._replace(truncated=False, is_last=self.state.following is None)
        return content

    def _begin(self, at: Position) -> None:
        """Begin a range, without the repeated items of the range before."""
        if at.request is None and at.range.ties > len(self._seen):
            # Ids are safer than an offset, but a run that was resumed does not know those of the run before.
            at = at._replace(request=PageRequest(skip=at.range.ties), received=at.range.ties)
        self._keywords = self._keywords_of(at.range, "ASC")
        self._came, self._followed = [], set()
        self.state = self.state._replace(end=at, following=at.request or PageRequest(), is_steady=None, empty_pages=0)

    def _keywords_of(self, time_range: TimeRange, direction: str) -> str:
        """Return the parameters of each page of a range, encoded."""
        query, condition = {**self._listing.keywords}, condition_of(time_range, self._listing)
        if condition:
            query["$filter"] = condition
        if self._is_sorted is not False:
            query["$orderby"] = f"{self._listing.time} {direction}"
        return encode_query(query)

    async def _first_id(self, direction: str) -> object:
        """Request the first iTwin of the range in one direction; a service that sorts has another one in the other."""
        query = PageRequest(top=1).query(self._keywords_of(self.state.end.range, direction))
        response = await self._listing.sender.send(replace(self._listing.first, query=query))
        return next((getattr(item, "id", None) for item in self._decode_page(response).items), None)

    def _decode_within_range(self, response: DecodedResponse) -> PageContent[ITwin]:
        """Decode a response of a range.

        Raises:
            PagingError: the service ignores the filter, so the listing would never come to an end.
        """
        content, time_range = self._decode_page(response), self.state.end.range
        came = [(getattr(item, "id", None), self._listing.moment(item)) for item in content.items]
        since, until = time_range.since or "", time_range.until or "~"
        if not all(since <= moment < until for _, moment in came if moment is not None):
            message = (
                f"the service does not filter by {self._listing.time}: it returned an iTwin outside the requested range"
            )
            raise PagingError(f"{message}. Pass the other time as partition_by")
        self._came += came
        return content

    def _begin_next_range(self) -> None:
        """Begin the rest of a range that reached the cap, or the range behind a complete one."""
        state = self.state
        time_range, moments = state.end.range, [moment for _, moment in self._came]
        following = next_range(time_range)
        if state.truncated:
            following = rest_of(time_range, moments, is_sorted=self._is_sorted is True)
        if following is not None:
            if following.ties:
                self._seen = {str(each) for each, moment in self._came if moment == following.reached}
            self._begin(Position(range=following, items=state.end.items))
        elif state.truncated:
            problem = PagingError(
                f"{state.max_return} iTwins or more match {condition_of(time_range, self._listing)!r}: more iTwins "
                "share one timestamp, or have none, than the cap of X-Max-Return allows. Narrow the listing by "
                "sub_class or filter, or pass the other time as partition_by"
            )
            self.state = state._replace(following=problem)

    def _begin_without_rejected(self, error: UnprocessableError) -> None:
        """Begin a range again after a 422 to its first request: without the order, or without the null in the filter.

        Raises:
            PagingError: neither explains the 422.
        """
        time_range, rejected = self.state.end.range, condition_of(self.state.end.range, self._listing)
        has_null = rejected != condition_of(time_range._replace(timeless=False), self._listing)
        if self._is_sorted is None and not (has_null and time_range.ties):  # ties are counted in order
            self._is_sorted = False
        elif has_null:
            time_range = time_range._replace(timeless=False)
            message = f"the service rejects the filter {rejected!r}: iTwins without this time were omitted"
            warnings.warn(message, TruncatedWarning, stacklevel=5)
        else:
            raise PagingError(f"the service does not list iTwins by their {self._listing.time}: {error}") from error
        self._begin(self.state.end._replace(range=time_range))
