"""Compiles the functions that read and write a model from its table, as attrs compiles methods.

`linecache` has their code, so that tracebacks and debuggers show it.
"""

import linecache
from collections.abc import Callable, Mapping
from functools import cache, partial
from types import CodeType
from typing import Any, cast

import attrs

from .decoding import MAKERS, blank, decode_datetime, decode_map, unknown_of
from .encoding import Encodable, Fields, fields_of
from .kinds import NUMBER
from .unset import UNSET

#: The decoder of times. They are a tenth of the time of a listing: see the row "10,000 iTwins, pages of 100".
TIMES: Mapping[type[Any], Callable[[Any], Any]] = {str: decode_datetime}


def reader_of(model: Any) -> Callable[[Any, Mapping[str, Any]], Any]:
    """Return the function that makes a model from a JSON object."""
    # The constant of a complete object is required, although its constructor has no argument for it.
    required = {field.name for field in attrs.fields(model) if field.default is attrs.NOTHING or not field.init}
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
        # A missing field is rare, so the function decodes the object again, with UNSET in place of missing fields.
        present = ["try:", *present, "except KeyError:", "    return from_dict(cls, {**absent, **d})"]
    unknown = "{} if len(d) == known else unknown_of(d, names)"
    if (decode := model.OTHERS.decoder()) is not None:
        names["decode_others"] = partial(decode_map, decode)
        unknown = f"decode_others({unknown})"
    lines = ["d, model = src_dict, blank(cls)", f"known = {len(model.FIELDS)}", *present, *optional]
    lines += [f"model._additional_properties = {unknown}", "return model"]
    return compiled(model, "from_dict(cls, src_dict)", lines, names)


def writer_of(model: Any) -> Callable[[Any], dict[str, Any]]:
    """Return the function that writes the fields of a model by their names in JSON, in the order of the document."""
    lines = ["wire = Fields(self._additional_properties) if self._additional_properties else Fields()"]
    # `fields_of` alone is slower: see the row "POST 100 objects as models, echoed" of docs/benchmarks.md.
    inner = "value.wire_fields() if isinstance(value, Encodable) else fields_of(value)"
    for wire, (name, kind) in model.FIELDS.items():
        value = inner if kind.holds_models else "value"
        # A complete object omits an optional field that is None, and a required field that is UNSET, which is rejected.
        absent = "None" if name in model.OPTIONAL else "UNSET"
        lines += [f"if (value := self.{name}) is not {absent}:", f"    wire[{wire!r}] = {value}"]
    required = {field.name for field in attrs.fields(model) if field.default is attrs.NOTHING}
    if model.IS_COMPLETE:
        lines.append(f"wire.model = {model.__name__!r}")
    elif all(name in required and kind is NUMBER for name, kind in model.FIELDS.values()):
        # Numbers, such as those of a vector, are no secrets, and a display is faster.
        display = ", ".join(f"{wire!r}: self.{name}" for wire, (name, _) in model.FIELDS.items())
        lines = ["if not self._additional_properties:", f"    return {{{display}}}", *lines]
    names = {"Fields": Fields, "UNSET": UNSET, "fields_of": fields_of, "Encodable": Encodable}
    return compiled(model, "wire_fields(self)", [*lines, "return wire"], names)


def make_when_read(model: type[Any], name: str, makers: Mapping[type[Any], Callable[[Any], Any]] = MAKERS) -> None:
    """Let a field hold a structure, and make its model when the field is first read; or a string, and decode its time.

    The garbage collector visits models and no structures: see the benchmark row "5,000 scene objects". Two threads that
    read a field for the first time at once may get different but equal objects; the field keeps one of them, and a
    change of the other is lost.

    Args:
        model: the class. It also gets the name with an underscore before it, which reads the field as it is stored.
        name: the name of the field.
        makers: the functions that make the value, by the class of what the field holds.
    """
    slot = vars(model)[name]
    setattr(model, f"_{name}", slot)
    lines = [f"value = self._{name}", "if value.__class__ in makers:"]
    lines += [f"    value = self._{name} = makers[value.__class__](value)", "return value"]
    read = compiled(model, f"{name}(self)", lines, {"makers": makers})
    setattr(model, name, property(read, slot.__set__, slot.__delete__, f"The `{name}`, made when it is first read."))


def compiled(model: Any, signature: str, lines: list[str], names: dict[str, Any]) -> Callable[..., Any]:
    """Return a compiled function of a model.

    Args:
        model: the class that gets the function.
        signature: the name and the arguments of the function.
        lines: the body of the function, made from the table alone and never from a response.
        names: the globals that the code uses.
    """
    name = signature.partition("(")[0]
    text = "\n".join([f"def {signature}:", *_indented(lines), ""])
    exec(_compiled_source(text, f"<{name} of {model.__module__}.{model.__qualname__}>"), names)  # noqa: S102
    function: Any = names[name]
    function.__module__, function.__qualname__ = model.__module__, f"{model.__qualname__}.{name}"
    return cast("Callable[..., Any]", function)


@cache
def _compiled_source(text: str, file: str) -> CodeType:
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    return compile(text, file, "exec")


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
