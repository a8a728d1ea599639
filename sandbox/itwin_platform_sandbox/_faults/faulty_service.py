"""The service with faults: decides the response to a request and its delivery, and sends nothing."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from .._service.credentials import Tokens
from .._service.json_values import JSON, NotJSONError, read_json
from .._service.messages import APIRequest, ServiceResponse, WireResponse
from .._service.service import Route, Service
from .._service.state import Platform
from . import changes
from .catalogue import FaultName, ResponseKind
from .changes import Change, ChangeContext, hide_skip, path_and_query, read_continuation_token
from .plan import Fault, FaultPlan
from .scripted_responses import SCRIPTED_RESPONSES, dated, to_wire

# The changes of responses, by the name of the fault.
RESPONSE_CHANGES: Mapping[FaultName, Change] = {
    "next_foreign": Change(changes.with_next(lambda context, href: context.fault.origin + path_and_query(href))),
    "next_looping": Change(changes.looping),
    "next_relative": Change(changes.with_next(lambda _, href: path_and_query(href))),
    "next_blank_led": Change(changes.with_next(lambda _, href: f" {href}")),
    "next_null": Change(changes.with_last(None)),
    "next_empty": Change(changes.with_last({"href": ""})),
    "next_continuation_token": Change(changes.with_next(lambda _, href: hide_skip(href))),
    "other_page_size": Change(changes.other_page_size, applies=changes.can_be_smaller, runs_again=True),
    "scene_changes": Change(changes.scene_changes, applies=changes.has_objects),
    "unknown_enum_values": Change(changes.unknown_enum_values),
    "unknown_fields": Change(changes.unknown_fields),
    "nulls": Change(changes.nulls),
    "missing_fields": Change(changes.missing_fields),
}


@dataclass(frozen=True, slots=True)
class Decision:
    """A response and the fault of its delivery; without a response the connection is reset.

    `service_response` is the response as a value, and `faults` has the names of the faults that had an effect.
    """

    response: WireResponse | None
    service_response: ServiceResponse
    delivery: Fault | None = None
    faults: tuple[str, ...] = ()


NO_DECISION = Decision(None, ServiceResponse(0, None))


@dataclass(slots=True, kw_only=True)
class FaultyService:
    """The service with the faults of the plan."""

    service: Service
    plan: FaultPlan
    tokens: Tokens
    platform: Platform
    now: Callable[[], datetime]

    def route(self, request: APIRequest) -> Route | None:
        """Return the operation that the request names."""
        return self.service.route(request)

    def decide(self, request: APIRequest, route: Route | None) -> Decision:
        """Run the operation, unless a fault replaces it, and decide how its response is changed and delivered."""
        operation = route.operation if route else None
        name = operation.name if operation else None
        self.plan.fired.clear()
        applies = functools.partial(self._applies, request=request)
        fault = self.plan.next_fault("instead", name, request, applies=applies)
        if fault is not None and fault.name == "reset_before_effect":
            return replace(NO_DECISION, faults=tuple(self.plan.fired))
        if fault is not None and fault.name in SCRIPTED_RESPONSES:
            now = self.now()
            scripted = dated(SCRIPTED_RESPONSES[fault.name](fault, now), now)
            response = ServiceResponse(scripted.status, _json_of(scripted))
            return Decision(scripted, response, faults=tuple(self.plan.fired))
        if fault is not None and fault.name == "token_expires":
            self.tokens.expire(request.headers.get("authorization"))
        response = self._changed_response(read_continuation_token(request), route)
        delivery = self.plan.next_fault("deliver", name, request, _kind_of(response))
        return Decision(to_wire(response, self.now()), response, delivery, tuple(self.plan.fired))

    def _applies(self, fault: Fault, *, request: APIRequest) -> bool:
        if fault.name == "token_expires":
            return self.tokens.accepts(request.headers.get("authorization"))
        return True

    def _changed_response(self, request: APIRequest, route: Route | None) -> ServiceResponse:
        response = self.service.handle(request, route)
        operation = route.operation if route else None
        name = operation.name if operation else None
        faults = sorted(
            self.plan.matching("change", name, request, _kind_of(response)),
            key=lambda fault: not RESPONSE_CHANGES[fault.name].runs_again,
        )
        for fault in faults if response.has_body else ():
            context = ChangeContext(
                request=request,
                operation=operation,
                fault=fault,
                platform=self.platform,
                run_again=lambda again: self.service.handle(again, route, counted=False),
            )
            response = self._changed_by(fault, context, response)
        return response

    def _changed_by(self, fault: Fault, context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
        change = RESPONSE_CHANGES[fault.name]
        if change.applies is not None:
            fires = change.applies(context, response) and self.plan.count(fault)
            return change.make(context, response) if fires else response
        changed = change.make(context, response)
        return changed if changed != response and self.plan.count(fault) else response


def _json_of(wire: WireResponse) -> JSON:
    try:
        return read_json(wire.body)
    except NotJSONError:
        return None


def _kind_of(response: ServiceResponse) -> ResponseKind:
    return "success" if response.status < 300 else "error"
