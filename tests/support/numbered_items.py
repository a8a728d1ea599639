"""A listing of the numbers from 0 on, in memory, for what pagers do with pages."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from itwin_platform import Page, SceneState
from itwin_platform._listings.links import page_of, skip_of
from itwin_platform._listings.page import Answer, Listing, Place

ADDRESS = "https://service.example/prefix/items/"


@dataclass(kw_only=True)
class NumberedItems:
    """Lists `total` numbers in pages of `page_size`, each after `latency` seconds; notes who asks.

    `link` writes the link to the page at a number, `errors` are raised in place of the page at a number, `cap` is the
    X-Max-Return, `scene` tells the state of the scene for the page at a number.
    """

    total: int
    page_size: int = 10
    latency: float = 0.0
    cap: int | None = None
    link: Callable[[int], object] = lambda skip: f"?$skip={skip}&$top=10"
    errors: dict[int, BaseException] = field(default_factory=dict)
    scene: Callable[[int], SceneState | None] = lambda skip: None
    asked: list[int] = field(default_factory=list)
    decoded_when_asked: list[int] = field(default_factory=list)
    decoded: list[int] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    async def fetch(self, place: Place) -> Answer[str]:
        """Answers with a page."""
        query = place.query or page_of(skip=0, page_size=self.page_size)
        skip = skip_of(query) or 0
        self.asked.append(skip)
        self.decoded_when_asked.append(len(self.decoded))
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
        await place.arrived()
        self.decoded.append(skip)
        behind = skip + self.page_size
        return Answer(
            items=[str(number) for number in range(skip, min(behind, self.total))],
            next_href=self.link(behind) if behind < self.total else None,
            address=ADDRESS,
            query=query,
            max_return=self.cap,
            scene=self.scene(skip),
        )

    def listing(
        self,
        *,
        skip: int = 0,
        limit: int | None = None,
        concurrency: int = 1,
        resume: str | None = None,
        on_page: Callable[[Page[str]], None] | None = None,
    ) -> Listing[str]:
        """Returns what a pager reads."""
        return Listing(
            fetch=self.fetch,
            name="numbers",
            page_size=self.page_size,
            skip=skip,
            limit=limit,
            concurrency=concurrency,
            resume=resume,
            on_page=on_page,
        )

    @property
    def everything(self) -> list[str]:
        """All there is."""
        return [str(number) for number in range(self.total)]
