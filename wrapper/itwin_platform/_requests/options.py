"""The options of calls: what `with_options` changes."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from .._api import UNSET, Unset
from .._errors import UsageError
from .._http.policy import BackoffPolicy
from .request import check_header, check_header_name
from .response import ResponseInfo

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
        on_response: is called with each final response.
    """

    timeout: Mapping[str, float | None]
    policy: BackoffPolicy
    headers: Mapping[str, str]
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


def as_callback(value: Callable[[ResponseInfo], None] | None) -> Callable[[ResponseInfo], None] | None:
    """Return a callback as it is.

    Raises:
        UsageError: it cannot be called.
    """
    if value is not None and not callable(value):
        raise UsageError("on_response must be a function that takes a ResponseInfo, or None")
    return value


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
            raise UsageError("headers must be a mapping of header names to strings")
        for name, value in headers.items():
            check_header_name(name)
            check_header(name, value)
            lower = name.lower()
            if lower in _RESERVED:
                raise UsageError(f"headers must not contain {name}: the client writes it")
            added[lower] = value
    if not isinstance(correlation_id, Unset):
        added.pop("x-correlation-id", None)
        if correlation_id is not None:
            check_header("correlation_id", correlation_id)
            added["x-correlation-id"] = correlation_id
    return added
