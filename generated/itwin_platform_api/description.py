"""Short reprs of models: absent fields are omitted, secrets are hidden, long values are shortened."""

from collections.abc import Iterator
from datetime import datetime
from enum import Enum
from reprlib import Repr
from typing import Any

from .kinds import OBJECT
from .unset import UNSET

#: Fields that identify an object: they are shown first.
FIRST = ("id", "number", "display_name", "name")
#: The maximum length of the repr of a model, and of a model inside another one.
LONGEST, LONGEST_INSIDE = 200, 80


class _ShortRepr(Repr):
    """A repr of any value in one line, which cuts long strings in the middle and shows one item of a long list."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = 80
        self.maxother = 120  # the longest member of an enum fits
        self.maxlist = self.maxdict = 3
        self.fillvalue = "…"

    def repr_list(self, x: list[Any], level: int) -> str:
        """Describe a list."""
        if len(x) <= self.maxlist or level <= 0:
            return super().repr_list(x, level)
        return f"[{self.repr1(x[0], level - 1)}, … {len(x) - 1} more]"

    def repr_instance(self, x: Any, level: int) -> str:
        """Describe an object: an enum member by its value, and a long model by its class."""
        if isinstance(x, Enum):
            return repr(x.value)
        if not hasattr(x, "to_dict"):
            return super().repr_instance(x, level)
        described = repr(x)
        return described if len(described) <= LONGEST_INSIDE else f"{type(x).__name__}(…)"

    def repr_datetime(self, x: datetime, level: int) -> str:
        """Describe a time in ISO 8601."""
        return x.isoformat()


_SHORT = _ShortRepr()


class _Hidden:
    def __repr__(self) -> str:
        return "<hidden>"


def shown_fields(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of a model that its repr shows, with a value that reads `<hidden>` for each secret.

    Unknown fields are shown by their names only, because a value may be a secret.
    """
    names = [name for name in model.__slots__ if name not in ("__weakref__", "additional_properties")]
    # An object whose properties are not documented may contain an access key.
    secrets = model.SECRETS | {name for name, kind in model.FIELDS.values() if kind is OBJECT}
    for name in (*(name for name in FIRST if name in names), *(name for name in names if name not in FIRST)):
        value = getattr(model, name)
        if value is not UNSET:
            yield name, _Hidden() if name in secrets and value is not None else value
    if unknown := getattr(model, "additional_properties", None):
        yield "additional_properties", sorted(unknown)


def describe(model: Any) -> str:
    """Return the repr of a model in at most 200 characters: its class, its first fields, and how many others it has."""
    parts = [f"{name}={_SHORT.repr(value)}" for name, value in shown_fields(model)]
    return f"{type(model).__name__}({_joined(parts, length=LONGEST - len(type(model).__name__) - 2)})"


def missing_key(model: Any, key: object) -> KeyError | TypeError:
    """Return the error for a key that is not an additional property; for the name of a field it names the attribute.

    `dict(model)` and `list(model)` read the key 0, because they iterate over the model.
    """
    if isinstance(key, int):
        return TypeError(f"{type(model).__name__} cannot be iterated over: to_dict() returns its JSON object")
    fields = {name.replace("_", ""): name for name in model.__slots__ if name != "additional_properties"}
    field = fields.get(str(key).replace("_", "").lower())
    return KeyError(key if field is None else f"{key} is a field of {type(model).__name__}: read the attribute {field}")


def _joined(parts: list[str], *, length: int) -> str:
    if sum(len(part) + 2 for part in parts) - 2 <= length:
        return ", ".join(parts)
    left = length - len(f"… {len(parts)} more")
    kept = [part for part in parts if (left := left - len(part) - 2) >= 0]
    return ", ".join([*kept, f"… {len(parts) - len(kept)} more"])
