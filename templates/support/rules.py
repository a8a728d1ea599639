"""Checks the arguments of an operation by the rules of the OpenAPI document, before the request is sent.

Each generated module has its rules as data, `RULES`, and `check` applies them. Members of enums and unknown properties
are not checked, because the service may have added some.
"""

import re
from collections.abc import Callable, Iterable, Mapping
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
        argument: the argument, with the property or the index of the item inside it: `options.minimum_level`.
        rule: the rule, and the remedy, as the rest of a sentence that begins with the argument.
        code: the code that the service documents for the error; None if it documents none.
        target: the target that the service documents for the error; None if it documents none.
        is_omitted: whether the argument is None or UNSET, which a query or a header cannot express.
        instead: the call that makes a complete object, without its values.
    """

    argument: str
    rule: str
    code: str | None
    target: str | None
    is_omitted: bool = False
    instead: str | None = None


_TYPES: Mapping[str, frozenset[type]] = {
    "string": frozenset({str}),
    "integer": frozenset({int}),
    "number": frozenset({int, float}),
    "boolean": frozenset({bool}),
    "object": frozenset[type]((dict, Fields)),
}

#: A function that returns the error for a violation, or None to allow it.
Reject = Callable[[Violation], Exception | None]


@dataclass(frozen=True, slots=True)
class Excludes:
    """The arguments that cannot be combined with an argument: their names by their names in generated functions."""

    arguments: Mapping[str, str]
    code: str | None = None
    target: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """The constraints of one argument, property or item.

    Args:
        argument: its name in Python; empty for the body, and for the only property of an object.
        kind: its type in JSON, or `any`.
        required: whether it must be present.
        nullable: whether it can be None.
        least, most: the limits of a number, of the length of a string, or of the number of items.
        pattern, form: the regular expression of a string, and its description in words.
        items: the rule of each item.
        properties: the rules of the properties, by their names in JSON.
        forms: the rules of an object by the value of its property `type`.
        excludes: the arguments that cannot be combined with it.
        complete: the class of a complete object: it replaces the stored object, so no property may be missing.
        code, target: the documented code and target of a violation.
        missing_code: the documented code if the value is absent, null or empty.
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
    #: The types of values that need no check, because the rule has no constraint beside the type.
    free: frozenset[type] = field(init=False, repr=False, default=frozenset())
    #: The rules of the required properties.
    needed: Mapping[str, "Rule"] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "needed", {name: inner for name, inner in self.properties.items() if inner.required})
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
        Exception: the error that `reject` returns for the first violation that it does not allow.
    """
    for name, rule in rules.items():
        value = arguments[name]
        if value is UNSET and not rule.required:
            continue
        violation = _check(rule, value)
        if violation is None and rule.excludes is not None:
            violation = _check_combination(rule.argument, rule.excludes, arguments)
        if violation is not None:
            error = reject(replace(violation, is_omitted=True) if value is None or value is UNSET else violation)
            if error is not None:
                raise error


def _check_combination(argument: str, excludes: Excludes, arguments: Mapping[str, object]) -> Violation | None:
    present = [name for generated, name in excludes.arguments.items() if arguments[generated] is not UNSET]
    if not present:
        return None
    words = f"cannot be combined with {' and '.join(present)}: omit one side"
    return Violation(argument=argument, rule=words, code=excludes.code, target=excludes.target)


def _check(rule: Rule, value: object) -> Violation | None:
    if rule.pattern is not None and type(value) is str and len(value) < 100:
        return _check_form(rule, value)
    if value is UNSET:
        return _missing(rule, "is required: UNSET would omit it")
    if value is None:
        words = f"must be {_KINDS[rule.kind]}, not None" if rule.required else "cannot be None: pass a value or omit it"
        return None if rule.nullable else _missing(rule, words)
    check_type = _CHECKS.get(rule.kind)
    return None if check_type is None else check_type(rule, value)


def _violation(rule: Rule, words: str) -> Violation:
    return Violation(argument=rule.argument, rule=words, code=rule.code, target=rule.target)


def _missing(rule: Rule, words: str) -> Violation:
    return replace(_violation(rule, words), code=rule.missing_code or rule.code)


def _inside(place: str, violation: Violation) -> Violation:
    name = violation.argument
    return replace(violation, argument=f"{place}.{name}" if place and name[:1] not in ("", "[") else place + name)


def _check_string(rule: Rule, value: object) -> Violation | None:
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
        return _violation(rule, "must not hold a lone surrogate: it cannot be sent")
    if rule.pattern is None:
        return None
    # `$` of JSON Schema matches at the end only, and `$` of Python also before a final line break.
    ends = rule.pattern.endswith("$") and not rule.pattern.endswith(r"\$")
    pattern = rule.pattern[:-1] + r"\Z" if ends else rule.pattern
    return None if re.search(pattern, value) else _violation(rule, f"must be {rule.form}")


#: Checks short strings once, because the cache keeps them: objects share their versions, and calls their ids. See the
#: rows "POST 100 objects" of docs/benchmarks.md.
_check_form = lru_cache(maxsize=256)(_check_string)


def _check_number(rule: Rule, value: object) -> Violation | None:
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


def _check_boolean(rule: Rule, value: object) -> Violation | None:
    return None if isinstance(value, bool) else _violation(rule, f"must be True or False, not {class_name(value)}")


def _check_array(rule: Rule, value: object) -> Violation | None:
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
            violation = _check(rule.items, item)
            if violation is not None:
                return _inside(rule.argument, _inside(f"[{index}]", violation))
    return None


def _check_object(rule: Rule, value: Any) -> Violation | None:
    mapping = type(value) is not Fields
    if mapping and type(value) is not dict:
        value = fields_of(value)  # a model in a mapping
        mapping = type(value) is not Fields
        if mapping and not isinstance(value, Mapping):
            return _violation(rule, f"must be {_objects(rule)}, not {class_name(value)}")
    place = rule.argument
    if rule.forms:
        kind = value.get("type")
        if not isinstance(kind, str) or kind not in rule.forms:
            return _violation(
                rule, f"must have a `type`, one of {', '.join(rule.forms)}; another one is sent only without checks"
            )
        rule = rule.forms[kind]
    violation = None
    if rule.complete is not None:
        model = rule.complete if mapping else getattr(value, "model", "another model")
        if model != rule.complete:
            return _violation(replace(rule, argument=place), f"must be {_objects(rule)}, not {model}")
        violation = _check_completeness(rule, value, mapping=mapping)
    violation = violation or _check_properties(rule, value, mapping=mapping)
    return None if violation is None else _inside(place, violation)


def _objects(rule: Rule) -> str:
    """Return the accepted classes of an object in words."""
    models = [form.complete for form in (rule, *rule.forms.values()) if form.complete is not None]
    return " or ".join([*models, "a mapping"])


def _check_properties(rule: Rule, fields: Mapping[Any, object], *, mapping: bool) -> Violation | None:
    """Check the properties of an object: first the present ones, then whether a required one is missing."""
    for name, value in fields.items():
        if (inner := rule.properties.get(name)) is None:
            violation = _check_spelling(rule.properties, (name,)) if mapping else None
        # A mapping may have null in any optional property: the document does not say how the service treats null.
        elif type(value) in inner.free or (value is None and mapping and not inner.required):
            continue
        else:
            violation = _check(inner, value)
        if violation is not None:
            return violation
    for name in rule.needed:
        if name not in fields:
            return _missing(rule.needed[name], "is required" if mapping else "is required: UNSET would omit it")
    return None


def _check_spelling(properties: Mapping[str, Rule], keys: Iterable[object]) -> Violation | None:
    """Reject the Python name of a property as a key of a mapping: the service would get an unknown property."""
    for key in keys:
        for name, inner in properties.items():
            if key == inner.argument and key not in properties:
                return _violation(inner, f"must be written as in JSON in a mapping: {name}")
    return None


def _check_completeness(rule: Rule, fields: Mapping[Any, object], *, mapping: bool) -> Violation | None:
    """Reject a partial object in place of the stored one: the service would delete its missing properties."""
    # A model omits an optional property that is None, so the property counts as present.
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
    violation = _missing(first if first.required else rule, f"lacks {', '.join(missing)}")
    misspelled = _check_spelling(rule.properties, fields) if mapping else None
    return misspelled or replace(violation, argument="", instead=f"{rule.complete}({names})")


_CHECKS: Mapping[str, Callable[[Rule, object], Violation | None]] = {
    "string": _check_string,
    "integer": _check_number,
    "number": _check_number,
    "boolean": _check_boolean,
    "array": _check_array,
    "object": _check_object,
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
