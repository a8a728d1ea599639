"""The operations of the service, one module for each group. This module has the parts that all groups share.

This is the thin layer over the generated functions: it checks arguments, builds bodies, and returns models.

The document's rules are in `openapi.yaml`: `make generate` writes them beside each generated function, whose
`build_request` applies them. The rules that a document cannot state are here. Never checked: whether a value is a
member of an enum (the service may have others), the syntax of a filter, names of properties. Source: sections 4 and 7.
"""

from collections.abc import Iterable, Set
from typing import Any, cast

from itwin_platform_api.encoding import class_name
from itwin_platform_api.rules import Reject, Violation
from itwin_platform_api.types import UNSET, Unset, encode
from itwin_platform_transport import UsageError

from .._requests.request import check_characters
from .._requests.sender import PlatformSender


class Group:
    """A group of operations, which share one sender."""

    def __init__(self, sender: PlatformSender) -> None:
        self._sender = sender

    @property
    def _reject(self) -> Reject:
        """The function that makes the error of a broken rule. With `check_requests=False`, few rules remain."""
        return usage_error if self._sender.service.check_requests else unsendable

    def _check_changes(self, **arguments: object) -> None:
        """Reject an update that changes nothing."""
        if self._sender.service.check_requests and all(value is UNSET for value in arguments.values()):
            raise UsageError(f"nothing to change: pass at least one of {', '.join(arguments)}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._sender.service.address!r})"


def usage_error(broken: Violation) -> UsageError:
    """Return the error of a rule of the document."""
    text = f"{broken.argument} {broken.rule}"
    if broken.instead is not None:
        text += (
            f": it replaces the stored object, so pass a complete {broken.instead}, "
            f"or change the stored one with repository.{broken.argument}.replace(...)"
        )
    return UsageError(text, argument=broken.argument, code=broken.code, target=broken.target)


def unsendable(broken: Violation) -> UsageError | None:
    """Return the error of a parameter that would be omitted although it was passed; None for any other rule."""
    return usage_error(broken) if broken.is_omitted else None


def check_id(name: str, value: object) -> None:
    """Check that an id stays one segment of the path. This is checked even with `check_requests=False`."""
    if not isinstance(value, str):
        raise UsageError(f"{name} must be a str, not {class_name(value)}", argument=name)
    if value in ("", ".", ".."):
        raise UsageError(f"{name} must be an id, not {value!r}: the request would reach something else", argument=name)
    check_characters(name, value)


def as_list(name: str, value: object) -> list[Any] | Unset:
    """Make a list of one value or an iterable; a string counts as one value. Return UNSET and None as they are."""
    if isinstance(value, Unset) or value is None:
        return cast("Unset", value)  # None is rejected by the rules
    values = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    # A member of an enum of strings is sent as its value; `str` would write its name.
    strings = [encode(item) for item in values if isinstance(item, str)]
    if len(strings) < len(values):
        raise UsageError(f"{name} must be one str, or an iterable of them", argument=name)
    if isinstance(value, Set):
        strings.sort()  # a set has another order in each process, and `resume` compares the keywords
    return strings
