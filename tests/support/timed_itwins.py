"""iTwins with times, in memory, listed by filters over these up to a cap."""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

import httpx
from itwin_platform import ITwin, Pager, UnprocessableError, Unset
from itwin_platform._api import RequestValues
from itwin_platform._listings.list_all import TimeRangeRun
from itwin_platform._listings.run import Listing, PageContent

from tests.support.virtual_time import in_virtual_time

_TERM = re.compile(r"createdDateTime (ge|lt) (\S+)")


def rejection(code: str, target: str) -> UnprocessableError:
    """The error for a request that the service does not carry out."""
    return UnprocessableError(
        status=422,
        code="InvalidiTwinsRequest",
        message=f"{code} [{target}]",
        target=None,
        details=(),
        headers={},
        body=b"",
        attempts=1,
    )


@dataclass(kw_only=True)
class TimedITwins:
    """A service with iTwins by id, each with its time; it records the query of each request.

    A time may be missing (UNSET), null, or something else; `others` stand where there is no iTwin. `rejects` decides
    which filters are rejected, `ignores_filter` lets all of them pass; `order` says whether it sorts by time, ignores
    that it should, or rejects it. `before` is called with the number of each request.
    """

    times: Mapping[str, datetime | str | Unset | None]
    others: list[object] = field(default_factory=list)
    cap: int = 20
    page_size: int = 5
    latency: float = 0.0
    rejects: Callable[[str], bool] = lambda condition: False
    ignores_filter: bool = False
    order: str = "sorts"  # "sorts nulls last", "ignores", "rejects"
    before: Callable[[int], None] = lambda number: None
    errors: dict[int, BaseException] = field(default_factory=dict)
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
        query = {"$top": str(self.page_size)} | ({"$filter": within} if within else {})
        first = RequestValues(method="GET", route="/", path="/", query=query, headers={"X-Max-Return": "10000"})
        listing: Listing[ITwin] = Listing(
            first=first,
            address="https://service.example/itwins/",
            name="timed",
            page_size=self.page_size,
            limit=limit,
            concurrency=concurrency,
            resume=resume,
            identity=lambda itwin: getattr(itwin, "id", None),
        )
        begin = partial(TimeRangeRun, time="createdDateTime", within=within)
        return Pager(listing, send=self.send, read=self.read, begin=begin)

    @property
    def conditions(self) -> list[str]:
        """The filter of each request."""
        return [query.get("$filter", "") for query in self.queries]

    async def send(self, values: RequestValues) -> httpx.Response:
        """Respond with a page that is not decoded yet."""
        query = dict(parse_qsl(values.query) if isinstance(values.query, str) else values.query)
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
            raise rejection("InvalidValue", "$filter")
        if "$orderby" in query and self.order == "rejects":
            raise rejection("InvalidValue", "$orderby")
        return httpx.Response(
            200,
            request=httpx.Request("GET", "https://service.example/"),
            extensions={"found": self._found(query), "query": query},
        )

    def _found(self, query: dict[str, str]) -> list[ITwin]:
        condition = query.get("$filter", "")
        found = [identity for identity, time in self.times.items() if self.ignores_filter or _fits(time, condition)]
        if "$orderby" in query and self.order == "sorts":
            found.sort(key=lambda identity: _sortable(self.times[identity], nulls_last=False))
        elif "$orderby" in query and self.order == "sorts nulls last":
            found.sort(key=lambda identity: _sortable(self.times[identity], nulls_last=True))
        return [_itwin(identity, self.times[identity]) for identity in found[: self.cap]]

    def read(self, response: httpx.Response) -> PageContent[ITwin]:
        """Decode a page."""
        found: Any = response.extensions["found"]
        query = response.extensions["query"]
        skip = int(query.get("$skip", "0"))
        behind = skip + int(query["$top"])
        items: Any = found[skip:behind] or [*self.others]
        return PageContent(
            items=items,
            next_href=f"?$skip={behind}" if behind < len(found) else None,
            max_return=self.cap,
        )


def _sortable(time: datetime | str | Unset | None, *, nulls_last: bool) -> datetime:
    missing = datetime.max if nulls_last else datetime.min
    return time if isinstance(time, datetime) else missing.replace(tzinfo=UTC)


def _itwin(identity: str, time: datetime | str | Unset | None) -> ITwin:
    itwin = ITwin.from_dict({"id": identity} if identity else {})
    itwin.created_date_time = time  # type: ignore[assignment]  # also what the description does not have
    return itwin


def _fits(time: datetime | str | Unset | None, condition: str) -> bool:
    if not isinstance(time, datetime):
        return " or createdDateTime eq null" in condition or "createdDateTime" not in condition
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
