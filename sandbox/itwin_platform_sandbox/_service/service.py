"""The way of one request: credentials, rate limit, operation, version, then the operation's own rules.

The order is that of a gateway before a service: who is not known learns nothing, and who sends too much is turned
away before any work is done. Nothing here knows HTTP servers or clocks.
"""

import re
from collections.abc import Callable
from datetime import datetime

from .credentials import Caller, CredentialsError, Tokens
from .errors import ErrorResponse, operation_not_found, rate_limit_exceeded
from .messages import APIRequest, OperationRequest, ServiceResponse
from .operation_table import Operation, Route, find_route
from .rate_limit import RequestCounter
from .retry_after import retry_after_headers
from .state import Platform

_VENDOR_MEDIA_TYPE = re.compile(r"application/vnd\.([a-z0-9_.-]+)\.itwin-platform\.v([0-9]+)\+json", re.IGNORECASE)
_GENERAL_MEDIA_TYPES = ("*/*", "application/*", "application/json")


class Service:
    """ResponseKind requests from what `platform` stores."""

    def __init__(
        self,
        *,
        platform: Platform,
        tokens: Tokens,
        path_prefix: str = "",
        vendor: str | None = None,
        counter: RequestCounter | None = None,
        now: Callable[[], datetime],
    ) -> None:
        self._platform = platform
        self._tokens = tokens
        self._path_prefix = path_prefix
        self._vendor = vendor
        self._counter = counter
        self._now = now

    def route(self, request: APIRequest) -> Route:
        """The operation that the request asks for; `ErrorResponse` when there is none."""
        if not request.path.startswith(f"{self._path_prefix}/"):
            raise operation_not_found(f"The service is found below {self._path_prefix}/.")
        return find_route(request.method, request.path.removeprefix(self._path_prefix))

    def handle(self, request: APIRequest) -> ServiceResponse:
        """Carry the request out and say what came of it; every error is a response too."""
        try:
            caller = self._admit(request)
            route = self.route(request)
            self._check_version(route.operation, request.headers["accept"])
            return route.operation.decide(self._platform, self._operation_request(request, route, caller))
        except ErrorResponse as error:
            return error.response()

    def _admit(self, request: APIRequest) -> Caller:
        try:
            token, caller = self._tokens.caller(request.headers.get("authorization"))
        except CredentialsError as error:
            raise ErrorResponse(401, "HeaderNotFound", str(error)) from error
        if not request.headers.get("accept", "").strip():
            raise ErrorResponse(401, "HeaderNotFound", "Header Accept was not found in the request.")
        wait = self._counter.wait(token) if self._counter is not None else None
        if self._counter is not None and wait is not None:
            headers = retry_after_headers(self._counter.retry_after, wait, self._now())
            raise rate_limit_exceeded(headers)
        return caller

    def _check_version(self, operation: Operation, accept: str) -> None:
        for part in accept.split(","):
            media_type = part.partition(";")[0].strip().lower()
            if media_type in _GENERAL_MEDIA_TYPES:
                return
            match = _VENDOR_MEDIA_TYPE.fullmatch(media_type)
            if match is not None and match[2] == str(operation.version) and self._vendor in (None, match[1]):
                return
        vendor = self._vendor or "<vendor>"
        expected = f"application/vnd.{vendor}.itwin-platform.v{operation.version}+json"
        raise operation_not_found(f"No such version: this operation is asked for with Accept: {expected}.")

    def _operation_request(self, request: APIRequest, route: Route, caller: Caller) -> OperationRequest:
        return OperationRequest(
            caller=caller,
            path_parameters=route.path_parameters,
            query=request.query,
            headers=request.headers,
            body=request.body,
            url=request.origin + request.path,
        )
