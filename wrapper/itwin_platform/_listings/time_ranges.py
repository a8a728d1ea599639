"""A listing above X-Max-Return, read whole: part by part, by disjoint ranges of a time. Source: section 4.3.

Invariants: the parts of a split are disjoint and together the part that was split; each holds less than it.
"""

import warnings
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from .._api import UNSET, ITwin, Unset
from .._errors import PagingError, PlatformError, UnprocessableError
from .page import MOST_RETURNED, TruncatedWarning
from .pager import Pager

#: The times of an iTwin that a listing can be parted by, and where its model has them. Source: section 2.5.
TIMES = {"createdDateTime": "created_date_time", "lastModifiedDateTime": "last_modified_date_time"}

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: Times are read to the microsecond: what lies closer together is not told apart.
_CLOSEST = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRange:
    """iTwins whose time is `since` or later and before `until`, where these are given; or those without a time."""

    since: datetime | None = None
    until: datetime | None = None
    timeless: bool = False

    def condition(self, time: str, *, within: str | None) -> str | Unset:
        """Returns the part as a `$filter`, together with the caller's own; UNSET for everything."""
        terms = [f"({within})"] if within and self != TimeRange() else [within] if within else []
        terms += [f"{time} ge {_literal(self.since)}"] if self.since else []
        terms += [f"{time} lt {_literal(self.until)}"] if self.until else []
        terms += [f"{time} eq null"] if self.timeless else []
        return " and ".join(terms) or UNSET


def _literal(moment: datetime) -> str:
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def split(part: TimeRange, times: Iterable[datetime]) -> list[TimeRange]:
    """Splits a part that holds too much.

    Args:
        part: what holds too much.
        times: times of some of what it holds.

    Returns:
        Smaller parts, in the order of time and then without one; none where it cannot be split.

    Raises:
        PagingError: a time lies outside the part.
    """
    known, since, until = sorted(times), part.since, part.until
    if known and (part.timeless or (since and known[0] < since) or (until and known[-1] >= until)):
        raise PagingError("the service answers a filter by time with iTwins of other times: it cannot be parted by it")
    later = [moment for moment in known if since is None or moment > since]
    if later:
        middle = later[len(later) // 2]
    elif since is None:
        middle = _EPOCH  # nothing that was seen has a time: this parts what has none from what has one
    else:
        middle = since + _CLOSEST
    if part.timeless or (until is not None and middle >= until) or (since is not None and not known):
        return []
    halves = [TimeRange(since=since, until=middle), TimeRange(since=middle, until=until)]
    return [*halves, TimeRange(timeless=True)] if part == TimeRange() else halves


class TimeRangeListing:
    """Yields every iTwin once, in parts that stay below the cap.

    Args:
        time: the property to part by.
        within: the caller's own filter.
        page_size: how many times are looked at to find the middle of a part.
        read: lists what a `filter` takes, as the caller wants it.
        look: lists it with `select`, `skip` and `limit`.
    """

    def __init__(
        self,
        *,
        time: str,
        within: str | None,
        page_size: int,
        read: Callable[..., Pager[ITwin]],
        look: Callable[..., Pager[ITwin]],
    ) -> None:
        self._time, self._within, self._page_size = time, within, page_size
        self._read, self._look = read, look
        self._cap = MOST_RETURNED

    async def __aiter__(self) -> AsyncGenerator[ITwin, None]:
        """Yields the iTwins; an error of it cannot be resumed from.

        Raises:
            PagingError: the service refuses the filter, or a part that cannot be split holds too much.
        """
        parts, seen = [TimeRange()], set[str]()
        try:
            while parts:
                part = parts.pop()
                condition = part.condition(self._time, within=self._within)
                if (smaller := await self._split(part, condition)) is not None:
                    parts.extend(reversed(smaller))
                    continue
                pager, before = self._read(filter=condition), len(seen)
                async with aclosing(aiter(pager)) as itwins:
                    async for itwin in itwins:
                        identity = getattr(itwin, "id", None)
                        if not isinstance(identity, str):
                            yield itwin  # what cannot be told apart is not taken for the same
                        elif identity not in seen:
                            seen.add(identity)
                            yield itwin
                if pager.truncated and len(seen) == before:
                    raise PagingError(f"what fits {condition!r} changes too fast to be read whole: try again later")
                if pager.truncated:
                    parts.append(part)  # it grew past the cap while it was read
        except PlatformError as error:
            error.resume = None  # it would belong to a part, and not to this listing
            raise

    async def _split(self, part: TimeRange, condition: str | Unset) -> list[TimeRange] | None:
        """Returns smaller parts where a part reaches the cap; None where it can be read as it is."""
        first = max(0, self._cap - self._page_size)
        try:
            # The last page below the cap tells whether it is reached, and where the middle may lie.
            last = self._look(filter=condition, select=self._time, skip=first, limit=self._page_size)
            there = [itwin async for itwin in last]
        except UnprocessableError as error:
            if not part.timeless:
                raise PagingError(f"the service refuses to list iTwins by their {self._time}: {error}") from error
            what = f"the service refuses the filter {condition!r}: iTwins without this time are not among those read"
            warnings.warn(what, TruncatedWarning, stacklevel=3)
            return []
        if last.max_return is not None and last.max_return < self._cap:
            self._cap = last.max_return
            return [part]
        if first + len(there) < self._cap:
            return None
        times = [getattr(itwin, TIMES[self._time], None) for itwin in there]
        if smaller := split(part, (moment for moment in times if isinstance(moment, datetime))):
            return smaller
        raise PagingError(
            f"{self._cap} iTwins or more fit {condition!r}, and this cannot be split further: narrow the listing by "
            "sub_class or by filter, or part it by another time"
        )
