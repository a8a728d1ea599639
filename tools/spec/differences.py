"""Find the differences between two documents."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

#: Keys whose absence means an empty object.
SETS = ("required", "parameters", "headers", "properties")
#: Keys whose values are prose.
PROSE = frozenset({"description", "summary", "title"})
ABSENT = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference: its keys, the values before and after, and whether a request or a response has the place."""

    keys: tuple[str, ...]
    before: object
    after: object
    is_reordered: bool = False
    is_sent: bool = False
    is_returned: bool = False

    @property
    def is_gone(self) -> bool:
        """Whether the value was removed."""
        return self.after is ABSENT

    @property
    def is_new(self) -> bool:
        """Whether the value was added."""
        return self.before is ABSENT

    @property
    def is_prose(self) -> bool:
        """Whether only prose changed."""
        return bool(self.keys) and self.keys[-1] in PROSE and self.keys[-2:-1] not in (("properties",), ("required",))

    @property
    def text(self) -> str:
        """The difference in words."""
        if self.is_reordered:
            return "is in another order now"
        if self.is_new:
            return f"new: {_short(self.after)}"
        if self.is_gone:
            return f"is gone, was {_short(self.before)}"
        return f"is {_short(self.after)} now, was {_short(self.before)}"


def differences(before: object, after: object, keys: tuple[str, ...] = ()) -> Iterator[Difference]:
    """Yield every difference, at the deepest place in the documents."""
    if before is after:
        return
    old, new = _parts(before, keys), _parts(after, keys)
    if old is None or new is None:
        if type(before) is not type(after) or before != after:
            yield Difference(keys=keys, before=before, after=after)
        return
    for key in {**old, **new}:
        yield from differences(old.get(key, ABSENT), new.get(key, ABSENT), (*keys, str(key)))
    if old.keys() == new.keys() and [*old] != [*new]:
        yield Difference(keys=keys, before=before, after=after, is_reordered=True)


def _parts(value: object, keys: tuple[str, ...]) -> Mapping[Any, Any] | None:
    """Return the values of an object by key, or those of a list of objects by number; None for other values."""
    if value is ABSENT and keys[-1] in SETS:
        return {}
    if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        return dict(enumerate(value))
    return value if isinstance(value, Mapping) else None


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."
