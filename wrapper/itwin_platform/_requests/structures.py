"""Structures of msgspec that follow from the models, and functions that make models of what was read into them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType, ModuleType
from typing import Annotated, Any

import attrs

from .._api import UNSET, decode_datetime

#: A time is checked to be a string, and read by the models, which know more forms of it.
TIME = Annotated[str, "time"]
#: How a field is checked, by its annotation.
KINDS: dict[str, Any] = {
    "str": str,
    "float": int | float,
    "bool": bool,
    "list[float]": list[int | float],
    "datetime.datetime": TIME,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """A structure, and the model that it is of.

    Args:
        model: the class of the model.
        struct: the class that msgspec reads into. It forbids unknown fields.
        kinds: how each of its fields is checked: by a type, or a structure.
        constants: the fields that it does not read, with their values.
    """

    model: type[Any]
    struct: type[Any]
    kinds: Mapping[str, Any]
    constants: Mapping[str, object]


def structure_of(
    msgspec: ModuleType,
    model: type[Any],
    *,
    given: Mapping[str, Any] = MappingProxyType({}),
    tag: tuple[str, str] | None = None,
) -> Structure:
    """Return the structure of a model.

    Args:
        msgspec: the module.
        model: the class of the model.
        given: how fields are checked whose annotation does not tell: by a type, or a structure.
        tag: a field that has one value, and this value.

    Raises:
        KeyError: a field has a type that is not known here.
    """
    constants = dict([tag] if tag else [])
    names = {name: wire for name, wire in wire_names(model).items() if name not in constants}
    stated = {field.name: str(field.type) for field in attrs.fields(model)}
    kinds = {name: given[name] if name in given else _kind_of(msgspec, model, stated[name]) for name in names}
    struct = _struct(msgspec, model.__name__, names, kinds, tag or (None, None))
    return Structure(model=model, struct=struct, kinds=kinds, constants=constants)


def _struct(
    msgspec: ModuleType,
    title: str,
    names: dict[str, str],
    kinds: Mapping[str, Any],
    tag: tuple[str | None, str | None],
) -> type[Any]:
    types = {name: kind.struct if isinstance(kind, Structure) else kind for name, kind in kinds.items()}
    struct: type[Any] = msgspec.defstruct(
        title,
        # Null is kept in each field, whatever the description says.
        [(name, types[name] | None, UNSET) for name in names],
        rename=names,
        tag_field=tag[0],
        tag=tag[1],
        # msgspec would skip an unknown field unread: not even its encoding would be checked.
        forbid_unknown_fields=True,
        gc=False,
    )
    return struct


#: The structure of a model that several others hold is made once.
_inner_structure = cache(structure_of)


def _kind_of(msgspec: ModuleType, model: type[Any], annotation: str) -> Any:
    """Return how a field is checked: a type, or the structure of a model."""
    name = " | ".join(name for name in annotation.split(" | ") if name not in ("None", "Unset"))
    # A class says that it is of the module that users import it from. Its functions tell which one it is written in.
    kind = KINDS.get(name) or model.from_dict.__globals__[name]
    if hasattr(kind, "wire_fields"):
        return _inner_structure(msgspec, kind)
    if name not in KINDS and not issubclass(kind, StrEnum):
        raise KeyError(name)
    return kind


def wire_names(model: type[Any]) -> dict[str, str]:
    """Return the name on the wire of each field: a model tells it whose values are the names of its fields."""
    named = model.from_dict({})
    for name in named.__slots__:
        if name not in ("__weakref__", "additional_properties"):
            setattr(named, name, name)
    return {name: wire for wire, name in named.wire_fields().items()}


def model_maker(structure: Structure) -> Callable[[object], Any]:
    """Write the function that makes a model of checked values, as attrs writes constructors; a loop is slower."""
    names: dict[str, Any] = {"blank": object.__new__, "UNSET": UNSET, "read_time": decode_datetime}
    lines = ["def model_of(values):", *_lines(structure, names, "values", "model", 1), " return model"]
    exec("\n".join(lines), names)  # noqa: S102  # of the names of our own fields
    made: Callable[[object], Any] = names["model_of"]
    return made


def _lines(structure: Structure, names: dict[str, Any], values: str, model: str, depth: int) -> Iterator[str]:
    """Return the lines that make a model; those of the models in it too, because a call for each takes longer."""
    indent, part = " " * depth, f"part_{depth}"
    names[structure.model.__name__] = structure.model
    yield f"{indent}{model} = blank({structure.model.__name__})"
    yield f"{indent}{model}.additional_properties = {{}}"
    for name, value in structure.constants.items():
        names[f"constant_{name}"] = value
        yield f"{indent}{model}.{name} = constant_{name}"
    for name, kind in structure.kinds.items():
        value = f"{values}.{name}"
        yield f"{indent}{model}.{name} = {f'read_time({value})' if kind is TIME else value}"
        if isinstance(kind, Structure):
            yield f"{indent}{values}_{name} = {value}"
            yield f"{indent}if {values}_{name} is not None and {values}_{name} is not UNSET:"
            yield from _lines(kind, names, f"{values}_{name}", part, depth + 1)
            yield f"{indent} {model}.{name} = {part}"
