"""Structures of responses: msgspec checks their types while it parses, which takes half the time.

They forbid properties that the document does not name, because msgspec would drop them. When a response has one, the
structures are made once more with a field for it, which all later responses use.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial
from types import GenericAlias
from typing import Any, Generic, TypeVar

from msgspec import defstruct, field
from msgspec.json import Decoder

from .decoding import MAKERS
from .unset import UNSET

M = TypeVar("M")
#: The most names to learn: a service that sends more of them uses data as names.
MOST = 50
#: What msgspec says of such a property. A name that it cannot give to a field is not learned.
_UNKNOWN = re.compile(r"Object contains unknown field `([^`\"\\\x00-\x1f]+)`")


def structure(
    make: Callable[[Any], object],
    fields: Iterable[Any],
    unknown: Iterable[str],
    *,
    tag: tuple[str | None, str | None] = (None, None),
) -> Any:
    """Return the structure of a model.

    Args:
        make: makes the model of the structure.
        fields: each as `required` or `optional` returns it.
        unknown: the names in JSON of what goes into the `additional_properties` of the model.
        tag: a property and its only value, by which msgspec chooses this structure.
    """
    own = [*fields]
    known = {each.name for _, _, each in own} | {tag[0]}
    # No attribute of a model has a capital.
    more = [(f"U{number}", wire) for number, wire in enumerate(unknown) if wire not in known]
    own += [optional(name, Any, wire) for name, wire in more]
    made = defstruct("Structure", own, tag_field=tag[0], tag=tag[1], forbid_unknown_fields=True, gc=False)
    MAKERS[made] = partial(_with_unknown, make, more) if more else make
    return made


def required(name: str, kind: Any, wire: str) -> Any:
    """Declare a field, named `wire` in JSON, without which a response is not read into a structure."""
    return name, kind, field(name=wire)


def optional(name: str, kind: Any, wire: str) -> Any:
    """Declare a field, named `wire` in JSON, that is UNSET where a response lacks it."""
    return name, kind, field(default=UNSET, name=wire)


def list_of(item: Any) -> Any:
    """Return the type of a list."""
    return GenericAlias(list, item)


def made_of(values: Any) -> Any:
    """Return the model of a structure; anything else as it is."""
    make = MAKERS.get(values.__class__)
    return values if make is None else make(values)


def _with_unknown(make: Callable[[Any], Any], more: Iterable[tuple[str, str]], values: Any) -> Any:
    model = make(values)
    for name, wire in more:
        value = getattr(values, name)
        if value is not UNSET:
            model.additional_properties[wire] = value
    return model


class ResponseReader(Generic[M]):
    """Reads the responses of an operation; `structures` returns those of a response, the first to try first."""

    def __init__(self, structures: Callable[[Iterable[str]], Iterable[Any]]) -> None:
        self._structures = structures
        self._unknown: tuple[str, ...] = ()
        self._decoders: list[Decoder[Any]] = []

    def read(self, body: bytes) -> M | None:
        """Read a response that is as described, but for properties that are not; None for any other."""
        if not self._decoders:
            self._decoders = [Decoder(each) for each in self._structures(self._unknown)]
        for decoder in self._decoders:
            try:
                values = decoder.decode(body)
                model: M = MAKERS[values.__class__](values)
            except (ValueError, RecursionError) as error:
                found = _UNKNOWN.match(str(error))
                if found and found[1] not in self._unknown and len(self._unknown) < MOST:
                    self._unknown, self._decoders = (*self._unknown, found[1]), []
                    return self.read(body)
            else:
                return model
        return None


__all__ = ["ResponseReader", "list_of", "made_of", "optional", "required", "structure"]
