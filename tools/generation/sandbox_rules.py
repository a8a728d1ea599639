"""What the sandbox accepts and rejects otherwise than a specification, found by trying, with the lines to change.

Tried are a request with all that is required, each enum value, sizes at and beyond each limit, null, a request without
each required property, and each default.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from itwin_platform_sandbox._server.endpoint import MOST_BODY_BYTES
from itwin_platform_sandbox._service.messages import APIRequest

from tools.generation.sandbox_requests import ABSENT, Place, Requests, SandboxRules, body_of_size
from tools.generation.source import tree_of
from tools.spec.specification import Operation, Specification

PROJECT = Path(__file__).resolve().parents[2]
SERVICE = PROJECT / "sandbox" / "itwin_platform_sandbox" / "_service"
LOWER, UPPER = ("minimum", "minLength", "minItems"), ("maximum", "maxLength", "maxItems")
#: A size that no limit is expected to reach, for each kind of value.
FAR = {"integer": 10**9, "string": 5000}

#: Modules that are about no operation.
GENERAL = frozenset({"body", "credentials", "errors", "json_values", "messages", "state"})

#: How the sandbox notes a property that it does not know.
UNKNOWN = "The description does not have this field."

Accepts = Callable[[int], bool]


def wrong_rules(specification: Specification, operations: list[str]) -> list[str]:
    """Return a text for each rule of the sandbox about these operations that a specification contradicts."""
    rules = SandboxRules()
    requests = Requests(specification, rules.ids)
    found: list[str] = []
    for name in operations:
        operation = specification.operations[name]
        found += _shortest(operation, requests, rules)
        found += _largest_body(operation, requests, rules)
        for place in requests.places(operation):
            found += _presence(place, requests, rules)
            found += _values(place, specification, rules)
            found += _sizes(place, requests, rules)
    return list(dict.fromkeys(found))


def _shortest(operation: Operation, requests: Requests, rules: SandboxRules) -> Iterator[str]:
    response = rules.response(requests.shortest(operation))
    if response.status >= 300:
        yield (
            f"openapi.yaml requires no more of {operation.name} than what the sandbox responds to with "
            f"{response.status}: {response.body} ({', '.join(_lines(operation.name, '', None))})."
        )


def _presence(place: Place, requests: Requests, rules: SandboxRules) -> Iterator[str]:
    in_body = place.in_body
    default = place.field.default
    if default is not None and not in_body:
        with_default, without = rules.response(place.put(default)), rules.response(place.put(ABSENT))
        if _content(with_default) != _content(without):
            yield _told(f"has the default {default} for {place.what}", "has another", place, None)
    shortest = requests.value(place.field)
    if not _is_known(place, rules.response(place.put(shortest)).notes):
        yield _told(f"has {place.what}", "does not know it", place, None)
        return
    if not rules.accepts(place.put(shortest)):
        if isinstance(shortest, dict):
            yield _told(f"allows {shortest} for {place.what}", "rejects it", place, None)
        return  # which strings a rule allows, only its words say
    if place.field.required and rules.accepts(place.put(ABSENT)):
        module = (SERVICE / "operations" / f"{place.operation.name}.py").relative_to(PROJECT).as_posix()
        yield (
            f"openapi.yaml requires {place.name} in {place.operation.name}, and the sandbox does not: "
            f"check it in {module}."
        )
    if in_body and not (place.field.limits.keys() & {"const"}) and place.field.kinds != {"anything"}:
        nullable, accepted = place.field.nullable, rules.accepts(place.put(None))
        if nullable != accepted:
            what = "allows null for" if nullable else "does not allow null for"
            yield _told(f"{what} {place.what}", f"{'accepts' if accepted else 'rejects'} it", place, None)


def _is_known(place: Place, notes: Iterable[str]) -> bool:
    """Return whether the sandbox reads a property or a query parameter; headers are for tracking too."""
    if place.part.startswith("header "):
        return True
    if place.in_body:
        return not any(UNKNOWN in note for note in notes)
    modules = _modules(SERVICE / "operations" / f"{place.operation.name}.py")
    return any(constant.value == place.name for module in modules for constant in _constants(module))


def _content(response: object) -> tuple[object, object]:
    body = getattr(response, "body", None)
    kept = {name: value for name, value in body.items() if name != "_links"} if isinstance(body, dict) else body
    return kept, getattr(response, "headers", None)


def _values(place: Place, specification: Specification, rules: SandboxRules) -> Iterator[str]:
    for kind in sorted(place.field.kinds):
        name = kind.removeprefix("list of ")
        values = specification.models[name].values if name in specification.models else ()
        for value in (*values, *place.field.values):
            in_list = kind != name and place.in_body
            if not rules.accepts(place.put([value] if in_list else value)):
                yield _told(f"allows {value} for {place.what}", "rejects it", place, None)


def _sizes(place: Place, requests: Requests, rules: SandboxRules) -> Iterator[str]:
    limits = place.field.limits
    least, most = ([int(str(limits[name])) for name in names if name in limits] for names in (LOWER, UPPER))
    kind = next((kind for kind in FAR if kind in place.field.kinds), "")
    sized = _sized(place, requests)
    base = max([1, *least[:1]])
    if {"pattern", "const"} & set(limits) or place.field.values or not rules.accepts(sized(base)):
        return

    def accepts(size: int) -> bool:
        return rules.accepts(sized(size))

    if most or kind:
        yield from _upper(place, most[0] if most else None, accepts, base=base, far=FAR.get(kind, 1000))
    if least and least[0] > -1 and (kind == "integer" or least[0] > 0) and accepts(least[0] - 1):
        yield _told(f"allows at least {least[0]} for {place.what}", "accepts less", place, None)


def _upper(place: Place, most: int | None, accepts: Accepts, *, base: int, far: int) -> Iterator[str]:
    limit = far if most is None else most
    if not accepts(limit):
        actual = _largest(accepts, base, limit)
        what = f"has no upper limit for {place.what}" if most is None else f"allows {most} for {place.what}"
        yield _told(what, f"allows {actual}", place, actual)
    elif most is not None and accepts(most + 1):
        beyond = max(far, 2 * most)
        found = None if accepts(beyond) else _largest(accepts, most, beyond)
        has = "has no limit" if found is None else f"allows {found}"
        yield _told(f"allows at most {most} for {place.what}", has, place, found)


def _largest(accepts: Accepts, low: int, high: int) -> int:
    """Return the largest size that is accepted, when `low` is and `high` is not."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if accepts(middle) else (low, middle)
    return low


