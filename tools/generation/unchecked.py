"""What no check knows: rules about requests that a document can state, and neither the client nor the sandbox checks.

`make generate` rejects them, because a rule that nobody checks looks like one that somebody does. The drill makes a
change of each row of the tables.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tools.generation.document import Node, Problem, alternatives, constants, nodes, resolve
from tools.spec.normal_form import uses

#: Keywords with which a schema rejects values, with a value of each.
KEYWORDS: Mapping[str, Any] = {
    "exclusiveMinimum": 1,
    "exclusiveMaximum": 9,
    "multipleOf": 2,
    "uniqueItems": True,
    "minProperties": 1,
    "maxProperties": 9,
    "patternProperties": {"^a": {}},
    "propertyNames": {"maxLength": 3},
    "contains": {},
    "prefixItems": [{}],
    "not": {"const": 1},
    "if": {"const": 1},
    "dependentRequired": {"a": ["b"]},
    "dependentSchemas": {"a": {}},
    "unevaluatedProperties": False,
    "unevaluatedItems": False,
    "readOnly": True,
    "contentEncoding": "base64",
    "contentMediaType": "image/png",
}
LIMITS = {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern"}
#: Places in which the limits of a schema are not checked, each with a schema of a property that has one.
PLACES: Mapping[str, Any] = {
    "beside `$ref`": {"$ref": "#/components/schemas/Uuid", "maxLength": 36},
    "in one of several forms": {"anyOf": [{"type": "string", "maxLength": 9}, {"type": "integer"}]},
    "beside several types": {"type": ["string", "integer"], "maxLength": 9},
    "of the values of a map": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 9}},
    "of a time, a date or a UUID": {"type": "string", "format": "date", "maxLength": 9},
    "of an object that another property than `type` chooses": {
        "oneOf": [
            {"required": ["mode"], "properties": {"mode": {"type": "string", "const": value}, "size": {"maximum": 9}}}
            for value in "ab"
        ]
    },
}
#: Strings that are other Python values than `str`.
FORMATS = ("date", "date-time", "uuid", "binary")


def unchecked(document: Node) -> Iterator[Problem]:
    """Yield the rules about requests that neither the client nor the sandbox would check."""
    used = uses(document)
    for keys, node in nodes(document):
        senders, _ = used[f"#/{'/'.join(map(str, keys[:3]))}"]
        is_sent = senders or not {"parameters", "requestBody"}.isdisjoint(keys[1:4])
        if is_sent and keys[-1] != "properties":
            for text in (*_keywords(document, node), *_places(document, node)):
                yield Problem(keys=keys, text=text)


def _keywords(document: Node, node: Node) -> Iterator[str]:
    for name in sorted(KEYWORDS.keys() & node.keys()):
        instead = "name the property in `x-read-only`" if name == "readOnly" else "say it otherwise"
        yield f"no check knows `{name}`: {instead}, or in the description alone"
    properties, required = node.get("properties"), node.get("required", ())
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        if name not in required and "const" in resolve(document, inner):
            yield f"no check knows the `const` of {name}: require it, or say `enum`"
    if node.get("type") == "integer" and "enum" in node:
        yield "no check knows an enum of integers: say `minimum` and `maximum`, or strings"


def _places(document: Node, node: Node) -> Iterator[str]:
    """Yield the places of a schema with limits that are not checked there."""
    others, _ = alternatives(node)
    values = node.get("additionalProperties")
    chosen_by = [next(iter(constants(document, branch)), None) for branch in others]
    several = len(others) > 1 and {*chosen_by} != {"type"} and node.get("x-undecoded") is not True
    here, nothing = LIMITS & node.keys(), set[str]()
    found = {
        "beside `$ref`": here if "$ref" in node else nothing,
        "beside several types": here if isinstance(node.get("type"), list) and len(others) > 1 else nothing,
        "of the values of a map": LIMITS & resolve(document, values).keys() if isinstance(values, Mapping) else nothing,
        "of a time, a date or a UUID": here if node.get("format") in FORMATS else nothing,
    }
    if several and isinstance(node.get("type"), str | None):
        inner = set().union(*(_limits_in(document, branch) for branch in others))
        found |= {[*PLACES][5 if all(chosen_by) else 1]: inner}
    for place, limits in found.items():
        if limits:
            yield f"no check knows `{'`, `'.join(sorted(limits))}` {place}: say it in a schema of its own, or in words"


def _limits_in(document: Node, schema: Node) -> set[str]:
    """Return the limits of a schema and of its properties."""
    whole = resolve(document, schema)
    return {
        *whole,
        *(key for inner in whole.get("properties", {}).values() for key in resolve(document, inner)),
    } & LIMITS
