"""The options of calls: what `with_options` changes."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from inspect import iscoroutinefunction
from typing import Any, NamedTuple, TypeVar

from .._api import UNSET, Unset
from .._errors import UsageError
from .._http.policy import BackoffPolicy
from .request import check_header, check_header_name
from .response import ResponseInfo

T = TypeVar("T")

#: The client writes these headers itself.
_RESERVED = frozenset(
    {
        *("accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "host"),
        *("te", "trailer", "transfer-encoding", "upgrade"),
    }
)


class CallOptions(NamedTuple):
    """The options of all calls of one client, or of one view of it.

    A named tuple, because each view makes one, and making a frozen dataclass takes several times as long.

    Args:
        timeout: the limits of one attempt in seconds, by the names that httpx gives them.
        policy: the limits of one call.
        headers: added to each request, names in lower case.
        query: added to the query of each request.
        body: added to the body of each request.
        on_response: is called with each final response.
    """

    timeout: Mapping[str, float | None]
    policy: BackoffPolicy
    headers: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, object]
    on_response: Callable[[ResponseInfo], None] | None


def with_limits(
    policy: BackoffPolicy,
    *,
    deadline: float | Unset | None,
    queue_timeout: float | Unset | None,
    max_attempts: int | Unset,
) -> BackoffPolicy:
    """Return a policy with other limits; one that is UNSET stays.

    Raises:
        UsageError: a number is out of its range.
    """
    if deadline is UNSET and queue_timeout is UNSET and max_attempts is UNSET:
        return policy
    limits: dict[str, Any] = {"deadline": deadline, "queue_timeout": queue_timeout, "max_attempts": max_attempts}
    return replace(policy, **{name: limit for name, limit in limits.items() if limit is not UNSET})


def as_callback(name: str, value: Callable[[T], None] | None) -> Callable[[T], None] | None:
    """Return a callback as it is.

    Raises:
        UsageError: it cannot be called, or nobody would await what it returns.
    """
    if value is not None and (not callable(value) or iscoroutinefunction(value)):
        raise UsageError(f"{name} must be a function that takes one argument, not a coroutine function", argument=name)
    return value


def with_extra(name: str, present: Mapping[str, T], extra: Mapping[str, T] | Unset, kind: type[T]) -> Mapping[str, T]:
    """Return parameters or properties for `CallOptions`: those that are present, and those that a caller gave.

    Raises:
        UsageError: they are no mapping of strings to values of their kind.
    """
    if isinstance(extra, Unset):
        return present
    if not isinstance(extra, Mapping) or not all(
        isinstance(key, str) and isinstance(value, kind) for key, value in extra.items()
    ):
        what = "strings" if kind is str else "values"
        raise UsageError(f"{name} must be a mapping of names to {what}", argument=name)
    return {**present, **extra}


def with_headers(
    present: Mapping[str, str], headers: Mapping[str, str] | Unset, correlation_id: str | Unset | None
) -> dict[str, str]:
    """Return headers for `CallOptions`: those that are present, changed by those that a caller gave.

    Raises:
        UsageError: a name or a value cannot be sent, or the client writes the header itself.
    """
    added = {**present}
    if not isinstance(headers, Unset):
        if not isinstance(headers, Mapping):
            raise UsageError("headers must be a mapping of header names to strings", argument="headers")
        for name, value in headers.items():
            check_header_name(name)
            check_header(name, value)
            lower = name.lower()
            if lower in _RESERVED:
                raise UsageError(f"headers must not contain {name}: the client writes it", argument="headers")
            added[lower] = value
    if not isinstance(correlation_id, Unset):
        added.pop("x-correlation-id", None)
        if correlation_id is not None:
            check_header("correlation_id", correlation_id)
            added["x-correlation-id"] = correlation_id
    return added
