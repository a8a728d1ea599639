"""What is generated and has no wrapper, with the lines that call it."""

import ast
import importlib
import inspect
from collections import defaultdict
from collections.abc import Iterator, Mapping
from types import ModuleType

import attrs

from tools.generation.document import PACKAGE, WRAPPER
from tools.generation.unwrapped import UNWRAPPED

Calls = Mapping[str, set[str]]


def not_wrapped() -> dict[str, list[str]]:
    """Return the lines that use each part of the generated package that the wrapper does not have, by its name."""
    passed = _passed()
    found: dict[str, list[str]] = {}
    for name, module in importlib.import_module(f"{PACKAGE}.operations").MODULES.items():
        operation = importlib.import_module(f"{PACKAGE}.{module}")
        if name not in passed:
            found[name] = _call(operation)
            continue
        for argument in _optional(operation.build_request):
            if argument not in passed[name] | {"reject"}:
                found[f"{name}: {argument}"] = _call(operation, argument)
        for attribute in _not_set(body, passed) if (body := _body(operation)) else ():
            found[f"{name}: {attribute}"] = _call(operation, attribute)
    return found


def report() -> list[str]:
    """Return the lines to print about what no line of `unwrapped.py` names."""
    found = {part: calls for part, calls in not_wrapped().items() if part not in UNWRAPPED}
    lines = ["", f"Generated, not wrapped: {len(found)}"] if found else []
    for part, calls in found.items():
        lines += ["", f"  {part} - call it like this", "", *(f"    {line}" for line in calls)]
        lines += ["", "  To commit it without a wrapper, name it in tools/generation/unwrapped.py."]
    return lines


def _passed() -> Calls:
    """Return the keywords of each call in the wrapper by the name of what is called; "" has the keys that are set."""
    passed: dict[str, set[str]] = defaultdict(set)
    for path in sorted(WRAPPER.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name), attr="build_request"),
                    keywords=given,
                ):
                    passed[name] |= {str(keyword.arg) for keyword in given}
                case ast.Subscript(slice=ast.Constant(value=str(key)), ctx=ast.Store()):
                    passed[""].add(key)
    return passed


def _optional(function: object) -> Iterator[str]:
    """Yield the arguments that may be omitted, but for those with a value of their own."""
    for parameter in inspect.signature(function).parameters.values():  # type: ignore[arg-type]  # from a module
        if parameter.default is not parameter.empty and not isinstance(parameter.default, str):
            yield parameter.name


def _body(operation: ModuleType) -> type | None:
    annotation = inspect.get_annotations(operation.build_request).get("body")
    return annotation if isinstance(annotation, type) and attrs.has(annotation) else None


def _not_set(model: type, passed: Calls) -> Iterator[str]:
    """Yield the attributes that the wrapper sets neither where it constructs a model nor by their names in JSON."""
    names = [name for name in _optional(model) if name != "additional_properties"]
    by_name = {name: wire for wire, (name, _) in vars(model)["FIELDS"].items()}
    yield from (name for name in names if name not in passed[model.__name__] and by_name.get(name) not in passed[""])


def _call(operation: ModuleType, more: str = "") -> list[str]:
    """Return the lines that import and call an operation with its required arguments, and with one more."""
    package, _, name = operation.__name__.rpartition(".")
    lines, expressions = [f"from {package} import {name}"], {"client": "platform.generated"}
    if body := _body(operation):
        parameters = inspect.signature(body).parameters.values()
        names = [each.name for each in parameters if each.default is each.empty or each.name == more]
        lines.append(f"from {PACKAGE}.models import {body.__name__}")
        expressions["body"] = f"{body.__name__}({', '.join(f'{each}={each}' for each in names)})"
    parts: list[str] = []
    for each in inspect.signature(operation.asyncio).parameters.values():
        if each.kind is not each.KEYWORD_ONLY:
            parts.append(each.name)
        elif each.default is each.empty or each.name in (more, *expressions):
            parts.append(f"{each.name}={expressions.get(each.name, each.name)}")
    return [*lines, f"await {name}.asyncio({', '.join(parts)})"]
