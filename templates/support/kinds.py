"""The kinds of fields: the JSON types of a value, its decoder, and the type by which msgspec checks it.

Each model has a table of its fields, `FIELDS`: by the name of a property in JSON, the name of the field and its kind.
From the table, `methods.py` makes the functions that read and write the model, and `structures.py` the structures into
which msgspec parses.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from types import GenericAlias
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import frozen

from .decoding import (
    MAKERS,
    MembersOf,
    decode_date,
    decode_datetime,
    decode_enum,
    decode_kind,
    decode_list,
    decode_model,
    decode_one_of,
    decode_uuid,
)

if TYPE_CHECKING:
    from .structures import Structures

Decode: TypeAlias = Callable[[Any], Any]
#: The type that msgspec checks, and the function that decodes the result of msgspec; None if the result is the value.
Checked: TypeAlias = tuple[Any, Decode | None]
#: The property whose value determines the model of the property beside it.
KIND = "kind"
_WORDS = {str: "a string", int: "a number", float: "a number", bool: "a boolean", list: "a list", dict: "an object"}


@cache
def class_of(name: str) -> Any:
    """Return a model or an enum by its name. It is imported on first use, so models may refer to each other."""
    return getattr(import_module(".models", __package__), name)


@cache
def _checks_of(name: str) -> list[tuple[str, frozenset[type], "Kind"]]:
    return [(wire, kind.types, kind) for wire, (_, kind) in class_of(name).FIELDS.items()]


def words_for(value: object) -> str:
    """Return the JSON type of a value in words, for messages without the value, which may be a secret."""
    return _WORDS.get(type(value), "null")


class Kind:
    """The kind of a field; this base class is the kind of any value, which is kept unchanged.

    attrs makes only the constructors of the kinds, because nothing compares or shows them.
    """

    __slots__ = ()

    @property
    def holds_models(self) -> bool:
        """Whether values are models, or lists of models."""
        return False

    @property
    def types(self) -> frozenset[type]:
        """The Python types of a scalar with the documented JSON type."""
        return frozenset()

    @property
    def models_by_kind(self) -> Mapping[str, str]:
        """The names of the models by the values of the property `kind`; empty for other kinds of fields."""
        return {}

    def decoder(self) -> Callable[..., Any] | None:
        """Return the function that decodes a value; None if values are kept unchanged."""
        return None

    def assignment(self, target: str, value: str, decode: str) -> list[str]:
        """Return the lines of code that decode a value with the function called `decode` and assign it to `target`."""
        return [f"{target} = {value}" if self.decoder() is None else f"{target} = {decode}({value})"]

    def misfits(self, value: Any, holder: Mapping[str, Any]) -> Iterator[str]:
        """Yield the places of values of another JSON type than documented, such as `[3].latitude is a string`.

        Null is accepted everywhere except as an item of a list of objects.

        Args:
            value: a JSON value other than null.
            holder: the object that has the value as a property.
        """
        if self.types and value.__class__ not in self.types:
            yield f" is {words_for(value)}"

    def checked(self, structures: "Structures") -> Checked:
        """Return the type that msgspec checks, and the decoder of its result."""
        return Any, None


@frozen(eq=False, repr=False)
class Scalar(Kind):
    """A string, a number, a boolean, or an object that stays a dictionary; a string may be decoded further.

    Args:
        types: the Python types for the JSON type.
        checked_type: the type that msgspec checks; `int | float` for a number, because with `float` alone msgspec
            converts integers.
        decode: the function that decodes a value; None if values are kept unchanged.
    """

    _types: frozenset[type]
    checked_type: Any
    decode: Decode | None = None

    @property
    def types(self) -> frozenset[Any]:
        return self._types

    def decoder(self) -> Decode | None:
        return self.decode

    def checked(self, structures: "Structures") -> Checked:
        return self.checked_type, self.decode


_STRINGS, _NUMBERS = frozenset({str}), frozenset({int, float})
ANY = Kind()
STRING = Scalar(_STRINGS, str)
OBJECT = Scalar(frozenset({dict}), dict)
NUMBER = Scalar(_NUMBERS, int | float)
BOOLEAN = Scalar(frozenset({bool}), bool)
# msgspec checks a time as a string: it reads fewer forms than `decode_datetime`, and rounds the seventh decimal.
DATE_TIME = Scalar(_STRINGS, str, decode_datetime)
DATE = Scalar(_STRINGS, str, decode_date)
UUID_STRING = Scalar(_STRINGS, str, decode_uuid)


@frozen(eq=False, repr=False)
class EnumKind(Kind):
    """A member of an enum, or any other value of its JSON type."""

    name: str
    is_number: bool = False

    @property
    def types(self) -> frozenset[type]:
        return _NUMBERS if self.is_number else _STRINGS

    def decoder(self) -> Decode:
        enum = class_of(self.name)
        return partial(decode_enum, enum) if self.is_number else MembersOf(enum)

    def assignment(self, target: str, value: str, decode: str) -> list[str]:
        if self.is_number:
            return [f"{target} = {decode}({value})"]
        # `decode` is called for null and unknown values only.
        member, other = f"    {target} = {decode}.members[{value}]", f"    {target} = {decode}({value})"
        return ["try:", member, "except (KeyError, TypeError):", other]

    def checked(self, structures: "Structures") -> Checked:
        return class_of(self.name), None


class _ObjectKind(Kind):
    __slots__ = ()

    @property
    def holds_models(self) -> bool:
        return True


@frozen(eq=False, repr=False)
class ModelKind(_ObjectKind):
    """An object with a model."""

    name: str

    def decoder(self) -> Decode:
        return partial(decode_model, class_of(self.name))

    def misfits(self, value: Any, holder: Mapping[str, Any]) -> Iterator[str]:
        if value.__class__ is not dict:
            yield f" is {words_for(value)}"
            return
        for wire, types, kind in _checks_of(self.name):
            item = value.get(wire)
            if item is not None and item.__class__ not in types:
                yield from (f".{wire}{misfit}" for misfit in kind.misfits(item, value))

    def checked(self, structures: "Structures") -> Checked:
        structure = structures.of(class_of(self.name))
        if structure is Any:
            return Any, partial(_decoded, self)
        return structure, MAKERS.get(structure, model_of_structure)


@frozen(eq=False, repr=False)
class ListKind(Kind):
    """A list."""

    item: Kind

    @property
    def holds_models(self) -> bool:
        return self.item.holds_models

    def decoder(self) -> Decode | None:
        decode = self.item.decoder()
        return None if decode is None else partial(decode_list, decode)

    def misfits(self, value: Any, holder: Mapping[str, Any]) -> Iterator[str]:
        if value.__class__ is not list:
            # Some responses have a link instead of the list.
            if not (value.__class__ is dict and "href" in value):
                yield f" is {words_for(value)}"
            return
        for index, item in enumerate(value):
            if item is not None or self.item.holds_models:
                yield from (f"[{index}]{misfit}" for misfit in self.item.misfits(item, holder))

    def checked(self, structures: "Structures") -> Checked:
        inner, make = self.item.checked(structures)
        if inner is not Any and not self.item.holds_models:
            inner = inner | None
        return GenericAlias(list, inner), None if make is None else lambda values: [*map(make, values)]


@frozen(eq=False, repr=False)
class OneOfKind(_ObjectKind):
    """An object with the one of several models whose constants it has; an object without them stays a dictionary."""

    names: tuple[str, ...]

    def decoder(self) -> Decode:
        return partial(decode_one_of, [*map(class_of, self.names)])

    def misfits(self, value: Any, holder: Mapping[str, Any]) -> Iterator[str]:
        if value.__class__ is not dict:
            yield f" is {words_for(value)}"
            return
        for name in self.names:
            if class_of(name).CONSTANTS.items() <= value.items():
                yield from ModelKind(name).misfits(value, holder)
                return
        for wire, constant in class_of(self.names[0]).CONSTANTS.items():
            if (item := value.get(wire)) is not None and words_for(item) != words_for(constant):
                yield f".{wire} is {words_for(item)}"

    def checked(self, structures: "Structures") -> Checked:
        union = structures.one_of([*map(class_of, self.names)])
        return (Any, partial(_decoded, self)) if union is Any else (union, model_of_structure)


@frozen(eq=False, repr=False)
class LooseKind(Kind):
    """A value of a kind, or of any other JSON type."""

    kind: Kind

    @property
    def holds_models(self) -> bool:
        return self.kind.holds_models

    def decoder(self) -> Decode | None:
        return self.kind.decoder()

    def checked(self, structures: "Structures") -> Checked:
        return Any, self.kind.decoder()


@frozen(eq=False, repr=False)
class ByKind(_ObjectKind):
    """An object whose model the property `kind` beside it determines; one of an unknown kind is kept unchanged."""

    _models_by_kind: Mapping[str, str]

    @property
    def models_by_kind(self) -> Mapping[str, str]:
        return self._models_by_kind

    def decoder(self) -> Callable[[Any, Any], Any]:
        return partial(decode_kind, {kind: class_of(name) for kind, name in self.models_by_kind.items()})

    def assignment(self, target: str, value: str, decode: str) -> list[str]:
        return [f"{target} = {decode}(d.get({KIND!r}), {value})"]

    def misfits(self, value: Any, holder: Mapping[str, Any]) -> Iterator[str]:
        kind = holder.get(KIND)
        if isinstance(kind, str) and kind in self.models_by_kind:
            yield from ModelKind(self.models_by_kind[kind]).misfits(value, holder)


#: The name and the kind of each field, by the name of the property in JSON.
Table: TypeAlias = Mapping[str, tuple[str, Kind]]


def model_of_structure(values: Any) -> Any:
    """Return the model of a structure."""
    return MAKERS[values.__class__](values)


def _decoded(kind: Kind, value: Any) -> Any:
    """Decode a value that msgspec did not check.

    Raises:
        ValueError: a part of the value has another JSON type than documented.
    """
    for misfit in kind.misfits(value, {}):
        raise ValueError(misfit)
    decode = kind.decoder()
    return value if decode is None else decode(value)
