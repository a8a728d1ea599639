"""Where the wrapper has each operation, parameter, body field and error code of a specification."""

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from tools.generation import generated_names
from tools.generation.generated_names import Function
from tools.generation.wrapper_calls import PACKAGE, Call, calls
from tools.spec.specification import Model, Operation, Specification

PUBLIC = "itwin_platform"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A part of an operation: where the wrapper has it, or else the lines that reach it without the wrapper."""

    operation: str
    part: str
    held: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An operation as generated, and the call of the wrapper that uses it, if any."""

    operation: Operation
    function: Function
    call: Call | None

    @property
    def method(self) -> str:
        """How a user names the operation."""
        return f"{self.call.method}()" if self.call else f"{self.function.name}.asyncio()"


def places(specification: Specification) -> dict[str, Place]:
    """Return each operation that is generated, with its function and the wrapper's call, found by method and path."""
    functions = generated_names.functions().values()
    generated = {(function.method, _shape(function.path)): function for function in functions}
    # Where several methods send the same operation, the first one has all of its parameters.
    called = {call.function: call for call in reversed(calls())}
    found: dict[str, Place] = {}
    for name, operation in specification.operations.items():
        function = generated.get((operation.method, _shape(operation.path)))
        if function is not None:
            found[name] = Place(operation=operation, function=function, call=called.get(function.name))
    return found


def argument(place: Place, part: str) -> str | None:
    """Return the name in Python of a parameter given as `query $top`."""
    kind, _, name = part.partition(" ")
    if kind == "path":
        part = f"path {re.findall(r'{(.*?)}', place.operation.path).index(name)}"
    return place.function.arguments.get(part)


def keywords(place: Place, name: str) -> frozenset[str]:
    """Return the keywords of the wrapper's method that feed an argument of the generated function."""
    if place.call is None:
        return frozenset()
    by_position = dict(zip(place.function.positional, place.call.positional, strict=False))
    return by_position.get(name, frozenset()) | place.call.arguments.get(name, frozenset())


def rows(specification: Specification) -> list[Row]:
    """Return a row for each operation, and for each part of those that the wrapper has.

    Raises:
        SystemExit: something of the specification is not in the generated package.
    """
    found = places(specification)
    for name in specification.operations:
        _check_generated(name, there=name in found)
    return [row for place in found.values() for row in _of_operation(place, specification)]


def _of_operation(place: Place, specification: Specification) -> Iterator[Row]:
    name, operation = place.operation.name, place.operation
    if place.call is None:
        yield Row(operation=name, part="", held="", lines=_lines(place, {}))
        yield from _errors(operation)
        return
    yield Row(operation=name, part="", held=place.method)
    for part, field in operation.parameters.items():
        own = argument(place, part) or ""
        _check_generated(f"{part} of {name}", there=own != "")
        sources = keywords(place, own)
        by_default = field.default is not None and part.startswith("header")
        held = _as_keywords(sources) if sources else "sent by the generated function" if by_default else ""
        yield Row(operation=name, part=part, held=held, lines=() if held else _lines(place, {own: own}))
    if operation.body is not None:
        for model in sorted(specification.reach([operation.body])):
            yield from _of_model(place, model, specification.models[model], place.call.built)
    yield from _errors(operation)


def _of_model(place: Place, name: str, model: Model, built: Mapping[tuple[str, str], frozenset[str]]) -> Iterator[Row]:
    generated = generated_names.model(name)
    complete = getattr(importlib.import_module(PUBLIC), name.removeprefix("Stored"), None)
    own = _own_fields(complete) if name.startswith("Stored") and complete is not None else {}
    public = complete if own else getattr(importlib.import_module(PUBLIC), name, None)
    names = generated_names.attributes(generated) if generated and model.fields else {}
    is_body = generated is place.function.body
    for wire in model.fields:
        _check_generated(f"{name}.{wire}", there=wire in names)
        attribute = names[wire]
        sources = built.get((name, attribute), frozenset()) | built.get((name, f"[{wire}]"), frozenset())
        held, lines = "", tuple[str, ...]()
        if sources:
            held = _as_keywords(sources)
        elif own:
            own_name = name.removeprefix("Stored")
            held = f"{own_name}({own[wire]}=)" if own.get(wire) else f"{own_name}()" if wire in own else ""
            arguments = ", ".join(f"{field}={field}" for field in own.values() if field)
            lines = (f"from {PUBLIC} import {own_name}", f'{own_name}({arguments}, unknown={{"{wire}": {attribute}}})')
        elif public is not None and not is_body:
            held = f"{name}({attribute}=)"
        elif is_body:
            lines = _lines(place, {}, attribute)
        else:
            lines = _constructor(name, names, model, wire)
        yield Row(operation=place.operation.name, part=f"{name}.{wire}", held=held, lines=() if held else lines)


