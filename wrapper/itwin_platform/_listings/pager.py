"""Listings as lazy pages: requested one after the other or concurrently, in the same order."""

import asyncio
import warnings
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from typing import Generic

from itwin_platform_transport import PlatformError

from .._errors import PagingError
from .._requests.sender import DecodedResponse, ErrorsOfCall, as_callback
from .position import Listing, Position, read_resume, write_resume
from .run import Page, PageContent, State, T, TruncatedWarning, after_page, begin

#: Decodes a response when the turn of its page comes.
Decode = Callable[[DecodedResponse], PageContent[T]]


class PageReader(Generic[T]):
    """Reads the pages of a listing in order, with up to `concurrency` requests in flight.

    A response waits in its task, not yet decoded, until the pages before it have been returned.

    This is no asynchronous generator: an event loop that ends closes all generators at once, also one that another
    generator is closing, which is an error.

    Args:
        listing: the listing.
        decode: decodes a response.
        state: where to begin.
        concurrency: the most requests in flight.

    `state` is the listing after the last page, and `handed_out` says how many of its items the caller has.
    """

    def __init__(self, listing: Listing, decode: Decode[T], state: State[T], *, concurrency: int) -> None:
        self.state, self.handed_out = state, 0
        self._listing, self._decode, self._concurrency = listing, decode, concurrency
        self._seen, self._followed = dict[str, None](), set[int]()
        self._tasks: dict[str, asyncio.Task[DecodedResponse]] = {}

    @property
    def position(self) -> Position:
        """The position after the last item that the caller has."""
        return self.state.position(self._listing, self.handed_out)

    async def read(self) -> Page[T] | None:
        """Return the next page; None behind the last one."""
        state, listing, since = self.state, self._listing, self.state.end.range.since
        if isinstance(state.following, PagingError):
            raise state.following
        # Later ranges of `list_all` may be short, so fewer pages are requested ahead.
        count = self._concurrency if since is None else min(self._concurrency, 1 + state.pages_read // 10)
        if not (requests := state.requests(listing, count)):
            return None
        query = listing.query(requests[0], since)
        response = await (self._tasks.pop(query, None) or self._send(query))
        if count > 1 and state.is_steady is not None:
            # The next request begins before this response is decoded: the service works meanwhile.
            await self._keep([listing.query(each, since) for each in state.requests(listing, count + 1)[1:]])
            await asyncio.sleep(0)
        content = self._decode(response)
        state = after_page(listing, state, requests[0], content, self._seen.keys(), self._followed)
        if listing.time or content.scene is not None:
            ids = (getattr(item, "id", None) for item in content.items)
            self._seen.update((each, None) for each in ids if isinstance(each, str))
        if state.end.range.since != since:
            # Only the last ties can come again.
            self._seen = dict.fromkeys([*self._seen][-state.end.range.ties :])
            self._followed.clear()
        self._followed.add(hash(state.end.request))
        if count > 1:
            since = state.end.range.since
            await self._keep([listing.query(each, since) for each in state.requests(listing, count)])
        self.state, self.handed_out = state, 0
        return state.page

    async def aclose(self) -> None:
        """Cancel the requests in flight."""
        await self._keep(())

    def _send(self, query: str) -> Coroutine[object, object, DecodedResponse]:
        return self._listing.sender.send(self._listing.first._replace(query=query))

    async def _keep(self, queries: Sequence[str]) -> None:
        """Send the requests that are not in flight yet, and cancel all others."""
        dropped = [self._tasks.pop(query) for query in [*self._tasks] if query not in queries]
        for task in dropped:
            task.cancel()
        await asyncio.gather(*dropped, return_exceptions=True)
        for query in queries:
            if query not in self._tasks:
                self._tasks[query] = asyncio.create_task(self._send(query))


# Source: sections 4.3 and 4.6.
class Pager(Generic[T]):
    """A lazy listing: the first request is sent when iteration starts.

    Each iteration is a run of its own, from the beginning or from `resume`: iterating twice sends the requests twice.
    Attributes of the pager, such as `truncated`, describe the run that started last.

    A run that is left early, by `break` or an error, cancels its requests in flight when Python closes its generator,
    which is in the next iteration of the event loop. `contextlib.aclosing(pager.pages())` closes it immediately.

    Example:
        ```python
        pager = platform.itwins.list(sub_class="Project", page_size=100)
        async for itwin in pager:
            print(itwin.display_name)
        async for page in pager.pages():
            print(len(page.items), page.resume)
        itwins = await pager.collect()
        ```

    The client makes pagers. The arguments of the constructor are not part of the public API.

    Args:
        listing: the listing.
        decode: decodes a response.
        resume: where an earlier run ended.
        on_page: called with each page.
    """

    collected: tuple[T, ...] = ()
    """The items of the last `collect()` that failed: as `collected` of its error, with the type of the items."""

    def __init__(
        self, listing: Listing, decode: Decode[T], *, resume: str | None, on_page: Callable[[Page[T]], None] | None
    ) -> None:
        self._listing, self._decode = listing, decode
        self._on_page = as_callback("on_page", on_page)
        start, following = begin(listing, Position() if resume is None else read_resume(resume, listing))
        page: Page[T] = Page(items=[], resume=write_resume(start, listing))
        self._start = State(end=start, page=page, following=following)
        self._run = self._begin()

    def __repr__(self) -> str:
        operation = self._listing.name.partition(":")[0].replace("_", " ")
        return f"Pager({operation}, items_read={self.items_read}, pages_read={self.pages_read})"

    @property
    def resume(self) -> str:
        """Where the listing continues after the last item that you received: pass it to the same call, anywhere."""
        return write_resume(self._run.position, self._listing)

    @property
    def truncated(self) -> bool:
        """True when the listing stopped because X-Max-Return was reached: the service may have more items."""
        return self._run.state.truncated

    @property
    def max_return(self) -> int | None:
        """The X-Max-Return that the service echoed; None before the first page, and for scene objects."""
        return self._run.state.max_return

    @property
    def is_partial(self) -> bool:
        """True when the service withheld objects because of insufficient permissions."""
        return self._run.state.is_partial

    @property
    def changed(self) -> bool:
        """True when the scene was modified while it was read: objects may be missing."""
        return self._run.state.changed

    @property
    def duplicates(self) -> int:
        """Items that came twice within the run, and were dropped."""
        return self._run.state.duplicates

    @property
    def pages_read(self) -> int:
        """Pages that this run has read."""
        return self._run.state.pages_read

    @property
    def items_read(self) -> int:
        """Items that this run has handed out."""
        return self._run.position.items - self._start.end.items

    async def __aiter__(self) -> AsyncGenerator[T, None]:
        """Yield the items in order; an error carries `.resume`."""
        async with aclosing(self._begin()) as run:
            while page := await self._next(run):
                for item in page.items:
                    run.handed_out += 1
                    yield item

    async def pages(self) -> AsyncGenerator[Page[T], None]:
        """Yield the pages in order; an error carries `.resume`."""
        async with aclosing(self._begin()) as run:
            while page := await self._next(run):
                run.handed_out = len(page.items)
                yield page

    async def first_page(self) -> Page[T]:
        """Return the first page; one request is sent. An error carries `.resume`."""
        async with aclosing(self._begin(concurrency=1)) as run:
            # With a limit of 0, or a `resume` at the limit, there is none.
            page = await self._next(run) or self._start.page
            run.handed_out = len(page.items)
            return page

    async def collect(self) -> list[T]:
        """Return all items in a list; warn with a TruncatedWarning when X-Max-Return cut it short.

        Raises:
            PlatformError: with `.resume`, and with `.collected`, the items until then.
        """
        items: list[T] = []
        try:
            async for page in self.pages():
                items.extend(page.items)
        except PlatformError as error:
            self.collected = tuple(items)
            error.collected = self.collected
            raise
        if self.truncated and self._run.position.items != self._listing.limit:
            advice = "narrow it by sub_class or filter, or read all of them with list_all"
            said = f"the listing ended at max_return={self.max_return}, there may be more items: {advice}"
            warnings.warn(said, TruncatedWarning, stacklevel=2)
        return items

    def _begin(self, *, concurrency: int | None = None) -> PageReader[T]:
        """Begin a run, which the attributes of the pager describe from now on."""
        most = concurrency or self._listing.concurrency
        self._run = PageReader(self._listing, self._decode, self._start, concurrency=most)
        return self._run

    async def _next(self, run: PageReader[T]) -> Page[T] | None:
        """Return the next page; an error continues after the last item that the caller has."""
        last = run.state
        try:
            page = await run.read()
            if page is not None and self._on_page is not None:
                self._on_page(page)
        except PlatformError as failure:
            first = self._listing.first
            failure.resume = write_resume(run.position, self._listing)
            path = self._listing.sender.service.prefix + first.path
            ErrorsOfCall(first.method, first.route, path).name(failure)
            if failure is last.following and last.page.response is not None:
                failure.correlation_id = last.page.response.correlation_id
            raise
        return page
