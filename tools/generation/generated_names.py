"""The names in the generated package: functions, arguments and attributes by wire name.

This module passes markers to the generated functions and models, and finds the markers in what they serialize.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol

import attrs

from tools.generation.wrapper_calls import PACKAGE

MARKER = re.compile(r"marker-(\w+)-marker")


class Values(Protocol):
    """The result of `build_request` of a generated module."""

    method: str
    route: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A generated function; `arguments` are by location and wire name, such as `query $top`, in the path by number."""

    name: str
    module: str
    method: str
    path: str
    arguments: Mapping[str, str]
    positional: tuple[str, ...]
    required: tuple[str, ...]
    keywords: frozenset[str]
    body: type | None
    response: type | None

    @property
    def import_line(self) -> str:
        """The line that imports it."""
        return f"from {self.module.rpartition('.')[0]} import {self.name}"

    def call_line(self, expressions: Mapping[str, str]) -> str:
        """Return the line that calls it with its required arguments and the `expressions` by argument."""
        positional = [expressions.get(name, name) for name in self.positional]
        keywords = [name for name in dict.fromkeys((*self.required, *expressions)) if name not in self.positional]
        parts = [
            *positional,
            "client=platform.generated",
            *(f"{name}={expressions.get(name, name)}" for name in keywords),
        ]
        return f"await {self.name}.asyncio({', '.join(parts)})"


def functions() -> dict[str, Function]:
    """Return every generated function by its name.

    Raises:
        SystemExit: Two functions have the same name.
    """
    found: dict[str, Function] = {}
    api = importlib.import_module(f"{PACKAGE}.api")
    for info in pkgutil.walk_packages(api.__path__, f"{api.__name__}."):
        if not info.ispkg:
            function = _function(importlib.import_module(info.name))
            if function.name in found:
                raise SystemExit(f"{function.name} is generated twice: give the operations different operationIds")
            found[function.name] = function
    return found


def attributes(model: type) -> dict[str, str]:
    """Return the attributes of a generated model by wire name."""
    fields = [field for field in attrs.fields(model) if field.init and field.name != "additional_properties"]
    names = [field.alias or field.name for field in fields]
    serialized = model(**{name: f"marker-{name}-marker" for name in names}).to_dict()
    return {wire: match[1] for wire, value in serialized.items() if (match := MARKER.fullmatch(str(value)))}


def model(name: str) -> type | None:
    """Return the generated class with this name, or None."""
    return getattr(importlib.import_module(f"{PACKAGE}.models"), name, None)


def _function(module: ModuleType) -> Function:
    build: Callable[..., Values] = module.build_request
    call = inspect.signature(module.asyncio_detailed, eval_str=True)
    parameters = [parameter for parameter in call.parameters.values() if parameter.name != "client"]
    wire = build(**{parameter.name: f"marker-{parameter.name}-marker" for parameter in parameters})
    body = next((parameter.annotation for parameter in parameters if parameter.name == "body"), None)
    response = next(iter(getattr(call.return_annotation, "__args__", ())), None)
    return Function(
        name=module.__name__.rpartition(".")[2],
        module=module.__name__,
        method=wire.method,
        path=wire.route,
        arguments=_arguments(wire),
        positional=tuple(each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD),
        required=tuple(
            each.name for each in parameters if each.kind is each.KEYWORD_ONLY and each.default is each.empty
        ),
        keywords=frozenset(inspect.signature(build).parameters),
        body=body if isinstance(body, type) else None,
        response=response if isinstance(response, type) and attrs.has(response) else None,
    )


def _arguments(wire: Values) -> dict[str, str]:
    """Return the arguments whose markers are in a request, by location and wire name."""
    path = re.fullmatch(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", wire.route), wire.path)
    values = {f"path {number}": value for number, value in enumerate(path.groups() if path else ())}
    values |= {f"query {name}": value for name, value in wire.query.items()}
    values |= {f"header {name}": value for name, value in wire.headers.items()}
    return {part: match[1] for part, value in values.items() if (match := MARKER.fullmatch(str(value)))}
