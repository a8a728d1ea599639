"""What a caller can learn of a response besides its body."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .._http.connections.lazy import Response, route_of
from .._http.status_errors import ATTEMPTS, limited_by

#: Under this name the extensions of a response hold how long its call took, in seconds.
SECONDS = "itwin_platform.seconds"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseInfo:
    """The final response of a call, without its body.

    Args:
        method: the HTTP method.
        route: the template of the path, such as `/scenes/{scene_id}/objects`; the path itself when none is known.
        status: the HTTP status.
        headers: the response headers, looked up without regard to case; they are not part of `repr`.
        attempts: how many requests were sent.
        seconds: how long the call took, with queueing, retries and delays.
        correlation_id: the one in the response; None when it has none.
        tier, api, operation: which rate limit the response names; None when it names none.
    """

    method: str
    route: str
    status: int
    headers: Mapping[str, str] = field(repr=False)
    attempts: int
    seconds: float
    correlation_id: str | None
    tier: str | None = None
    api: str | None = None
    operation: str | None = None


def response_info(response: Response) -> ResponseInfo:
    """Describe a response that has its request."""
    request, known = response.request, response.extensions
    tier, api, operation = limited_by(response.headers)
    return ResponseInfo(
        method=request.method,
        route=route_of(request),
        status=response.status_code,
        headers=response.headers,
        attempts=known.get(ATTEMPTS, 1),
        seconds=known.get(SECONDS, 0.0),
        correlation_id=response.headers.get("x-correlation-id"),
        tier=tier,
        api=api,
        operation=operation,
    )
