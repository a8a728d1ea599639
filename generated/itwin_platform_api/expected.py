"""Checks the JSON types of a response: what is null, missing or not named in the document has any."""

from typing import Any

from .unset import UNSET

_TYPES: dict[str, tuple[frozenset[type], str]] = {
    "string": (frozenset({str}), "a string"),
    "number": (frozenset({int, float}), "a number"),
    "boolean": (frozenset({bool}), "true or false"),
}


def mismatch(expected: Any, value: Any) -> str | None:
    """Return the first place of another type than the document has, such as `iTwins[3].status: a string was expected`.

    The value is not part of it, because it may be a secret.

    Args:
        expected: the name of a type; a list with the type of each item; the types of properties; a tuple of one mapping
            of these by the property `type`, another of which has any properties; or None for any value.
        value: a value as `json.loads` returns it. In the place of a list, a link to it is accepted, as has been seen.
    """
    found = _mismatch(expected, value)
    return None if found is None else found.removeprefix(".").removeprefix(": ")


def _mismatch(expected: Any, value: Any) -> str | None:
    if value is None or expected is None or value is UNSET:
        return None
    if isinstance(expected, str):
        types, words = _TYPES[expected]
        return None if type(value) in types else f": {words} was expected"
    if isinstance(expected, list):
        return _in_list(expected[0], value)
    if not isinstance(value, dict):
        return ": an object was expected"
    if isinstance(expected, tuple):
        kind = value.get("type")
        expected = expected[0].get(kind, {}) if isinstance(kind, str) else {"type": "string"}
    for name, inner in expected.items():
        item = value.get(name)
        # Nearly every value has one of these types: without a call of its own, it takes half the time.
        if type(inner) is str and type(item) in _TYPES[inner][0]:
            continue
        if (found := _mismatch(inner, item)) is not None:
            return f".{name}{found}"
    return None


def _in_list(expected: Any, value: Any) -> str | None:
    if not isinstance(value, list):
        return None if isinstance(value, dict) and "href" in value else ": a list was expected"
    for index, item in enumerate(value):
        found = ": an object was expected" if item is None and isinstance(expected, dict) else _mismatch(expected, item)
        if found is not None:
            return f"[{index}]{found}"
    return None


def fit(expected: Any, value: Any) -> None:
    """Check a part of a response.

    Raises:
        ValueError: it has another type than the document has.
    """
    if (found := _mismatch(expected, value)) is not None:
        raise ValueError(found)


__all__ = ["fit", "mismatch"]
