"""The service with faults: decides what one request is returned and how that is delivered, and does neither."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from .._service.credentials import Tokens
from .._service.errors import ErrorResponse
from .._service.messages import APIRequest, ServiceResponse, WireResponse
from .._service.operation_table import Operation
from .._service.service import Service
from .._service.state import Platform
from .changes import REQUEST_CHANGES, RESPONSE_CHANGES, ChangeContext, read_continuation_token
from .plan import Fault, FaultPlan, ResponseKind
from .scripted import SCRIPTED_RESPONSES, dated, max_return_rejected, to_wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to send, and the fault in delivering it; without a response the connection is reset."""

    operation: Operation | None
    response: WireResponse | None
    delivery: Fault | None = None


class FaultyService:
    """ResponseKind from the service, except where a fault of the plan says otherwise."""

    def __init__(
        self, service: Service, *, plan: FaultPlan, tokens: Tokens, platform: Platform, now: Callable[[], datetime]
    ) -> None:
        self._service = service
        self._plan = plan
        self._tokens = tokens
        self._platform = platform
        self._now = now
        self._turn = 0

    def operation(self, request: APIRequest) -> Operation | None:
        """The operation that the request asks for."""
        try:
            return self._service.route(request).operation
        except ErrorResponse:
            return None

    def decide(self, request: APIRequest) -> Decision:
        """Carry the request out, unless a fault comes before it, and decide what becomes of the response."""
        operation = self.operation(request)
        name = operation.name if operation else None
        self._turn += 1
        response: ServiceResponse | None = None
        fault = self._plan.next_fault("instead", name)
        if fault is not None and fault.name == "reset_before_effect":
            return Decision(operation=operation, response=None)
        if fault is not None and fault.name in SCRIPTED_RESPONSES:
            now = self._now()
            return Decision(operation=operation, response=dated(SCRIPTED_RESPONSES[fault.name](fault, now), now))
        if fault is not None and fault.name == "token_expires":
            self._tokens.expire(request.headers.get("authorization"))
        if fault is not None and fault.name == "max_return_refused" and request.headers.get("x-max-return") == "10000":
            response = max_return_rejected()
        response = response or self._changed_response(request, operation)
        delivery = self._plan.next_fault("deliver", name, _kind_of(response))
        return Decision(operation=operation, response=to_wire(response, self._now()), delivery=delivery)

    def _changed_response(self, request: APIRequest, operation: Operation | None) -> ServiceResponse:
        name = operation.name if operation else None
        faults = self._plan.matching("change", name)
        changed = read_continuation_token(request)
        for fault in faults:
            if fault.name in REQUEST_CHANGES and fault.skip == 0:
                changed = REQUEST_CHANGES[fault.name](changed)
        response = self._service.handle(changed)
        for fault in faults:
            if fault.kind.responses in ("any", _kind_of(response)) and self._plan.count(fault):
                context = ChangeContext(
                    request=request, operation=operation, fault=fault, platform=self._platform, turn=self._turn
                )
                response = RESPONSE_CHANGES[fault.name](context, response)
        return response


def _kind_of(response: ServiceResponse) -> ResponseKind:
    return "success" if response.status < 300 else "error"
