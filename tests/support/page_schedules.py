"""Pages in every way in which services have been seen to link them, slowly, with failures between them."""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field

import httpx

from tests.support.exchange import PreparedResponse, ReceivedRequest
from tests.support.scripted_transport import Outcome

Fault = str  # "429", "503", "502", "reset", "unsent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """What a service does; by the place of a page, so that it does the same to every reader.

    Args:
        total: iTwins that there are.
        sizes: items of the page at a place, as a share of `$top` in percent, over and over.
        links: the way in which the page at a place names the next one, over and over.
        latencies: seconds of one request after the other, over and over.
        faults: what happens to the first requests for the page at a place, before one succeeds.
        broken: the place whose page is never given.
        cap: the X-Max-Return that the service keeps to; None for the one asked for.
    """

    total: int
    sizes: tuple[int, ...] = (100,)
    links: tuple[str, ...] = ("plain",)
    latencies: tuple[float, ...] = (1.0,)
    faults: dict[int, tuple[Fault, ...]] = field(default_factory=dict)
    broken: int | None = None
    cap: int | None = None


class ScheduledPages:
    """The script of a service whose List iTwins follows a schedule; `calm` ends its faults."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._met: Counter[int] = Counter()
        self._requests = 0
        self.calm = False

    async def __call__(self, request: ReceivedRequest) -> Outcome:
        """Wait, then fail or respond with a page."""
        latencies = self._schedule.latencies
        self._requests += 1
        await asyncio.sleep(latencies[self._requests % len(latencies)])
        query = dict(httpx.URL(request.target).params)
        skip = int(query.get("cursor", query.get("$skip", "0")))
        if skip == self._schedule.broken and not self.calm:
            return 500
        faults = () if self.calm else self._schedule.faults.get(skip, ())
        if self._met[skip] < len(faults):
            self._met[skip] += 1
            return _fault(faults[self._met[skip] - 1])
        return self._page(request, skip, int(query["$top"]))

    def _page(self, request: ReceivedRequest, skip: int, top: int) -> Outcome:
        schedule = self._schedule
        cap = min(int(request.headers["x-max-return"]), schedule.cap or 10_000)
        behind = skip + max(1, top * schedule.sizes[skip % len(schedule.sizes)] // 100)
        end = min(schedule.total, cap)
        body: dict[str, object] = {"iTwins": [{"id": str(number)} for number in range(skip, min(behind, end))]}
        if behind < end:
            way = "plain" if self.calm else schedule.links[skip % len(schedule.links)]
            body["_links"] = {"next": {"href": _link(way, behind, top)}}
        return PreparedResponse(body=json.dumps(body).encode(), headers={"x-max-return": str(cap)})


def _fault(name: Fault) -> Outcome:
    if name == "reset":
        return httpx.ReadError("reset")
    if name == "unsent":
        return httpx.ConnectError("refused")
    return PreparedResponse(status=int(name), headers={"retry-after": "2"})


def _link(way: str, skip: int, top: int) -> str:
    ways = {
        "plain": f"https://service.example/prefix/itwins/?$skip={skip}&$top={top}",
        "relative": f"?$skip={skip}&$top={top}",
        "blank": f" /prefix/itwins/?$top={top}&$skip={skip}",
        "without size": f"?$skip={skip}",
        "cursor": f"?cursor={skip}&$top={top}",
        "both": f"?cursor={skip}&$skip={skip}&$top={top}",
        "foreign": f"https://elsewhere.example/prefix/itwins/?$skip={skip}&$top={top}",
        "other size": f"?$skip={skip}&$top={max(1, top - 1)}",
    }
    return ways[way]
