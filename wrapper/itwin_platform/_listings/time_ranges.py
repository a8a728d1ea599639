"""Ranges of time, by which a listing above X-Max-Return is partitioned. Source: section 4.3.

Invariant: the halves of a range are disjoint, and together they are the range that was split.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from .._errors import PagingError

#: The times of an iTwin that a listing can be partitioned by, and where its model has them. Source: section 2.5.
TIMES = {"createdDateTime": "created_date_time", "lastModifiedDateTime": "last_modified_date_time"}

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: Times are decoded to the microsecond: what lies closer together cannot be distinguished.
CLOSEST = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRange:
    """iTwins whose time is `since` or later and before `until`, where these are given; or those without a time."""

    since: datetime | None = None
    until: datetime | None = None
    timeless: bool = False


EVERYTHING, TIMELESS = TimeRange(), TimeRange(timeless=True)


def condition(time_range: TimeRange, time: str, *, within: str | None) -> str | None:
    """Return a range as a `$filter`, together with the filter of the caller; None for everything."""
    terms = [f"({within})"] if within and time_range != EVERYTHING else [within] if within else []
    terms += [f"{time} ge {_literal(time_range.since)}"] if time_range.since else []
    terms += [f"{time} lt {_literal(time_range.until)}"] if time_range.until else []
    terms += [f"{time} eq null"] if time_range.timeless else []
    return " and ".join(terms) or None


def _literal(moment: datetime) -> str:
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def split(time_range: TimeRange, moment: datetime | None) -> tuple[TimeRange, TimeRange] | None:
    """Split a range at the time of one of its items, None where it has none.

    Returns:
        Two smaller ranges in the order of time; None where the range cannot be split.

    Raises:
        PagingError: the time lies outside the range.
    """
    since, until = time_range.since, time_range.until
    if moment is None:
        # Nothing tells where the times lie: this splits what has none from what has one.
        moment = _EPOCH if time_range == EVERYTHING else until
    elif (since is not None and moment < since) or (until is not None and moment >= until):
        raise PagingError(
            "the service returns iTwins of other times for a filter by time, so the listing cannot be partitioned by it"
        )
    elif moment == since:
        moment += CLOSEST
    if moment == until or moment is None:
        return None
    return TimeRange(since=since, until=moment), TimeRange(since=moment, until=until)


def following(time_range: TimeRange) -> list[TimeRange]:
    """Return the ranges that are left after one."""
    if time_range in (EVERYTHING, TIMELESS):
        return []
    return [TimeRange(since=time_range.until), TIMELESS] if time_range.until else [TIMELESS]
