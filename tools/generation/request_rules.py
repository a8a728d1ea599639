"""Writes the constraints of the arguments of each operation as the data of `templates/support/rules.py`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from openapi_python_client.parser.openapi import Endpoint

from tools.generation.document import Node, alternatives, constants, operation_called, resolve
from tools.generation.naming import pascal_case, plain, snake_case

#: Formats of strings that have another Python type than `str`.
FORMATS = ("date", "date-time", "uuid", "binary")
LIMITS = {
    "string": ("minLength", "maxLength"),
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "array": ("minItems", "maxItems"),
}


def argument_of(node: Node, wire: str) -> str:
    """Return the name of a parameter or property as an argument."""
    return snake_case(str(node.get("x-argument", node.get("x-python-name", wire))))


class Expression(str):
    """Python source, which `repr` returns without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class RequestRules:
    """The rules of a document, as Python expressions."""

    document: Node

    def of(self, endpoint: Endpoint) -> str:
        """Return the mapping of an operation's arguments to their rules."""
        operation, parameters = operation_called(self.document, plain(endpoint.name))
        error, nodes = operation.get("x-error", {}), {(each["in"], each["name"]): each for each in parameters}
        outer = {} if error.get("inferred") else {"code": error.get("code")}
        rules = {
            str(parameter.python_name): self._parameter(node, nodes, outer, endpoint=endpoint)
            for place in ("path", "query", "header")
            for parameter in getattr(endpoint, f"{place}_parameters")
            if (node := nodes.get((place, plain(parameter.name)))) is not None
            and (place != "path" or _limited(resolve(self.document, node.get("schema", {}))))
        }
        for body in endpoint.bodies:
            content = resolve(self.document, operation["requestBody"])
            schema = next(iter(content["content"].values())).get("schema", {})
            required = content.get("required") is True and body.prop.required
            rules["body"] = self._rule(schema, argument="", required=required, outer=outer)
        return repr(rules)

    def _parameter(
        self, node: Node, nodes: Mapping[tuple[str, str], Node], outer: Node, *, endpoint: Endpoint
    ) -> Expression:
        excluded = {
            str(each.python_name): argument_of(nodes["query", wire], wire)
            for each in endpoint.query_parameters
            if (wire := plain(each.name)) in node.get("x-excludes", ())
        }
        error = node.get("x-error", {})
        return self._rule(
            {**node.get("schema", {}), **({"x-error": error} if error else {})},
            argument=argument_of(node, node["name"]),
            required=node.get("required") is True,
            outer=outer,
            excludes=_call("Excludes", {}, excluded, error.get("excludes"), error.get("target")) if excluded else None,
            sent_as_text=True,
        )

    def _rule(
        self,
        declared: Node,
        *,
        argument: str,
        required: bool,
        outer: Node,
        excludes: Expression | None = None,
        inside: tuple[str, ...] = (),
        sent_as_text: bool = False,
    ) -> Expression:
        names = [*self._names(declared)]
        schema = resolve(self.document, declared)
        own = _own(declared.get("x-error", schema.get("x-error")), outer)
        form, nullable = self._form(schema)
        kind = "object" if self._by_type(form) else _kind(form)
        parts: dict[str, Any] = {"required": required or None, "nullable": nullable or None, **_limits(form, kind)}
        if sent_as_text and "" not in form.get("enum", [""]):
            parts["least"] = 1  # an empty parameter counts as missing, also for enums, which are open
        parts |= own
        if set(names).isdisjoint(inside):  # a recursive schema is checked on its first level only
            within = {"outer": own, "inside": (*inside, *names), "sent_as_text": sent_as_text}
            parts |= self._nested(form, **within)
        if form.get("x-complete") is True:
            parts["complete"] = pascal_case(names[-1])
        return _call("Rule", parts | {"excludes": excludes}, argument, kind)

    def _nested(self, schema: Node, **within: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if isinstance(schema.get("items"), Mapping) and schema["items"]:
            found["items"] = self._rule(schema["items"], argument="", required=False, **within)
        if schema.get("properties"):
            required = schema.get("required", ())
            found["properties"] = {
                wire: self._rule(inner, argument=argument_of(inner, wire), required=wire in required, **within)
                for wire, inner in schema["properties"].items()
            }
        if forms := self._by_type(schema):
            found["forms"] = {
                value: self._rule(form, argument="", required=False, **within) for value, form in forms.items()
            }
        return found

    def _names(self, declared: Node) -> Iterator[str]:
        """Yield the names of the schemas along a chain of references, which may be nullable."""
        while True:
            if "$ref" in declared:
                yield str(declared["$ref"]).rpartition("/")[2]
            schema = resolve(self.document, declared)
            others, _ = alternatives(schema)
            if len(others) != 1 or others == [schema]:
                return
            declared = others[0]

    def _form(self, schema: Node) -> tuple[Node, bool]:
        """Return a schema without its null alternative, and whether it has one."""
        others, nullable = alternatives(schema)
        if others == [schema]:
            return schema, False
        if len(others) > 1:
            return {**schema, "type": None}, nullable
        inner, too = self._form(resolve(self.document, others[0]))
        return inner, nullable or too

    def _by_type(self, schema: Node) -> dict[str, Node]:
        """Return the forms of an object by the constant of their property `type`; empty if a form has no constant."""
        branches = schema.get("oneOf", ())
        found: dict[Any, Node] = {constants(self.document, branch).get("type"): branch for branch in branches}
        return {} if None in found else found


def _kind(schema: Node) -> str:
    kind = schema.get("type")
    if kind == "string" and schema.get("format") in FORMATS:
        return "any"
    if kind is None and "properties" in schema:
        return "object"
    return kind if isinstance(kind, str) else "any"


def _limits(schema: Node, kind: str) -> dict[str, Any]:
    """Return the limits of a value; for a string, also its pattern and the first sentence of its description."""
    least, most = LIMITS.get(kind, ("", ""))
    found: dict[str, Any] = {"least": schema.get(least), "most": schema.get(most)}
    if kind == "string" and "pattern" in schema:
        words = " ".join(str(schema.get("description", "")).split()).partition(".")[0]
        form = f"{words[0].lower()}{words[1:]}" if words else f"a string of the form {schema['pattern']}"
        example = next(iter(schema.get("examples", ())), None)
        found |= {"pattern": schema["pattern"], "form": form if example is None else f"{form}, such as {example}"}
    return found


def _limited(schema: Node) -> bool:
    """Return whether a path parameter has another constraint than to be a string, which needs no rule."""
    return bool({"pattern", "minLength", "maxLength", "enum"} & schema.keys()) or schema.get("type") != "string"


def _own(error: Node | None, outer: Node) -> Node:
    """Return the code and target of a rule: those of its own `x-error`, or else those of the outer rule."""
    if error is None or not {"code", "missing"} & error.keys():
        return outer
    own = {"code": error.get("code", outer.get("code")), "target": error.get("target")}
    return {**own, "missing_code": error.get("missing")}


def _call(name: str, keywords: Mapping[str, object], *values: object) -> Expression:
    given = [*map(repr, values), *(f"{key}={value!r}" for key, value in keywords.items() if value is not None)]
    return Expression(f"{name}({', '.join(given)})")
