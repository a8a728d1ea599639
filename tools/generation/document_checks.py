"""Checks of a document for what the generator would drop or change without a warning.

Each problem names its location and what to write instead.
"""

from collections.abc import Iterator, Mapping

from tools.spec.document import METHODS, Node, nodes, resolve

#: The one parameter whose default is sent: it is made of the media type that the operation returns.
SENT_BY_DEFAULT = "Accept"


def problems(document: Node) -> list[str]:
    """Return a line for each part of a document that must be written in another form."""
    return [
        *_parameters(document),
        *(text for location, node in nodes(document) for text in _schema(document, location, node)),
    ]


def _parameters(document: Node) -> Iterator[str]:
    for path, item in document.get("paths", {}).items():
        for method, operation in item.items():
            if method not in METHODS:
                continue
            for declared in (*item.get("parameters", ()), *operation.get("parameters", ())):
                parameter = resolve(document, declared)
                location = f"{parameter.get('name')} in {parameter.get('in')} of {method.upper()} {path}"
                yield from _parameter(document, location, parameter)


def _parameter(document: Node, location: str, parameter: Node) -> Iterator[str]:
    schema = resolve(document, parameter.get("schema", {}))
    kind, where = schema.get("type"), parameter.get("in")
    if "schema" not in parameter:
        yield f"{location}: has no schema, so it would not be sent: describe it by a schema"
    if where == "cookie":
        yield f"{location}: cookies are not sent: describe it as a header or a query parameter"
    style = parameter.get("style", "form" if where == "query" else "simple")
    exploded = parameter.get("explode", style == "form")
    if kind == "array" and where == "query" and (style != "form" or exploded):
        yield f"{location}: lists are sent joined by commas: say `style: form` and `explode: false` if that works"
    if kind == "object" or "properties" in schema:
        yield f"{location}: objects are not sent as parameters: describe each property as a parameter"
    default = parameter.get("schema", {}).get("default", schema.get("default"))
    if default is not None and parameter.get("name") != SENT_BY_DEFAULT:
        yield f"{location}: its default {default!r} would be sent with every call: say `x-default` instead of `default`"


def _schema(document: Node, location: str, node: Node) -> Iterator[str]:
    yield from _member_names(location, node)
    yield from _defaults(location, node)
    yield from _kinds(document, location, node)
    branches = [*(node.get("oneOf") or ()), *(node.get("anyOf") or ())]
    objects = [branch for branch in branches if _is_object(document, branch)]
    if len(objects) < 2 or node.get("x-undecoded") is True:
        return
    if not all(_constants(document, branch) for branch in objects):
        yield (
            f"{location}: nothing tells its objects apart, so none is decoded: give each a property with a `const`, "
            "or say `x-undecoded: true` if values are to stay dictionaries"
        )


def _member_names(location: str, node: Node) -> Iterator[str]:
    values, names = node.get("enum"), node.get("x-enum-varnames")
    if not isinstance(values, list) or not isinstance(names, list):
        return
    if len(values) != len(names):
        count = f"{len(values)} values and {len(names)} names"
        yield f"{location}: has {count} in x-enum-varnames: without one name each, all members would be renamed"
    elif len(set(names)) < len(names):
        yield f"{location}: x-enum-varnames has a name twice"


def _defaults(location: str, node: Node) -> Iterator[str]:
    properties = node.get("properties")
    if not isinstance(properties, Mapping) or "/components/schemas/" not in location:
        return
    for name, inner in properties.items():
        if isinstance(inner, Mapping) and "default" in inner:
            yield f"{location}/properties/{name}: its default would be sent unasked: say `x-default` instead"


def _kinds(document: Node, location: str, node: Node) -> Iterator[str]:
    properties = node.get("properties")
    if not isinstance(properties, Mapping) or "kind" in properties:
        return
    for name, inner in properties.items():
        if isinstance(inner, Mapping) and "x-kinds" in resolve(document, inner):
            yield f"{location}: {name} has `x-kinds`, but there is no property `kind` beside it"


def _is_object(document: Node, schema: Node) -> bool:
    return "properties" in resolve(document, schema)


def _constants(document: Node, schema: Node) -> list[object]:
    properties = resolve(document, schema).get("properties", {})
    return [inner["const"] for inner in properties.values() if "const" in resolve(document, inner)]
