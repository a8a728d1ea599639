"""The options of calls: what `with_options` changes."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Self

from .._api import Unset
from .._errors import UsageError
from .._http.policy import POLICY
from .request import check_header, check_header_name
from .response_info import ResponseInfo

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
        extensions: go to the transports below, with that timeout and the limits of one call.
        headers: added to each request, names in lower case.
        on_response: is called with each final response.
    """

    timeout: Mapping[str, float | None]
    extensions: Mapping[str, object]
    headers: Mapping[str, str]
    on_response: Callable[[ResponseInfo], None] | None

    @classmethod
    def of(
        cls,
        *,
        timeout: Mapping[str, float | None],
        policy: object,
        headers: Mapping[str, str],
        on_response: Callable[[ResponseInfo], None] | None,
    ) -> Self:
        """Return options, with the limits of one call as a policy for the transport that makes its attempts."""
        return cls(timeout, {"timeout": timeout, POLICY: policy}, headers, on_response)


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
