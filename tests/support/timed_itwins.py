"""iTwins with times, in memory, listed by filters over these up to a cap."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import httpx
from itwin_platform import ITwin, Pager, PlatformClient, Unset

from tests.support.numbered_items import POLICY
from tests.support.prepared_pages import BASE_URL
from tests.support.virtual_time import in_virtual_time

_TERM = re.compile(r"DateTime (ge|lt) (\S+)")


@dataclass(kw_only=True)
class TimedITwins(httpx.AsyncBaseTransport):
    """A service with iTwins by id, each with its time; it records the query of each request.

    A time may be missing (UNSET), null, or something else. `rejects` decides which filters are rejected,
    `ignores_filter` lets all of them pass; `order` says whether it sorts by time, ignores that it should, or rejects
    it. `before` is called with the number of each request, `address` begins each link.
    """

    times: Mapping[str, datetime | str | Unset | None]
    cap: int = 20
    page_size: int = 5
    latency: float = 0.0
    rejects: Callable[[str], bool] = lambda condition: False
    ignores_filter: bool = False
    order: str = "sorts"  # "sorts nulls last", "ignores", "rejects"
    time: str = "createdDateTime"
    address: str = ""
    before: Callable[[int], None] = lambda number: None
    errors: dict[int, Exception] = field(default_factory=dict)
    queries: list[dict[str, str]] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    def pager(
        self,
        within: str | None = None,
        *,
        limit: int | None = None,
        concurrency: int = 1,
        resume: str | None = None,
    ) -> Pager[ITwin]:
        """List all of it."""
        client = PlatformClient(BASE_URL, vendor="v", token="t", transport=self, backoff=POLICY)
        return client.itwins.list_all(
            partition_by=self.time,
            filter=within or "",
            page_size=self.page_size,
            limit=limit,
            concurrency=concurrency,
            resume=resume,
        )

    @property
    def conditions(self) -> list[str]:
        """The filter of each request."""
        return [query.get("$filter", "") for query in self.queries]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Respond with a page."""
        query = dict(request.url.params)
        number = len(self.queries)
        self.queries.append(query)
        self.in_flight += 1
        self.most_in_flight = max(self.in_flight, self.most_in_flight)
        try:
            await asyncio.sleep(self.latency)
        finally:
            self.in_flight -= 1
        self.before(number)
        if number in self.errors:
            raise self.errors[number]
        if self.rejects(query.get("$filter", "")):
            return _response(422, _rejection("$filter"))
        if "$orderby" in query and self.order == "rejects":
            return _response(422, _rejection("$orderby"))
        return self._page(query)

    def _page(self, query: dict[str, str]) -> httpx.Response:
        found = self._found(query)
        skip = int(query.get("$skip", "0"))
        behind = skip + int(query["$top"])
        body: dict[str, object] = {"iTwins": found[skip:behind]}
        if behind < len(found):
            body["_links"] = {"next": {"href": f"{self.address}?$skip={behind}"}}
        return _response(200, body, cap=self.cap)

    def _found(self, query: dict[str, str]) -> list[dict[str, str | None]]:
        condition = query.get("$filter", "")
        found = [identity for identity, time in self.times.items() if self.ignores_filter or _fits(time, condition)]
        if "$orderby" in query and self.order.startswith("sorts"):
            nulls_last = self.order == "sorts nulls last"
            found.sort(key=lambda identity: _sortable(self.times[identity], nulls_last=nulls_last))
        return [_itwin(identity, self.time, self.times[identity]) for identity in found[: self.cap]]


def _response(status: int, body: object, *, cap: int = 0) -> httpx.Response:
    headers = {"X-Max-Return": str(cap)} if cap else {}
    return httpx.Response(status, headers=headers, stream=httpx.ByteStream(json.dumps(body).encode()))


def _rejection(target: str) -> dict[str, object]:
    """The error for a request that the service does not carry out."""
    return {"error": {"code": "InvalidiTwinsRequest", "message": f"InvalidValue [{target}]"}}


def _sortable(time: datetime | str | Unset | None, *, nulls_last: bool) -> datetime:
    missing = datetime.max if nulls_last else datetime.min
    return time if isinstance(time, datetime) else missing.replace(tzinfo=UTC)


def _itwin(identity: str, name: str, time: datetime | str | Unset | None) -> dict[str, str | None]:
    known: dict[str, str | None] = {"id": identity} if identity else {}
    return (
        known if isinstance(time, Unset) else {**known, name: time.isoformat() if isinstance(time, datetime) else time}
    )


def _fits(time: datetime | str | Unset | None, condition: str) -> bool:
    if not isinstance(time, datetime):
        return "DateTime eq null" in condition or "DateTime" not in condition
    for comparison, value in _TERM.findall(condition):
        bound = datetime.fromisoformat(value)
        if (time >= bound) is (comparison == "lt"):
            return False
    return True


DAY = datetime(2026, 1, 1, tzinfo=UTC)


def day(number: float) -> datetime:
    """A day of January 2026, counted from 0."""
    return DAY + timedelta(days=number)


def days(count: int) -> dict[str, datetime | None]:
    """One iTwin for each of the first `count` days."""
    return {str(number): day(number) for number in range(count)}


def read(itwins: TimedITwins, within: str | None = None, *, concurrency: int = 1) -> list[str]:
    """Read every iTwin in virtual time, and return the ids."""

    async def collect() -> list[str]:
        return [str(itwin.id) async for itwin in itwins.pager(within, concurrency=concurrency)]

    return in_virtual_time(collect())
