"""The faults of a network and a service, and the requests of each call that arrived."""

import asyncio
from collections import defaultdict, deque
from typing import Literal, get_args

import httpx

from tests.support.services import Outcome, PreparedResponse, ReceivedRequest

Fault = Literal[
    "none",
    "429",
    "429, 2 s",
    "401",
    "404",
    "500",
    "502",
    "503",
    "503, 1 s",
    "connection refused",
    "connect timeout",
    "proxy rejects",
    "reset before the request is read",
    "reset after the effect",
    "no response in time",
    "write breaks off",
    "response breaks off",
    "response cannot be decoded",
    "slow",
    "429, 90 s",
]
FAULTS: tuple[Fault, ...] = get_args(Fault)

#: Faults after which the service has certainly done nothing, so that a retry is allowed.
WITHOUT_EFFECT: frozenset[Fault] = frozenset({"429", "429, 2 s", "429, 90 s", "401"})
_NEVER_ARRIVES: dict[Fault, type[httpx.TransportError]] = {
    "connection refused": httpx.ConnectError,
    "connect timeout": httpx.ConnectTimeout,
    "proxy rejects": httpx.ProxyError,
}
_LOST: dict[Fault, type[httpx.TransportError]] = {
    "reset before the request is read": httpx.RemoteProtocolError,
    "reset after the effect": httpx.ReadError,
    "no response in time": httpx.ReadTimeout,
    "write breaks off": httpx.WriteError,
}


class FaultPlan:
    """The next fault for each request, and in `seen` the faults by call in the order of arrival."""

    def __init__(self) -> None:
        self.plan: deque[Fault] = deque()
        self.seen: dict[tuple[str, str], list[Fault]] = defaultdict(list)

    async def __call__(self, request: ReceivedRequest) -> Outcome:
        """Record the request and return the planned fault or response."""
        fault = self.plan.popleft() if self.plan else "none"
        if fault in _NEVER_ARRIVES:
            return _NEVER_ARRIVES[fault](fault)
        self.seen[request.method, request.headers["x-correlation-id"]].append(fault)
        if fault in ("slow", "no response in time"):
            await asyncio.sleep(30.0)
        if fault in _LOST:
            return _LOST[fault](fault)
        if fault == "response breaks off":
            return PreparedResponse(fault="cut")
        if fault == "response cannot be decoded":
            return PreparedResponse(headers={"content-encoding": "gzip"}, body=b"?")
        status, _, wait = fault.partition(", ")
        headers = {"retry-after": wait.removesuffix(" s")} if wait else {}
        return PreparedResponse(status=int(status) if status.isdigit() else 200, headers=headers)

    def retried_with_a_possible_effect(self, method: str) -> int:
        """Count the requests that follow a request of the same call with a possible side effect."""
        count = 0
        for (of, _), faults in self.seen.items():
            possible = [fault not in WITHOUT_EFFECT for fault in faults]
            count += sum(any(possible[:index]) for index in range(len(faults))) if of == method else 0
        return count
