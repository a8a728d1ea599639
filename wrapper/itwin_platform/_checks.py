"""The documented rules that a client can check before anything is sent. Source: sections 2, 4, 7 and 8.

Each function returns nothing, or raises UsageError with the code and target that the service documents. Never checked:
whether a value is one of an enum (the service may know more), the syntax of a filter, names of properties.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from ._api import UNSET, Unset
from ._errors import UsageError

V = TypeVar("V")

_UUID = re.compile(r"[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


def check_path_id(name: str, value: object) -> None:
    """An id that becomes a part of the path must not be resolved away. This holds with checks lifted, too."""
    if not isinstance(value, str):
        raise UsageError(f"{name} must be a str, not {type(value).__name__}")
    if value in ("", ".", ".."):
        raise UsageError(f"{name} is {value!r}, which is not an id: the request would reach another path")


def check_uuid(name: str, value: object, *, code: str | None = None, target: str | None = None) -> None:
    """Eight, four, four, four and twelve hexadecimal digits; the variant bits are the service's business."""
    if isinstance(value, Unset):
        return
    if not isinstance(value, str) or not _UUID.fullmatch(value):
        raise UsageError(
            f"{name} must be a UUID, such as 6a2d2381-6c57-4332-b87a-5b7c00000000", code=code, target=target
        )


def check_text(
    name: str,
    value: object,
    *,
    most: int | None = None,
    missing_code: str | None = "InvalidValue",
    target: str | None = None,
) -> None:
    """A text that is neither null nor empty, and not longer than `most` characters."""
    if isinstance(value, Unset):
        return
    if not isinstance(value, str) or not value:
        raise UsageError(f"{name} must be a text that is not empty", code=missing_code, target=target or name)
    if most is not None and len(value) > most:
        raise UsageError(f"{name} has {len(value)} characters, {most} are allowed", code="InvalidValue", target=name)


def refuse_none(given: Mapping[str, object], *, code: str | None) -> None:
    """None stands for null, which the service does not take here."""
    for name, value in given.items():
        if value is None:
            raise UsageError(f"{name} cannot be null: leave it out instead of giving None", code=code, target=name)


def several(given: object, kind: Callable[[str], V]) -> list[V] | Unset:
    """Makes a list of one value or several; a text counts as one."""
    if isinstance(given, Unset) or given is None:
        return UNSET
    if isinstance(given, str):
        return [kind(given)]
    values: list[object] = list(given) if isinstance(given, Iterable) else [given]
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) < len(values):
        raise UsageError("give one text, or an iterable of texts")
    return [kind(text) for text in texts]


def check_integer(name: str, value: object, *, least: int, most: int | None, code: str | None, target: str) -> None:
    """A whole number in a range."""
    if type(value) is not int or value < least or (most is not None and value > most):
        allowed = f"from {least} to {most}" if most is not None else f"of {least} or more"
        raise UsageError(f"{name} must be an integer {allowed}", code=code, target=target)


def check_header(name: str, value: object) -> None:
    """A header's value is visible ASCII: anything else cannot be sent, or would start another header."""
    if isinstance(value, Unset):
        return
    if not isinstance(value, str) or not value or not value.isascii() or not value.isprintable():
        raise UsageError(f"{name} must be a text of visible ASCII characters")


def check_exclusive(given: Mapping[str, object]) -> None:
    """The parameters of list iTwins that exclude each other. Source: section 4.3."""
    present = {name for name, value in given.items() if not isinstance(value, Unset)}
    for one, others, target in (
        ("$search", ("number", "displayName"), "$search"),
        (
            "$filter",
            ("status", "type", "number", "displayName", "parentId", "iTwinAccountId", "$search"),
            "$filter",
        ),
        ("includeInactive", ("status",), "includeInactive"),
    ):
        clash = [name for name in others if name in present]
        if one in present and clash:
            raise UsageError(
                f"{one} cannot be combined with {', '.join(clash)}: leave one side out",
                code="InvalidParameter",
                target=target,
            )
