"""The documented rules that a client can check before anything is sent. Source: sections 2, 4, 7 and 8.

Each check returns nothing, or raises UsageError with the code and target that the service documents, None where it
documents none. Never checked: whether a value is one of an enum (the service may know more), the syntax of a filter,
names of properties.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Set
from typing import TypeVar

from .._api import Unset
from .._errors import UsageError
from .._listings.page import ITWINS_PER_PAGE, MOST_RETURNED, check_integer
from .._transports.request import check_header

T = TypeVar("T")
V = TypeVar("V")

_UUID = re.compile(r"[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
#: What `representation` stands for in Prefer. Source: section 4.3.
PREFER: dict[object, str] = {"minimal": "return=minimal", "full": "return=representation"}
_TEXTS = ("status", "type", "number", "displayName", "parentId", "iTwinAccountId", "$search", "$filter", "$orderby")
#: The properties that section 2.2 calls required: the service documents what it answers where one is missing.
_REQUIRED = frozenset({"key", "value", "username", "password"})
#: What each parameter of list iTwins cannot be combined with. Source: section 4.3.
_EXCLUSIVE = {
    "$search": ("number", "displayName"),
    "$filter": ("status", "type", "number", "displayName", "parentId", "iTwinAccountId", "$search"),
    "includeInactive": ("status",),
}


def check_path_id(name: str, value: object) -> None:
    """An id that becomes a part of the path must stay one part of it. This holds with checks lifted, too."""
    if not isinstance(value, str):
        raise UsageError(f"{name} must be a str, not {type(value).__name__}")
    if value in ("", ".", ".."):
        raise UsageError(f"{name} is {value!r}, which is not an id: the request would reach another path")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{name} holds half of a surrogate pair, which cannot be sent") from None


def check_uuid(name: str, value: object, *, code: str | None = None, target: str | None = None) -> None:
    """Eight, four, four, four and twelve hexadecimal digits; the variant bits are the service's business."""
    if isinstance(value, Unset):
        return
    if not isinstance(value, str) or not _UUID.fullmatch(value):
        raise UsageError(
            f"{name} must be a UUID as a text, such as 6a2d2381-6c57-4332-b87a-5b7c00000000", code=code, target=target
        )


def check_text(
    name: str,
    value: object,
    *,
    least: int = 0,
    most: int | None = None,
    code: str | None = None,
    target: str | None = None,
) -> None:
    """A text, which null is not, of at least `least` and at most `most` characters."""
    if isinstance(value, Unset):
        return
    if not isinstance(value, str) or len(value) < least:
        raise UsageError(f"{name} must be a text{' that is not empty' if least else ''}", code=code, target=target)
    if most is not None and len(value) > most:
        raise UsageError(f"{name} has {len(value)} characters, {most} are allowed", code="InvalidValue", target=target)


def check_boolean(name: str, value: object, *, code: str | None = None) -> None:
    """True or False, and nothing that is merely as good as one of them."""
    if not isinstance(value, bool | Unset):
        raise UsageError(f"{name} must be True or False", code=code)


def refuse_none(given: Mapping[str, object], *, code: str | None = None) -> None:
    """None stands for null, which the service does not take here."""
    for name, value in given.items():
        if value is None:
            raise UsageError(f"{name} cannot be null: leave it out instead of giving None", code=code)


def one(given: str | T, kind: Callable[[str], V]) -> V | T:
    """Makes a member of a text; what is not a text stays."""
    return kind(given) if isinstance(given, str) else given


def several(name: str, given: object, kind: Callable[[str], V]) -> list[V] | Unset:
    """Makes a list of one value or several; a text counts as one. UNSET and None stay."""
    if isinstance(given, Unset) or given is None:
        return given  # type: ignore[return-value]  # None is refused by the checks, and sent where they are lifted
    values = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) < len(values):
        raise UsageError(f"{name} must be one text, or an iterable of texts")
    if isinstance(given, Set):
        texts.sort()  # so that it is the same listing in another process
    return [kind(text) for text in texts]


def check_exclusive(given: Mapping[str, object]) -> None:
    """The parameters of list iTwins that exclude each other. Source: section 4.3."""
    present = {name for name, value in given.items() if not isinstance(value, Unset)}
    for name, others in _EXCLUSIVE.items():
        clash = [other for other in others if other in present]
        if name in present and clash:
            raise UsageError(
                f"{name} cannot be combined with {', '.join(clash)}: leave one side out",
                code="InvalidParameter",
                target=name,
            )


def check_itwin_listing(parameters: Mapping[str, object], *, max_return: int, skip: int, page_size: int) -> None:
    """The parameters of list iTwins, in wire names. Source: sections 4.3 and 8."""
    refuse_none(parameters)
    check_exclusive(parameters)
    check_header("query_scope", parameters["X-iTwin-Query-Scope"])
    for name in _TEXTS:
        check_text(name, parameters[name], target=name)
    check_boolean("includeInactive", parameters["includeInactive"])
    for name in ("subClass", "$select"):
        if parameters[name] == []:
            raise UsageError(f"{name} has no value: leave it out, or name one", code="InvalidValue", target=name)
    if parameters["Prefer"] == "full" and not isinstance(parameters["$select"], Unset):
        raise UsageError("select and representation='full' exclude each other: with $select, Prefer is ignored")
    if not isinstance(parameters["Prefer"], Unset) and parameters["Prefer"] not in PREFER:
        raise UsageError("representation must be 'minimal' or 'full'")
    check_integer("page_size", page_size, least=1, most=ITWINS_PER_PAGE, code="InvalidValue", target="$top")
    check_integer("skip", skip, least=0, most=None, code="InvalidValue", target="$skip")
    check_integer(
        "max_return", max_return, least=1, most=MOST_RETURNED, code="InvalidHeaderValue", target="X-Max-Return"
    )


def check_authentication(wire: Mapping[str, object]) -> None:
    """What is sent replaces what is stored, so all of it must be there. Source: sections 2.2 and 4.1."""
    from .replacement import AUTHENTICATION_PROPERTIES  # brings in models: only who sends one waits for them

    names = AUTHENTICATION_PROPERTIES.get(str(wire.get("type")))
    if names is None:
        known = ", ".join(AUTHENTICATION_PROPERTIES)
        raise UsageError(f"authentication needs a `type`, one of {known}; check_requests=False lets another through")
    missing = [name for name in names if not isinstance(wire.get(name), str)]
    if missing:
        documented = missing[0] if missing[0] in _REQUIRED else None
        raise UsageError(
            f"authentication of type {wire['type']} lacks {', '.join(missing)}, each a text: what is sent replaces "
            "what is stored, so all of it must be given",
            code=documented and "InvalidValue",
            target=documented,
        )


def check_options(wire: Mapping[str, object], *, named: bool) -> None:
    """All of it must be named, as RepositoryOptions does, and levels are 0 to 24. Source: sections 2.3, 4.1 and 8."""
    from .replacement import RepositoryOptions  # brings in models: only who sends one waits for them

    missing = [name for name in RepositoryOptions.properties() if name not in wire]
    if missing and not named:
        raise UsageError(
            f"options lack {', '.join(missing)}: what is sent replaces what is stored, so all of it must be given; "
            "RepositoryOptions(...) takes None for a property that it is to be without",
            code="InvalidValue",
            target="options",
        )
    if not isinstance(wire.get("queryParameters"), dict | None):
        raise UsageError("queryParameters must be a mapping", code="InvalidValue", target="options")
    for name in ("minimumLevel", "maximumLevel"):
        if wire.get(name) is not None:
            check_integer(name, wire[name], least=0, most=24, code="InvalidValue", target=name.lower())
