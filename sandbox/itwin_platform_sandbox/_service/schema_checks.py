"""Compiles the schemas of the document to checks of JSON values, which report the place and the rule of a wrong value.

A check is a function that returns None for a valid value, because a body of 100 scene objects has thousands of values,
and nearly all of them are valid.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeAlias

from .json_values import JSON, JSONObject

Schema: TypeAlias = Mapping[str, Any]
Path: TypeAlias = tuple[str | int, ...]

_NO_ERROR: Schema = MappingProxyType({})
# A type in words, and the Python types of its parsed values; `bool` is no number.
_TYPES: Mapping[str, tuple[str, tuple[type, ...]]] = {
    "object": ("an object", (dict,)),
    "array": ("a list", (list,)),
    "string": ("a string", (str,)),
    "boolean": ("true or false", (bool,)),
    "null": ("null", (type(None),)),
    "integer": ("an integer", (int,)),
    "number": ("a number", (int, float)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One wrong value: where it is, the rule that it breaks, and the `x-error` that the document states for it."""

    path: Path = ()
    message: str
    is_missing: bool = False
    error: Schema = field(default_factory=dict)

    def inside(self, step: str | int) -> "Problem":
        """Return the problem as seen from the value around it."""
        return replace(self, path=(step, *self.path))


Problems: TypeAlias = list[Problem]
Check: TypeAlias = Callable[[JSON], Problems | None]


def _accept(_: JSON) -> Problems | None:
    return None


class SchemaChecks:
    """The checks of the schemas of one document."""

    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self._schemas = schemas
        self._resolved: dict[int, Schema] = {}
        # The keys are the ids of a schema and of the error around it. The values keep both alive, so that the ids stay
        # unique.
        self._compiled: dict[tuple[int, int, bool], tuple[Schema, Schema, list[Check]]] = {}

    def resolved(self, schema: Schema) -> Schema:
        """Return the schema with its reference resolved; keywords beside the reference take precedence."""
        if "$ref" not in schema:
            return schema
        # The key is the id of the schema, which is part of a document that stays in memory.
        if id(schema) not in self._resolved:
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            named = self.resolved(self._schemas[str(schema["$ref"]).rpartition("/")[2]])
            self._resolved[id(schema)] = {**named, **beside}
        return self._resolved[id(schema)]

    def check(self, schema: Schema, *, error: Schema = _NO_ERROR, partial: bool = False) -> Check:
        """Compile a schema; `error` is the `x-error` around it, and with `partial` no property is required."""
        key = id(schema), id(error), partial
        if key not in self._compiled:
            compiled = list[Check]()
            self._compiled[key] = schema, error, compiled
            compiled.append(self._compile(schema, error, partial=partial))
        compiled = self._compiled[key][2]

        def check(value: JSON) -> Problems | None:
            return compiled[0](value)

        # A recursive schema is used before it is compiled.
        return compiled[0] if compiled else check

    def _compile(self, schema: Schema, error: Schema, *, partial: bool) -> Check:
        schema = self.resolved(schema)
        error = schema.get("x-error", error)
        if "oneOf" in schema or "anyOf" in schema:
            return self._one_of(schema, error, partial=partial)
        by_type = {
            "object": lambda: self._object(schema, error, partial=partial),
            "array": lambda: self._array(schema, error, partial=partial),
            "string": lambda: _string(schema, error),
            "integer": lambda: _number(schema, error),
            "number": lambda: _number(schema, error),
        }
        kinds = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", [])
        inner = next((by_type[kind]() for kind in kinds if kind in by_type), _accept)
        return _typed(kinds, _of_enum(schema, error, inner), error)

    def objects(self, schema: Schema, value: JSON, path: Path = ()) -> Iterator[tuple[Path, Schema, JSONObject]]:
        """Yield every object with documented properties inside a value, with its place and its schema."""
        schema = self.resolved(schema)
        for option in schema.get("oneOf", ()):
            kind = self.resolved(option).get("properties", {}).get("type", {}).get("const")
            if kind is None or (isinstance(value, dict) and value.get("type") == kind):
                yield from self.objects(option, value, path)
        if isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, dict | list):
                    yield from self.objects(schema.get("items", {}), item, (*path, index))
        elif isinstance(value, dict) and "properties" in schema:
            yield path, schema, value
            properties = schema["properties"]
            for name, item in value.items():
                if isinstance(item, dict | list) and name in properties:
                    yield from self.objects(self._of_kind(properties[name], value), item, (*path, name))

    def _of_kind(self, schema: Schema, around: JSONObject) -> Schema:
        """Return the schema of a property, which the property `kind` beside it may name."""
        named = self.resolved(schema).get("x-kinds", {}).get(str(around.get("kind")))
        return schema if named is None else self._schemas[named]

    def _object(self, schema: Schema, error: Schema, *, partial: bool) -> Check:
        properties: Mapping[str, Schema] = schema.get("properties", {})
        checks = {name: self.check(inner, error=error, partial=partial) for name, inner in properties.items()}
        required = () if partial else tuple(schema.get("required", ()))
        kinds = {name: self._kinds(inner, error) for name, inner in properties.items()}
        named_by_kind = {name: by_kind for name, by_kind in kinds.items() if by_kind}
        read_only = frozenset(schema.get("x-read-only", ()))
        errors = {name: self.resolved(properties.get(name, {})).get("x-error", error) for name in required}

        def check(value: JSON) -> Problems | None:
            if not isinstance(value, dict):
                return None
            found: Problems = []
            for name, item in value.items():
                if name in checks:
                    wrong = checks[name](item)
                    if wrong:
                        found += [problem.inside(name) for problem in wrong]
                elif name in read_only:
                    found.append(Problem(path=(name,), message="is read-only", error=error))
            for name in required:
                if name not in value:
                    found.append(Problem(path=(name,), message="is required", is_missing=True, error=errors[name]))
            for name, by_kind in named_by_kind.items():
                of_kind = by_kind.get(str(value.get("kind")), _accept)
                found += [problem.inside(name) for problem in of_kind(value.get(name)) or ()]
            return found

        return check

    def _kinds(self, schema: Schema, error: Schema) -> Mapping[str, Check]:
        kinds: Mapping[str, str] = self.resolved(schema).get("x-kinds", {})
        return {kind: self.check(self._schemas[name], error=error, partial=True) for kind, name in kinds.items()}

    def _array(self, schema: Schema, error: Schema, *, partial: bool) -> Check:
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        items = schema.get("items", {})
        check_item = self.check(items, error=error, partial=partial)
        has_places = "properties" in self.resolved(items)

        def check(value: JSON) -> Problems | None:
            if not isinstance(value, list):
                return None
            if len(value) < least or (most is not None and len(value) > most):
                return [Problem(message=_counted("item", least, most), error=error)]
            found: Problems = []
            for index, item in enumerate(value):
                wrong = check_item(item)
                if wrong and not has_places:
                    # A list of plain values is reported as a whole, because the documented targets name the list.
                    return [replace(problem, message=f"has an item that {problem.message}") for problem in wrong[:1]]
                if wrong:
                    found += [problem.inside(index) for problem in wrong]
            return found

        return check

    def _one_of(self, schema: Schema, error: Schema, *, partial: bool) -> Check:
        by_type: dict[object, Check] = {}
        others: list[Check] = []
        for option in self._alternatives(schema):
            kind = option.get("properties", {}).get("type", {}).get("const")
            check_option = self.check(option, error=error, partial=partial)
            if kind is None:
                others.append(check_option)
            else:
                by_type[kind] = check_option

        def check(value: JSON) -> Problems | None:
            kind = value.get("type") if isinstance(value, dict) else None
            if isinstance(kind, str) and kind in by_type:
                return by_type[kind](value)
            found = [each(value) for each in others]
            if not all(found):
                return None
            if by_type:
                known = ", ".join(map(str, by_type))
                return [Problem(message=f"must be an object whose type is one of {known}", error=error)]
            return found[0]

        return check

    def _alternatives(self, schema: Schema) -> Iterator[Schema]:
        for option in map(self.resolved, (*schema.get("oneOf", ()), *schema.get("anyOf", ()))):
            if "oneOf" in option or "anyOf" in option:
                yield from self._alternatives(option)
            else:
                yield option


