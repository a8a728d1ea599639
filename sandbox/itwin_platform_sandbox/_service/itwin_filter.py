"""Compiles `$filter` to a predicate on one iTwin. Source: section 4.3.

The rules of a statement: strings are compared without regard to case, dates are compared as times, null is compared
with eq and ne only, and a comparison has a property on one side and a value on the other.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias, cast

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput

from .data_files import data_file
from .document import CHECKS, properties_of
from .json_values import JSON, JSONObject
from .schema_checks import Schema

PropertyKind = Literal["text", "number", "time"]


def _kind(schema: Schema) -> PropertyKind:
    found = CHECKS.resolved(schema)
    if found.get("format") == "date-time":
        return "time"
    return "number" if "number" in found["type"] else "text"


ITWIN_PROPERTIES: dict[str, PropertyKind] = {name: _kind(schema) for name, schema in properties_of("ITwin").items()}
SUMMARY_PROPERTIES = tuple(properties_of("ITwinSummary"))

Predicate: TypeAlias = Callable[[JSONObject], bool]
Comparable: TypeAlias = str | float | datetime

# The maximum depth of brackets, far above real statements: each bracket adds a function call.
DEEPEST_NESTING = 50

_COMPARISONS: dict[str, Callable[[Comparable, Comparable], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
}
_MIRRORED = {"eq": "eq", "ne": "ne", "gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}


class FilterError(ValueError):
    """The filter is rejected; `cause` is a wrong statement or a wrong property. Source: section 7."""

    def __init__(self, cause: Literal["statement", "property"], message: str) -> None:
        super().__init__(message)
        self.cause = cause


@dataclass(frozen=True, slots=True)
class _Property:
    name: str
    kind: PropertyKind


@dataclass(frozen=True, slots=True)
class _Value:
    value: str | float | None
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """A compiled statement, or a term of it, and whether it explicitly includes iTwins of the status Inactive."""

    accepts: Predicate
    asks_for_inactive: bool
    depth: int = 1


def compile_filter(statement: str) -> Filter:
    """Compile a statement; `FilterError` when it is invalid, unsupported or names an unknown property."""
    try:
        return cast("Filter", _PARSER.parse(statement))
    except UnexpectedInput as error:
        near = statement[max(0, error.pos_in_stream or 0) :][:40]
        raise FilterError("statement", f"The filter has a syntax error at {near!r}.") from error


def _joined(accepts: Predicate, terms: list[Filter]) -> Filter:
    depth = 1 + max(term.depth for term in terms)
    if depth > DEEPEST_NESTING:
        raise FilterError("statement", f"The filter nests more than {DEEPEST_NESTING} levels.")
    return Filter(accepts, any(term.asks_for_inactive for term in terms), depth)


def _term(accepts: Predicate, property_: _Property, *, is_positive: bool = True) -> Filter:
    """Return one term; `is_positive` is False for a term such as `status ne 'Trial'`, which names no wanted status."""
    return Filter(accepts, is_positive and property_.name == "status" and accepts({"status": "Inactive"}))


def _compare(name: str, property_: _Property, value: _Value) -> Predicate:
    compare = _COMPARISONS[name]
    key = property_.name
    if value.value is None:
        if name not in ("eq", "ne"):
            raise FilterError("statement", "null can only be compared with eq and ne.")
        wanted = name == "eq"
        return lambda itwin: (itwin.get(key) is None) is wanted
    expected = _expected(property_, value)
    when_null = name == "ne"
    read = _READERS[property_.kind]

    def accepts(itwin: JSONObject) -> bool:
        stored = itwin.get(key)
        return when_null if stored is None else compare(read(stored), expected)

    return accepts


def _expected(property_: _Property, value: _Value) -> Comparable:
    if property_.kind == "number":
        if isinstance(value.value, str):
            raise FilterError("statement", f"{property_.name} is compared with a number.")
        return float(value.value or 0)
    if not isinstance(value.value, str):
        raise FilterError("statement", f"{property_.name} is compared with a quoted string.")
    if property_.kind == "text":
        return value.value.casefold()
    try:
        return _time(value.value)
    except ValueError:
        raise FilterError("statement", f"{value.value[:40]!r} is not a date or time.") from None


def _time(text: JSON) -> datetime:
    time = datetime.fromisoformat(str(text))
    return time if time.tzinfo else time.replace(tzinfo=UTC)


_READERS: dict[PropertyKind, Callable[[JSON], Comparable]] = {
    "text": lambda stored: str(stored).casefold(),
    "number": lambda stored: stored if isinstance(stored, int | float) else 0.0,
    "time": _time,
}


class _Compiler(Transformer[Token, Filter | _Property | _Value]):
    """The callbacks of the parser, which build terms from the innermost nodes outwards."""

    def property(self, children: list[Token]) -> _Property:
        name = str(children[0])
        kind = ITWIN_PROPERTIES.get(name)
        if kind is None:
            raise FilterError("property", f"{name[:100]!r} is not a property of an iTwin.")
        return _Property(name, kind)

    def text(self, children: list[Token]) -> _Value:
        return _Value(children[0][1:-1].replace("''", "'"), is_text=True)

    def time(self, children: list[Token]) -> _Value:
        return _Value(str(children[0]))

    word = time

    def number(self, children: list[Token]) -> _Value:
        return _Value(float(children[0]))

    def null(self, children: list[Token]) -> _Value:
        return _Value(None)

    def any_of(self, terms: list[Filter]) -> Filter:
        predicates = [term.accepts for term in terms]
        return _joined(lambda itwin: any(accepts(itwin) for accepts in predicates), terms)

    def all_of(self, terms: list[Filter]) -> Filter:
        predicates = [term.accepts for term in terms]
        return _joined(lambda itwin: all(accepts(itwin) for accepts in predicates), terms)

    def comparison(self, children: list[_Property | _Value | Token]) -> Filter:
        left, name, right = children
        operator_name = str(name).lower()
        if isinstance(left, _Property) and isinstance(right, _Value):
            return _term(_compare(operator_name, left, right), left, is_positive=operator_name == "eq")
        if isinstance(left, _Value) and isinstance(right, _Property):
            return _term(_compare(_MIRRORED[operator_name], right, left), right, is_positive=operator_name == "eq")
        raise FilterError("statement", "A comparison needs a property on one side and a value on the other.")

    def text_function(self, children: list[_Property | _Value | Token]) -> Filter:
        name, first, second = children
        # The specification has the value first and OData the property first; both orders are accepted.
        value, property_ = (first, second) if isinstance(second, _Property) else (second, first)
        if not (isinstance(property_, _Property) and isinstance(value, _Value) and isinstance(value.value, str)):
            raise FilterError("statement", f"{name}(value, property) needs a quoted string and a property.")
        if property_.kind != "text" or not value.is_text:
            raise FilterError("statement", f"{name}(value, property) needs a quoted string and a string property.")
        text, key = value.value.casefold(), property_.name
        if str(name).lower() == "contains":
            return _term(lambda itwin: text in str(itwin.get(key) or "").casefold(), property_)
        return _term(lambda itwin: str(itwin.get(key) or "").casefold().startswith(text), property_)


# The transformer runs inside the parser, so a long statement builds no tree and causes no recursion.
_PARSER = Lark(data_file("_service/itwin_filter.lark").decode(), parser="lalr", transformer=_Compiler())
