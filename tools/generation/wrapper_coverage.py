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
    """A part of an operation: where the wrapper has it, otherwise the lines that use it without the wrapper."""

    operation: str
    part: str
    wrapped: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationUse:
    """An operation, its generated function, and the call of that function in the wrapper, if there is one."""

    operation: Operation
    function: Function
    call: Call | None

    @property
    def method(self) -> str:
        """The operation as users name it."""
        return f"{self.call.method}()" if self.call else f"{self.function.name}.asyncio()"


def operation_uses(specification: Specification) -> dict[str, OperationUse]:
    """Return each generated operation, whose function has its HTTP method and path."""
    functions = generated_names.functions().values()
    generated = {(function.method, _shape(function.path)): function for function in functions}
    # If more than one method sends an operation, the first one has all of its parameters.
    called = {call.function: call for call in reversed(calls())}
    found: dict[str, OperationUse] = {}
    for name, operation in specification.operations.items():
        function = generated.get((operation.method, _shape(operation.path)))
        if function is not None:
            found[name] = OperationUse(operation=operation, function=function, call=called.get(function.name))
    return found


def argument(use: OperationUse, part: str) -> str | None:
    """Return the Python name of a parameter such as `query $top`."""
    kind, _, name = part.partition(" ")
    if kind == "path":
        names = re.findall(r"{(.*?)}", use.operation.path)
        part = f"path {names.index(name)}" if name in names else part
    return use.function.arguments.get(part)


def keywords(use: OperationUse, name: str) -> frozenset[str]:
    """Return the keywords of the wrapper's method that supply an argument of the generated function."""
    if use.call is None:
        return frozenset()
    by_position = dict(zip(use.function.positional, use.call.positional, strict=False))
    return by_position.get(name, frozenset()) | use.call.arguments.get(name, frozenset())


def rows(specification: Specification) -> list[Row]:
    """Return a row for each operation, and for each part of those that the wrapper has.

    Raises:
        SystemExit: A part of the specification is not in the generated package.
    """
    found = operation_uses(specification)
    for name in specification.operations:
        _check_generated(name, there=name in found)
    return [row for use in found.values() for row in _of_operation(use, specification)]


def _of_operation(use: OperationUse, specification: Specification) -> Iterator[Row]:
    name, operation = use.operation.name, use.operation
    if use.call is None:
        yield Row(operation=name, part="", wrapped="", lines=_lines(use, {}))
        yield from _errors(operation)
        return
    yield Row(operation=name, part="", wrapped=use.method)
    for part, field in operation.parameters.items():
        own = argument(use, part) or ""
        _check_generated(f"{part} of {name}", there=own != "")
        sources = keywords(use, own)
        by_default = field.default is not None and part.startswith("header")
        wrapped = _as_keywords(sources) if sources else "sent by the generated function" if by_default else ""
        yield Row(operation=name, part=part, wrapped=wrapped, lines=() if wrapped else _lines(use, {own: own}))
    if operation.body is not None:
        for model in sorted(specification.reach([operation.body])):
            yield from _of_model(use, model, specification.models[model], use.call.built)
    yield from _errors(operation)


def _of_model(
    use: OperationUse, name: str, model: Model, built: Mapping[tuple[str, str], frozenset[str]]
) -> Iterator[Row]:
    generated = generated_names.model(name)
    complete = getattr(importlib.import_module(PUBLIC), name.removeprefix("Stored"), None)
    own = _own_fields(complete) if name.startswith("Stored") and complete is not None else {}
    public = complete if own else getattr(importlib.import_module(PUBLIC), name, None)
    names = generated_names.attributes(generated) if generated and model.fields else {}
    is_body = generated is use.function.body
    for wire in model.fields:
        _check_generated(f"{name}.{wire}", there=wire in names)
        attribute = names[wire]
        sources = built.get((name, attribute), frozenset()) | built.get((name, f"[{wire}]"), frozenset())
        wrapped, lines = "", tuple[str, ...]()
        if sources:
            wrapped = _as_keywords(sources)
        elif own:
            own_name = name.removeprefix("Stored")
            wrapped = f"{own_name}({own[wire]}=)" if own.get(wire) else f"{own_name}()" if wire in own else ""
            arguments = ", ".join(f"{field}={field}" for field in own.values() if field)
            lines = (f"from {PUBLIC} import {own_name}", f'{own_name}({arguments}, unknown={{"{wire}": {attribute}}})')
        elif public is not None and not is_body:
            wrapped = f"{name}({attribute}=)"
        elif is_body:
            lines = _lines(use, {}, attribute)
        else:
            lines = _constructor(name, names, model, wire)
        yield Row(operation=use.operation.name, part=f"{name}.{wire}", wrapped=wrapped, lines=() if wrapped else lines)


