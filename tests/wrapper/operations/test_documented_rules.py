"""Each rule of the document is broken in the client and in the sandbox. Sources: sections 2, 4, 7 and 8."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import httpx
import pytest
from itwin_platform import UNSET, UsageError
from itwin_platform_sandbox import Sandbox

from tests.support.calls import METHODS, SCENE
from tests.support.operations import OPERATIONS, SPECIFICATION, argument_of, followed
from tests.support.public_face import CALLABLES
from tests.wrapper.operations.conftest import Exchange, called

Schema = Mapping[str, Any]
SCHEMAS = SPECIFICATION["components"]["schemas"]
#: Values of other types, by the type of JSON.
WRONG_TYPES: dict[str, tuple[Any, ...]] = {"string": (5, ["x"]), "integer": ("3", 1.5, True), "number": ("1", True)}
WRONG_TYPES |= {"boolean": ("true", 1), "array": ("x", {}), "object": ("x", [1])}
NO_FORMS: tuple[Any, ...] = ({}, {"type": "Unknown"}, {"type": []})
FORMS = {SCHEMAS["Uuid"]["pattern"]: SCENE, SCHEMAS["Semver"]["pattern"]: "1.0.0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A broken rule: the whole value, where it is wrong, and the `x-error` that the document has there."""

    value: Any
    place: str = ""
    error: Schema
    #: The value is absent, null or empty.
    missing: bool = False
    #: The client sends it, or rejects it by a rule of its own: another value of an enum, null inside an object,
    #: a read-only property, and a scalar in place of a list or object.
    sent: bool = False


def valid(schema: Schema) -> Any:
    """Return the smallest valid value of a schema; all properties of an object that requires none."""
    schema = followed(schema)
    if "oneOf" in schema:
        return valid(schema["oneOf"][0])
    if values := [schema["const"]] if "const" in schema else schema.get("enum"):
        return values[0]
    match kind_of(schema):
        case "object":
            properties = schema.get("properties", {})
            return {name: valid(properties[name]) for name in schema.get("required") or properties}
        case "array":
            return [valid(schema["items"])] * max(1, schema.get("minItems", 1))
        case "string":
            return FORMS[schema["pattern"]] if "pattern" in schema else "x" * max(1, schema.get("minLength", 1))
        case kind:
            return {"integer": schema.get("minimum", 1), "number": 1, "boolean": True, None: []}[kind]


def kind_of(schema: Schema) -> str | None:
    """The type of a value that is not null."""
    kinds = schema.get("type")
    return kinds[0] if isinstance(kinds, list) else kinds


def broken(schema: Schema, error: Schema, *, depth: int = 0, required: bool = True) -> Iterator[Broken]:
    """Break each rule of a schema and of its inner schemas once."""
    schema = followed(schema)
    error = schema.get("x-error", error)
    kind = kind_of(schema)
    if "oneOf" in schema:
        options = [option for option in map(followed, schema["oneOf"]) if option != {"type": "null"}]
        inner = [each for option in options for each in broken(option, error, depth=depth)]
        yield from (each for each in inner if each.value is not None)
        if len(options) > 1:
            yield from (Broken(value=value, error=error) for value in NO_FORMS)
        return
    is_scalar = kind not in ("array", "object")
    yield from (Broken(value=value, error=error, sent=not is_scalar) for value in WRONG_TYPES.get(str(kind), ()))
    if kind and "null" not in schema["type"]:
        yield Broken(value=None, error=error, missing=True, sent=depth > 1 and not required)
    for value in beyond_limits(schema, kind):
        yield Broken(value=value, error=error, missing=value == "", sent="enum" in schema)
    if kind == "object":
        yield from broken_objects(schema, error, depth)
    elif kind == "array":
        for each in broken(schema["items"], error, depth=depth):
            place = f"[0]{each.place}" if "properties" in followed(schema["items"]) else ""
            sent = each.sent or not (each.place or isinstance(each.value, str))
            yield replace(each, value=[each.value], place=place, sent=sent)


