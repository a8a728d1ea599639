"""Checks of a document: whether it is valid, what the generator would drop or change, and what would be sent otherwise.

Each problem names its place and what to write instead. `extensions.yaml` is the schema of the fields beyond OpenAPI: a
typo in one would remove a check without a word, so a field that is called nearly like one of them is taken for a typo,
and the names in them must exist. All others, such as `x-ms-paths`, are left alone.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
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
    rebuilt,
    resolve,
)
from tools.generation.naming import field_names, member_names, pascal_case, python_name, snake_case
from tools.generation.request_rules import argument_of
from tools.generation.unchecked import unchecked

#: The schema of the fields beyond OpenAPI.
EXTENSIONS = load_document(str(Path(__file__).with_name("extensions.yaml")))
FIELDS: Node = EXTENSIONS["properties"]
_VALIDATOR = Draft202012Validator(EXTENSIONS)
#: What a reference may name: a path item is read where it is.
_COMPONENT = re.compile(r"#/components/(?!pathItems/)\w+/[^/]+")


def problems(document: Node) -> list[Problem]:
    """Return what must be written in another form; of what is not valid, only that and the forms of OpenAPI 3.0."""
    old = [problem for keys, node in nodes(document) for problem in _old_forms(keys, node)]
    return old + (invalid(modern(document)) or [*_found(modern(document))])


def _found(document: Node) -> Iterator[Problem]:
    yield from (*extensions(document), *_modules(document), *unchecked(document))
    schemes = document.get("components", {}).get("securitySchemes", {})
    for name, scheme in schemes.items():
        if (scheme.get("type"), str(scheme.get("scheme")).lower()) != ("http", "bearer"):
            text = "the client sends `Authorization: Bearer` and nothing else: it can use an HTTP scheme `bearer`"
            yield Problem(keys=("components", "securitySchemes", name), text=text)
    for path, method, operation, _ in operations(document):
        for key, text in _operation(document, path, method, operation):
            yield Problem(keys=("paths", path, method, *key), text=text)
        for place, each in parameter_places(document, path, method):
            for text in _parameter(document, path, each):
                yield Problem(keys=place, text=f"{each['name']} in {each['in']} of {method.upper()} {path} {text}")
    for keys, node in nodes(document):
        asked = node["security"] if isinstance(node.get("security"), list) else ()
        for name in {name for each in asked for name in each} - schemes.keys():
            text = f"{name!r} is not in components.securitySchemes: name one of {', '.join(schemes) or 'them'}"
            yield Problem(keys=(*keys, "security"), text=text)
        yield from (Problem(keys=keys, text=text) for text in _schema(document, keys, node))
        yield from _fields(keys, node)


def modern(document: Node) -> Any:
    """Return a document without what only OpenAPI 3.0 has."""
    return {**rebuilt(document, _without_old_limits), "openapi": "3.1.0"}


def _without_old_limits(node: Node) -> Node:
    return {key: value for key, value in node.items() if key not in _EXCLUSIVE or not isinstance(value, bool)}


#: Limits that were true or false, each with the limit beside it, and the step to the next integer.
_EXCLUSIVE = {"exclusiveMinimum": ("minimum", 1), "exclusiveMaximum": ("maximum", -1)}


def _old_forms(keys: Keys, node: Node) -> Iterator[Problem]:
    """Yield the forms of OpenAPI 3.0, which 3.1 ignores or rejects, each with the line to write."""
    if not keys and not str(node.get("openapi")).startswith("3.1."):
        yield Problem(keys=("openapi",), text="the generator reads OpenAPI 3.1: write `openapi: 3.1.0`")
    if isinstance(node.get("nullable"), bool):
        kind, line = node.get("type"), "remove it"
        if node["nullable"]:
            line = f"write `type: [{kind}, 'null']`" if kind else "write `oneOf: [{...}, {type: 'null'}]` around it"
        yield Problem(keys=(*keys, "nullable"), text=f"is of OpenAPI 3.0: {line}")
    for name, (limit, step) in _EXCLUSIVE.items():
        if isinstance(node.get(name), bool) and isinstance(node.get(limit), int | float):
            line = f"`{limit}: {node[limit] + step * node[name]}`"
            yield Problem(keys=(*keys, name), text=f"is of OpenAPI 3.0: write {line} without it, if it is an integer")


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
        yield (), f"no success says the version to ask for: say it, such as {example}"
    for media_type in resolve(document, operation.get("requestBody", {})).get("content", {}):
        if media_type != "application/json":
            yield ("requestBody",), f"the body is sent as application/json, not as {media_type}"


def _parameter(document: Node, path: str, parameter: Node) -> Iterator[str]:
    schema = resolve(document, parameter.get("schema", {}))
    is_list, where = schema.get("type") == "array", parameter["in"]
    style = parameter.get("style", "simple" if where == "path" else "form")
    wrong = {
        "has no schema, so it would not be sent: describe it by a schema": "schema" not in parameter,
        "is a cookie, which is not sent: describe it as a header or a query parameter": where == "cookie",
        "is not in the path: add it there, or remove the parameter": (
            where == "path" and f"{{{parameter['name']}}}" not in path
        ),
        "is a list, which the generator does not send in a header: describe it as a string": (
            is_list and where == "header"
        ),
        "has characters that make no name in Python: say one in `x-python-name`": (
            where != "path" and not python_name(parameter["name"], parameter).isidentifier()
        ),
        "names a place in the path and is not sent: give it another name there, and no `x-python-name`": (
            where == "path" and ("x-python-name" in parameter or not snake_case(parameter["name"]).isidentifier())
        ),
        "is a list, which is sent joined by commas: say `style: form` and `explode: false` if that works": (
            is_list and where == "query" and (style != "form" or parameter.get("explode", True) is not False)
        ),
        "would be sent percent-encoded in one piece, in style `simple`: describe it as a string": (
            where == "path" and (is_list or style != "simple")
        ),
        "is an object, which is not sent: describe each property as a parameter": (
            schema.get("type") == "object" or "properties" in schema
        ),
        "is percent-encoded, whatever `allowReserved` says: remove that": parameter.get("allowReserved") is True,
        "has one value, which a caller need not choose: say it in `enum`, or in the path": "const" in schema,
    }
    yield from (text for text, is_so in wrong.items() if is_so)


def _fields(keys: Keys, node: Node) -> Iterator[Problem]:
    """Yield the properties of an object that have no name of their own in Python."""
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
            yield Problem(keys=(*keys, "properties", wire), text=f"{text}: say another one in `x-python-name`")


def _modules(document: Node) -> Iterator[Problem]:
    """Yield the schemas, and the enums inside a property, whose module would be that of another schema."""
    schemas = document.get("components", {}).get("schemas", {})
    places = list[tuple[Keys, str]]()
    for name, schema in schemas.items():
        if not {"enum", "properties"}.isdisjoint(schema):  # any other has no module
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
    if isinstance(values, list) and isinstance(names, list) and len(names) != len(values):
        yield f"has {len(values)} values and {len(names)} names in x-enum-varnames: give each value its name"
    elif isinstance(values, list) and len({*(names or ())}) == len(names or ()):
        yield from _members(values, names if isinstance(names, list) else ())
    if node.get("format") == "password" and node.get("x-secret") is not True:
        yield "is a password, which `repr` would show: say `x-secret: true`"
    if "default" in node and keys[-1:] not in (("properties",), ("responses",)) and "servers" not in keys:
        yield "its default would be sent unasked: say `x-default` instead"
    properties = node.get("properties")
    for name, inner in properties.items() if isinstance(properties, Mapping) and "kind" not in properties else ():
        if "x-kinds" in resolve(document, inner):
            yield f"{name} has `x-kinds`, and there is no property `kind` beside it"
    branches = [*(node.get("oneOf") or ()), *(node.get("anyOf") or ())]
    objects = [branch for branch in branches if "properties" in resolve(document, branch)]
    if len({resolve(document, branch).get("x-complete") for branch in objects}) > 1:
        yield "some of its forms say `x-complete` and others do not, so a partial one would replace what is stored"
    is_decoded = len(objects) > 1 and node.get("x-undecoded") is not True
    if is_decoded and not all(constants(document, branch) for branch in objects):
        yield (
            "nothing tells its objects apart, so none is decoded: give each a property with a `const`, "
            "or say `x-undecoded: true` if values are to stay dictionaries"
        )


def _members(values: Sequence[Any], names: Sequence[str]) -> Iterator[str]:
    """Yield the values of an enum whose members have no name of their own."""
    taken: dict[str, Any] = {}
    for value, name in zip(values, member_names(values, names), strict=True):
        if not name.isidentifier():
            yield f"the member for {value!r} would be called {name!r}: name it in `x-enum-varnames`"
        elif taken.setdefault(name, value) != value:
            both = f"{taken[name]!r} and {value!r}"
            yield f"the members for {both} would be called {name}: name them in `x-enum-varnames`"


def invalid(document: Node) -> list[Problem]:
    """Return what is not valid: references that lead nowhere before anything else."""
    from openapi_spec_validator import OpenAPIV31SpecValidator  # takes a third of a second

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
                yield Problem(keys=keys, text=f"names the schema {name!r}, which is not there")
        reference = node.get("$ref")
        if not isinstance(reference, str):
            continue
        where = None if _COMPONENT.fullmatch(reference) else "names no component: move what it names to `components`"
        try:
            resolve(document, node)
        except KeyError:
            where = "leads nowhere" if reference.startswith("#/") else "leads out of the document: copy what it names"
        if where is not None:
            yield Problem(keys=keys, text=f"$ref {reference!r} {where}")


def extensions(document: Node) -> Iterator[Problem]:
    """Yield what is wrong with the fields."""
    with_fields = [
        (keys, {name: value for name, value in node.items() if name.lower().startswith("x-")})
        for keys, node in nodes(document)
        if keys[-1:] not in (("properties",), ("headers",))  # their keys are names
    ]
    yield from [*_misspelt(with_fields)] or [*_unknown_names(document, with_fields), *_of_operations(document)]


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
        fields = [python_name(each["name"], each) for each in parameters]
        # Two of one name in Python are often two of one argument.
        for field, called in (("x-python-name", fields), ("x-argument", arguments)):
            if doubled := sorted({name for name in called if called.count(name) > 1}):
                names = [each["name"] for each, name in zip(parameters, called, strict=True) if name == doubled[0]]
                text = f"{' and '.join(names)} are both called {doubled[0]}: say another `{field}` in one of them"
                yield Problem(keys=keys, text=text)
                break
        for place, each in parameter_places(document, path, method):
            for name in sorted({*map(str, each.get("x-excludes", ()))} - query):
                text = f"{each['name']} names {name!r}, which is no query parameter of {method.upper()} {path}"
                yield Problem(keys=(*place, "x-excludes"), text=text)
        for where, node in ((keys, operation), ((*keys, "requestBody"), operation.get("requestBody", {}))):
            error = node.get("x-error", {})
            if isinstance(error, dict) and str(error.get("status", "")) not in {"", *operation.get("responses", {})}:
                text = f"the operation has no response {error['status']}"
                yield Problem(keys=(*where, "x-error", "status"), text=text)
