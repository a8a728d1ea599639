"""Listings as lazy pages: read one after the other, or several at once, in the same order."""

import asyncio
import warnings
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Generic

from .._errors import PlatformError
from .links import Query
from .page import Answer, Listing, Page, Place, T, TruncatedWarning, check_integer
from .resume import Position, read_resume
from .run import ListingRun


class Pager(Generic[T]):
    """A listing, lazily: the first request goes out with the first `async for`. Source: sections 4.3 and 4.6.

    `async for item in pager`, `async for page in pager.pages()`, or `await pager.collect()`. Each of them is a run of
    its own, from the beginning or from the `resume` that was given: iterating twice asks the service twice. What the
    pager says of itself, such as `truncated`, it says of the run that began last.

    A run that is left early, by `break` or an error, cancels the requests under way when Python closes its generator,
    which is at the next turn of the event loop; `contextlib.aclosing(pager.pages())` closes it there and then.
    """

    def __init__(self, listing: Listing[T]) -> None:
        if listing.limit is not None:
            check_integer("limit", listing.limit, least=0, most=None, code=None, target="limit")
        check_integer("concurrency", listing.concurrency, least=1, most=None, code=None, target="concurrency")
        resume, name = listing.resume, listing.name
        self._listing = listing
        self._start = Position() if resume is None else read_resume(resume, listing=name)
        self._run = ListingRun(listing, self._start)

    def __repr__(self) -> str:
        return f"Pager({self._listing.name!r}, pages_read={self.pages_read}, items_read={self.items_read})"

    @property
    def resume(self) -> str:
        """Where the listing goes on after what was handed out last: give it to the same call, also elsewhere."""
        return self._run.resume

    @property
    def truncated(self) -> bool:
        """True when the listing stopped because X-Max-Return was reached: what lies past it was not returned."""
        return self._run.truncated

    @property
    def max_return(self) -> int | None:
        """The X-Max-Return that the service echoed; None before the first page, and for scene objects."""
        return self._run.max_return

    @property
    def is_partial(self) -> bool:
        """True when the service withheld objects because of insufficient permissions."""
        return self._run.is_partial

    @property
    def changed(self) -> bool:
        """True when the scene was modified while it was read: objects may be missing."""
        return self._run.changed

    @property
    def duplicates(self) -> int:
        """Objects of a changed scene that came twice within the run, and were dropped."""
        return self._run.duplicates

    @property
    def pages_read(self) -> int:
        """Pages that this run has read."""
        return self._run.pages_read

    @property
    def items_read(self) -> int:
        """Items that this run has handed out."""
        return self._run.items_read

    async def __aiter__(self) -> AsyncGenerator[T, None]:
        """Yields the items in order; an error carries `.resume`."""
        run = self._run = ListingRun(self._listing, self._start)
        async with aclosing(self._read(run)) as pages:
            async for page in pages:
                for item in page.items:
                    run.hand_out(1)
                    yield item

    async def pages(self) -> AsyncGenerator[Page[T], None]:
        """Yields the pages in order; an error carries `.resume`."""
        run = self._run = ListingRun(self._listing, self._start)
        async with aclosing(self._read(run)) as pages:
            async for page in pages:
                run.hand_out(len(page.items))
                yield page

    async def collect(self) -> list[T]:
        """Reads all items into a list; a TruncatedWarning says when X-Max-Return ended it before `limit` did.

        Raises:
            PlatformError: with `.resume`, and with `.collected`, the items until then.
        """
        items: list[T] = []
        try:
            async for page in self.pages():
                items.extend(page.items)
        except PlatformError as error:
            error.collected = tuple(items)
            raise
        if self.truncated and self._run.position.items != self._listing.limit:
            warnings.warn(
                f"the listing ended at X-Max-Return ({self.max_return}), there may be more: narrow it by sub_class or "
                "by filter, or read all of it with list_all",
                TruncatedWarning,
                stacklevel=2,
            )
        return items

    async def _read(self, run: ListingRun[T]) -> AsyncGenerator[Page[T], None]:
        ahead: deque[_Request[T]] = deque()
        several = self._listing.concurrency > 1
        try:
            await self._ask(run, ahead)
            while ahead:
                await ahead[0].arrival()
                request = ahead.popleft()
                if several:
                    # The next request goes out before this answer is decoded: the service works meanwhile.
                    await self._ask(run, ahead, behind=1)
                page = run.take(await request.answer())
                if self._listing.on_page is not None:
                    self._listing.on_page(page)
                if several:
                    await self._ask(run, ahead)
                yield page
                await self._ask(run, ahead)
            if run.problem is not None:
                raise run.problem
        except PlatformError as error:
            error.resume = run.resume
            raise
        finally:
            await _cancel(ahead)

    async def _ask(self, run: ListingRun[T], ahead: "deque[_Request[T]]", *, behind: int = 0) -> None:
        """Sends for `concurrency` pages, from `behind` the next one on, and cancels requests that lead elsewhere."""
        queries = run.queries(self._listing.concurrency + behind)[behind:]
        if [request.query for request in ahead] != queries[: len(ahead)]:
            await _cancel(ahead)
        ahead.extend(_Request(self._listing, query) for query in queries[len(ahead) :])


class _Request(Generic[T]):
    """A page on its way: asked for, then here, and decoded when its turn comes."""

    def __init__(self, listing: Listing[T], query: Query | None) -> None:
        self.query = query
        self._is_here, self._is_next = asyncio.Event(), asyncio.Event()
        self._task = asyncio.create_task(self._fetch(listing))

    async def _fetch(self, listing: Listing[T]) -> Answer[T]:
        try:
            return await listing.fetch(Place(query=self.query, arrived=self._arrived))
        finally:
            self._is_here.set()

    async def _arrived(self) -> None:
        self._is_here.set()
        await self._is_next.wait()

    async def arrival(self) -> None:
        """Waits until there is an answer, or an error in place of it."""
        await self._is_here.wait()

    async def answer(self) -> Answer[T]:
        """Decodes and returns the answer."""
        self._is_next.set()
        return await self._task

    def cancel(self) -> "asyncio.Task[Answer[T]]":
        """Ends the request, and returns what to wait for."""
        self._task.cancel()
        return self._task


async def _cancel(ahead: "deque[_Request[T]]") -> None:
    tasks = [request.cancel() for request in ahead]
    ahead.clear()
    await asyncio.gather(*tasks, return_exceptions=True)