def beyond_limits(schema: Schema, kind: str | None) -> Iterator[Any]:
    """Values just beyond each limit."""
    unit: Any = "x" if kind == "string" else [valid(schema.get("items", {}))]
    least, most = schema.get("minLength", schema.get("minItems", 0)), schema.get("maxLength", schema.get("maxItems"))
    if least:
        yield unit * (least - 1)
    if most is not None:
        yield unit * (most + 1)
    yield from (schema[name] + step for name, step in (("minimum", -1), ("maximum", 1)) if name in schema)
    yield from (value for name, value in (("pattern", "not of the form"), ("enum", "Unknown")) if name in schema)


def broken_objects(schema: Schema, error: Schema, depth: int) -> Iterator[Broken]:
    """Objects without a required property, with a broken one, and with a read-only one."""
    complete, required = valid(schema), schema.get("required", ())
    for name in required:
        lacks = {key: value for key, value in complete.items() if key != name}
        if name != "type":
            yield Broken(value=lacks, place=f".{name}", error=named(schema, name).get("x-error", error), missing=True)
    for name in schema.get("properties", {}):
        if "const" not in named(schema, name):
            for each in broken(named(schema, name), error, depth=depth + 1, required=name in required):
                yield replace(each, value=complete | {name: each.value}, place=f".{name}{each.place}")
        for kind, data in named(schema, name).get("x-kinds", {}).items():
            for each in (each for each in broken(SCHEMAS[data], error) if each.place and not each.missing):
                value = complete | {"kind": kind, name: each.value}
                yield replace(each, value=value, place=f".{name}{each.place}", sent=True)
    for name in schema.get("x-read-only", ()):
        yield Broken(value=complete | {name: "x"}, place=f".{name}", error=error, sent=True)


