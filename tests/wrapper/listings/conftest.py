"""Services that list pages in memory, in virtual time, and record their requests."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from itwin_platform import UNSET, BackoffPolicy, ITwin, Pager, PlatformClient, Unset

from tests.support.event_loops import VirtualTimeLoop
from tests.support.services import InTaskOfCall

BASE_URL = "https://service.example/prefix"
SCENE = "6a2d2381-6c57-9332-387a-5b7c00000000"
ITWIN = "dc90a5f3-2f61-4c87-9f35-1a4b7c6d8e90"
#: Neither retries nor the gate stand between a pager and its service.
ONCE = BackoffPolicy(max_attempts=1, max_in_flight=1000, deadline=None)
_TERM = re.compile(r"DateTime (ge|lt) (\S+)")


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The loop that the coroutine tests of this folder run in."""
    return {"virtual": VirtualTimeLoop}


def itwin_page(*ids: str, link: object = None) -> dict[str, object]:
    """The body of a page of iTwins; `link` is the href of `next`."""
    links = {} if link is None else {"next": {"href": link}}
    return {"iTwins": [{"id": identity} for identity in ids], "_links": links}


def object_page(*ids: str, link: object = None, **context: object) -> dict[str, object]:
    """The body of a page of scene objects; `-` has no id."""
    links = {} if link is None else {"next": {"href": link}}
    objects = [{} if identity == "-" else {"id": identity} for identity in ids]
    return {"objects": objects, "sceneContext": context, "_links": links}


