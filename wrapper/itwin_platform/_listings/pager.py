"""Listings as lazy pages: requested one after the other or concurrently, in the same order."""

import asyncio
import warnings
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Generic

from itwin_platform_api.request import RequestValues
from itwin_platform_transport import PlatformError

from .._errors import PagingError
from .._requests.request import encode_query
from .._requests.sender import DecodedResponse, ErrorsOfCall, as_callback
from .pages import Listing, Page, PageContent, PageRequest, Position, State, T, TruncatedWarning, after_page

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
        start: where to begin.

    `state` is the listing after the last page, and `handed_out` how many of its items the caller has.
    """

    def __init__(self, decode: Decode[T], listing: Listing, start: Position) -> None:
        following = start.request or PageRequest(skip=listing.skip or None)
        self.state, self.handed_out = State[T](end=start, items=[], following=following), 0
        self._decode, self._listing = decode, listing
        #: The parameters that are the same for each page, encoded.
        self._keywords = encode_query(listing.keywords)
        self._seen, self._followed = set[str](), set[int]()
        self._tasks: dict[PageRequest, asyncio.Task[DecodedResponse]] = {}

    @property
    def position(self) -> Position:
        """The position after the last item that the caller has."""
        return self.state.position(self._listing, self.handed_out)

    def page(self, content: PageContent[T]) -> Page[T]:
        """Return the last page as the caller gets it, from the content that was read."""
        resume = None if self.state.is_last else self._listing.write_resume(self.state.end)
        return Page(items=self.state.items, resume=resume, scene=content.scene, response=content.response.info())

    async def read(self) -> PageContent[T] | None:
        """Read the next page; return the content of its response, or None behind the last page."""
        state, listing, count = self.state, self._listing, self._listing.concurrency
        if isinstance(state.following, PagingError):
            raise state.following
        if not (requests := state.requests(listing, count)):
            return None
        response = await (self._tasks.pop(requests[0], None) or self._send(requests[0]))
        if count > 1 and state.is_steady is not None:
            # Send the next request before decoding this response: the service works meanwhile.
            await self._keep(state.requests(listing, count + 1)[1:])
            await asyncio.sleep(0)
        content = self._decode(response)
        state = after_page(listing, state, requests[0], content, self._seen, self._followed)
        if listing.time or content.scene is not None:
            self._seen.update(each for item in content.items if isinstance(each := getattr(item, "id", None), str))
        self._followed.add(hash(state.end.request))
        if count > 1:
            await self._keep(state.requests(listing, count))
        self.state, self.handed_out = state, 0
        return content

    async def aclose(self) -> None:
        """Cancel the requests in flight."""
        await self._keep(())

    def _send(self, request: PageRequest) -> Coroutine[object, object, DecodedResponse]:
        first, query = self._listing.first, request.query(self._keywords)
        return self._listing.sender.send(RequestValues(first.method, first.route, first.path, query, first.headers))

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
NewReader = Callable[[Listing, Position], PageReader[T]]


# Source: sections 4.3 and 4.6.
class Pager(Generic[T]):
    """A lazy listing: the first request is sent when iteration starts.

    Each iteration is a run of its own, from the beginning or from `resume`: iterating twice sends the requests twice.
    Attributes of the pager, such as `truncated`, describe the run that started last. A run that X-Max-Return cut short
    ends with a TruncatedWarning.

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
        reader: makes the reader of a run.
        resume: where an earlier run ended.
        on_page: called with each page.
    """

    collected: tuple[T, ...] = ()
    """The items that the last failed `collect()` had read, typed; `collected` of its error has the same items."""

    def __init__(
        self, listing: Listing, reader: NewReader[T], *, resume: str | None, on_page: Callable[[Page[T]], None] | None
    ) -> None:
        self._listing, self._reader = listing, reader
        self._on_page = as_callback("on_page", on_page)
        self._start = Position() if resume is None else listing.read_resume(resume)
        self._run = reader(listing, self._start)

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
        """Where the listing continues after the last item you received: pass it to the same call, in any process."""
        return self._listing.write_resume(self._run.position)

    @property
    def truncated(self) -> bool:
        """True when the listing stopped at X-Max-Return: later items were not returned."""
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
        return self._run.position.items - self._start.items

    async def __aiter__(self) -> AsyncGenerator[T, None]:
        """Yield the items in order; an error carries `.resume`."""
        async with aclosing(self._begin(self._listing)) as run:
            while await self._next(run):
                for item in run.state.items:
                    run.handed_out += 1
                    yield item

    def pages(self) -> AsyncGenerator[Page[T], None]:
        """Yield the pages in order; an error carries `.resume`."""
        return self._pages(self._listing)

    async def first_page(self) -> Page[T]:
        """Return the first page; one request is sent. An error carries `.resume`."""
        async with aclosing(self._pages(replace(self._listing, concurrency=1))) as pages:
            # With a limit of 0, or a `resume` at the limit, there is none.
            return await anext(pages, Page(items=[], resume=self.resume))

    async def collect(self) -> list[T]:
        """Return all items in a list.

        Raises:
            PlatformError: with `.resume`, and with `.collected`, the items until then.
        """
        items: list[T] = []
        try:
            async with aclosing(self._begin(self._listing)) as run:
                while await self._next(run):
                    run.handed_out = len(run.state.items)
                    items += run.state.items
        except PlatformError as error:
            self.collected = tuple(items)
            error.collected = self.collected
            raise
        return items

    async def _pages(self, listing: Listing) -> AsyncGenerator[Page[T], None]:
        async with aclosing(self._begin(listing)) as run:
            while isinstance(page := await self._next(run, is_shown=True), Page):
                run.handed_out = len(page.items)
                yield page

    def _begin(self, listing: Listing) -> PageReader[T]:
        """Return the reader of a run, which the attributes describe from now on."""
        self._run = self._reader(listing, self._start)
        return self._run

    async def _next(self, run: PageReader[T], *, is_shown: bool = False) -> Page[T] | bool:
        """Read the next page. Return it if the caller or `on_page` gets it; otherwise, whether there was one.

        An error continues after the last item that was handed out.
        """
        try:
            content = await run.read()
            if content is None and run.state.truncated and run.position.items != self._listing.limit:
                advice = "narrow it by sub_class or filter, or read all of them with list_all"
                message = f"the listing ended at max_return={self.max_return}, there may be more items: {advice}"
                warnings.warn(message, TruncatedWarning, stacklevel=3)
            if content is None or not (is_shown or self._on_page):
                return content is not None
            page = run.page(content)
            del content  # it has the body of the response, which an error of `on_page` would keep
            if self._on_page is not None:
                self._on_page(page)
        except PlatformError as failure:
            first, path = self._listing.first, self._listing.sender.service.prefix + self._listing.first.path
            ErrorsOfCall(first.method, first.route, path).name(failure)
            failure.resume = self._listing.write_resume(run.position)
            raise
        return page
