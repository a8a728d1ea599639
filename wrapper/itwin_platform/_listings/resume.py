"""The text that says where a listing goes on, also in another process: opaque, versioned, without host or token."""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

from .._api import Unset
from .._errors import UsageError
from .links import Query

_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A place in a listing: a page, the items of it that are done, and what was counted before.

    Args:
        query: the query of the page; None for the first one.
        done: items of the page that have been handed out, or dropped.
        items: items handed out in all.
        last_modified: the scene's last modification as last seen, where there is one.
    """

    query: Query | None = None
    done: int = 0
    items: int = 0
    last_modified: str | None = None


def fingerprint(operation: str, keywords: Mapping[str, object]) -> str:
    """Returns a short name for a listing: its operation, and a digest of the keywords that were given."""
    given = {name: value for name, value in keywords.items() if not isinstance(value, Unset)}
    text = json.dumps(given, sort_keys=True, default=str)
    return f"{operation}:{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def write_resume(position: Position, *, listing: str) -> str:
    """Writes a position as an opaque text."""
    fields = (position.query, position.done, position.items, position.last_modified)
    text = json.dumps([_VERSION, listing, *fields], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_resume(text: object, *, listing: str) -> Position:
    """Reads a position back.

    Raises:
        UsageError: the text is not one of ours, or belongs to another listing.
    """
    try:
        version, belongs_to, fields = _parts(text)
        position = _position(*fields) if version == _VERSION else None
    except (ValueError, TypeError, RecursionError):
        raise UsageError("resume is not a text that this client wrote: pass it on unchanged") from None
    if position is None:
        raise UsageError(f"resume was written by a version with another format ({version}): start the listing anew")
    if belongs_to != listing:
        raise UsageError(
            f"resume belongs to another listing ({belongs_to.partition(':')[0]}, or other keywords): give the "
            "keywords of the first run; only limit, concurrency, on_page and correlation_id may differ"
        )
    return position


def _parts(text: object) -> tuple[int, str, list[object]]:
    padding = "=" * (-len(str(text)) % 4)
    match json.loads(base64.b64decode(f"{text}{padding}", altchars=b"-_", validate=True)):
        case [int(version), str(belongs_to), *fields]:
            return version, belongs_to, fields
    raise ValueError


def _position(query: object, done: object, items: object, last_modified: object) -> Position:
    pairs = None if query is None else _pairs(query)
    if not (_is_count(done) and _is_count(items) and (last_modified is None or isinstance(last_modified, str))):
        raise ValueError
    return Position(query=pairs, done=done, items=items, last_modified=last_modified)


def _pairs(query: object) -> Query:
    if not isinstance(query, list) or not query:
        raise ValueError
    pairs = [(name, value) for name, value in query]
    if not all(isinstance(text, str) for pair in pairs for text in pair):
        raise ValueError
    return tuple(pairs)


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and value >= 0
