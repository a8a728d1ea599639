"""Listings as lazy pages: requested one after the other or concurrently, in the same order."""

import asyncio
import warnings
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Generic

from itwin_platform_transport import PlatformError

from .._errors import PagingError
from .._requests.sender import DecodedResponse, ErrorsOfCall, as_callback
from .position import Listing, PageRequest, Position, read_resume, write_resume
from .run import Page, PageContent, State, T, TruncatedWarning, after_page

#: Decodes a response when the turn of its page comes.
Decode = Callable[[DecodedResponse], PageContent[T]]


class PageReader(Generic[T]):
    """Reads the pages of a listing in order, with up to `concurrency` requests in flight.

    A response waits in its task, not yet decoded, until the pages before it have been handed out.

    This is no asynchronous generator: an event loop that ends closes all generators at once, also one that another
    generator is closing, which is an error.

    Args:
        decode: decodes a response.
        listing: the listing.
        state: where to begin.
    """

    def __init__(self, decode: Decode[T], listing: Listing, state: State[T]) -> None:
        self.state, self._decode, self._listing = state, decode, listing
        self._seen, self._followed = set[str](), set[int]()
        self._tasks: dict[PageRequest, asyncio.Task[DecodedResponse]] = {}

    async def read(self) -> State[T] | None:
        """Return the listing after its next page; None behind the last one."""
        state, listing, count = self.state, self._listing, self._listing.concurrency
        if isinstance(state.following, PagingError):
            raise state.following
        if not (requests := state.requests(listing, count)):
            return None
        response = await (self._tasks.pop(requests[0], None) or self._send(requests[0]))
        if count > 1 and state.is_steady is not None:
            # The next request begins before this response is decoded: the service works meanwhile.
            await self._keep(state.requests(listing, count + 1)[1:])
            await asyncio.sleep(0)
        content = self._content(response)
        state = after_page(listing, state, requests[0], content, self._seen, self._followed)
        if listing.time or content.scene is not None:
            self._seen.update(each for item in content.items if isinstance(each := getattr(item, "id", None), str))
        self._followed.add(hash(state.end.request))
        if count > 1:
            await self._keep(state.requests(listing, count))
        self.state = state
        return state

    async def aclose(self) -> None:
        """Cancel the requests in flight."""
        await self._keep(())

    def _content(self, response: DecodedResponse) -> PageContent[T]:
        return self._decode(response)

    def _send(self, request: PageRequest) -> Coroutine[object, object, DecodedResponse]:
        return self._listing.sender.send(self._listing.first._replace(query=self._listing.query(request)))

    async def _keep(self, requests: Sequence[PageRequest]) -> None:
        """Send the requests that are not in flight yet, and cancel all others."""
        dropped = [self._tasks.pop(request) for request in [*self._tasks] if request not in requests]
        for task in dropped:
            task.cancel()
        await asyncio.gather(*dropped, return_exceptions=True)
        for request in requests:
            if request not in self._tasks:
                self._tasks[request] = asyncio.create_task(self._send(request))


#: Makes the reader of a run.
NewReader = Callable[[Listing, State[T]], PageReader[T]]


