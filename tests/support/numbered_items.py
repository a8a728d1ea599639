"""A service that lists iTwins with the numbers from 0 on as ids, in memory, for what pagers do with pages."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field

import httpx
from itwin_platform import BackoffPolicy, ITwin, Page, Pager, PlatformClient

from tests.support.prepared_pages import BASE_URL, itwin_page

#: Neither retries nor the gate stand between a pager and the service.
POLICY = BackoffPolicy(max_attempts=1, max_in_flight=1000, deadline=None)


@dataclass(kw_only=True)
class NumberedItems(httpx.AsyncBaseTransport):
    """Lists `total` iTwins, each page after `latency` seconds, and records the requests.

    `page_size` is the one that the pagers ask for; None asks for the service's maximum. `link` makes the link to the
    page at a number, `errors` come in place of the page at a number, `cap` is the X-Max-Return.
    """

    total: int
    page_size: int | None = 10
    latency: float = 0.0
    cap: int | None = None
    link: Callable[[int], object] = lambda skip: f"?$skip={skip}&$top=10"
    errors: dict[int, int | Exception] = field(default_factory=dict)
    requested: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    decoded_when_requested: list[int] = field(default_factory=list)
    decoded: list[int] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    #: As the default transport says of itself: then no task stands between a pager and the service.
    cancels_cleanly = True

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Respond with a page."""
        skip, top = int(request.url.params.get("$skip", "0")), int(request.url.params["$top"])
        self.requested.append(skip)
        self.sizes.append(top)
        self.decoded_when_requested.append(len(self.decoded))
        self.in_flight += 1
        self.most_in_flight = max(self.in_flight, self.most_in_flight)
        try:
            await asyncio.sleep(self.latency)
        except asyncio.CancelledError:
            self.cancelled.append(skip)
            raise
        finally:
            self.in_flight -= 1
        return self._page(skip, skip + top)

    def _page(self, skip: int, behind: int) -> httpx.Response:
        error = self.errors.get(skip)
        if isinstance(error, Exception):
            raise error
        if error is not None:
            return httpx.Response(error)
        ids = [str(number) for number in range(skip, min(behind, self.total))]
        body = itwin_page(*ids, link=self.link(behind) if behind < self.total else None)
        headers = {} if self.cap is None else {"X-Max-Return": str(self.cap)}
        return httpx.Response(200, headers=headers, stream=httpx.ByteStream(json.dumps(body).encode()))

    def pager(
        self,
        *,
        skip: int = 0,
        limit: int | None = None,
        concurrency: int = 1,
        resume: str | None = None,
        on_page: Callable[[Page[ITwin]], None] | None = None,
    ) -> Pager[ITwin]:
        """A pager over all there is."""

        def note(page: Page[ITwin]) -> None:
            self.decoded.append(int(page.items[0].id or "0") if page.items else -1)
            if on_page is not None:
                on_page(page)

        client = PlatformClient(BASE_URL, vendor="v", token="t", transport=self, backoff=POLICY)
        return client.itwins.list(
            skip=skip, page_size=self.page_size, limit=limit, concurrency=concurrency, resume=resume, on_page=note
        )

    @property
    def everything(self) -> list[ITwin]:
        """All there is."""
        return numbered(0, self.total)


def numbered(first: int, behind: int) -> list[ITwin]:
    """The iTwins from one number up to another."""
    return [ITwin.from_dict({"id": str(number)}) for number in range(first, behind)]
