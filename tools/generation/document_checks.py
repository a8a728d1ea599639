"""Checks of a document for what the generator would drop or change, or the client would send otherwise.

Each problem names its place and what to write instead.
"""

from collections.abc import Callable, Iterator, Mapping

from tools.generation.accept import accepted
from tools.generation.document import Keys, Node, Problem, nodes, operations, resolve
from tools.generation.validity import invalid
from tools.spec.normal_form import uses

#: Keywords with which a schema rejects values, and which the client and the sandbox do not check.
UNCHECKED = frozenset({"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems", "minProperties"}) | {
    *("maxProperties", "patternProperties", "propertyNames", "contains", "prefixItems", "not", "if"),
    *("dependentRequired", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems"),
}


def problems(document: Node) -> list[Problem]:
    """Return what must be written in another form; while a document is not valid, only that."""
    return invalid(document) or [
        *(problem for check in _OPERATION for problem in check(document)),
        *(problem for keys, node in nodes(document) for problem in _schema(document, keys, node)),
    ]


def _parameters(document: Node) -> Iterator[Problem]:
    for path, method, _, parameters in operations(document):
        for parameter in parameters:
            for text in _parameter(document, path, parameter):
                yield Problem(keys=("paths", path, method), text=f"{parameter['name']} in {parameter['in']} {text}")


def _parameter(document: Node, path: str, parameter: Node) -> Iterator[str]:
    schema = resolve(document, parameter.get("schema", {}))
    kind, where = schema.get("type"), parameter["in"]
    if "schema" not in parameter:
        yield "has no schema, so it would not be sent: describe it by a schema"
    if where == "cookie":
        yield "is a cookie, which is not sent: describe it as a header or a query parameter"
    if where == "path" and f"{{{parameter['name']}}}" not in path:
        yield "is not in the path: add it there, or remove the parameter"
    if kind == "array" and where == "query" and not _is_joined(parameter):
        yield "is a list, which is sent joined by commas: say `style: form` and `explode: false` if that works"
    if kind == "object" or "properties" in schema:
        yield "is an object, which is not sent: describe each property as a parameter"
    default = parameter.get("schema", {}).get("default", schema.get("default"))
    if default is not None:
        yield f"has the default {default!r}, which would be sent with every call: say `x-default` instead"


def _is_joined(parameter: Node) -> bool:
    style = parameter.get("style", "form")
    return style == "form" and parameter.get("explode", True) is False


def _accept(document: Node) -> Iterator[Problem]:
    for path, method, operation, _ in operations(document):
        if accepted(document, operation) is None:
            others = {
                accept.replace("{vendor}", "vendor")
                for other, _, node, _ in operations(document)
                if other.split("/")[1] == path.split("/")[1] and (accept := accepted(document, node))
            }
            example = " or ".join(sorted(others)) or "application/vnd.vendor.itwin-platform.v1+json"
            text = f"no success says the version to ask for: say it, such as `x-accept: {example}`"
            yield Problem(keys=("paths", path, method), text=text)


def _names(document: Node) -> Iterator[Problem]:
    for path, method, operation, _ in operations(document):
        if "operationId" not in operation:
            text = "has no operationId, which names its function: say one in snake case"
            yield Problem(keys=("paths", path, method), text=text)


def _bodies(document: Node) -> Iterator[Problem]:
    for path, method, operation, _ in operations(document):
        content = resolve(document, operation.get("requestBody", {})).get("content", {})
        for media_type in content:
            if media_type != "application/json":
                text = f"the body is sent as application/json, not as {media_type}"
                yield Problem(keys=("paths", path, method, "requestBody"), text=text)


def _security(document: Node) -> Iterator[Problem]:
    schemes = document.get("components", {}).get("securitySchemes", {})
    for name, scheme in schemes.items():
        if (scheme.get("type"), str(scheme.get("scheme")).lower()) != ("http", "bearer"):
            text = (
                "the client sends `Authorization: Bearer` and nothing else: an HTTP scheme `bearer` is what it can use"
            )
            yield Problem(keys=("components", "securitySchemes", name), text=text)


def unchecked(document: Node) -> Iterator[Problem]:
    """Yield the rules about requests that neither the client nor the sandbox would check."""
    used = uses(document)
    for keys, node in nodes(document):
        senders, _ = used.get(f"#/{'/'.join(map(str, keys[:3]))}", ((), ()))
        if senders or not {"parameters", "requestBody"}.isdisjoint(keys[1:4]):
            for name in sorted(UNCHECKED & node.keys()) if keys[-1] != "properties" else ():
                yield Problem(keys=keys, text=f"no check knows `{name}`: say it otherwise, or in the description alone")


_OPERATION: tuple[Callable[[Node], Iterator[Problem]], ...] = (
    _names,
    _parameters,
    _accept,
    _bodies,
    _security,
    unchecked,
)


def _schema(document: Node, keys: Keys, node: Node) -> Iterator[Problem]:
    for text in _member_names(node):
        yield Problem(keys=keys, text=text)
    yield from _defaults(keys, node)
    yield from _kinds(document, keys, node)
    branches = [*(node.get("oneOf") or ()), *(node.get("anyOf") or ())]
    objects = [branch for branch in branches if "properties" in resolve(document, branch)]
    if len(objects) < 2 or node.get("x-undecoded") is True:
        return
    if not all(_constants(document, branch) for branch in objects):
        yield Problem(
            keys=keys,
            text="nothing tells its objects apart, so none is decoded: give each a property with a `const`, "
            "or say `x-undecoded: true` if values are to stay dictionaries",
        )


def _member_names(node: Node) -> Iterator[str]:
    values, names = node.get("enum"), node.get("x-enum-varnames")
    if not isinstance(values, list) or not isinstance(names, list):
        return
    if len(values) != len(names):
        count = f"{len(values)} values and {len(names)} names"
        yield f"has {count} in x-enum-varnames: without one name each, all members would be renamed"
    elif len(set(names)) < len(names):
        yield "x-enum-varnames has a name twice"


def _defaults(keys: Keys, node: Node) -> Iterator[Problem]:
    properties = node.get("properties")
    if not isinstance(properties, Mapping) or keys[:2] != ("components", "schemas"):
        return
    for name, inner in properties.items():
        if "default" in inner:
            text = "its default would be sent unasked: say `x-default` instead"
            yield Problem(keys=(*keys, "properties", name), text=text)


def _kinds(document: Node, keys: Keys, node: Node) -> Iterator[Problem]:
    properties = node.get("properties")
    if not isinstance(properties, Mapping) or "kind" in properties:
        return
    for name, inner in properties.items():
        if "x-kinds" in resolve(document, inner):
            yield Problem(
                keys=(*keys, "properties", name), text="has `x-kinds`, and there is no property `kind` beside it"
            )


def _constants(document: Node, schema: Node) -> list[object]:
    properties = [resolve(document, inner) for inner in resolve(document, schema).get("properties", {}).values()]
    return [inner["const"] for inner in properties if "const" in inner]
