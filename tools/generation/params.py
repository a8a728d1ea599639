"""The types of mappings and strings that requests accept in place of models and enums, for the templates.

Each has the name of its model or enum with the suffix `Param`. The wrapper accepts other strings and mappings too; with
these types, an editor completes documented names.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any

from tools.generation.document import Node, operations, resolve, without_source
from tools.generation.naming import pascal_case, snake_case

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
MAPPING = "Mapping[str, object]"
#: The properties that a mapping must have: all, if it replaces the stored object; none, if `kind` selects its schema.
ALL, REQUIRED, NONE = "all", "required", "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """The type of a mapping, as a class if each name can be an attribute.

    Args:
        name: the name of the type.
        fields: the type and the description of each property, by its name in JSON.
        imports: the lines that import the types of properties.
        strings: the types of the properties with `x-names`.
    """

    name: str
    fields: Mapping[str, tuple[str, str]]
    imports: list[str]
    strings: Mapping[str, str]

    @property
    def is_class(self) -> bool:
        """Whether no name is a keyword of Python."""
        return all(wire.isidentifier() and not iskeyword(wire) for wire in self.fields)


@dataclass(frozen=True, slots=True)
class Params:
    """The types for the requests of a document: schemas of mappings with their required properties, and enums."""

    document: Node
    mappings: dict[str, str] = field(default_factory=dict)
    enums: set[str] = field(default_factory=set)
    #: The types of strings that name a property, by the schema with the properties: their strings by name.
    named: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for _, _, operation, parameters in operations(self.document):
            for parameter in parameters:
                self._find(parameter.get("schema", {}), present=REQUIRED)
            for media in resolve(self.document, operation.get("requestBody", {})).get("content", {}).values():
                # The properties of a body are separate arguments, so the body itself needs no type.
                for inner in resolve(self.document, media.get("schema", {})).get("properties", {}).values():
                    self._find(inner, present=REQUIRED)

    def _find(self, declared: Node, *, present: str) -> None:
        """Record the schemas of a value, and the schemas of its parts."""
        name, schema = _name(declared), resolve(self.document, declared)
        present = ALL if schema.get("x-complete") is True else present
        if name in self.seen:
            return
        self.seen.update({name} - {""})
        if name and "enum" in schema:
            self.enums.add(name)
        if "x-names" in schema:
            self._find_named(schema)
        parts = schema.get("properties", {})
        # An object whose only property is the argument itself, with an empty `x-argument`, needs no type.
        if name and parts and any(each.get("x-argument") != "" for each in parts.values()):
            self.mappings[name] = present
        for branch in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
            self._find(branch, present=present)
        for inner in (*parts.values(), *_items(schema)):
            self._find(inner, present=REQUIRED)
        for kind in schema.get("x-kinds", {}).values():
            self._find(_reference(kind), present=NONE)

    def _find_named(self, schema: Node) -> None:
        """Record the type of a string that names a value of an enum, or a property of an object."""
        name = schema["x-names"]
        properties = resolve(self.document, _reference(name)).get("properties")
        if properties is None:
            self.enums.add(name)
            return
        types, directions = self.named.setdefault(name, {}), schema.get("x-directions", ())
        times = [wire for wire in properties if resolve(self.document, properties[wire]).get("format") == "date-time"]
        ordered = [f"{wire}{end}" for wire in properties for end in ("", *(f" {each}" for each in directions))]
        types[f"{pascal_case(name)}TimeParam"] = times
        types[f"{pascal_case(name)}{'Order' if directions else 'Property'}Param"] = ordered

    def exports(self) -> list[tuple[str, str]]:
        """Return the module and the name of each type."""
        named = [(snake_case(name), each) for name, types in self.named.items() for each in types]
        return sorted([*named, *((snake_case(name), param_name(name)) for name in (*self.mappings, *self.enums))])

    def names_of(self, class_name: str) -> Mapping[str, list[str]]:
        """Return the types of strings that name a property of a model: their strings by name."""
        return next((types for name, types in self.named.items() if pascal_case(name) == str(class_name)), {})

    def values_of(self, class_name: str) -> list[str]:
        """Return the values of an enum that requests use; an empty list for other enums."""
        name = next((each for each in self.enums if pascal_case(each) == str(class_name)), None)
        return [] if name is None else [str(value) for value in resolve(self.document, _reference(name))["enum"]]

    def of(self, class_name: str) -> Param | None:
        """Return the type of a mapping in place of a model; None if no request uses the model."""
        name = next((each for each in self.mappings if pascal_case(each) == str(class_name)), None)
        if name is None:
            return None
        schema = resolve(self.document, _reference(name))
        fields = {wire: self._field(schema, wire, present=self.mappings[name]) for wire in schema["properties"]}
        words = {word for kind, _ in fields.values() for word in re.findall(r"\w+", kind)}
        named = [each for each in (*self.mappings, *self.enums) if each != name and param_name(each) in words]
        return Param(
            name=param_name(name),
            fields=fields,
            imports=sorted(f"from ..models.{snake_case(each)} import {param_name(each)}" for each in named),
            strings={
                wire: param_name(inner["x-names"]) for wire, inner in schema["properties"].items() if "x-names" in inner
            },
        )

    def _field(self, schema: Node, wire: str, *, present: str) -> tuple[str, str]:
        declared = schema["properties"][wire]
        kind = self._type(declared)
        if present == NONE or (present == REQUIRED and wire not in schema.get("required", ())):
            kind = f"NotRequired[{kind}]"
        elif wire not in schema.get("required", ()):
            kind = f"{kind} | None"
        words = declared.get("description", resolve(self.document, declared).get("description", ""))
        return kind, " ".join(without_source(str(words)).split())

    def _type(self, declared: Node) -> str:
        name, schema = _name(declared), resolve(self.document, declared)
        kinds: Any = schema.get("type")
        if (names := schema.get("x-names", name)) in self.enums:
            return param_name(names)
        if name in self.mappings:
            return f"{pascal_case(name)} | {param_name(name)}"
        if "const" in schema:
            return f'Literal["{schema["const"]}"]'
        if "x-kinds" in schema:
            models = [self._type(_reference(each)) for each in dict.fromkeys(schema["x-kinds"].values())]
            return " | ".join([*models, MAPPING])
        if kinds == "array":
            return f"Sequence[{' | '.join(map(self._type, _items(schema))) or 'object'}]"
        if schema.get("format") == "date-time":
            return "datetime.datetime | str"
        if kinds == "object":
            return MAPPING
        return " | ".join(SCALARS.get(kind, "object") for kind in (kinds if isinstance(kinds, list) else [kinds]))


def param_name(name: str) -> str:
    """Return the name of the type for a schema."""
    return f"{pascal_case(name)}Param"


def _items(schema: Node) -> list[Node]:
    return [schema["items"]] if schema.get("items") else []


def _name(declared: Node) -> str:
    return str(declared.get("$ref", "")).rpartition("/")[2]


def _reference(name: str) -> Mapping[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