def _constructor(name: str, names: Mapping[str, str], model: Model, wanted: str) -> tuple[str, ...]:
    """Return the lines that construct a generated model with its required properties and `wanted`."""
    needed = [wire for wire, field in model.fields.items() if field.required or wire == wanted]
    constants = {wire: model.fields[wire].limits.get("const") for wire in needed}
    values = {wire: names[wire] if constants[wire] is None else f'"{constants[wire]}"' for wire in needed}
    arguments = ", ".join(f"{names[wire]}={value}" for wire, value in values.items())
    return f"from {PACKAGE}.models import {name}", f"{name}({arguments})"


def _own_fields(public: type) -> dict[str, str]:
    """Return the arguments of a complete object by wire name, and an empty string for a constant of its class."""
    names = [name for name in inspect.signature(public).parameters if name != "unknown"]
    serialized = public(**{name: f"marker-{name}-marker" for name in names}).to_wire()
    found = {wire: generated_names.MARKER.fullmatch(str(value)) for wire, value in serialized.items()}
    return {wire: match[1] if match else "" for wire, match in found.items()}


def _errors(operation: Operation) -> Iterator[Row]:
    public = importlib.import_module(PUBLIC)
    classes = importlib.import_module(f"{PUBLIC}._status_errors")
    for status, code in sorted(operation.errors):
        kind = classes.status_error_class(int(status)).__name__ if status.isdigit() else "APIStatusError"
        known = {member.value: member.name for member in public.ErrorCode}
        wrapped = f"{kind}, ErrorCode.{known[code]}" if code in known else kind if code == "any code" else ""
        meaning = HTTPStatus(int(status)).phrase if status.isdigit() else ""
        line = f'except {kind} as error: ... error.code == "{code}"  # {meaning}'
        yield Row(
            operation=operation.name, part=f"error {status} {code}", wrapped=wrapped, lines=() if wrapped else (line,)
        )
    for code in sorted({code for _, code, _ in operation.details}):
        known = {member.value: member.name for member in public.ErrorDetailCode}
        wrapped = f"ErrorDetailCode.{known[code]}" if code in known else ""
        line = f'any(detail.code == "{code}" for detail in error.details)'
        yield Row(operation=operation.name, part=f"detail {code}", wrapped=wrapped, lines=() if wrapped else (line,))


def _lines(use: OperationUse, expressions: Mapping[str, str], attribute: str | None = None) -> tuple[str, ...]:
    """Return the lines that import and call the generated function with its required arguments and `expressions`."""
    body = use.function.body
    if body is None:
        return use.function.import_line, use.function.call_line(expressions)
    needed = [
        name
        for name, parameter in inspect.signature(body).parameters.items()
        if parameter.default is parameter.empty or name == attribute
    ]
    built = f"{body.__name__}({', '.join(f'{name}={name}' for name in needed)})"
    models = f"from {PACKAGE}.models import {body.__name__}"
    return use.function.import_line, models, use.function.call_line({**expressions, "body": built})


def _check_generated(what: str, *, there: bool) -> None:
    if not there:
        raise SystemExit(f"{what} is in the specification and not in the generated package: run `make generate` first")


def _as_keywords(names: frozenset[str]) -> str:
    return ", ".join(f"{name}=" for name in sorted(names))


def _shape(path: str) -> str:
    return re.sub(r"{.*?}", "{}", path)
