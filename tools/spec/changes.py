"""Explain the differences between two documents, and classify those that break the users of a client.

A change is breaking if code that works today can stop working: the service removes or requires a part, accepts less,
or returns more forms than before. A new value of an enum is not breaking, because enums are open.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from tools.generation.document import Node
from tools.generation.naming import snake_case
from tools.spec.differences import ABSENT, Difference, differences
from tools.spec.normal_form import Uses, normal_form, uses

#: Limits that allow more if their value is larger.
UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "x-max-body-bytes")
IN_WORDS = {
    "maximum": "at most {}",
    "minimum": "at least {}",
    "maxLength": "at most {} characters",
    "minLength": "at least {} characters",
    "exclusiveMaximum": "less than {}",
    "exclusiveMinimum": "more than {}",
    "multipleOf": "a multiple of {}",
    "uniqueItems": "no item twice: {}",
    "maxItems": "at most {} items",
    "minItems": "at least {} items",
    "x-max-body-bytes": "at most {} bytes",
    "pattern": "of the pattern {}",
    "format": "in the format {}",
    "const": "always {}",
}
#: The headings of the report, in their order.
HEADINGS = ("Breaking", "Not breaking", "Also changed", "Other words, in which a rule may stand")
BREAKING, KNOWN, ALSO, WORDS = HEADINGS
#: Keys that a place leaves out, because the other keys identify it.
_SILENT = ("operations", "components", "schemas", "properties", "parameters", "schema", "content", "items")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Change:
    """One change: its place with the operations that use it, its meaning in words, and its heading."""

    place: str
    text: str
    heading: str = BREAKING

    @property
    def line(self) -> str:
        """The line below the heading."""
        return f"  {self.place}" if self.heading == WORDS else f"  {self.place}: {self.text}"


#: The place, the meaning in words, and whether the change is breaking; None if a rule does not apply.
Meaning = tuple[tuple[str, ...], str, bool] | None


def changes(before: Node, after: Node, modules: Collection[str] | None = None) -> list[Change]:
    """Return a change for each difference between two documents, sorted by place.

    Args:
        before: the old document.
        after: the new document.
        modules: the modules that differ between the packages generated from both; None if they were not generated.
    """
    used = uses(before, after)
    first, second = normal_form(before), normal_form(after)
    # A renamed operation is the one with the same path.
    gone = {node["route"]: name for name, node in first["operations"].items() if name not in second["operations"]}
    second["operations"] = {gone.get(node["route"], name): node for name, node in second["operations"].items()}
    return sorted({_change(each, used, modules) for each in differences(first, second)})


def _change(difference: Difference, used: Uses, modules: Collection[str] | None) -> Change:
    keys, is_prose = difference.keys, difference.is_prose
    senders, returners = used["#/" + "/".join(keys[:3])]
    sent = bool(senders) or keys[2:3] in (("parameters",), ("requestBody",))
    case = replace(difference, is_sent=sent, is_returned=bool(returners) or keys[2:3] == ("responses",))
    meaning = None if is_prose or difference.is_reordered else _meaning(case)
    place, text, breaking = meaning or (keys, difference.text, False)
    heading = WORDS if is_prose else ALSO if meaning is None else KNOWN
    if breaking and (modules is None or _reaches(keys, senders | returners, modules)):
        heading = BREAKING
    sides = (("sent by", senders), ("returned by", returners))
    users = "; ".join(f"{verb} {', '.join(sorted(names))}" for verb, names in sides if names)
    return Change(place=_place(place) + (f" ({users})" if users else ""), text=text, heading=heading)


def _reaches(keys: tuple[str, ...], users: set[str], modules: Collection[str]) -> bool:
    """Return whether a difference changes a generated module, or concerns responses, which no module holds."""
    if keys[0] not in ("components", "operations") or "responses" in keys or keys[1] == "headers":
        return True
    own = keys[1] if keys[0] == "operations" else snake_case(keys[2])
    return own in modules or not users.isdisjoint(modules)


def _place(keys: tuple[str, ...]) -> str:
    """Return a place in words, such as `SceneCreate.tags` of a schema or `list_itwins, query $top` of an operation."""
    words = [
        word for number, word in enumerate(keys) if word not in _SILENT or (number and keys[number - 1] == "properties")
    ]
    words = words or [*keys] or ["the document"]
    if keys[:2] == ("components", "schemas"):
        return ".".join(words)
    if keys[:1] == ("operations",) and words[1:]:
        return f"{words[0]}, {' '.join(words[1:])}"
    return " ".join(words)


def _meaning(case: Difference) -> Meaning:
    """Apply the rule for the object that holds the difference, or the rule for its keyword."""
    *_, before, holder, last = ("", "", *case.keys)
    rule = _BY_HOLDER.get(holder) if before != "properties" else None
    if rule is None and holder != "properties":
        rule = _limit if last in IN_WORDS else _BY_KEYWORD.get(last)
    return rule(case) if rule else None


def _part(case: Difference) -> Meaning:
    """Explain a property, a parameter or a header that is gone or new."""
    after = case.after if isinstance(case.after, Mapping) else {}
    if case.is_gone:
        return case.keys, "is gone", True
    if case.is_new and after.get("required") is True:
        return case.keys, "new, required", case.is_sent
    text = "new, optional" if case.keys[-2] in ("properties", "parameters") else "new"
    return (case.keys, text, False) if case.is_new else None


def _operation(case: Difference) -> Meaning:
    if case.is_gone and isinstance(case.before, Mapping):
        return case.keys, f"is gone ({case.before['route']})", True
    if case.is_new and isinstance(case.after, Mapping):
        preview = ", Technical Preview" if case.after.get("x-technical-preview") is True else ""
        return case.keys, f"new operation: {case.after['route']}{preview}", False
    return None


def _response(case: Difference) -> Meaning:
    """Explain a status: a client cannot decode a success that is new."""
    success = case.keys[-1].startswith("2") and case.keys[0] == "operations"
    return (case.keys, "new", success) if case.is_new else _example(case)


def _example(case: Difference) -> Meaning:
    """Explain an error: the examples of a response are its errors."""
    return (case.keys, "is no longer given", True) if case.is_gone and case.is_returned else None


def _code(case: Difference) -> Meaning:
    if "examples" not in case.keys or "error" not in case.keys:
        return None
    return case.keys, f"is {case.after} now, was {case.before}: code that waits for it never runs", True


def _alternative(case: Difference) -> Meaning:
    name = case.keys[-1]
    if case.is_gone:
        return case.keys[:-2], f"may no longer be {name}", case.is_sent
    return (case.keys[:-2], f"may be {name} now", case.is_returned) if case.is_new else None


def _required(case: Difference) -> Meaning:
    place = (*case.keys[:-2], "properties", case.keys[-1])
    if case.is_gone:
        return place, "is optional now", case.is_returned
    return place, "is required now", case.is_sent


def _is_required(case: Difference) -> Meaning:
    """Explain `required` of a parameter or a body."""
    required = case.after is True
    return case.keys[:-1], "is required now" if required else "is optional now", required


def _value(case: Difference) -> Meaning:
    place, value = case.keys[:-2], case.keys[-1]
    if case.is_gone:
        return place, f"value {value} is gone", True
    if case.is_new:
        return place, f"new value {value}", False
    return place, f"the member of {value} is called {case.after} now, was {case.before}", True


def _values(case: Difference) -> Meaning:
    if case.is_new and isinstance(case.after, Mapping):
        return case.keys[:-1], f"only one of {', '.join(case.after)} now, was any", case.is_sent
    return case.keys[:-1], "any value now", case.is_returned


def _limit(case: Difference) -> Meaning:
    limit, old, new = case.keys[-1], case.before, case.after
    was, now = (IN_WORDS[limit].format(value) if value is not ABSENT else "" for value in (old, new))
    text = f"{now} now, was {was}" if now and was else f"{now} now" if now else f"no longer {was}"
    breaks = (case.is_sent and _narrower(limit, old, new)) or (case.is_returned and limit in ("format", "const"))
    return case.keys[:-1], text, breaks


def _narrower(limit: str, old: object, new: object) -> bool:
    if isinstance(old, int | float) and isinstance(new, int | float):
        return new < old if limit in UPPER else new > old
    return new is not ABSENT


def _moved(case: Difference) -> Meaning:
    """Explain a part that breaks with each change: a path, a tag, a version, or the type of a value."""
    place = case.keys if case.keys[-1] in ("tags", "accept") else case.keys[:-1]
    was, now = (", ".join(each) if isinstance(each, Mapping) else each for each in (case.before, case.after))
    if case.is_gone:
        return place, f"is no longer said to be {was}", True
    return place, f"is {now} now" if case.is_new else f"is {now} now, was {was}", True


def _default(case: Difference) -> Meaning:
    now = "there is no default now" if case.is_gone else f"the default is {case.after} now"
    return case.keys[:-1], now if case.is_new else f"{now}, was {case.before}", False


def _preview(case: Difference) -> Meaning:
    text = "is Technical Preview now and may change" if case.after is True else "is no longer Technical Preview"
    return case.keys[:-1], text, False


Rule = Callable[[Difference], Meaning]
#: Rules by the object that holds the difference.
_BY_HOLDER: Mapping[str, Rule] = {
    "operations": _operation,
    "schemas": _part,
    "properties": _part,
    "parameters": _part,
    "headers": _part,
    "responses": _response,
    "examples": _example,
    "type": _alternative,
    "oneOf": _alternative,
    "anyOf": _alternative,
    "required": _required,
    "enum": _value,
}
#: Rules by the keyword that differs.
_BY_KEYWORD: Mapping[str, Rule] = {
    "required": _is_required,
    "enum": _values,
    "code": _code,
    "operationId": _moved,
    "route": _moved,
    "tags": _moved,
    "accept": _moved,
    "$ref": _moved,
    "type": _moved,
    "items": _moved,
    "x-default": _default,
    "x-technical-preview": _preview,
}
