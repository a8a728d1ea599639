"""A service in memory that pages in every way it has been seen to, slowly, and fails on the way."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field

import httpx

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


class FaultyService(httpx.AsyncBaseTransport):
    """Answers List iTwins after a schedule."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._met: Counter[int] = Counter()
        self._requests = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.calm = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Waits, then fails or answers with a page."""
        latencies = self._schedule.latencies
        self._requests += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(latencies[self._requests % len(latencies)])
            return self._answer(request)
        finally:
            self.in_flight -= 1

    def _answer(self, request: httpx.Request) -> httpx.Response:
        query = dict(request.url.params)
        skip = int(query.get("cursor", query.get("$skip", "0")))
        if skip == self._schedule.broken and not self.calm:
            return httpx.Response(500, text="broken")
        faults = () if self.calm else self._schedule.faults.get(skip, ())
        if self._met[skip] < len(faults):
            self._met[skip] += 1
            return _fault(faults[self._met[skip] - 1])
        return self._page(request, skip, int(query["$top"]))

    def _page(self, request: httpx.Request, skip: int, top: int) -> httpx.Response:
        schedule = self._schedule
        cap = min(int(request.headers["x-max-return"]), schedule.cap or 10_000)
        behind = skip + max(1, top * schedule.sizes[skip % len(schedule.sizes)] // 100)
        end = min(schedule.total, cap)
        body: dict[str, object] = {"iTwins": [{"id": str(number)} for number in range(skip, min(behind, end))]}
        if behind < end:
            way = "plain" if self.calm else schedule.links[skip % len(schedule.links)]
            body["_links"] = {"next": {"href": _link(way, behind, top)}}
        return httpx.Response(200, json=body, headers={"x-max-return": str(cap)})


def _fault(name: Fault) -> httpx.Response:
    if name == "reset":
        raise httpx.ReadError("reset")
    if name == "unsent":
        raise httpx.ConnectError("refused")
    return httpx.Response(int(name), headers={"retry-after": "2"})


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
