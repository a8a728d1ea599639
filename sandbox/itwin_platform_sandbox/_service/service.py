"""Handles one request: credentials, rate limit, operation, version, then the rules of the operation.

This is the order of a gateway in front of a service: an unknown caller gets 401 for
every path, and a rate limited one is rejected before any work is done.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import unquote

from .credentials import Caller, CredentialsError, Tokens
from .detectors import create_detector
from .document import DOCUMENTED, DocumentedOperation, OperationRequest, respond_with_example
from .itwins import get_primary_account, list_itwins
from .json_values import JSON, NotJSONError
from .messages import APIRequest, ErrorResponse, ServiceResponse, operation_not_found, rate_limit_exceeded
from .rate_limit import RequestCounter, retry_after_headers
from .repositories import create_repository_resource, update_repository
from .scenes import create_scene, list_scene_objects
from .state import Platform
from .webhooks import update_webhook

_DECIDING = (
    *(list_itwins, get_primary_account, update_repository, create_repository_resource),
    *(create_scene, list_scene_objects, create_detector, update_webhook),
)
# The function of each operation, by its name. Operations without a function respond with the example of the document.
_DECISIONS: Mapping[str, Callable[[Platform, OperationRequest], ServiceResponse]] = {
    function.__name__: function for function in _DECIDING
}
# A route without a parameter comes before one that matches the same path with a parameter.
OPERATIONS = tuple(sorted(DOCUMENTED.values(), key=lambda operation: operation.route.count("{")))


@dataclass(frozen=True, slots=True)
class Route:
    """The operation of a request, with its decoded path parameters."""

    operation: DocumentedOperation
    path_parameters: dict[str, str]


def find_route(method: str, path: str) -> Route | None:
    """Return the route of a raw path below the base address; None if there is no operation."""
    for operation in OPERATIONS:
        if operation.method == method and (match := operation.pattern.fullmatch(path)):
            return Route(operation, {name: unquote(value) for name, value in match.groupdict().items()})
    return None


def not_found(method: str, path: str) -> ErrorResponse:
    """Return the error for a request without an operation. Source: section 7, `OperationNotFound`."""
    allowed = [operation.method for operation in OPERATIONS if operation.pattern.fullmatch(path)]
    if allowed:
        message = f"{method} is not supported here; supported: {', '.join(allowed)}."
        return operation_not_found(message)
    return operation_not_found(f"There is no operation {method} {path[:200]}.")


def _body(request: APIRequest) -> JSON:
    """Return the body as JSON; None if it is no JSON, because the operation reports the error."""
    try:
        return request.body.json()
    except NotJSONError:
        return None


_VENDOR_MEDIA_TYPE = re.compile(r"application/vnd\.([a-z0-9_.-]+)\.itwin-platform\.v([0-9]+)\+json", re.IGNORECASE)
_GENERAL_MEDIA_TYPES = ("*/*", "application/*", "application/json")


@dataclass(slots=True, kw_only=True)
class Service:
    """The service: it responds to requests with the data of `platform`."""

    platform: Platform
    tokens: Tokens
    path_prefix: str = ""
    vendor: str | None = None
    counter: RequestCounter | None = None
    public_url: str | None = None
    strict: bool = False
    now: Callable[[], datetime]

    def route(self, request: APIRequest) -> Route | None:
        """Return the operation that the request names; None when there is none."""
        if not request.path.startswith(f"{self.path_prefix}/"):
            return None
        return find_route(request.method, request.path.removeprefix(self.path_prefix))

    def handle(self, request: APIRequest, route: Route | None, *, counted: bool = True) -> ServiceResponse:
        """Run the operation of a route and return its response; an error is a response too.

        A request that is not `counted` does not count against the rate limit.
        """
        notes: tuple[str, ...] = ()
        try:
            caller = self._admit(request, counted=counted)
            if route is None:
                raise self._not_found(request)
            self._check_version(route.operation, request.headers["accept"])
            details = list(route.operation.unknown_fields(request.query, _body(request)))
            notes = tuple(f"{detail.target}: {detail.message}" for detail in details)
            if self.strict:
                route.operation.reject_any(details)
            accepted = self._operation_request(request, route, caller)
            decide = _DECISIONS.get(route.operation.name)
            response = decide(self.platform, accepted) if decide else respond_with_example(accepted)
        except ErrorResponse as error:
            response = error.response()
        return replace(response, notes=notes) if notes else response

    def _not_found(self, request: APIRequest) -> ErrorResponse:
        if not request.path.startswith(f"{self.path_prefix}/"):
            return operation_not_found(f"The service is found below {self.path_prefix}/.")
        return not_found(request.method, request.path.removeprefix(self.path_prefix))

    def _admit(self, request: APIRequest, *, counted: bool) -> Caller:
        try:
            token, caller = self.tokens.caller(request.headers.get("authorization"))
        except CredentialsError as error:
            raise ErrorResponse(401, "HeaderNotFound", str(error)) from error
        if not request.headers.get("accept", "").strip():
            message = "Header Accept was not found in the request."
            raise ErrorResponse(401, "HeaderNotFound", message)
        counter = self.counter if counted else None
        wait = counter.wait(token) if counter is not None else None
        if counter is not None and wait is not None:
            headers = retry_after_headers(counter.limit.retry_after, wait, self.now())
            raise rate_limit_exceeded(headers, str(counter.limit))
        return caller

    def _check_version(self, operation: DocumentedOperation, accept: str) -> None:
        for entry in accept.split(","):
            media_type = entry.partition(";")[0].strip().lower()
            if media_type in _GENERAL_MEDIA_TYPES:
                return
            match = _VENDOR_MEDIA_TYPE.fullmatch(media_type)
            if match is not None and match[2] == str(operation.version) and self._is_vendor(match[1]):
                return
        vendor = self.vendor or "<vendor>"
        expected = f"application/vnd.{vendor}.itwin-platform.v{operation.version}+json"
        raise operation_not_found(f"No such version: this operation needs Accept: {expected}.")

    def _is_vendor(self, name: str) -> bool:
        return self.vendor is None or self.vendor.lower() == name

    def _operation_request(self, request: APIRequest, route: Route, caller: Caller) -> OperationRequest:
        return OperationRequest(
            operation=route.operation,
            caller=caller,
            path_parameters=route.path_parameters,
            query=request.query,
            headers=request.headers,
            body=request.body,
            url=self._url(request),
        )

    def _url(self, request: APIRequest) -> str:
        """Return the address of this request as the client knows it, for links to further pages."""
        if self.public_url is None:
            return request.origin + request.path
        return self.public_url + request.path.removeprefix(self.path_prefix)