def _constructor(name: str, names: Mapping[str, str], model: Model, wanted: str) -> tuple[str, ...]:
    """Return the lines that make a generated model with everything that it needs, and one property more."""
    needed = [wire for wire, field in model.fields.items() if field.required or wire == wanted]
    constants = {wire: model.fields[wire].limits.get("const") for wire in needed}
    values = {wire: names[wire] if constants[wire] is None else f'"{constants[wire]}"' for wire in needed}
    arguments = ", ".join(f"{names[wire]}={value}" for wire, value in values.items())
    return f"from {PACKAGE}.models import {name}", f"{name}({arguments})"


def _own_fields(public: type) -> dict[str, str]:
    """Return the arguments of a complete object of the wrapper by wire name, empty for one that its class fixes."""
    names = [name for name in inspect.signature(public).parameters if name != "unknown"]
    serialized = public(**{name: f"marker-{name}-marker" for name in names}).to_wire()
    found = {wire: generated_names.MARKER.fullmatch(str(value)) for wire, value in serialized.items()}
    return {wire: match[1] if match else "" for wire, match in found.items()}


def _errors(operation: Operation) -> Iterator[Row]:
    public = importlib.import_module(PUBLIC)
    classes = importlib.import_module(f"{PUBLIC}._transports.status_errors")
    for status, code in sorted(operation.errors):
        kind = classes.status_error_class(int(status)).__name__ if status.isdigit() else "APIStatusError"
        known = {member.value: member.name for member in public.ErrorCode}
        held = f"{kind}, ErrorCode.{known[code]}" if code in known else kind if code == "any code" else ""
        meaning = HTTPStatus(int(status)).phrase if status.isdigit() else ""
        line = f'except {kind} as error: ... error.code == "{code}"  # {meaning}'
        yield Row(operation=operation.name, part=f"error {status} {code}", held=held, lines=() if held else (line,))
    for code in sorted({code for _, code, _ in operation.details}):
        known = {member.value: member.name for member in public.ErrorDetailCode}
        held = f"ErrorDetailCode.{known[code]}" if code in known else ""
        line = f'any(detail.code == "{code}" for detail in error.details)'
        yield Row(operation=operation.name, part=f"detail {code}", held=held, lines=() if held else (line,))


def _lines(place: Place, expressions: Mapping[str, str], attribute: str | None = None) -> tuple[str, ...]:
    """Return what imports and calls the generated function, with all that is required and what is asked for."""
    body = place.function.body
    if body is None:
        return place.function.import_line, place.function.call_line(expressions)
    needed = [
        name
        for name, parameter in inspect.signature(body).parameters.items()
        if parameter.default is parameter.empty or name == attribute
    ]
    built = f"{body.__name__}({', '.join(f'{name}={name}' for name in needed)})"
    models = f"from {PACKAGE}.models import {body.__name__}"
    return place.function.import_line, models, place.function.call_line({**expressions, "body": built})


def _check_generated(what: str, *, there: bool) -> None:
    if not there:
        raise SystemExit(f"{what} is in the specification and not in the generated package: run `make generate` first")


def _as_keywords(names: frozenset[str]) -> str:
    return ", ".join(f"{name}=" for name in sorted(names))


def _shape(path: str) -> str:
    return re.sub(r"{.*?}", "{}", path)
