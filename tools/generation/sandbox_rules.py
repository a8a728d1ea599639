"""Tries the rules of the sandbox against a specification, and names the lines to change.

It tries a request with everything that is required, each enum value, sizes at and beyond each limit, null, a request
without each required property, and each default.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from itwin_platform_sandbox._server.endpoint import MOST_BODY_BYTES
from itwin_platform_sandbox._service.messages import APIRequest

from tools.generation.sandbox_requests import ABSENT, Requests, SandboxRules, Slot, body_of_size
from tools.generation.source import tree_of
from tools.spec.specification import Operation, Specification

PROJECT = Path(__file__).resolve().parents[2]
SERVICE = PROJECT / "sandbox" / "itwin_platform_sandbox" / "_service"
#: A size beyond any expected limit, for each kind of value.
FAR = {"integer": 10**9, "string": 5000}

#: Modules without rules of an operation.
GENERAL = frozenset({"body", "credentials", "errors", "json_values", "messages", "state"})

#: The note of the sandbox about an unknown property.
UNKNOWN = "The specification does not have this field."

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
        for slot in requests.slots(operation):
            found += _presence(slot, requests, rules)
            found += _values(slot, specification, rules)
            found += _sizes(slot, requests, rules)
    return list(dict.fromkeys(found))


def _shortest(operation: Operation, requests: Requests, rules: SandboxRules) -> Iterator[str]:
    response = rules.response(requests.shortest(operation))
    if response.status >= 300:
        yield (
            f"openapi.yaml requires no more of {operation.name} than what the sandbox responds to with "
            f"{response.status}: {response.body} ({', '.join(_lines(operation.name, '', None))})."
        )


def _presence(slot: Slot, requests: Requests, rules: SandboxRules) -> Iterator[str]:
    in_body = slot.in_body
    default = slot.field.default
    if default is not None and not in_body:
        with_default, without = rules.response(slot.fill(default)), rules.response(slot.fill(ABSENT))
        if _content(with_default) != _content(without):
            yield _message(f"has the default {default} for {slot.description}", "has another", slot, None)
    shortest = requests.value(slot.field)
    if not _is_known(slot, rules.response(slot.fill(shortest)).notes):
        yield _message(f"has {slot.description}", "does not know it", slot, None)
        return
    if not rules.accepts(slot.fill(shortest)):
        if isinstance(shortest, dict):
            yield _message(f"allows {shortest} for {slot.description}", "rejects it", slot, None)
        return  # only the description says which strings a rule allows
    if slot.field.required and rules.accepts(slot.fill(ABSENT)):
        module = (SERVICE / "operations" / f"{slot.operation.name}.py").relative_to(PROJECT).as_posix()
        yield (
            f"openapi.yaml requires {slot.name} in {slot.operation.name}, and the sandbox does not: "
            f"check it in {module}."
        )
    if in_body and not (slot.field.limits.keys() & {"const"}) and slot.field.kinds != {"anything"}:
        nullable, accepted = slot.field.nullable, rules.accepts(slot.fill(None))
        if nullable != accepted:
            what = "allows null for" if nullable else "does not allow null for"
            yield _message(f"{what} {slot.description}", f"{'accepts' if accepted else 'rejects'} it", slot, None)


def _is_known(slot: Slot, notes: Iterable[str]) -> bool:
    """Return whether the sandbox knows a property or a query parameter; some headers are only for tracing."""
    if slot.part.startswith("header "):
        return True
    if slot.in_body:
        return not any(UNKNOWN in note for note in notes)
    modules = _modules(SERVICE / "operations" / f"{slot.operation.name}.py")
    return any(constant.value == slot.name for module in modules for constant in _constants(module))


def _content(response: object) -> tuple[object, object]:
    body = getattr(response, "body", None)
    kept = {name: value for name, value in body.items() if name != "_links"} if isinstance(body, dict) else body
    return kept, getattr(response, "headers", None)


def _values(slot: Slot, specification: Specification, rules: SandboxRules) -> Iterator[str]:
    for kind in sorted(slot.field.kinds):
        name = kind.removeprefix("list of ")
        values = specification.models[name].values if name in specification.models else ()
        for value in (*values, *slot.field.values):
            in_list = kind != name and slot.in_body
            if not rules.accepts(slot.fill([value] if in_list else value)):
                yield _message(f"allows {value} for {slot.description}", "rejects it", slot, None)


def _sizes(slot: Slot, requests: Requests, rules: SandboxRules) -> Iterator[str]:
    least, most = slot.field.least, slot.field.most
    kind = next((kind for kind in FAR if kind in slot.field.kinds), "")
    sized = _sized(slot, requests)
    base = max(1, least or 1)
    if {"pattern", "const"} & set(slot.field.limits) or slot.field.values or not rules.accepts(sized(base)):
        return

    def accepts(size: int) -> bool:
        return rules.accepts(sized(size))

    if most is not None or kind:
        yield from _upper(slot, most, accepts, base=base, far=FAR.get(kind, 1000))
    if least is not None and least >= (0 if kind == "integer" else 1) and accepts(least - 1):
        yield _message(f"allows at least {least} for {slot.description}", "accepts less", slot, None)


def _upper(slot: Slot, most: int | None, accepts: Accepts, *, base: int, far: int) -> Iterator[str]:
    limit = far if most is None else most
    if not accepts(limit):
        actual = _largest(accepts, base, limit)
        what = f"has no upper limit for {slot.description}" if most is None else f"allows {most} for {slot.description}"
        yield _message(what, f"allows {actual}", slot, actual)
    elif most is not None and accepts(most + 1):
        beyond = max(far, 2 * most)
        found = None if accepts(beyond) else _largest(accepts, most, beyond)
        has = "has no limit" if found is None else f"allows {found}"
        yield _message(f"allows at most {most} for {slot.description}", has, slot, found)


def _largest(accepts: Accepts, low: int, high: int) -> int:
    """Return the largest accepted size between `low`, which is accepted, and `high`, which is not."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if accepts(middle) else (low, middle)
    return low


def _sized(slot: Slot, requests: Requests) -> Callable[[int], APIRequest]:
    kinds = slot.field.kinds
    if "integer" in kinds:
        return slot.fill
    listed = next((kind for kind in sorted(kinds) if kind.startswith("list of ")), None)
    if listed is not None:
        item = requests.of_kind(listed.removeprefix("list of "), slot.field)
        return lambda size: slot.fill([item] * size)
    return lambda size: slot.fill("A" * size)


def _largest_body(operation: Operation, requests: Requests, rules: SandboxRules) -> Iterator[str]:
    most = None if operation.body is None else operation.body.limits.get("bytes")
    shortest = requests.shortest(operation)
    if most is None or not rules.accepts(shortest):
        return
    size = int(str(most))
    slot = Slot(operation=operation, part="body", name="", field=operation.body, fill=lambda _: shortest)  # type: ignore[arg-type] # there is one

    def accepts(bytes_: int) -> bool:
        return rules.accepts(body_of_size(shortest, bytes_))

    yield from _upper(slot, size, accepts, base=len(shortest.body), far=MOST_BODY_BYTES)


def _message(document: str, sandbox: str, slot: Slot, number: int | None) -> str:
    lines = ", ".join(_lines(slot.operation.name, slot.name, number))
    return f"openapi.yaml {document}, the sandbox {sandbox} ({lines})."


def _lines(operation: str, name: str, number: int | None) -> list[str]:
    """Return the lines with a name and a number in the modules of an operation, or its module if there are none."""
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
    """Return the module of an operation, and the modules with rules that it imports directly or indirectly."""
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