def _typed(kinds: list[str], check: Check, error: Schema) -> Check:
    if not kinds:
        return check
    types = frozenset(python_type for kind in kinds for python_type in _TYPES[kind][1])
    message = f"must be {' or '.join(_TYPES[kind][0] for kind in kinds)}"
    inner = None if check is _accept else check

    def check_type(value: JSON) -> Problems | None:
        if type(value) in types:
            return None if inner is None else inner(value)
        return [Problem(message=message, is_missing=value is None, error=error)]

    return check_type


def _of_enum(schema: Schema, error: Schema, check: Check) -> Check:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if values is None:
        return check
    message = f"must be one of {', '.join(map(str, values))}"

    def check_enum(value: JSON) -> Problems | None:
        return check(value) if value in values else [Problem(message=message, error=error)]

    return check_enum


def _string(schema: Schema, error: Schema) -> Check:
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    # `\Z`, because `$` of Python also matches before a final line break.
    pattern = re.compile(re.sub(r"\$$", r"\\Z", schema["pattern"])) if "pattern" in schema else None
    if not least and most is None and pattern is None:
        return _accept

    def check(value: JSON) -> Problems | None:
        if not isinstance(value, str):
            return None
        if len(value) < least or (most is not None and len(value) > most):
            message = "must not be empty" if not value and least else _counted("character", least, most)
            return [Problem(message=message, is_missing=not value, error=error)]
        if pattern is not None and not pattern.search(value):
            return [Problem(message=f"must match {schema['pattern']}", error=error)]
        return None

    return check


def _number(schema: Schema, error: Schema) -> Check:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is None and most is None:
        return _accept
    limits = [f"at least {least}" if least is not None else "", f"at most {most}" if most is not None else ""]
    message = f"must be {' and '.join(filter(None, limits))}"

    def check(value: JSON) -> Problems | None:
        if not isinstance(value, int | float):
            return None
        is_inside = (least is None or value >= least) and (most is None or value <= most)
        return None if is_inside else [Problem(message=message, error=error)]

    return check


def _counted(noun: str, least: int, most: int | None) -> str:
    if most is None:
        return f"must have at least {least} {noun}s"
    return f"must have {f'{least} to {most}' if least else f'at most {most}'} {noun}s"
