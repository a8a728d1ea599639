"""Checks the arguments of an operation against what the document says of them, before anything is sent.

Each generated module has its `RULES`: data, which `check` applies. Never checked: whether a string is a member of an
enum, because the service may know more, and properties that the document does not name.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import lru_cache
from typing import Any

from .encoding import Fields, as_integer, class_name, fields_of
from .unset import UNSET

_HALF_PAIR = re.compile("[\ud800-\udfff]")
_NONE: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A broken rule.

    Args:
        argument: the argument, and inside it the property or the number of the item: `options.minimum_level`.
        rule: what is wrong with it, and what to do, as the rest of a sentence.
        code: the code that the service documents for the rule; None when there is none.
        target: the target that it documents; None when there is none.
        is_omitted: whether an argument is None or UNSET, so that a query or a header could only omit it.
        missing: the properties that a partial object lacks, which must be complete.
        instead: the call that makes a complete one, without its values.
    """

    argument: str
    rule: str
    code: str | None
    target: str | None
    is_omitted: bool = False
    missing: tuple[str, ...] = ()
    instead: str | None = None


_TYPES: Mapping[str, frozenset[type]] = {
    "string": frozenset({str}),
    "integer": frozenset({int}),
    "number": frozenset({int, float}),
    "boolean": frozenset({bool}),
    "object": frozenset[type]((dict, Fields)),
}

#: Makes the error of a broken rule, or returns None for one that is lifted.
Reject = Callable[[Violation], Exception | None]


@dataclass(frozen=True, slots=True)
class Excludes:
    """What an argument cannot be combined with: the names of the arguments by their names in generated functions."""

    arguments: Mapping[str, str]
    code: str | None = None
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """What the document says of one argument, property or item.

    Args:
        argument: its name in Python; empty for the body and for what is the only property of its object.
        kind: its type in JSON, or `any`.
        required: whether it can be omitted.
        nullable: whether it can be None.
        least, most: the limits of a number, of the length of a string, or of the number of items.
        pattern: the form of a string, and `form` the same in words.
        items: the rule of each item.
        properties: the rules of the properties, by their names in JSON.
        forms: the rules of an object by the value of its property `type`.
        excludes: the arguments that it cannot be combined with.
        complete: the class of an object that replaces what is stored, so that it must have all its properties.
        code, target: what is documented for a violation; `missing_code` when the value is absent, null or empty.
    """

    argument: str
    kind: str = "any"
    _: KW_ONLY
    required: bool = False
    nullable: bool = False
    least: float | None = None
    most: float | None = None
    pattern: str | None = None
    form: str = ""
    items: "Rule | None" = None
    properties: Mapping[str, "Rule"] = field(default_factory=lambda: _NONE)
    forms: Mapping[str, "Rule"] = field(default_factory=lambda: _NONE)
    excludes: Excludes | None = None
    complete: str | None = None
    code: str | None = None
    target: str | None = None
    missing_code: str | None = None
    #: The types whose values follow the rule, whatever they are: most arguments have one of them.
    free: frozenset[type] = field(init=False, repr=False, default=frozenset())
    #: The names of the properties, of all of them and of those that are required.
    names: frozenset[str] = field(init=False, repr=False)
    needed: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", frozenset(self.properties))
        object.__setattr__(self, "needed", frozenset(name for name, inner in self.properties.items() if inner.required))
        limits = (self.least, self.most, self.pattern, self.items)
        if limits == (None, None, None, None) and not self.properties and not self.forms:
            object.__setattr__(self, "free", _TYPES.get(self.kind, self.free))

    @property
    def maximum(self) -> int:
        """The upper limit.

        Raises:
            ValueError: the document states none.
        """
        if self.most is None:
            raise ValueError(f"the document states no maximum of {self.argument}")
        return int(self.most)


def check(rules: Mapping[str, Rule], arguments: Mapping[str, object], reject: Reject) -> None:
    """Check the arguments of an operation, in the order of its rules.

    Raises:
        Exception: the one that `reject` makes of the first violation.
    """
    for name, rule in rules.items():
        value = arguments[name]
        if value is UNSET and not rule.required:
            continue
        broken = _broken(rule, value)
        if broken is None and rule.excludes is not None:
            broken = _combined(rule.argument, rule.excludes, arguments)
        if broken is None:
            continue
        error = reject(replace(broken, is_omitted=True) if value is None or value is UNSET else broken)
        if error is not None:
            raise error


