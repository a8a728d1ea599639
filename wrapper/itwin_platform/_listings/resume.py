"""Positions in a listing, ranges of time among them, and the string that continues a listing in another process.

The string is opaque and versioned, without host, token or keyword. It is not trusted. It carries an offset, a page
size, a continuation token, counts and times; whatever would change a keyword of the call is rejected.
"""

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from .._api import RequestValues
from .._errors import UsageError
from .links import SKIP, TOP, Query, count_of, is_keyword


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRange:
    """iTwins whose time is `since` or later and before `until`, where these are given.

    Args:
        since, until: the bounds.
        timeless: whether iTwins without a time are still to come: in this range, unless it ends before them.
        reached: the time of the item that was handed out last of this range; None where it has none.
        ties: how many of the last items have this time.
    """

    since: datetime | None = None
    until: datetime | None = None
    timeless: bool = True
    reached: datetime | None = None
    ties: int = 0


_VERSION = 2
#: What a value may hold where it stands in a query: nothing that could begin another parameter.
_SAFE = "!$%'()*+,-./:<=>?@[\\]^_`{|}~"
_VALUE = re.compile(f"[A-Za-z0-9{re.escape(_SAFE)}]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A position in a listing: a page, the items of it that are done, and what was counted before.

    Args:
        query: the query of the page; None for the first one.
        done: items of the page that have been handed out, or dropped.
        items: items handed out in all; in a range, those of the range.
        last_modified: the last modification of the scene as last seen, where there is one.
        range: the range that is being read, in a listing by ranges of time.
        earlier: items handed out in earlier ranges.
    """

    query: Query | None = None
    done: int = 0
    items: int = 0
    last_modified: str | None = None
    range: TimeRange | None = None
    earlier: int = 0


def listing_name(operation: str, first: RequestValues) -> str:
    """Return a short name for a listing: its operation, and a digest of its first request."""
    # A run that continues may have another correlation id.
    headers = {name: value for name, value in first.headers.items() if name.lower() != "x-correlation-id"}
    text = json.dumps([first.path, first.query, headers], sort_keys=True)
    return f"{operation}:{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def write_resume(position: Position, *, listing: str) -> str:
    """Serialize a position."""
    query, time_range = position.query, position.range
    fields = (
        query and [(name, quote(value, safe=_SAFE)) for name, value in query],
        position.done,
        position.items,
        position.last_modified,
        time_range and [getattr(time_range, name) for name in TimeRange.__slots__],
        position.earlier,
    )
    text = json.dumps([_VERSION, listing, *fields], separators=(",", ":"), default=datetime.isoformat)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_resume(text: object, *, listing: str, keywords: frozenset[str]) -> Position:
    """Deserialize a position.

    Raises:
        UsageError: the string was not written by `write_resume`, or belongs to another listing.
    """
    try:
        version, belongs_to, fields = _parts(text)
        position = _position(fields, keywords) if version == _VERSION else None
    except (ValueError, TypeError, RecursionError, OverflowError):
        raise UsageError(
            "resume is not a string that this client returned: pass it on unchanged", argument="resume"
        ) from None
    if position is None:
        raise UsageError(
            f"resume was written by a version with another format ({version}): start the listing anew",
            argument="resume",
        )
    if belongs_to != listing:
        raise UsageError(
            f"resume belongs to another listing ({belongs_to.partition(':')[0]}, or other keywords): pass the keywords "
            "of the first run; only limit, concurrency, on_page and correlation_id may differ",
            argument="resume",
        )
    return position


def _parts(text: object) -> tuple[int, str, list[object]]:
    padding = "=" * (-len(str(text)) % 4)
    match json.loads(base64.b64decode(f"{text}{padding}", altchars=b"-_", validate=True)):
        case [int(version), str(belongs_to), *fields]:
            return version, belongs_to, fields
    raise ValueError


def _position(fields: list[object], keywords: frozenset[str]) -> Position:
    match fields:
        case [query, int(done), int(items), str() | None as last_modified, time_range, int(earlier)]:
            # True is an int to a pattern.
            if min(done, items, earlier) >= 0 and bool not in map(type, (done, items, earlier)):
                return Position(
                    query=None if query is None else _query(query, keywords),
                    done=done,
                    items=items,
                    last_modified=last_modified,
                    range=None if time_range is None else _time_range(time_range),
                    earlier=earlier,
                )
    raise ValueError


def _query(query: object, keywords: frozenset[str]) -> Query:
    if not isinstance(query, list) or not query:
        raise ValueError
    pairs = tuple((name, value) for name, value in query)
    names = [name for name, _ in pairs]
    if names.count(SKIP) > 1 or names.count(TOP) > 1:
        raise ValueError
    if not all(_is_pair(name, value, keywords) for name, value in pairs):
        raise ValueError
    return pairs


def _is_pair(name: object, value: object, keywords: frozenset[str]) -> bool:
    if not isinstance(name, str) or not isinstance(value, str) or is_keyword(name, keywords):
        return False
    name.encode()  # half of a surrogate pair could not be sent
    return count_of(value) is not None if name in (SKIP, TOP) else _VALUE.fullmatch(value) is not None


def _time_range(fields: object) -> TimeRange:
    match fields:
        case [str() | None as since, str() | None as until, bool(timeless), str() | None as reached, int(ties)] if (
            type(ties) is int and ties >= 0
        ):
            return TimeRange(
                since=_time(since), until=_time(until), timeless=timeless, reached=_time(reached), ties=ties
            )
    raise ValueError


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError
    return moment.astimezone(UTC)
