"""Convert a document to a normal form, in which each difference has one place, and find the differences."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tools.generation.accept import accepted
from tools.generation.document import METHODS, Node, operations, reached

#: Keywords for objects with names as keys.
NAMES = ("properties", "schemas", "responses", "headers", "content", "securitySchemes")
#: Keywords for data.
DATA = ("example", "examples", "const", "default")
ABSENT = object()

Uses = defaultdict[str, tuple[set[str], set[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference: its keys, the values before and after, and whether requests or responses contain its place."""

    keys: tuple[str, ...]
    before: Any
    after: Any
    is_sent: bool = False
    is_returned: bool = False

    @property
    def is_gone(self) -> bool:
        """Whether the value was removed."""
        return self.after is ABSENT

    @property
    def is_new(self) -> bool:
        """Whether the value was added."""
        return self.before is ABSENT

    @property
    def text(self) -> str:
        """The difference in words."""
        if self.is_new:
            return f"new: {_short(self.after)}".removesuffix(": ")
        if self.is_gone:
            return f"gone, was {_short(self.before)}".removesuffix(", was ")
        return f"is {_short(self.after)} now, was {_short(self.before)}"


def _short(value: object) -> str:
    """Return a value in one line: the route of an operation; an empty string for another object."""
    if value is True or isinstance(value, Mapping):
        return "" if value is True else str(value.get("route", ""))
    text = " ".join(str(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def differences(before: object, after: object, keys: tuple[str, ...] = ()) -> Iterator[Difference]:
    """Yield every difference, at the deepest place in the documents."""
    old, new = _parts(before, keys), _parts(after, keys)
    if old is None or new is None:
        if type(before) is not type(after) or before != after:
            yield Difference(keys=keys, before=before, after=after)
        return
    for key in {**old, **new}:
        yield from differences(old.get(key, ABSENT), new.get(key, ABSENT), (*keys, str(key)))


def _parts(value: object, keys: tuple[str, ...]) -> Mapping[Any, Any] | None:
    """Return the values of an object by key, or the items of a list of objects by index; None for other values."""
    if value is ABSENT and keys[-1] in ("required", "parameters", "headers", "properties"):
        return {}  # a missing keyword means the same as an empty one
    if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        return dict(enumerate(value))
    return value if isinstance(value, Mapping) else None


def normal_form(document: Node) -> dict[str, Any]:
    """Return a document with its operations by name, and with shared parameters in each of their operations."""
    components = {key: node for key, node in document.get("components", {}).items() if key != "parameters"}
    named = {
        _name(node, path, method): {
            **_named(document, {**node, "parameters": parameters}),
            "route": f"{method.upper()} {path}",
            "accept": accepted(document, node),
        }
        for path, method, node, parameters in operations(document)
    }
    paths = {
        path: rest
        for path, item in document.get("paths", {}).items()
        if (rest := {key: node for key, node in item.items() if key not in (*METHODS, "parameters")})
    }
    return {**_named(document, {**document, "components": components, "paths": paths}), "operations": named}


def uses(*documents: Node) -> Uses:
    """Return the operations that send each component, and the operations that return it, by its reference."""
    found = Uses(lambda: (set(), set()))
    for document in documents:
        for path, method, node, parameters in operations(document):
            for side, part in enumerate(([parameters, node.get("requestBody", {})], node.get("responses", {}))):
                for reference in reached(document, part):
                    found[reference][side].add(_name(node, path, method))
    return found


def _name(operation: Node, path: str, method: str) -> str:
    return str(operation.get("operationId", f"{method} {path}"))


def _named(document: Node, node: Any, key: str = "") -> Any:
    if isinstance(node, list):
        return [_named(document, item) for item in node]
    if not isinstance(node, Mapping):
        return node
    if key in NAMES:
        return {name: _named(document, inner) for name, inner in node.items()}
    # A changed name is reported with its value; only surplus names are reported by themselves.
    is_reported = len(node.get("x-enum-varnames", ())) <= len(node.get("enum", ()))
    named = {name: _keyword(document, node, name) for name in node if name != "x-enum-varnames" or not is_reported}
    return _with_null(named)


def _keyword(document: Node, node: Node, key: str) -> Any:
    """Return the value of a keyword; a list of named items becomes an object with these names as keys."""
    value = node[key]
    match key, value:
        case "$ref", str():
            return value.removeprefix("#/components/")
        case "enum", list():
            members = node.get("x-enum-varnames", ())
            return {str(each): members[at] if at < len(members) else str(each) for at, each in enumerate(value)}
        case "type", str():
            return {value: True}
        case (("type" | "required"), list()):
            return dict.fromkeys(value, True)
        case "parameters", list():
            return {f"{each['in']} {each['name']}": _named(document, each) for each in value}
        case (("oneOf" | "anyOf"), list()):
            names = [str(each.get("$ref", each.get("type", ""))).rpartition("/")[2] for each in value]
            keys = [name if names.count(name) == 1 else f"{name} {number}" for number, name in enumerate(names)]
            return {name: _named(document, each) for name, each in zip(keys, value, strict=True)}
    return value if key in DATA else _named(document, value, key)


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with null among its types instead of an alternative for null."""
    for key in ("oneOf", "anyOf"):
        branches = schema.get(key)
        if isinstance(branches, dict) and "null" in branches and len(branches) == 2:
            other = next(branch for name, branch in branches.items() if name != "null")
            rest = {name: value for name, value in schema.items() if name != key}
            return {**other, **rest, "type": {**other.get("type", {}), "null": True}}
    return schema
