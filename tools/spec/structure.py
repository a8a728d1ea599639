"""Finds the differences between two documents, and those that the rules for changes do not report."""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

#: Keys whose values are prose.
PROSE = frozenset({"description", "summary", "title"})
_ABSENT = object()

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference: its keys, and the values before and after."""

    keys: tuple[Any, ...]
    before: object
    after: object
    reordered: bool = False

    @property
    def place(self) -> str:
        """The location as people read it: `paths /itwins/ get security 0`."""
        return " ".join(str(key) for key in self.keys) or "the document"

    @property
    def is_prose(self) -> bool:
        """Whether only prose changed."""
        return bool(self.keys) and self.keys[-1] in PROSE

    @property
    def text(self) -> str:
        """What changed."""
        if self.reordered:
            return "is in another order now"
        if self.before is _ABSENT:
            return f"new: {_short(self.after)}"
        if self.after is _ABSENT:
            return f"is gone, was {_short(self.before)}"
        return f"is {_short(self.after)} now, was {_short(self.before)}"


def differences(before: object, after: object, keys: tuple[Any, ...] = ()) -> Iterator[Difference]:
    """Yield every difference, as deep in the documents as possible."""
    if before is after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in {**before, **after}:
            if key == "x-enum-varnames" and before.get("enum") != after.get("enum"):
                continue  # the names of new values come with the values
            yield from differences(before.get(key, _ABSENT), after.get(key, _ABSENT), (*keys, key))
        if list(before) != list(after) and before.keys() == after.keys():
            yield Difference(keys=keys, before=before, after=after, reordered=True)
    elif (old := _objects(before)) and (new := _objects(after)) and len(old) == len(new):
        for number, items in enumerate(zip(old, new, strict=True)):
            yield from differences(*items, (*keys, number))
    elif type(before) is not type(after) or before != after:
        yield Difference(keys=keys, before=before, after=after)


def unexplained(
    before: Document, after: Document, is_reported: Callable[[Document, Document], bool]
) -> list[Difference]:
    """Return the differences that no rule reports.

    `is_reported` compares two documents. A difference is explained if it is reported when it is the only one.
    """
    return [
        difference
        for difference in differences(before, after)
        if not _explained(before, _with(before, difference.keys, difference.after), is_reported)
        and not _explained(_with(after, difference.keys, difference.before), after, is_reported)
    ]


def _explained(before: Document, after: Document, is_reported: Callable[[Document, Document], bool]) -> bool:
    try:
        return is_reported(before, after)
    except (KeyError, TypeError):
        return True  # alone it leaves a dangling reference, so another reported change goes with it


def _with(document: Document, keys: tuple[Any, ...], value: object) -> Document:
    """Return a copy of a document with another value at one location."""
    if not keys:
        return dict(value) if isinstance(value, Mapping) else document
    changed: Any = dict(document)
    holder = changed
    *path, last = keys
    for key in path:
        holder[key] = copy.copy(holder.get(key, {}) if isinstance(holder, dict) else holder[key])
        holder = holder[key]
    if value is _ABSENT:
        holder.pop(last, None)
    else:
        holder[last] = value
    return dict(changed)


def _objects(value: object) -> list[Any] | None:
    """Return the value if it is a list with objects."""
    return value if isinstance(value, list) and any(isinstance(item, Mapping) for item in value) else None


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."