class Progress(Generic[T]):
    """How far an iteration has come: the listing after the last page, and how many of its items the caller has."""

    def __init__(self, state: State[T]) -> None:
        self.state, self.handed_out = state, 0


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
        listing: what to read.
        reader: makes the reader of a run.
        resume: where an earlier run ended.
        on_page: called with each page.
    """

    collected: tuple[T, ...] = ()
    """What the last `collect()` that failed had read: as `collected` of its error, with the type of the items."""

    def __init__(
        self, listing: Listing, reader: NewReader[T], *, resume: str | None, on_page: Callable[[Page[T]], None] | None
    ) -> None:
        self._listing, self._reader = listing, reader
        self._on_page, self._has_warned = as_callback("on_page", on_page), False
        start = Position() if resume is None else read_resume(resume, listing)
        page: Page[T] = Page(items=[], resume=(start, listing.name, listing.first))
        self._start = State(end=start, page=page, following=start.request or PageRequest(skip=listing.skip or None))
        self._progress = Progress(self._start)

    def __repr__(self) -> str:
        operation = self._listing.name.partition(":")[0].replace("_", " ")
        return f"Pager({operation}, items_read={self.items_read}, pages_read={self.pages_read})"

    if not TYPE_CHECKING:
        # Hidden from type checkers, which report both mistakes by themselves.

        def __await__(self) -> object:
            raise TypeError("a Pager cannot be awaited: write `async for item in pager` or `await pager.collect()`")

        def __iter__(self) -> object:
            raise TypeError("a Pager is asynchronous: write `async for item in pager` or `await pager.collect()`")

    @property
    def resume(self) -> str:
        """Where the listing continues after the last item that you received: pass it to the same call, anywhere."""
        return write_resume(self._position(self._progress), self._listing.name, self._listing.first)

    @property
    def truncated(self) -> bool:
        """True when the listing stopped because X-Max-Return was reached: what lies past it was not returned."""
        return self._progress.state.truncated

    @property
    def max_return(self) -> int | None:
        """The X-Max-Return that the service echoed; None before the first page, and for scene objects."""
        return self._progress.state.max_return

    @property
    def is_partial(self) -> bool:
        """True when the service withheld objects because of insufficient permissions."""
        return self._progress.state.is_partial

    @property
    def changed(self) -> bool:
        """True when the scene was modified while it was read: objects may be missing."""
        return self._progress.state.changed

    @property
    def duplicates(self) -> int:
        """Items that came twice within the run, and were dropped."""
        return self._progress.state.duplicates

    @property
    def pages_read(self) -> int:
        """Pages that this run has read."""
        return self._progress.state.pages_read

    @property
    def items_read(self) -> int:
        """Items that this run has handed out."""
        return self._position(self._progress).items - self._start.end.items

    async def __aiter__(self) -> AsyncGenerator[T, None]:
        """Yield the items in order; an error carries `.resume`."""
        progress = self._progress = Progress(self._start)
        async with aclosing(self._reader(self._listing, self._start)) as reader:
            while page := await self._next(reader, progress):
                for item in page.items:
                    progress.handed_out += 1
                    yield item

    def pages(self) -> AsyncGenerator[Page[T], None]:
        """Yield the pages in order; an error carries `.resume`."""
        return self._pages(self._listing)

    async def first_page(self) -> Page[T]:
        """Return the first page; one request is sent. An error carries `.resume`."""
        async with aclosing(self._pages(replace(self._listing, concurrency=1))) as pages:
            # With a limit of 0, or a `resume` at the limit, there is none.
            return await anext(pages, self._start.page)

    async def collect(self) -> list[T]:
        """Return all items in a list; warn once per pager, with a TruncatedWarning, when X-Max-Return cut it short.

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
        if self.truncated and not self._has_warned and self._position(self._progress).items != self._listing.limit:
            self._has_warned, advice = True, "narrow it by sub_class or filter, or read all of them with list_all"
            said = f"the listing ended at max_return={self.max_return}, there may be more items: {advice}"
            warnings.warn(said, TruncatedWarning, stacklevel=2)
        return items

    async def _pages(self, listing: Listing) -> AsyncGenerator[Page[T], None]:
        progress = self._progress = Progress(self._start)
        async with aclosing(self._reader(listing, self._start)) as reader:
            while page := await self._next(reader, progress):
                progress.handed_out = len(page.items)
                yield page

    async def _next(self, reader: PageReader[T], progress: Progress[T]) -> Page[T] | None:
        """Return the next page; an error continues after the last item that was handed out."""
        try:
            if (state := await reader.read()) is None:
                return None
            progress.state, progress.handed_out = state, 0
            if self._on_page is not None:
                self._on_page(state.page)
        except PlatformError as failure:
            first, last = self._listing.first, progress.state
            failure.resume = write_resume(self._position(progress), self._listing.name, first)
            path = self._listing.sender.service.prefix + first.path
            ErrorsOfCall(first.method, first.route, path).name(failure)
            if failure is last.following and last.page.response is not None:
                failure.correlation_id = last.page.response.correlation_id
            raise
        return state.page

    def _position(self, progress: Progress[T]) -> Position:
        return progress.state.position(self._listing, progress.handed_out)
