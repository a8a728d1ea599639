"""Pages of iTwins read with msgspec, which checks the types while it parses: twice as fast where they are as described.

A page that differs in anything - an unknown field, a value that an enum does not list, another type - is not read here,
and nothing of it is lost: it goes the ordinary way.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import attrs

from ..._api import (
    UNSET,
    DataCenterLocation,
    ITwin,
    ITwinClass,
    ITwinsResponse,
    ITwinStatus,
    ITwinSubClass,
    decode_datetime,
)

Reader = Callable[[bytes], ITwinsResponse | None]

#: How a field is checked, by its annotation. A time is read by the models, which know more forms of it.
_KINDS: dict[str, Any] = {
    "str": str,
    "float": int | float,
    "datetime.datetime": str,
    "ITwinClass": ITwinClass,
    "ITwinSubClass": ITwinSubClass,
    "ITwinStatus": ITwinStatus,
    "DataCenterLocation": DataCenterLocation,
}


def read_typed(body: bytes) -> ITwinsResponse | None:
    """Decode a page of iTwins that is as described; None for any other, and where msgspec is not installed."""
    reader = _reader()
    return None if reader is None else reader(body)


@cache
def _reader() -> Reader | None:
    try:
        msgspec = import_module("msgspec")
    except ImportError:
        return None
    fields = [field for field in attrs.fields(ITwin) if field.name != "additional_properties"]
    decode = _page_decoder(msgspec, fields)
    if decode is None:
        return None
    model_of = _model_maker(fields)

    def read(body: bytes) -> ITwinsResponse | None:
        try:
            found = decode(body)
        except (ValueError, RecursionError):
            return None
        response = ITwinsResponse.from_dict({"iTwins": [], "_links": found.links})
        response.itwins = [model_of(values) for values in found.itwins]
        return response

    return read


def _page_decoder(msgspec: ModuleType, fields: "list[attrs.Attribute[Any]]") -> Callable[[bytes], Any] | None:
    """Return what decodes a page strictly; None when a field has a type that it does not know."""
    # Which field has which name on the wire is what a model tells whose values are the names of its fields.
    named = ITwin.from_dict({})
    for field in fields:
        setattr(named, field.name, field.name)
    wire_names = {name: wire for wire, name in named.wire_fields().items()}
    kinds = {field.name: _kind_of(str(field.type)) for field in fields}
    if None in kinds.values():
        return None
    item = msgspec.defstruct(
        "ITwin",
        [(name, kind, UNSET) for name, kind in kinds.items()],
        rename=wire_names,
        forbid_unknown_fields=True,
        gc=False,
    )
    page = msgspec.defstruct(
        "Page",
        [("itwins", list.__class_getitem__(item)), ("links", Any, UNSET)],
        rename={"itwins": "iTwins", "links": "_links"},
        # msgspec would skip an unknown field unread: not even its encoding would be checked.
        forbid_unknown_fields=True,
    )
    decode: Callable[[bytes], Any] = msgspec.json.Decoder(page).decode
    return decode


def _model_maker(fields: "list[attrs.Attribute[Any]]") -> Callable[[object], ITwin]:
    """Write the function that makes a model of checked values, as attrs writes constructors; a loop is slower."""
    lines = ["def model_of(values):", " model = blank(ITwin)", " model.additional_properties = {}"]
    for field in fields:
        value = f"values.{field.name}"
        lines.append(f" model.{field.name} = {f'read_time({value})' if 'datetime' in str(field.type) else value}")
    names: dict[str, Any] = {"blank": object.__new__, "ITwin": ITwin, "read_time": decode_datetime}
    exec("\n".join([*lines, " return model"]), names)  # noqa: S102  # of the names of our own fields
    made: Callable[[object], ITwin] = names["model_of"]
    return made


def _kind_of(annotation: str) -> Any:
    names = [name for name in annotation.split(" | ") if name not in ("None", "Unset")]
    # Null is kept in each field, whatever the description says.
    return _KINDS[names[0]] | None if len(names) == 1 and names[0] in _KINDS else None
