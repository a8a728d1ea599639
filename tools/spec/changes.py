"""Rules that find the changes between two specifications, and which of them are breaking.

A change is breaking if code that works today can stop working: a part is removed or becomes required, the service
accepts less, or it returns more forms than before. A new value of an enum is not breaking, because enums are open.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tools.spec.specification import Field, Model, Operation, Specification

#: Limits of which a larger value allows more.
UPPER = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "bytes"})
#: Limits of which a smaller value allows more.
LOWER = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems"})
CLASS_GONE = "is gone: its class is no longer generated"
IN_WORDS = {
    "maximum": "at most {}",
    "minimum": "at least {}",
    "maxLength": "at most {} characters",
    "exclusiveMaximum": "less than {}",
    "exclusiveMinimum": "more than {}",
    "multipleOf": "a multiple of {}",
    "uniqueItems": "no item twice: {}",
    "minLength": "at least {} characters",
    "maxItems": "at most {} items",
    "minItems": "at least {} items",
    "bytes": "at most {} bytes of body",
    "pattern": "of the pattern {}",
    "format": "in the format {}",
    "const": "always {}",
}


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Change:
    """One change: the operation or model, the part of it, and its meaning."""

    place: str
    part: str
    text: str
    breaking: bool


def changes(old: Specification, new: Specification) -> list[Change]:
    """Return all changes, sorted by operation and model."""
    found = [*_operations(old, new), *_models(old, new)]
    return sorted(set(found))


def reworded(old: Specification, new: Specification) -> list[str]:
    """Return the parts whose description changed, which may state a rule that nothing else states."""
    return sorted(name for name, words in _described(old).items() if _described(new).get(name, words) != words)


def _operations(old: Specification, new: Specification) -> Iterator[Change]:
    routes = {(operation.method, operation.path): operation.name for operation in new.operations.values()}
    renamed = {
        name: routes[operation.method, operation.path]
        for name, operation in old.operations.items()
        if name not in new.operations and (operation.method, operation.path) in routes
    }
    for name, before in old.operations.items():
        after = new.operations.get(renamed.get(name, name))
        if after is None:
            models = _only_of({name}, old, new)
            besides = f", with {', '.join(models)}" if models else ""
            yield _change(name, "", f"is gone ({before.method} {before.path}){besides}", breaking=True)
            continue
        if name in renamed:
            yield _change(name, "", f"is called {after.name} now", breaking=True)
        yield from _operation(name, before, after)
    for name, after in new.operations.items():
        if name not in old.operations and name not in renamed.values():
            preview = ", Technical Preview" if after.preview else ""
            yield _change(name, "", f"new operation: {after.method} {after.path}{preview}", breaking=False)


def _operation(name: str, before: Operation, after: Operation) -> Iterator[Change]:
    if (before.method, before.path) != (after.method, after.path):
        text = f"is {after.method} {after.path} now, was {before.method} {before.path}"
        yield _change(name, "", text, breaking=True)
    if before.tag != after.tag:
        text = f"is generated in api/{after.tag} now, was in api/{before.tag}"
        yield _change(name, "", text, breaking=True)
    if before.preview != after.preview:
        text = "is Technical Preview now and may change" if after.preview else "is no longer Technical Preview"
        yield _change(name, "", text, breaking=False)
    for part in {**before.parameters, **after.parameters}:
        yield from _field(name, part, before.parameters.get(part), after.parameters.get(part), sent=True)
    yield from _field(name, "body", before.body, after.body, sent=True)
    for status in {**before.responses, **after.responses}:
        if status not in after.responses:
            yield _change(name, f"response {status}", "is no longer given", breaking=True)
        elif status not in before.responses:
            # A client that was generated before takes a success that it does not know for one that cannot be read.
            yield _change(name, f"response {status}", "new", breaking=True)
        else:
            part = f"response {status}"
            yield from _field(name, part, before.responses[status], after.responses[status], sent=False)
    for header in before.response_headers - after.response_headers:
        yield _change(name, f"response header {header}", "is no longer given", breaking=True)
    for header in after.response_headers - before.response_headers:
        yield _change(name, f"response header {header}", "new", breaking=False)
    yield from _errors(name, before, after)


def _errors(name: str, before: Operation, after: Operation) -> Iterator[Change]:
    for status, code in before.errors - after.errors:
        others = sorted(other for other, same in after.errors - before.errors if same == code)
        text = f"comes with status {', '.join(others)} now" if others else "is no longer given: code that waits for it"
        yield _change(name, f"error {status} {code}", text + ("" if others else " never runs"), breaking=True)
    for status, code in after.errors - before.errors:
        if code not in {same for _, same in before.errors}:
            yield _change(name, f"error {status} {code}", "new", breaking=False)
    for status, code, target in before.details - after.details:
        yield _change(name, f"error {status}, detail {code} [{target}]", "is no longer given", breaking=True)
    for status, code, target in after.details - before.details:
        yield _change(name, f"error {status}, detail {code} [{target}]", "new", breaking=False)


def _only_of(operations: set[str], old: Specification, new: Specification) -> list[str]:
    """Return the models that are removed together with operations, because nothing else used them."""
    return sorted(
        name
        for name in old.models.keys() - new.models.keys()
        if (users := {*old.senders(name), *old.returners(name)}) and users <= operations
    )


def _models(old: Specification, new: Specification) -> Iterator[Change]:
    reported = _only_of(old.operations.keys() - new.operations.keys(), old, new)
    for name, before in old.models.items():
        after = new.models.get(name)
        if after is None and name in reported:
            continue
        if after is None:
            yield _change(name, "", CLASS_GONE, breaking=True)
            continue
        for value in before.values:
            if value not in after.values:
                yield _change(name, "", f"value {value} is gone: its member is no longer generated", breaking=True)
        for value in after.values:
            if value not in before.values:
                yield _change(name, "", f"new value {value}", breaking=False)
        for value, member in before.members.items():
            if value in after.values and (now := after.members.get(value, "another name")) != member:
                yield _change(name, "", f"the member of {value} is called {now} now, was {member}", breaking=True)
        yield from _fields(name, before, after, sent=bool(new.senders(name)), returned=bool(new.returners(name)))


def _fields(name: str, before: Model, after: Model, *, sent: bool, returned: bool) -> Iterator[Change]:
    for part in {**before.fields, **after.fields}:
        old, new = before.fields.get(part), after.fields.get(part)
        found: dict[tuple[str, str], Change] = {}
        for direction in [True] * sent + [False] * returned or [False]:
            for change in _field(name, part, old, new, sent=direction):
                known = found.get((change.part, change.text))
                if known is None or change.breaking:
                    found[change.part, change.text] = change
        yield from found.values()


def _field(name: str, part: str, before: Field | None, after: Field | None, *, sent: bool) -> Iterator[Change]:
    if before is None or after is None:
        if before is not None:
            yield _change(name, part, "is gone", breaking=True)
        elif after is not None:
            need = "required" if after.required else "optional"
            yield _change(name, part, f"new, {need}, {after.kind}", breaking=sent and after.required)
        return
    if before.required != after.required:
        text = "is required now" if after.required else "is optional now"
        yield _change(name, part, text, breaking=after.required == sent)
    if before.nullable != after.nullable:
        text = "may be null now" if after.nullable else "may no longer be null"
        yield _change(name, part, text, breaking=after.nullable != sent)
    if gone := before.kinds - after.kinds:
        text = f"is {after.kind} now, was {before.kind}"
        yield _change(name, part, text, breaking=sent or not after.kinds < before.kinds or bool(gone == before.kinds))
    elif after.kinds - before.kinds:
        yield _change(name, part, f"may also be {' or '.join(sorted(after.kinds - before.kinds))}", breaking=not sent)
    yield from _values(name, part, before, after, sent=sent)
    if before.default != after.default:
        # The version that Accept asks for decides what the response looks like.
        text = f"the default is {after.default} now, was {before.default}"
        yield _change(name, part, text, breaking=part == "header Accept")
    yield from _limits(name, part, before, after, sent=sent)


def _values(name: str, part: str, before: Field, after: Field, *, sent: bool) -> Iterator[Change]:
    if sent and after.values and not before.values:
        text = f"only one of {', '.join(map(str, after.values))} now, was any"
        yield _change(name, part, text, breaking=True)
        return
    for value in before.values:
        if value not in after.values:
            yield _change(name, part, f"value {value} is gone", breaking=True)
    for value in after.values:
        if value not in before.values:
            yield _change(name, part, f"new value {value}", breaking=False)


def _limits(name: str, part: str, before: Field, after: Field, *, sent: bool) -> Iterator[Change]:
    for limit in {**before.limits, **after.limits}:
        old, new = before.limits.get(limit), after.limits.get(limit)
        if old == new:
            continue
        was, now = (IN_WORDS[limit].format(value) if value is not None else "" for value in (old, new))
        text = f"{now} now, was {was}" if now and was else f"{now} now" if now else f"no longer {was}"
        yield _change(name, part, text, breaking=_narrower(limit, old, new) if sent else limit in ("format", "const"))


def _narrower(limit: str, old: object, new: object) -> bool:
    compare: Callable[[float, float], bool] = float.__lt__ if limit in UPPER else float.__gt__
    if limit in UPPER | LOWER and isinstance(old, int | float) and isinstance(new, int | float):
        return compare(float(new), float(old))
    return new is not None


def _change(place: str, part: str, text: str, *, breaking: bool) -> Change:
    return Change(place=place, part=part, text=text, breaking=breaking)


def _described(specification: Specification) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, operation in specification.operations.items():
        found[name] = operation.words
        found |= {f"{name}, {part}": field.words for part, field in operation.parameters.items()}
    for name, model in specification.models.items():
        found[name] = model.words
        found |= {f"{name}.{part}": field.words for part, field in model.fields.items()}
    return found
