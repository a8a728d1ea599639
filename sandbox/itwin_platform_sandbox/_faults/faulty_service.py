"""The service with faults: decides the response to a request and its delivery, and sends nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from .._service.credentials import Tokens
from .._service.errors import ErrorResponse
from .._service.messages import APIRequest, ServiceResponse, WireResponse
from .._service.operation_table import Operation
from .._service.service import Service
from .._service.state import Platform
from .catalogue import ResponseKind
from .changes import (
    RESPONSE_CHANGES,
    ChangeContext,
    accept_any_query_scope,
    names_any_query_scope,
    read_continuation_token,
)
from .plan import Fault, FaultPlan
from .scripted_responses import SCRIPTED_RESPONSES, dated, max_return_rejected, to_wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A response and the fault of its delivery; without a response the connection is reset."""

    operation: Operation | None
    response: WireResponse | None
    delivery: Fault | None = None
    notes: tuple[str, ...] = ()


class FaultyService:
    """The service, with the faults of the plan."""

    def __init__(
        self, service: Service, *, plan: FaultPlan, tokens: Tokens, platform: Platform, now: Callable[[], datetime]
    ) -> None:
        self._service = service
        self._plan = plan
        self._tokens = tokens
        self._platform = platform
        self.now = now
        self._number = 0

    def operation(self, request: APIRequest) -> Operation | None:
        """Return the operation that the request names."""
        try:
            return self._service.route(request).operation
        except ErrorResponse:
            return None

    def decide(self, request: APIRequest) -> Decision:
        """Run the operation, unless a fault replaces it, and decide how its response is changed and delivered."""
        operation = self.operation(request)
        name = operation.name if operation else None
        self._number += 1
        fault = self._plan.next_fault("instead", name, applies=lambda fault: self._applies(fault, request, name))
        if fault is not None and fault.name == "reset_before_effect":
            return Decision(operation=operation, response=None)
        if fault is not None and fault.name in SCRIPTED_RESPONSES:
            now = self.now()
            return Decision(operation=operation, response=dated(SCRIPTED_RESPONSES[fault.name](fault, now), now))
        if fault is not None and fault.name == "token_expires":
            self._tokens.expire(request.headers.get("authorization"))
        if fault is not None and fault.name == "max_return_refused":
            response = max_return_rejected()
        else:
            response = self._changed_response(self._prepared(request, name), operation)
        delivery = self._plan.next_fault("deliver", name, _kind_of(response))
        wire = to_wire(response, self.now())
        return Decision(operation=operation, response=wire, delivery=delivery, notes=response.notes)

    def _applies(self, fault: Fault, request: APIRequest, operation: str | None) -> bool:
        if fault.name == "token_expires":
            return self._tokens.accepts(request.headers.get("authorization"))
        if fault.name == "max_return_refused":
            return operation == "list_itwins" and request.headers.get("x-max-return", "").strip() == "10000"
        return True

    def _prepared(self, request: APIRequest, operation: str | None) -> APIRequest:
        """Return the request with documented values for a continuation token and the observed query scope `all`."""
        request = read_continuation_token(request)
        if (
            operation == "list_itwins"
            and names_any_query_scope(request)
            and self._plan.next_fault("change", operation, "success", lambda fault: fault.name == "seen_enum_values")
        ):
            return accept_any_query_scope(request)
        return request

    def _changed_response(self, request: APIRequest, operation: Operation | None) -> ServiceResponse:
        response = self._service.handle(request)
        name = operation.name if operation else None
        faults = sorted(
            self._plan.matching("change", name, _kind_of(response)),
            key=lambda fault: not RESPONSE_CHANGES[fault.name].runs_again,
        )
        for fault in faults:
            context = ChangeContext(
                request=request,
                operation=operation,
                fault=fault,
                platform=self._platform,
                number=self._number,
                run_again=lambda again: self._service.handle(again, counted=False),
            )
            response = self._changed_by(fault, context, response)
        return response

    def _changed_by(self, fault: Fault, context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
        change = RESPONSE_CHANGES[fault.name]
        if change.applies is not None:
            fires = change.applies(context, response) and self._plan.count(fault)
            return change.make(context, response) if fires else response
        changed = change.make(context, response)
        return changed if changed != response and self._plan.count(fault) else response


def _kind_of(response: ServiceResponse) -> ResponseKind:
    return "success" if response.status < 300 else "error"
