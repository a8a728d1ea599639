"""A listing of the numbers from 0 on, in memory, for what pagers do with pages."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qs

import httpx
from itwin_platform import Page, Pager, SceneState
from itwin_platform._api import RequestValues
from itwin_platform._listings.links import keyword_names
from itwin_platform._listings.run import Listing, PageContent

ADDRESS = "https://service.example/prefix/items/"


def first_request(*, skip: int = 0, page_size: int = 10) -> RequestValues:
    """The request of the first page, with a keyword that no link may change."""
    query = {"color": "red", "$top": str(page_size)} | ({"$skip": str(skip)} if skip else {})
    return RequestValues(method="GET", route="/items/", path="/items/", query=query, headers={})


def placed(values: RequestValues) -> tuple[int, int]:
    """`$skip` and `$top` of a request."""
    query = values.query if isinstance(values.query, str) else "&".join(f"{n}={v}" for n, v in values.query.items())
    found = {name: texts[-1] for name, texts in parse_qs(query).items()}
    return int(found.get("$skip", "0")), int(found["$top"])


@dataclass(kw_only=True)
class NumberedItems:
    """Lists `total` numbers in pages of `page_size`, each after `latency` seconds, and records the requests.

    `link` makes the link to the page at a number, `errors` are raised in place of the page at a number, `cap` is the
    X-Max-Return, `scene` returns the state of the scene for the page at a number.
    """

    total: int
    page_size: int = 10
    latency: float = 0.0
    cap: int | None = None
    link: Callable[[int], object] = lambda skip: f"?$skip={skip}&$top=10"
    errors: dict[int, BaseException] = field(default_factory=dict)
    scene: Callable[[int], SceneState | None] = lambda skip: None
    requested: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    decoded_when_requested: list[int] = field(default_factory=list)
    decoded: list[int] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    async def send(self, values: RequestValues) -> httpx.Response:
        """Respond with a page that is not decoded yet."""
        skip, top = placed(values)
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
        if skip in self.errors:
            raise self.errors[skip]
        return httpx.Response(
            200, request=httpx.Request("GET", "https://service.example/"), extensions={"skip": skip, "top": top}
        )

    def read(self, response: httpx.Response) -> PageContent[str]:
        """Decode a page."""
        skip, behind = response.extensions["skip"], response.extensions["skip"] + response.extensions["top"]
        self.decoded.append(skip)
        return PageContent(
            items=[str(number) for number in range(skip, min(behind, self.total))],
            next_href=self.link(behind) if behind < self.total else None,
            max_return=self.cap,
            scene=self.scene(skip),
        )

    def listing(
        self,
        *,
        skip: int = 0,
        limit: int | None = None,
        shrinks: bool = False,
        concurrency: int = 1,
        resume: str | None = None,
        on_page: Callable[[Page[str]], None] | None = None,
    ) -> Listing[str]:
        """What a pager reads."""
        return Listing(
            first=first_request(skip=skip, page_size=self.page_size),
            address=ADDRESS,
            name="numbers",
            keywords=keyword_names("color", "size"),
            page_size=self.page_size,
            shrinks=shrinks,
            skip=skip,
            limit=limit,
            concurrency=concurrency,
            resume=resume,
            on_page=on_page,
        )

    def pager(
        self,
        *,
        limit: int | None = None,
        shrinks: bool = False,
        concurrency: int = 1,
        resume: str | None = None,
        on_page: Callable[[Page[str]], None] | None = None,
    ) -> Pager[str]:
        """A pager over all there is."""
        listing = self.listing(limit=limit, shrinks=shrinks, concurrency=concurrency, resume=resume, on_page=on_page)
        return Pager(listing, send=self.send, read=self.read)

    @property
    def everything(self) -> list[str]:
        """All there is."""
        return [str(number) for number in range(self.total)]