@dataclass
class PageService(InTaskOfCall):
    """A service that responds after the next of `latencies`, which repeat."""

    _: KW_ONLY
    latencies: Sequence[float] = (0.0,)
    policy: BackoffPolicy = ONCE
    checks: bool = True
    requests: list[httpx.Request] = field(default_factory=list, init=False, repr=False)
    in_flight: int = field(default=0, init=False, repr=False)
    most_in_flight: int = field(default=0, init=False, repr=False)

    @property
    def platform(self) -> PlatformClient:
        """A client of the service."""
        return PlatformClient(
            BASE_URL, vendor="v", token="t", transport=self, backoff=self.policy, check_requests=self.checks
        )

    @property
    def queries(self) -> list[str]:
        """The query of each request as it came."""
        return [request.url.query.decode() for request in self.requests]

    def respond(self, number: int, request: httpx.Request) -> httpx.Response | Exception:
        """Return the response to a request, or the exception to raise."""
        raise NotImplementedError

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Record the request, wait and respond."""
        number = len(self.requests)
        self.requests.append(request)
        self.in_flight += 1
        self.most_in_flight = max(self.in_flight, self.most_in_flight)
        try:
            await asyncio.sleep(self.latencies[number % len(self.latencies)])
        finally:
            self.in_flight -= 1
        outcome = self.respond(number, request)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


@dataclass
class LinkedPages(PageService):
    """A service that responds with prepared pages in order, and repeats the last one."""

    pages: Sequence[httpx.Response | Mapping[str, object]]
    cap: int | None = None

    def respond(self, number: int, request: httpx.Request) -> httpx.Response:
        """Return the next page."""
        page = self.pages[min(number, len(self.pages) - 1)]
        headers = {} if self.cap is None else {"X-Max-Return": str(self.cap)}
        return (
            page if isinstance(page, httpx.Response) else httpx.Response(200, headers=headers, content=json.dumps(page))
        )


def linked(*links: object, count: int = 1, cap: int | None = None) -> LinkedPages:
    """Pages of `count` iTwins with these links."""
    ids = ([str(number * count + item) for item in range(count)] for number in range(len(links)))
    return LinkedPages([itwin_page(*names, link=link) for names, link in zip(ids, links, strict=True)], cap=cap)


@dataclass
class NumberedItems(PageService):
    """Lists iTwins whose ids are the numbers below `total`, no more than the cap.

    The response depends only on the number of a page's first item, so that every reader gets the same.

    Args:
        page_size: the page size of a pager; None for the service's maximum.
        shares: items of a page in percent of `$top`, which repeat.
        links: links to the next page at `{0}`, which repeat; `{1}` is `$top`, and `{2}` is smaller.
        errors: a status or an exception in place of a page.
        faults: statuses and exceptions before a page.
    """

    total: int
    _: KW_ONLY
    page_size: int | None = 10
    shares: Sequence[int] = (100,)
    links: Sequence[str] = ("?$skip={0}&$top={1}",)
    cap: int = 10_000
    errors: dict[int, int | Exception] = field(default_factory=dict)
    faults: dict[int, Sequence[int | Exception]] = field(default_factory=dict)

    @property
    def everything(self) -> list[ITwin]:
        """All iTwins up to the cap."""
        return [ITwin.from_dict({"id": str(number)}) for number in range(min(self.total, self.cap))]

    @property
    def requested(self) -> list[int]:
        """The number of the first item of each requested page."""
        return [_first_item(request) for request in self.requests]

    def pager(self, **keywords: Any) -> Pager[ITwin]:
        """Return a pager of all iTwins."""
        return self.platform.itwins.list(page_size=self.page_size, **keywords)

    def respond(self, number: int, request: httpx.Request) -> httpx.Response | Exception:
        """Return a page, or its error or fault."""
        first, top = _first_item(request), int(request.url.params["$top"])
        faults = self.faults.get(first, ())
        met = self.requested[:number].count(first) if faults else 0
        outcome = self.errors.get(first, faults[met] if met < len(faults) else None)
        if outcome is not None:
            return outcome if isinstance(outcome, Exception) else httpx.Response(outcome, headers={"retry-after": "2"})
        cap = min(int(request.headers["x-max-return"]), self.cap)
        behind, end = first + max(1, top * self.shares[first % len(self.shares)] // 100), min(self.total, cap)
        link = self.links[first % len(self.links)].format(behind, top, max(1, top - 1)) if behind < end else None
        body = itwin_page(*map(str, range(first, min(behind, end))), link=link)
        return httpx.Response(200, headers={"X-Max-Return": str(cap)}, json=body)


def _first_item(request: httpx.Request) -> int:
    query = request.url.params
    return int(query.get("cursor", query.get("$skip", "0")))


@dataclass
class TimedITwins(PageService):
    """Lists iTwins by filters over their times: a time, UNSET for none, null, or something else.

    Args:
        times: the time of each iTwin by id.
        order: `sorts`, `sorts nulls last`, `ignores` that it should, or `rejects` it.
        rejects: decides which filters are rejected.
        later: times that replace them, from the request with a number on.
        errors: the response to a request in place of its page.
        link: the link to the next page at `{0}`.
    """

    times: Mapping[str, datetime | str | Unset | None]
    _: KW_ONLY
    cap: int = 20
    page_size: int = 5
    order: str = "sorts"
    time: str = "createdDateTime"
    ignores_filter: bool = False
    rejects: Callable[[str], bool] = lambda condition: False
    later: Mapping[int, Mapping[str, datetime | str | Unset | None]] = field(default_factory=dict)
    errors: Mapping[int, httpx.Response | Exception] = field(default_factory=dict)
    link: str = "?$skip={0}"

    def pager(self, within: str = "", **keywords: Any) -> Pager[ITwin]:
        """Return a pager of `list_all`."""
        pages = self.platform.itwins
        return pages.list_all(partition_by=self.time, filter=within or UNSET, page_size=self.page_size, **keywords)

    async def read(self, within: str = "", **keywords: Any) -> list[str]:
        """Read `list_all`, and return the ids."""
        return [str(itwin.id) async for itwin in self.pager(within, **keywords)]

    def respond(self, number: int, request: httpx.Request) -> httpx.Response | Exception:
        """Return a page, or an error for a filter or an order that is rejected."""
        self.times = self.later.get(number, self.times)
        query = request.url.params
        if number in self.errors:
            return self.errors[number]
        for name, is_rejected in (("$filter", self.rejects), ("$orderby", lambda _: self.order == "rejects")):
            if name in query and is_rejected(query[name]):
                error = {"code": "InvalidiTwinsRequest", "message": f"InvalidValue [{name}]"}
                return httpx.Response(422, json={"error": error})
        found, skip = self._found(query), _first_item(request)
        behind = skip + int(query["$top"])
        links = {"next": {"href": self.link.format(behind)}} if behind < len(found) else {}
        body = {"iTwins": found[skip:behind], "_links": links}
        cap = min(int(request.headers["x-max-return"]), self.cap)
        return httpx.Response(200, headers={"X-Max-Return": str(cap)}, json=body)

    def _found(self, query: httpx.QueryParams) -> list[dict[str, str | None]]:
        condition = "" if self.ignores_filter else query.get("$filter", "")
        found = [(identity, time) for identity, time in self.times.items() if _fits(time, condition)]
        if "$orderby" in query and self.order.startswith("sorts"):
            missing = (datetime.max if self.order == "sorts nulls last" else datetime.min).replace(tzinfo=UTC)
            is_descending = ["ASC", "DESC"].index(query["$orderby"].rpartition(" ")[2]) == 1
            assert query["$top"] == "1" or not is_descending, "the other direction is read for its first item alone"
            found.sort(key=lambda itwin: itwin[1] if isinstance(itwin[1], datetime) else missing, reverse=is_descending)
        ids: list[dict[str, str | None]] = [{"id": identity} if identity else {} for identity, _ in found]
        times = [{self.time: _written(time)} if not isinstance(time, Unset) else {} for _, time in found]
        return [own | time for own, time in zip(ids, times, strict=True)][: self.cap]


def _written(time: datetime | str | None) -> str | None:
    return time.isoformat() if isinstance(time, datetime) else time


def _fits(time: datetime | str | Unset | None, condition: str) -> bool:
    if not isinstance(time, datetime):
        return "DateTime eq null" in condition or "DateTime" not in condition
    bounds = [(kind, datetime.fromisoformat(value)) for kind, value in _TERM.findall(condition)]
    return all(time >= bound if kind == "ge" else time < bound for kind, bound in bounds)
