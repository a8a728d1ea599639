"""The options of calls: what `with_options` changes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .._api import Unset
from .._errors import UsageError
from .request import check_header, check_header_name
from .response_info import ResponseInfo

#: Under this name the extensions of a request hold the limits of its call.
POLICY = "itwin_platform.policy"
#: The client writes these headers itself.
_RESERVED = frozenset(
    {
        *("accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "host"),
        *("te", "trailer", "transfer-encoding", "upgrade"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOptions:
    """The options of all calls of one client, or of one view of it.

    Args:
        timeout: the limits of one attempt in seconds, as httpx names them.
        policy: the limits of one call, for the transport that makes its attempts.
        headers: added to each request, names in lower case.
        on_response: is called with each final response.

    `extensions` follow from these: they go to the transports below.
    """

    timeout: Mapping[str, float | None]
    policy: object
    headers: Mapping[str, str] = field(default_factory=dict)
    on_response: Callable[[ResponseInfo], None] | None = None
    extensions: Mapping[str, object] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "extensions", {"timeout": {**self.timeout}, POLICY: self.policy})


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
            if name.lower() in _RESERVED:
                raise UsageError(f"headers must not contain {name}: the client writes it")
            added[name.lower()] = value
    if not isinstance(correlation_id, Unset):
        added.pop("x-correlation-id", None)
        if correlation_id is not None:
            check_header("correlation_id", correlation_id)
            added["x-correlation-id"] = correlation_id
    return added
