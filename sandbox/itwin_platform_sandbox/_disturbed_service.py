"""The service with faults: decides what one request is answered and how that is delivered, and does neither."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from ._changes import ANSWER_CHANGES, REQUEST_CHANGES, ChangeContext, read_continuation_token
from ._credentials import Tokens
from ._exchange import Answer, APIRequest, Reply
from ._faults import Answers, Fault, FaultPlan
from ._operation_table import Operation
from ._refusal import Refusal
from ._reply import REPLIES_INSTEAD, dated, max_return_refused, reply_of
from ._service import Service
from ._state import Platform


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to send, and the fault in delivering it; without a reply the connection is reset."""

    operation: Operation | None
    reply: Reply | None
    delivery: Fault | None = None


class DisturbedService:
    """Answers from the service, except where a fault of the plan says otherwise."""

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
        except Refusal:
            return None

    def decide(self, request: APIRequest) -> Decision:
        """Carry the request out, unless a fault comes before it, and decide what becomes of the answer."""
        operation = self.operation(request)
        name = operation.name if operation else None
        self._turn += 1
        answer: Answer | None = None
        fault = self._plan.first("instead", name)
        if fault is not None and fault.name == "reset_before_effect":
            return Decision(operation=operation, reply=None)
        if fault is not None and fault.name in REPLIES_INSTEAD:
            now = self._now()
            return Decision(operation=operation, reply=dated(REPLIES_INSTEAD[fault.name](fault, now), now))
        if fault is not None and fault.name == "token_expires":
            self._tokens.expire(request.headers.get("authorization"))
        if fault is not None and fault.name == "max_return_refused" and request.headers.get("x-max-return") == "10000":
            answer = max_return_refused()
        answer = answer or self._changed_answer(request, operation)
        delivery = self._plan.first("deliver", name, _kind_of(answer))
        return Decision(operation=operation, reply=reply_of(answer, self._now()), delivery=delivery)

    def _changed_answer(self, request: APIRequest, operation: Operation | None) -> Answer:
        name = operation.name if operation else None
        faults = self._plan.matching("change", name)
        changed = read_continuation_token(request)
        for fault in faults:
            if fault.name in REQUEST_CHANGES and fault.skip == 0:
                changed = REQUEST_CHANGES[fault.name](changed)
        answer = self._service.answer(changed)
        for fault in faults:
            if fault.kind.answers in ("any", _kind_of(answer)) and self._plan.meet(fault):
                context = ChangeContext(
                    request=request, operation=operation, fault=fault, platform=self._platform, turn=self._turn
                )
                answer = ANSWER_CHANGES[fault.name](context, answer)
        return answer


def _kind_of(answer: Answer) -> Answers:
    return "success" if answer.status < 300 else "refusal"