def _sized(place: Place, requests: Requests) -> Callable[[int], APIRequest]:
    kinds = place.field.kinds
    if "integer" in kinds:
        return place.put
    listed = next((kind for kind in sorted(kinds) if kind.startswith("list of ")), None)
    if listed is not None:
        item = requests.of_kind(listed.removeprefix("list of "), place.field)
        return lambda size: place.put([item] * size)
    return lambda size: place.put("A" * size)


def _largest_body(operation: Operation, requests: Requests, rules: SandboxRules) -> Iterator[str]:
    most = None if operation.body is None else operation.body.limits.get("bytes")
    shortest = requests.shortest(operation)
    if most is None or not rules.accepts(shortest):
        return
    size = int(str(most))
    place = Place(operation=operation, part="body", name="", field=operation.body, put=lambda _: shortest)  # type: ignore[arg-type] # there is one

    def accepts(bytes_: int) -> bool:
        return rules.accepts(body_of_size(shortest, bytes_))

    yield from _upper(place, size, accepts, base=len(shortest.body), far=MOST_BODY_BYTES)


def _told(document: str, sandbox: str, place: Place, number: int | None) -> str:
    lines = ", ".join(_lines(place.operation.name, place.name, number))
    return f"openapi.yaml {document}, the sandbox {sandbox} ({lines})."


def _lines(operation: str, name: str, number: int | None) -> list[str]:
    """Return the lines about a name and a number in the modules of an operation; its module where there are none."""
    module = SERVICE / "operations" / f"{operation}.py"
    named: list[str] = []
    for path in _modules(module):
        place = path.relative_to(PROJECT).as_posix()
        constants = _constants(path)
        names = {node.lineno for node in constants if name and str(node.value).lower() == name.lower()}
        numbers = {node.lineno for node in constants if number is not None and node.value in (number, number + 1)}
        if found := names & numbers or numbers:
            return [f"{place}:{line}" for line in sorted(found)]
        named += [f"{place}:{line}" for line in sorted(names)]
    return named or [module.relative_to(PROJECT).as_posix()]


@cache
def _constants(module: Path) -> list[ast.Constant]:
    return [node for node in ast.walk(tree_of(module)) if isinstance(node, ast.Constant)]


@cache
def _modules(module: Path) -> list[Path]:
    """Return the module of an operation and those with rules that it imports, however far."""
    found: dict[Path, None] = {}
    waiting = [module]
    while waiting:
        path = waiting.pop(0)
        if path in found or path.stem in GENERAL or not path.is_file():
            continue
        found[path] = None
        waiting += [
            path.parents[node.level - 1].joinpath(*node.module.split(".")).with_suffix(".py")
            for node in ast.walk(tree_of(path))
            if isinstance(node, ast.ImportFrom) and node.level and node.module
        ]
    return list(found)