def _combined(argument: str, excludes: Excludes, arguments: Mapping[str, object]) -> Violation | None:
    present = [name for generated, name in excludes.arguments.items() if arguments[generated] is not UNSET]
    if not present:
        return None
    words = f"cannot be combined with {' and '.join(present)}: omit one side"
    return Violation(argument=argument, rule=words, code=excludes.code, target=excludes.target)


def _broken(rule: Rule, value: object) -> Violation | None:
    if value is UNSET:
        return _missing(rule, "is required: UNSET would omit it")
    if value is None:
        words = f"must be {_KINDS[rule.kind]}, not None" if rule.required else "cannot be None: omit it instead"
        return None if rule.nullable else _missing(rule, words)
    checked = _CHECKS.get(rule.kind)
    return None if checked is None else checked(rule, value)


def _violation(rule: Rule, words: str) -> Violation:
    return Violation(argument=rule.argument, rule=words, code=rule.code, target=rule.target)


def _missing(rule: Rule, words: str) -> Violation:
    broken = _violation(rule, words)
    return broken if rule.missing_code is None else replace(broken, code=rule.missing_code)


def _inside(place: str, broken: Violation) -> Violation:
    joined = f"{place}.{broken.argument}" if place and broken.argument[:1] not in ("", "[") else place + broken.argument
    return replace(broken, argument=joined)


def _string(rule: Rule, value: object) -> Violation | None:
    if not isinstance(value, str):
        form = rule.form or f"a str{' that is not empty' if rule.least else ''}"
        return _violation(rule, f"must be {form}, not {class_name(value)}")
    if rule.least is not None and len(value) < rule.least:
        if not value:
            return _missing(rule, "must be a str that is not empty")
        return _violation(rule, f"must have at least {rule.least} characters")
    if rule.most is not None and len(value) > rule.most:
        return _violation(rule, f"has {len(value)} characters, at most {rule.most} are allowed")
    if not value.isascii() and _HALF_PAIR.search(value):
        return _violation(rule, "must not hold half of a surrogate pair: it cannot be sent")
    if rule.pattern is not None and not _matches(rule.pattern, value):
        return _violation(rule, f"must be {rule.form}")
    return None


@lru_cache(maxsize=256)
def _matches(pattern: str, value: str) -> bool:
    # `$` of JSON Schema is the end; that of Python also matches before a line break.
    ends = pattern.endswith("$") and not pattern.endswith(r"\$")
    return re.search(pattern[:-1] + r"\Z" if ends else pattern, value) is not None


def _number(rule: Rule, value: object) -> Violation | None:
    number = as_integer(value)
    words = f"must be {_KINDS[rule.kind]}{_range(rule)}"
    if isinstance(number, bool) or not isinstance(number, int if rule.kind == "integer" else (int, float)):
        return _violation(rule, f"{words}, not {class_name(value)}")
    is_low = (rule.least is not None and not number >= rule.least) or not -_INFINITE < number < _INFINITE
    return _violation(rule, words) if is_low or (rule.most is not None and number > rule.most) else None


def _range(rule: Rule) -> str:
    if rule.most is not None:
        return f" of at most {rule.most}" if rule.least is None else f" from {rule.least} to {rule.most}"
    return "" if rule.least is None else f" of at least {rule.least}"


def _boolean(rule: Rule, value: object) -> Violation | None:
    return None if isinstance(value, bool) else _violation(rule, f"must be True or False, not {class_name(value)}")


def _array(rule: Rule, value: object) -> Violation | None:
    if not isinstance(value, (list, tuple)):
        return _violation(rule, f"must be a list, not {class_name(value)}")
    if rule.least is not None and len(value) < rule.least:
        if not value:
            return _missing(rule, "has no value: omit it, or name one")
        return _violation(rule, f"has {len(value)} items, at least {rule.least} are required")
    if rule.most is not None and len(value) > rule.most:
        return _violation(rule, f"has {len(value)} items, at most {rule.most} are allowed: pass fewer of them")
    if rule.items is not None:
        for index, item in enumerate(value):
            broken = _broken(rule.items, item)
            if broken is not None:
                return _inside(rule.argument, _inside(f"[{index}]", broken))
    return None


