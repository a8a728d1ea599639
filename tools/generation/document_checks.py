"""Checks whether a document is valid, and whether the generated client would match it.

Each problem has its place and a remedy. `extensions.yaml` is the schema of the fields beyond OpenAPI. A typo in such a
field would silently remove a check, so a field with a similar name is reported as a typo, and the names in the fields
must exist. Other fields, such as `x-ms-paths`, are ignored.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import permutations
from keyword import iskeyword
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types

from tools.generation.accept import accepted
from tools.generation.document import (
    Keys,
    Node,
    Problem,
    constants,
    load_document,
    nodes,
    operations,
    parameter_places,
    resolve,
    restrictions,
)
from tools.generation.naming import field_names, member_names, pascal_case, python_name, snake_case
from tools.generation.request_rules import argument_of

#: The schema of the fields beyond OpenAPI.
EXTENSIONS = load_document(str(Path(__file__).with_name("extensions.yaml")))
FIELDS: Node = EXTENSIONS["properties"]
_VALIDATOR = Draft202012Validator(EXTENSIONS)
#: The supported references: all components except path items.
_COMPONENT = re.compile(r"#/components/(?!pathItems/)\w+/[^/]+")


def problems(document: Node) -> list[Problem]:
    """Return the problems of a document; if it is not valid, only its errors and its OpenAPI 3.0 syntax."""
    current = {**document, "openapi": "3.1.0"}
    return [*_old_forms(document), *(invalid(current) or _found(current))]


def _found(document: Node) -> Iterator[Problem]:
    yield from (*_extensions(document), *_modules(document))
    for name, scheme in document.get("components", {}).get("securitySchemes", {}).items():
        if (scheme.get("type"), str(scheme.get("scheme")).lower()) != ("http", "bearer"):
            text = "the client sends `Authorization: Bearer` and nothing else: it can use an HTTP scheme `bearer`"
            yield Problem(keys=("components", "securitySchemes", name), text=text)
    for path, method, operation, parameters in operations(document):
        for key, text in (*_operation(document, path, method, operation), *_arguments(parameters)):
            yield Problem(keys=("paths", path, method, *key), text=text)
        for place, each in parameter_places(document, path, method):
            for text in _parameter(document, each):
                yield Problem(keys=place, text=f"{each['name']} in {each['in']} of {method.upper()} {path} {text}")
    for keys, node in nodes(document):
        yield from (Problem(keys=keys, text=text) for text in (*_schema(document, keys, node), *_forms(document, node)))
        yield from _fields(keys, node)


def _old_forms(document: Node) -> Iterator[Problem]:
    """Yield the keywords of OpenAPI 3.0 that OpenAPI 3.1 ignores, each with its replacement."""
    if not str(document.get("openapi")).startswith("3.1."):
        yield Problem(keys=("openapi",), text="the generator reads OpenAPI 3.1: write `openapi: 3.1.0`")
    for keys, node in nodes(document):
        if isinstance(node.get("nullable"), bool):
            kind, line = node.get("type"), "remove it"
            if node["nullable"]:
                line = f"write `type: [{kind}, 'null']`" if kind else "write `oneOf: [{...}, {type: 'null'}]` around it"
            yield Problem(keys=(*keys, "nullable"), text=f"is of OpenAPI 3.0: {line}")


def _operation(document: Node, path: str, method: str, operation: Node) -> Iterator[tuple[Keys, str]]:
    name = str(operation.get("operationId", f"{method} {path}"))
    snake = snake_case(re.sub(r"\W+", "_", name)).strip("_")
    if "operationId" not in operation or name != snake or not name.isidentifier() or iskeyword(name):
        snake = snake if snake.isidentifier() and not iskeyword(snake) else f"get_{snake}"
        yield ("operationId",), f"names the function: write `operationId: {snake}`"
    if len(operation.get("tags", ())) != 1:
        yield ("tags",), "name the folder of the function: write one, such as `tags: [scenes]`"
    if accepted(document, operation) is None:
        example = "`x-accept: application/vnd.vendor.itwin-platform.v1+json`"
        yield (), f"no success names the version to request: add it, such as {example}"
    found = {status: resolve(document, each) for status, each in operation["responses"].items() if status[0] == "2"}
    if not found or "2XX" in found:
        yield ("responses",), "the sandbox sends the status of the success: write its number, such as '200'"
    for media_type in (name for each in found.values() for name in each.get("content", {}) if "json" not in name):
        yield ("responses",), f"the client decodes JSON: declare one that ends in `json` in place of {media_type}"
    for media_type in resolve(document, operation.get("requestBody", {})).get("content", {}):
        if media_type != "application/json":
            yield ("requestBody",), f"the body is sent as application/json, not as {media_type}"


def _arguments(parameters: Sequence[Node]) -> Iterator[tuple[Keys, str]]:
    """Yield the parameters of an operation that have the same name in Python."""
    fields = [python_name(each["name"], each) for each in parameters]
    arguments = [argument_of(each, each["name"]) for each in parameters]
    for field, called in (("x-python-name", fields), ("x-argument", arguments)):
        if doubled := sorted({name for name in called if called.count(name) > 1}):
            names = [each["name"] for each, name in zip(parameters, called, strict=True) if name == doubled[0]]
            yield (), f"{' and '.join(names)} are both called {doubled[0]}: write another `{field}` in one of them"
            return  # parameters with one name often have one argument too, and one report is enough


def _parameter(document: Node, parameter: Node) -> Iterator[str]:
    schema, where = resolve(document, parameter.get("schema", {})), parameter["in"]
    has_name = python_name(parameter["name"], parameter).isidentifier()
    is_joined = parameter.get("style", "form") == "form" and parameter.get("explode", True) is False
    wrong = {
        "has no schema, so it would not be sent: describe it by a schema": "schema" not in parameter,
        "is a cookie, which is not sent: describe it as a header or a query parameter": where == "cookie",
        "has characters that make no name in Python: write one in `x-python-name`": where != "path" and not has_name,
        "is a list, which is sent joined by commas: write `style: form` and `explode: false` if that works": (
            schema.get("type") == "array" and where == "query" and not is_joined
        ),
        "is an object, which is not sent: describe each property as a parameter": (
            schema.get("type") == "object" or "properties" in schema
        ),
        "has one value, which a caller need not choose: write it in `enum`, or in the path": "const" in schema,
    }
    yield from (text for text, is_so in wrong.items() if is_so)


def _fields(keys: Keys, node: Node) -> Iterator[Problem]:
    """Yield the properties of an object without a valid and unique name in Python."""
    properties, taken = node.get("properties"), dict[str, str]()
    if not isinstance(properties, Mapping) or keys[-1:] == ("properties",):
        return
    for wire, name in field_names(properties).items():
        text = None
        if not name.isidentifier():
            text = "its characters make no name in Python"
        elif name.removesuffix("_") == properties[wire].get("x-python-name") != name:
            text = "Python or each model uses this name"
        elif (other := taken.setdefault(name, wire)) != wire:
            text = f"its name in Python would be {name}, as that of {other!r}"
        if text is not None:
            yield Problem(keys=(*keys, "properties", wire), text=f"{text}: write another one in `x-python-name`")


def _modules(document: Node) -> Iterator[Problem]:
    """Yield the schemas, and the enums inside properties, with the same module as another schema."""
    schemas = document.get("components", {}).get("schemas", {})
    places = list[tuple[Keys, str]]()
    for name, schema in schemas.items():
        if not {"enum", "properties"}.isdisjoint(schema):  # other schemas have no module
            places.append((("components", "schemas", name), name))
        for wire, inner in (schema.get("properties") or {}).items():
            if "enum" in inner:
                places.append((("components", "schemas", name, "properties", wire), f"{name}_{wire}"))
    taken: dict[str, str] = {}
    for keys, name in places:
        if not pascal_case(name).isidentifier():
            yield Problem(
                keys=keys, text=f"its class would be {pascal_case(name)!r}: write a name that begins with a letter"
            )
        if (other := taken.setdefault(snake_case(name), name)) != name:
            text = f"its module would be models/{snake_case(name)}.py, as that of {other}: give it another name"
            yield Problem(keys=keys, text=text if name in schemas else f"{text}, or write `$ref` to a schema")


def _schema(document: Node, keys: Keys, node: Node) -> Iterator[str]:
    values, names = node.get("enum"), node.get("x-enum-varnames")
    if isinstance(values, list) and {type(value) for value in values} not in ({str}, {int}, {bool}):
        yield "an enum has strings or integers; for null beside them, write `oneOf: [{$ref: ...}, {type: 'null'}]`"
    elif isinstance(values, list) and isinstance(names, list) and len(names) != len(values):
        yield f"has {len(values)} values and {len(names)} names in x-enum-varnames: give each value its name"
    elif isinstance(values, list) and len({*(names or ())}) == len(names or ()):
        yield from _members(values, names if isinstance(names, list) else ())
    if isinstance(node.get("$ref"), str) and (beside := restrictions(document, node)):
        yield f"{' and '.join(beside)} beside `$ref` would be ignored: write both in `allOf`"
    if node.get("format") == "binary":
        yield "JSON has no bytes: write the format that their string has, such as `byte` for Base64"
    if node.get("type") in ("array", ["array", "null"]) and "items" not in node:
        yield "has no schema for its items: write one, or `items: {}` for any values"
    if node.get("format") == "password" and node.get("x-secret") is not True:
        yield "is a password, which `repr` would show: write `x-secret: true`"
    if "default" in node and keys[-1:] not in (("properties",), ("responses",)) and "servers" not in keys:
        yield "its default would be sent unasked: write `x-default` instead"


def _forms(document: Node, node: Node) -> Iterator[str]:
    """Yield what would be lost of an object with several forms."""
    branches = [*(node.get("oneOf") or ()), *(node.get("anyOf") or ())]
    objects = [branch for branch in branches if "properties" in resolve(document, branch)]
    if objects and node.get("properties"):
        yield "the properties beside its forms would be lost: write them in each form"
    if len({resolve(document, branch).get("x-complete") for branch in objects}) > 1:
        yield "some of its forms have `x-complete` and others do not, so a partial object would replace the stored one"
    is_decoded = len(objects) > 1 and node.get("x-undecoded") is not True
    of_objects = [constants(document, branch).items() for branch in objects]
    if is_decoded and any(one <= other for one, other in permutations(of_objects, 2)):
        yield (
            "nothing tells its objects apart: give each a property with a `const` of its own, "
            "or write `x-undecoded: true` if values are to stay dictionaries"
        )


def _members(values: Sequence[Any], names: Sequence[str]) -> Iterator[str]:
    """Yield the values of an enum without a valid and unique name of a member."""
    taken: dict[str, Any] = {}
    for value, name in zip(values, member_names(values, names), strict=True):
        if not name.isidentifier():
            yield f"the member for {value!r} would be called {name!r}: name it in `x-enum-varnames`"
        elif taken.setdefault(name, value) != value:
            both = f"{taken[name]!r} and {value!r}"
            yield f"the members for {both} would be called {name}: name them in `x-enum-varnames`"


def invalid(document: Node) -> list[Problem]:
    """Return the errors of a document: its broken references, or else the errors that the validator finds."""
    from openapi_spec_validator import OpenAPIV31SpecValidator  # imported here, because the import is slow

    return [*_references(document)] or [
        Problem(keys=tuple(error.absolute_path), text=error.message)
        for error in OpenAPIV31SpecValidator(dict(document)).iter_errors()
    ]


def _references(document: Node) -> Iterator[Problem]:
    schemas = document.get("components", {}).get("schemas", {})
    for keys, node in nodes(document):
        kinds = node.get("x-kinds")
        for name in [
            *(kinds.values() if isinstance(kinds, dict) else ()),
            *(node[key] for key in ("x-names", "x-values") if key in node),
        ]:
            if name not in schemas:
                yield Problem(keys=keys, text=f"names the schema {name!r}, which does not exist")
        reference = node.get("$ref")
        if not isinstance(reference, str):
            continue
        where = None if _COMPONENT.fullmatch(reference) else "names no component: move its target to `components`"
        try:
            resolve(document, node)
        except KeyError:
            where = (
                "has no target" if reference.startswith("#/") else "leads out of the document: copy its target into it"
            )
        if where is not None:
            yield Problem(keys=keys, text=f"$ref {reference!r} {where}")


def _extensions(document: Node) -> Iterator[Problem]:
    """Yield the fields beyond OpenAPI with an invalid value, a misspelt name, or a name in them that does not exist."""
    named = {node["name"] for _, node in nodes(document) if "in" in node and isinstance(node.get("name"), str)}
    for _, node in nodes(document):
        named.update(*(map(str, node[key]) for key in ("properties", "enum") if isinstance(node.get(key), dict | list)))
    for keys, node in nodes(document):
        fields = {name: value for name, value in node.items() if name.lower().startswith("x-")}
        if keys[-1:] in (("properties",), ("headers",)):  # their keys are names
            continue
        errors = [*_VALIDATOR.iter_errors(fields)]
        yield from (Problem(keys=(*keys, *error.absolute_path), text=error.message) for error in errors)
        for name in fields.keys() - FIELDS.keys():
            if near := get_close_matches(name.lower(), FIELDS, n=1, cutoff=0.8):
                yield Problem(keys=(*keys, name), text=f"is no field of this document: `{near[0]}` was meant")
        error = {} if errors else fields.get("x-error", {})
        codes = [error[key] for key in ("code", "detail", "missing", "excludes") if key in error]
        names = [] if errors else [*codes, *fields.get("x-read-only", ()), *fields.get("x-excludes", ())]
        for name in sorted({*names} - named):
            yield Problem(keys=keys, text=f"{name!r} is not in the document: nothing else has this name")
