"""The names that callers import beside operations and models."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from .encoding import Fields, copy_values, encode
from .unset import UNSET, Unset

T = TypeVar("T")


@dataclass(slots=True)
class Response(Generic[T]):
    """A response of an operation. `repr` does not show its content and headers, because they may hold secrets."""

    status_code: int
    content: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    parsed: T


__all__ = ["UNSET", "Fields", "Response", "Unset", "copy_values", "encode"]