def _object(rule: Rule, value: Any) -> Violation | None:
    mapping = type(value) is dict
    if not mapping and type(value) is not Fields:
        value = fields_of(value)  # a model in a mapping
        mapping = type(value) is not Fields
        if mapping and not isinstance(value, Mapping):
            return _violation(rule, f"must be {_objects(rule)}, not {class_name(value)}")
    if not rule.properties and not rule.forms:
        return None
    place = rule.argument
    if rule.forms:
        kind = value.get("type")
        if not isinstance(kind, str) or kind not in rule.forms:
            return _violation(rule, f"must have a `type`, one of {', '.join(rule.forms)}; unchecked, any other is sent")
        rule = rule.forms[kind]
    model = None if mapping or rule.complete is None else getattr(value, "model", "another model")
    if model is not None and model != rule.complete:
        return _violation(replace(rule, argument=place), f"must be {_objects(rule)}, not {model}")
    broken = None
    if mapping and not rule.names.issuperset(value):
        broken = _misspelt(rule.properties, value)
    if rule.complete is not None:
        broken = broken or _incomplete(rule, value, mapping=mapping)
    broken = broken or _property(rule, value, mapping=mapping)
    return None if broken is None else _inside(place, broken)


def _objects(rule: Rule) -> str:
    """Return the words for what an object may be."""
    models = [each.complete for each in (rule, *rule.forms.values()) if each.complete is not None]
    return " or ".join([*models, "a mapping"])


def _property(rule: Rule, fields: Mapping[Any, object], *, mapping: bool) -> Violation | None:
    """Check the properties of an object, those that it has before those that it lacks."""
    for name, found in fields.items():
        if (inner := rule.properties.get(name)) is None or type(found) in inner.free:
            continue
        # In a mapping, null is sent where the service need not accept it: what it means is not documented for most.
        broken = None if found is None and mapping and not inner.required else _broken(inner, found)
        if broken is not None:
            return broken
    if rule.needed <= fields.keys():
        return None
    lacking = next(inner for name, inner in rule.properties.items() if inner.required and name not in fields)
    return _missing(lacking, "is required" if mapping else "is required: UNSET would omit it")


def _misspelt(properties: Mapping[str, Rule], fields: Mapping[Any, object]) -> Violation | None:
    """Find a property in Python's spelling, which would be sent as one that the document does not name."""
    for key in fields:
        if key not in properties:
            for name, inner in properties.items():
                if key == inner.argument:
                    return replace(_violation(inner, f"must be written as in JSON in a mapping: {name}"), argument=key)
    return None


def _incomplete(rule: Rule, fields: Mapping[Any, object], *, mapping: bool) -> Violation | None:
    """Find what is missing of an object that replaces what is stored, and would be lost."""
    # A model without one of its optional properties does not write it.
    lacking = {
        name: inner
        for name, inner in rule.properties.items()
        if fields.get(name, UNSET if mapping or inner.required else None) is UNSET
    }
    if not lacking:
        return None
    missing = tuple(name if mapping else inner.argument for name, inner in lacking.items())
    names = ", ".join(f"{inner.argument}=..." for name, inner in rule.properties.items() if name != "type")
    first = next(iter(lacking.values()))
    broken = _missing(first if first.required else rule, f"lacks {', '.join(missing)}")
    return replace(broken, argument="", missing=missing, instead=f"{rule.complete}({names})")


_CHECKS: Mapping[str, Callable[[Rule, object], Violation | None]] = {
    "string": _string,
    "integer": _number,
    "number": _number,
    "boolean": _boolean,
    "array": _array,
    "object": _object,
}
_INFINITE = float("inf")
#: The types in words.
_KINDS = {
    "string": "a str",
    "integer": "an integer",
    "number": "a number",
    "boolean": "True or False",
    "array": "a list",
    "object": "a mapping",
    "any": "a value",
}

__all__ = ["Excludes", "Reject", "Rule", "Violation", "check"]