def named(schema: Schema, name: str) -> Schema:
    """The schema of a property."""
    return followed(schema["properties"][name])


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A request that breaks a rule: the parameters or the body, and the detail that is documented for it."""

    operation: str
    parameters: Mapping[str, Any]
    body: Any = None
    broken: Broken
    detail: tuple[str, str]

    def __str__(self) -> str:
        return f"{self.operation} {self.parameters or ''}{self.broken.place}={json.dumps(self.broken.value)}"[:90]


def cases() -> Iterator[Case]:
    """Every rule of every operation, broken; a parameter or property that the method lacks has no case."""
    for name, operation in OPERATIONS.items():
        own, keywords = operation.error, signature(CALLABLES[METHODS[name][0]]).parameters
        for parameter in operation.parameters:
            is_keyword = argument_of(parameter, parameter["name"]) in keywords
            if is_keyword and parameter["in"] != "path" and parameter["name"] not in BY_HAND:
                yield from of_parameter(name, parameter, parameter.get("x-error", {}))
        body = followed(operation.body or {})
        inner = {wire: each for wire, each in body.get("properties", {}).items() if argument_of(each, wire) in keywords}
        for each in broken(body | {"properties": inner}, {}) if body else ():
            code = (each.missing and each.error.get("missing")) or each.error.get("code", own["detail"])
            target = each.error.get("target") or own.get("prefix", "") + each.place.removeprefix(".")
            if each.place:
                yield Case(operation=name, parameters={}, body=each.value, broken=each, detail=(code, target))


def of_parameter(name: str, parameter: Schema, error: Schema) -> Iterator[Case]:
    """The rules of one parameter."""
    target = parameter["name"]
    for each in broken(parameter["schema"], error):
        code = "InvalidParameter" if each.missing else error.get("code", OPERATIONS[name].error["detail"])
        # Without a page size the client requests the largest; it requires the iTwin of a scene also without checks.
        own = target == "iTwinId" or (target == "$top" and each.value is None)
        rule = replace(each, sent=each.sent or own)
        yield Case(operation=name, parameters={target: each.value}, broken=rule, detail=(code, target))
    for other in parameter.get("x-excludes", ()):
        each = Broken(value="x", error={**error, "code": error["excludes"]})
        value: object = True if target == "includeInactive" else "id eq null"
        parameters = {target: value, other: "Active"}
        yield Case(operation=name, parameters=parameters, broken=each, detail=(error["excludes"], target))


#: Headers with rules that the document cannot state.
BY_HAND = ("Prefer", "X-iTwin-Query-Scope", "x-correlation-id")
CASES = [*cases()]


def is_sent(case: Case) -> bool:
    """Whether a query and a header can hold the wrong value: they have strings only, and no null."""
    kinds = {"integer": (int, float), "boolean": (int,), "array": (list,)}
    parameters = {each["name"]: kind_of(followed(each["schema"])) for each in OPERATIONS[case.operation].parameters}
    return all(
        isinstance(value, kinds.get(str(parameters[name]), (str,))) and value != [] and value != [None]
        for name, value in case.parameters.items()
    )


def text_of(value: Any) -> str:
    """A value as it is sent in a query."""
    return ",".join(map(str, value)) if isinstance(value, list) else json.dumps(value).strip('"')


@pytest.mark.parametrize("name", OPERATIONS)
async def test_the_service_rejects_a_broken_rule(name: str) -> None:
    """The sandbox has the documented status and code, with the code and target of the rule in its one detail."""
    operation = OPERATIONS[name]
    broken_by = [case for case in CASES if case.operation == name and is_sent(case)]
    async with Sandbox(itwins=2, objects=0) as service, httpx.AsyncClient(base_url=service.base_url) as client:
        ids = {"iTwinId": service.itwin_id, "webhookId": service.webhook_id, "sceneId": SCENE}
        ids["repositoryId"] = service.repository_ids["UrlTemplate"]
        required = {"iTwinId": ids["iTwinId"]} if operation.path.startswith("/scenes/") else {}
        for case in broken_by:
            sent = required | {name: text_of(value) for name, value in case.parameters.items()}
            response = await client.request(
                operation.method,
                operation.path.format(**ids),
                params=sent,
                headers={"authorization": "Bearer a", "content-type": "application/json"} | sent,
                content=json.dumps(case.body),
            )
            error = response.json()["error"]
            found = [(detail["code"], detail["target"]) for detail in error["details"]]
            expected = (operation.error["status"], operation.error["code"], [case.detail])
            assert (response.status_code, error["code"], found) == expected, str(case)


def keywords_of(case: Case) -> dict[str, Any]:
    """The case as the keywords of a call."""
    operation = OPERATIONS[case.operation]
    body = followed(operation.body or {})
    named_by = {each["name"]: each for each in operation.parameters} | body.get("properties", {})
    given = {**case.parameters} if case.body is None else dict.fromkeys(body.get("required", ()), UNSET) | case.body
    if "sceneData" in given:
        given["sceneData"] = given["sceneData"]["objects"]
    return {argument_of(named_by[name], name): value for name, value in given.items()}


def is_rejected(case: Case) -> bool:
    """Whether the client has the rule: it takes the objects of a scene alone."""
    return not case.broken.sent and case.broken.place != ".sceneData"


#: Parameters that count pages, which must be integers also without checks.
COUNTED = ("$top", "$skip", "X-Max-Return")


@pytest.mark.parametrize("case", [case for case in CASES if is_rejected(case)], ids=str)
async def test_the_client_rejects_a_broken_rule_until_it_is_lifted(case: Case, exchange: Exchange) -> None:
    """The error is a ValueError with the documented code and target, and no request goes out.

    `check_requests=False` lifts these rules, but one: None for a parameter is still rejected, because a query has no
    null, and a request without the parameter means something else.
    """
    own, stated, keywords = OPERATIONS[case.operation].error, case.broken.error, keywords_of(case)
    with pytest.raises(UsageError) as caught:
        await called(exchange.platform, case.operation, keywords)
    assert isinstance(caught.value, ValueError)
    code = (case.broken.missing and stated.get("missing")) or stated.get("code")
    documented = (code, stated.get("target")) if code else (None if "inferred" in own else own["code"], None)
    assert (caught.value.code, caught.value.target) == documented
    assert str(caught.value.argument).partition(".")[0].partition("[")[0] in keywords
    assert exchange.mock.get_requests() == []
    if None in case.parameters.values():
        with pytest.raises(UsageError, match=r"cannot be None|must be .*not None"):
            await called(exchange.unchecked, case.operation, keywords)
        assert exchange.mock.get_requests() == []
    elif all(type(value) is int and value for name, value in case.parameters.items() if name in COUNTED):
        await exchange(case.operation, keywords, checked=False)
        request = exchange.request
        sent = {name.lower(): value for name, value in {**request.headers, **request.url.params}.items()}
        expected = {name.lower(): text_of(value) for name, value in case.parameters.items()}
        assert {name: sent.get(name) for name in expected} == expected
        assert case.body is None or exchange.sent == case.body
