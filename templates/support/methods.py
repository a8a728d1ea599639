"""Functions made from the table of a model when they are first needed, as attrs makes its methods.

Their code is in `linecache`, so that tracebacks and debuggers show it.
"""

import linecache
from collections.abc import Callable, Mapping
from functools import cache, partial
from types import CodeType
from typing import Any

import attrs

from .decoding import blank, decode_map, unknown_of
from .encoding import Fields, fields_of
from .unset import UNSET


def reader_of(model: Any) -> Callable[[Any, Mapping[str, Any]], Any]:
    """Return the function that makes a model from a JSON object."""
    # A constant of a complete object is no argument of its constructor.
    required = {each.name for each in attrs.fields(model) if each.default is attrs.NOTHING or not each.init}
    absent: dict[str, Any] = {wire: UNSET for wire, (name, _) in model.FIELDS.items() if name in required}
    absent |= {wire: None for wire, (name, _) in model.FIELDS.items() if name in model.OPTIONAL}
    names = {"blank": blank, "UNSET": UNSET, "unknown_of": unknown_of, "names": frozenset(model.FIELDS)}
    present, optional = list[str](), list[str]()
    for number, (wire, (name, kind)) in enumerate(model.FIELDS.items()):
        names[f"decode_{number}"] = kind.decoder()
        lines = kind.assignment(f"model.{name}", f"d[{wire!r}]", f"decode_{number}")
        if name in required:
            present += _indented(lines)
        else:
            absence = [f"model.{name} = UNSET", "known -= 1"]
            optional += [f"if {wire!r} in d:", *_indented(lines), "else:", *_indented(absence)]
    if present:
        names["absent"] = absent
        # A missing field is UNSET.
        present = ["try:", *present, "except KeyError:", "    return from_dict(cls, {**absent, **d})"]
    unknown = "{} if len(d) == known else unknown_of(d, names)"
    if (decode := model.OTHERS.decoder()) is not None:
        names["decode_others"] = partial(decode_map, decode)
        unknown = f"decode_others({unknown})"
    lines = ["d, model = src_dict, blank(cls)", f"known = {len(model.FIELDS)}", *present, *optional]
    lines += [f"model.additional_properties = {unknown}", "return model"]
    return made(model, "from_dict(cls, src_dict)", lines, names)


def writer_of(model: Any) -> Callable[[Any], Fields]:
    """Return the function that writes the fields of a model by their names in JSON, in the order of the document."""
    lines = ["wire = Fields(self.additional_properties) if self.additional_properties else Fields()"]
    for wire, (name, kind) in model.FIELDS.items():
        value = "fields_of(value)" if kind.holds_models else "value"
        # None in a complete object is no null, and UNSET is what the checks of a request find missing.
        absent = "None" if name in model.OPTIONAL else "UNSET"
        lines += [f"if (value := self.{name}) is not {absent}:", f"    wire[{wire!r}] = {value}"]
    if model.IS_COMPLETE:
        lines.append(f"wire.model = {model.__name__!r}")
    names = {"Fields": Fields, "UNSET": UNSET, "fields_of": fields_of}
    return made(model, "wire_fields(self)", [*lines, "return wire"], names)


def made(model: Any, signature: str, lines: list[str], names: dict[str, Any]) -> Callable[..., Any]:
    """Return a function of a model.

    Args:
        model: the class that it is for.
        signature: its name and arguments.
        lines: its code, made from the table and from nothing that was received.
        names: the globals that the code uses.
    """
    name = signature.partition("(")[0]
    text = "\n".join([f"def {signature}:", *_indented(lines), ""])
    exec(_code(text, f"<{name} of {model.__module__}.{model.__qualname__}>"), names)  # noqa: S102
    function: Any = names[name]
    function.__module__, function.__qualname__ = model.__module__, f"{model.__qualname__}.{name}"
    method: Callable[..., Any] = function
    return method


@cache
def _code(text: str, file: str) -> CodeType:
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    return compile(text, file, "exec")


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
