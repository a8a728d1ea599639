"""The documented rules that a client can check before anything is sent. Source: sections 2, 4, 7 and 8.

Each check returns nothing, or raises a UsageError that names the Python argument, with the code and target that the
service documents, None where it documents none. Never checked: whether a value is a member of an enum (the service may
know more), the syntax of a filter, names of properties.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Set
from typing import TypeVar

from .._api import UNSET, Unset
from .._errors import UsageError
from .._listings.links import ITWINS_PER_PAGE, MOST_RETURNED
from .._requests.request import check_header, check_integer

T = TypeVar("T")
V = TypeVar("V")

_UUID = re.compile(r"[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
#: The value of Prefer for each `representation`. Source: section 4.3.
PREFER = {"minimal": "return=minimal", "full": "return=representation"}
#: The query parameters of list iTwins by argument, except `$skip` and `$top`. Source: section 4.3.
ITWIN_QUERY = {
    "sub_class": "subClass",
    "status": "status",
    "type": "type",
    "number": "number",
    "display_name": "displayName",
    "parent_id": "parentId",
    "itwin_account_id": "iTwinAccountId",
    "search": "$search",
    "filter": "$filter",
    "select": "$select",
    "order_by": "$orderby",
    "include_inactive": "includeInactive",
}
_NOT_STRINGS = frozenset({"sub_class", "select", "include_inactive"})
#: Arguments of list iTwins that must not be empty, with the documented code and target. Source: section 7.
_NOT_EMPTY = {
    **{name: ("InvalidValue", ITWIN_QUERY[name]) for name in ("sub_class", "status", "select", "order_by")},
    **dict.fromkeys(("parent_id", "itwin_account_id"), (None, None)),
}
#: What each argument of list iTwins cannot be combined with. Source: section 4.3.
_EXCLUSIVE = {
    "search": ("number", "display_name"),
    "filter": ("status", "type", "number", "display_name", "parent_id", "itwin_account_id", "search"),
    "include_inactive": ("status",),
}


def check_path_id(name: str, value: object) -> None:
    """Check that an id stays one segment of the path. This is checked even with `check_requests=False`."""
    if not isinstance(value, str):
        raise UsageError(f"{name} must be a str, not {type(value).__name__}")
    if value in ("", ".", ".."):
        raise UsageError(f"{name} is {value!r}, which is not an id: the request would reach another path")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{name} holds half of a surrogate pair, which cannot be sent") from None


def check_uuid(name: str, value: object, *, code: str | None = None, target: str | None = None) -> None:
    """Check for eight, four, four, four and twelve hexadecimal digits; the variant bits may be any."""
    if isinstance(value, Unset):
        return
    if not isinstance(value, str) or not _UUID.fullmatch(value):
        raise UsageError(
            f"{name} must be a UUID as a str, such as 6a2d2381-6c57-4332-b87a-5b7c00000000", code=code, target=target
        )


def check_string(
    name: str,
    value: object,
    *,
    required: bool = False,
    least: int = 0,
    most: int | None = None,
    code: str | None = None,
    target: str | None = None,
) -> None:
    """Check a string of at least `least` and at most `most` characters; only one that is not required may be UNSET."""
    if isinstance(value, Unset):
        if required:
            raise UsageError(f"{name} is required: UNSET would omit it", code=code, target=target)
        return
    if not required:
        reject_none(name, value, code=code, target=target)
    if not isinstance(value, str) or len(value) < least:
        raise UsageError(f"{name} must be a str{' that is not empty' if least else ''}", code=code, target=target)
    if most is not None and len(value) > most:
        raise UsageError(
            f"{name} has {len(value)} characters, at most {most} are allowed", code="InvalidValue", target=target
        )


def check_changes(**arguments: object) -> None:
    """Check that an update changes something."""
    if all(isinstance(value, Unset) for value in arguments.values()):
        raise UsageError(f"nothing to change: pass at least one of {', '.join(arguments)}")


def check_boolean(name: str, value: object, *, code: str | None = None) -> None:
    """Reject truthy values such as 1."""
    if not isinstance(value, bool | Unset):
        raise UsageError(f"{name} must be True or False", code=code)


def reject_none(name: str, value: object, *, code: str | None = None, target: str | None = None) -> None:
    """Reject None, which would be sent as null, where the service does not accept null."""
    if value is None:
        raise UsageError(f"{name} cannot be None: omit it instead", code=code, target=target)


def as_enum(value: str | T, kind: Callable[[str], V]) -> V | T:
    """Make a member of a string; other values stay."""
    return kind(value) if isinstance(value, str) else value


def as_list(name: str, value: object, kind: Callable[[str], V]) -> list[V] | Unset:
    """Make a list of one value or an iterable; a string counts as one value. UNSET and None stay."""
    if isinstance(value, Unset) or value is None:
        return value  # type: ignore[return-value]  # None is rejected by the checks, and omitted where they are lifted
    values = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    strings = [item for item in values if isinstance(item, str)]
    if len(strings) < len(values):
        raise UsageError(f"{name} must be one str, or an iterable of them")
    if isinstance(value, Set):
        strings.sort()  # so that it is the same listing in another process
    return [kind(string) for string in strings]


def prefer_of(representation: object) -> str | Unset:
    """Return the value of Prefer; UNSET for a representation that is not known."""
    return PREFER.get(representation, UNSET) if isinstance(representation, str) else UNSET


def check_exclusive(arguments: Mapping[str, object]) -> None:
    """Check which arguments of list iTwins exclude each other. Source: section 4.3."""
    present = {name for name, value in arguments.items() if not isinstance(value, Unset)}
    for name, others in _EXCLUSIVE.items():
        clash = [other for other in others if other in present]
        if name in present and clash:
            raise UsageError(
                f"{name} cannot be combined with {' and '.join(clash)}: omit one side",
                code="InvalidParameter",
                target=ITWIN_QUERY[name],
            )


def check_itwin_listing(arguments: Mapping[str, object], *, representation: object, query_scope: object) -> None:
    """Check the arguments of list iTwins that select and shape. Source: section 4.3."""
    for name, value in arguments.items():
        _check_value(name, value)
    check_exclusive(arguments)
    check_header("query_scope", query_scope)
    check_boolean("include_inactive", arguments["include_inactive"])
    if representation == "full" and not isinstance(arguments["select"], Unset):
        raise UsageError(
            "select cannot be combined with representation='full': the service ignores Prefer with $select"
        )
    if not isinstance(representation, Unset) and isinstance(prefer_of(representation), Unset):
        raise UsageError("representation must be 'minimal' or 'full'")


def _check_value(name: str, value: object) -> None:
    reject_none(name, value)
    if name in _NOT_EMPTY and (value in ("", []) or (isinstance(value, list) and "" in value)):
        code, target = _NOT_EMPTY[name]
        raise UsageError(f"{name} has no value: omit it, or name one", code=code, target=target)
    if name not in _NOT_STRINGS:
        check_string(name, value)


def check_itwin_pages(*, max_return: object, skip: object, page_size: object) -> None:
    """Check the numbers of list iTwins. Source: sections 4.3 and 8."""
    if page_size is not None:
        check_integer("page_size", page_size, least=1, most=ITWINS_PER_PAGE, code="InvalidValue", target="$top")
    check_integer("skip", skip, least=0, code="InvalidValue", target="$skip")
    check_integer(
        "max_return", max_return, least=1, most=MOST_RETURNED, code="InvalidHeaderValue", target="X-Max-Return"
    )
