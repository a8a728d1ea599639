"""The service with faults: decides the response to a request and its delivery, and sends nothing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from .._service.credentials import Tokens
from .._service.document import DocumentedOperation
from .._service.json_values import JSON, NotJSONError, read_json
from .._service.messages import APIRequest, ErrorResponse, ServiceResponse, WireResponse
from .._service.service import Service
from .._service.state import Platform
from . import changes, seen_changes
from .catalogue import FaultName, ResponseKind
from .changes import Change, ChangeContext, read_continuation_token
from .plan import Fault, FaultPlan
from .scripted_responses import SCRIPTED_RESPONSES, dated, max_return_rejected, to_wire
from .seen_changes import accept_any_query_scope, names_any_query_scope

# The changes of responses, by the name of the fault.
RESPONSE_CHANGES: Mapping[FaultName, Change] = {
    "next_foreign": Change(changes.foreign),
    "next_looping": Change(changes.looping),
    "next_relative": Change(changes.relative),
    "next_blank_led": Change(changes.blank_led),
    "next_null": Change(changes.null),
    "next_empty": Change(changes.empty),
    "next_continuation_token": Change(changes.continuation_token),
    "other_page_size": Change(changes.other_page_size, applies=changes.can_be_smaller, runs_again=True),
    "scene_changes": Change(changes.scene_changes, applies=changes.has_objects),
    "unknown_enum_values": Change(changes.unknown_enum_values),
    "unknown_fields": Change(changes.unknown_fields),
    "nulls": Change(changes.nulls),
    "missing_fields": Change(changes.missing_fields),
    "seen_enum_values": Change(seen_changes.enum_values),
    "seen_times": Change(seen_changes.times),
    "seen_shapes": Change(seen_changes.shapes),
    "seen_headers": Change(seen_changes.headers),
    "seen_errors": Change(seen_changes.errors),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A response and the fault of its delivery; without a response the connection is reset.

    `body` is the JSON of the response, `faults` name every fault that had an effect, and `rate_limit` is the limit that
    rejected the request.
    """

    operation: DocumentedOperation | None
    response: WireResponse | None
    body: JSON = None
    delivery: Fault | None = None
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    rate_limit: str | None = None


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

    def operation(self, request: APIRequest) -> DocumentedOperation | None:
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
        self._plan.fired.clear()
        fault = self._plan.next_fault("instead", name, applies=lambda fault: self._applies(fault, request, name))
        if fault is not None and fault.name == "reset_before_effect":
            return self._decision(operation, None)
        if fault is not None and fault.name in SCRIPTED_RESPONSES:
            now = self.now()
            return self._decision(operation, dated(SCRIPTED_RESPONSES[fault.name](fault, now), now))
        if fault is not None and fault.name == "token_expires":
            self._tokens.expire(request.headers.get("authorization"))
        if fault is not None and fault.name == "max_return_refused":
            response = max_return_rejected()
        else:
            response = self._changed_response(self._prepared(request, name), operation)
        delivery = self._plan.next_fault("deliver", name, _kind_of(response))
        return self._decision(operation, to_wire(response, self.now()), response, delivery)

    def _decision(
        self,
        operation: DocumentedOperation | None,
        wire: WireResponse | None,
        response: ServiceResponse | None = None,
        delivery: Fault | None = None,
    ) -> Decision:
        return Decision(
            operation=operation,
            response=wire,
            body=_body_of(wire) if response is None else response.body,
            delivery=delivery,
            notes=response.notes if response else (),
            faults=tuple(self._plan.fired),
            rate_limit=response.rate_limit if response else None,
        )

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

    def _changed_response(self, request: APIRequest, operation: DocumentedOperation | None) -> ServiceResponse:
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


def _body_of(wire: WireResponse | None) -> JSON:
    try:
        return read_json(wire.body) if wire is not None else None
    except NotJSONError:
        return None


def _kind_of(response: ServiceResponse) -> ResponseKind:
    return "success" if response.status < 300 else "error"
