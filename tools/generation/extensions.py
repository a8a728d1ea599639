"""Checks of the fields of a document beyond OpenAPI, because a typo in one would remove a check without a word.

`extensions.yaml` is the schema of each. The names in them must exist, and a field that is called nearly like one of
them is taken for a typo. All others, such as `x-ms-paths`, are left alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types

from tools.generation.document import Keys, Node, Problem, load_document, nodes, operations
from tools.generation.request_rules import argument_of

SCHEMA = load_document(str(Path(__file__).with_suffix(".yaml")))
FIELDS: Node = SCHEMA["properties"]
_VALIDATOR = Draft202012Validator(SCHEMA)


def extensions(document: Node) -> Iterator[Problem]:
    """Yield what is wrong with the fields."""
    with_fields = [
        (keys, {name: value for name, value in node.items() if name.lower().startswith("x-")})
        for keys, node in nodes(document)
        if keys[-1:] not in (("properties",), ("headers",))  # their keys are names
    ]
    found = [*_misspelt(with_fields)]
    found = found or [*_unknown_names(document, with_fields), *_of_operations(document)]
    yield from found


def _misspelt(with_fields: Iterable[tuple[Keys, Node]]) -> Iterator[Problem]:
    """Yield the fields of another form than their schema, and those that are nearly called like one."""
    for keys, fields in with_fields:
        for error in _VALIDATOR.iter_errors(fields):
            yield Problem(keys=(*keys, *error.absolute_path), text=error.message)
        for name in fields.keys() - FIELDS.keys():
            if near := get_close_matches(name.lower(), FIELDS, n=1, cutoff=0.8):
                yield Problem(keys=(*keys, name), text=f"is no field of this document: `{near[0]}` was meant")


def _unknown_names(document: Node, with_fields: Iterable[tuple[Keys, Node]]) -> Iterator[Problem]:
    """Yield the fields that name a property, or the code of an error, which the document does not have."""
    properties, codes = set[str](), set[str]()
    for _, node in nodes(document):
        properties |= {*node["properties"]} if isinstance(node.get("properties"), Mapping) else set()
        codes |= {*map(str, node["enum"])} if isinstance(node.get("enum"), list) else set()
    for keys, fields in with_fields:
        error = fields.get("x-error", {})
        named = {error[key] for key in ("code", "detail", "missing", "excludes") if key in error} - codes
        for field, unknown in (("x-error", named), ("x-read-only", {*fields.get("x-read-only", ())} - properties)):
            for name in sorted(unknown):
                yield Problem(keys=(*keys, field), text=f"{name!r} is not in the document: nothing else has this name")


def _of_operations(document: Node) -> Iterator[Problem]:
    for path, method, operation, parameters in operations(document):
        keys: Keys = ("paths", path, method)
        query = {each["name"] for each in parameters if each["in"] == "query"}
        arguments = [argument_of(each, each["name"]) for each in parameters]
        for argument in sorted({each for each in arguments if arguments.count(each) > 1}):
            names = [each["name"] for each in parameters if argument_of(each, each["name"]) == argument]
            text = f"{' and '.join(names)} are both called {argument}: say another `x-argument` in one of them"
            yield Problem(keys=keys, text=text)
        for each in parameters:
            for name in sorted({*map(str, each.get("x-excludes", ()))} - query):
                text = f"x-excludes of {each['name']} names {name!r}, which is no query parameter of the operation"
                yield Problem(keys=keys, text=text)
        for where, node in ((keys, operation), ((*keys, "requestBody"), operation.get("requestBody", {}))):
            error = node.get("x-error", {})
            if isinstance(error, dict) and str(error.get("status", "")) not in {"", *operation.get("responses", {})}:
                text = f"the operation has no response {error['status']}"
                yield Problem(keys=(*where, "x-error", "status"), text=text)
