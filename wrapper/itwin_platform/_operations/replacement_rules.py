"""The documented rules for the objects that replace stored ones. Source: sections 2.2, 2.3, 4.1 and 8."""

from collections.abc import Mapping

from .._errors import UsageError
from .._listings.limits import check_integer
from .replacement import AUTHENTICATION_TYPES, RepositoryOptions

#: The properties that section 2.2 calls required: the service documents its response when one is missing.
_REQUIRED = frozenset({"key", "value", "username", "password"})


def check_authentication(wire: Mapping[str, object]) -> None:
    """Check that an authentication object is complete: it replaces the stored one. Source: sections 2.2 and 4.1."""
    kind = AUTHENTICATION_TYPES.get(str(wire.get("type")))
    if kind is None:
        known = ", ".join(AUTHENTICATION_TYPES)
        raise UsageError(f"authentication needs a `type`, one of {known}; check_requests=False sends any other")
    names = kind.properties()
    missing = [name for name in names if not isinstance(wire.get(name), str)]
    if missing:
        documented = missing[0] if missing[0] in _REQUIRED else None
        fields = ", ".join(f"{name}=..." for name in names.values())
        raise UsageError(
            f"authentication of type {kind.TYPE} lacks {', '.join(missing)}: it replaces the stored object, so pass a "
            f"complete one, {kind.__name__}({fields}), or change the stored one with "
            f"{kind.__name__}.of(repository).replace(...)",
            code=documented and "InvalidValue",
            target=documented,
        )


def check_options(wire: Mapping[str, object], *, named: bool) -> None:
    """Check that options are complete, and that levels are 0 to 24. Source: sections 2.3, 4.1 and 8."""
    names = RepositoryOptions.properties()
    missing = [name for name in names if name not in wire]
    if missing and not named:
        fields = ", ".join(f"{name}=..." for name in names.values())
        raise UsageError(
            f"options lack {', '.join(missing)}: they replace the stored object, so pass a complete one, "
            f"RepositoryOptions({fields}) with None for a property to remove, or change the stored one with "
            "RepositoryOptions.of(repository).replace(...)",
            code="InvalidValue",
            target="options",
        )
    if not isinstance(wire.get("queryParameters"), dict | None):
        raise UsageError("query_parameters must be a mapping", code="InvalidValue", target="options")
    for name in ("minimumLevel", "maximumLevel"):
        if wire.get(name) is not None:
            check_integer(names[name], wire[name], least=0, most=24, code="InvalidValue", target=name.lower())
