"""Listings as lazy pages: requested one after the other or concurrently, in the same order."""

import asyncio
import warnings
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic

from .._api import RequestValues
from .._errors import PlatformError, counted
from .._http.connections.messages import Response
from .._requests.request import check_integer
from .._requests.response import response_info
from .resume import Position, read_resume, write_resume
from .run import Listing, ListingRun, Page, PageContent, PageRequest, Run, T, TruncatedWarning

Send = Callable[[RequestValues], Coroutine[object, object, Response]]


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

    Source: sections 4.3 and 4.6.
    """

    def __init__(
        self,
        listing: Listing[T],
        *,
        send: Send,
        read: Callable[[Response], PageContent[T]],
        begin: Callable[[Listing[T], Position], Run[T]] = ListingRun,
    ) -> None:
        if listing.limit is not None:
            check_integer("limit", listing.limit, least=0)
        check_integer("concurrency", listing.concurrency, least=1)
        resume, name = listing.resume, listing.name
        self._listing = listing
        self._send, self._read, self._begin = send, read, begin
        self._start = Position() if resume is None else read_resume(resume, listing=name, keywords=listing.keywords)
        self._run = begin(listing, self._start)
        self._warned = False

    def __repr__(self) -> str:
        operation = self._listing.name.partition(":")[0].replace("_", " ")
        return f"Pager({operation}, {counted(self.items_read, 'item')} of {counted(self.pages_read, 'page')} read)"

    if not TYPE_CHECKING:
        # Hidden from type checkers, which report both mistakes by themselves.

        def __await__(self) -> object:
            raise TypeError("a Pager cannot be awaited: write `async for item in pager` or `await pager.collect()`")

        def __iter__(self) -> object:
            raise TypeError("a Pager is asynchronous: write `async for item in pager` or `await pager.collect()`")

    @property
    def resume(self) -> str:
        """Where the listing continues after the last item that you received: pass it to the same call, anywhere."""
        return write_resume(self._run.position, listing=self._listing.name)

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
        """Items that came twice within the run, and were dropped."""
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
        """Yield the items in order; an error carries `.resume`."""
        run = self._run = self._begin(self._listing, self._start)
        async with aclosing(self._pages(run, self._listing.concurrency)) as pages:
            async for page in pages:
                for item in page.items:
                    run.hand_out(1)
                    yield item

    async def pages(self) -> AsyncGenerator[Page[T], None]:
        """Yield the pages in order; an error carries `.resume`."""
        run = self._run = self._begin(self._listing, self._start)
        async with aclosing(self._pages(run, self._listing.concurrency)) as pages:
            async for page in pages:
                run.hand_out(len(page.items))
                yield page

    async def first_page(self) -> Page[T]:
        """Return the first page; one request is sent. An error carries `.resume`."""
        run = self._run = self._begin(self._listing, self._start)
        async with aclosing(self._pages(run, 1)) as pages:
            async for page in pages:
                run.hand_out(len(page.items))
                return page
        return Page(items=[], resume=self.resume)  # with a limit of 0, or a `resume` at the limit

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
            error.collected = tuple(items)
            raise
        if self.truncated and not self._warned and self._run.position.items != self._listing.limit:
            self._warned = True
            warnings.warn(
                f"the listing ended at max_return={self.max_return}, there may be more items: narrow it by sub_class "
                "or by filter, or read all of them with list_all",
                TruncatedWarning,
                stacklevel=2,
            )
        return items

    async def _pages(self, run: Run[T], count: int) -> AsyncGenerator[Page[T], None]:
        is_concurrent = count > 1
        in_flight = _PagesInFlight(self._send)
        try:
            await in_flight.request(run.requests(count))
            while in_flight.tasks:
                first = await in_flight.next_response()
                if is_concurrent and run.pages_read and first.task.exception() is None:
                    # The next request begins before this response is decoded: the service works meanwhile.
                    await in_flight.request(run.requests(count + 1)[1:])
                    await asyncio.sleep(0)
                page = await self._page(run, first)
                if page is not None:
                    if is_concurrent:
                        await in_flight.request(run.requests(count))
                    yield page
                await in_flight.request(run.requests(count))
            if run.problem is not None:
                raise run.problem
        except PlatformError as error:
            error.resume = write_resume(run.position, listing=self._listing.name)
            error.method, error.route = self._listing.first.method, self._listing.first.route
            raise
        finally:
            await in_flight.cancel()

    async def _page(self, run: Run[T], first: "_PageTask") -> Page[T] | None:
        try:
            response = await first.task
        except PlatformError as error:
            if run.recovers(error):
                return None
            raise
        page = replace(run.take(first.request, self._read(response)), response=response_info(response))
        if self._listing.on_page is not None:
            self._listing.on_page(page)
        return page


@dataclass(frozen=True, slots=True, kw_only=True)
class _PageTask:
    """The request of a page, with the task that sends it."""

    request: PageRequest
    task: asyncio.Task[Response]


class _PagesInFlight:
    """The requests in flight, each as a task, in the order of their pages.

    A response waits in its task, not yet decoded, until the pages before it have been yielded.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self.tasks: deque[_PageTask] = deque()

    async def request(self, wanted: Sequence[PageRequest]) -> None:
        """Send the wanted requests that are not in flight yet, and cancel those in flight that are not wanted."""
        if [each.request for each in self.tasks] != wanted[: len(self.tasks)]:
            await self._keep(wanted)
        # Those in flight stand in the order of the wanted ones: others come between them, or after them.
        for index, request in enumerate(wanted):
            if index == len(self.tasks) or self.tasks[index].request != request:
                task = asyncio.create_task(self._send(request.values))
                self.tasks.insert(index, _PageTask(request=request, task=task))

    async def next_response(self) -> _PageTask:
        """Wait for the response to the first request, or for an error in its place, and return its task."""
        await asyncio.wait([self.tasks[0].task])
        return self.tasks.popleft()

    async def cancel(self) -> None:
        """Cancel all requests in flight, and wait until they have ended."""
        await self._keep(())

    async def _keep(self, wanted: Sequence[PageRequest]) -> None:
        dropped = [each.task for each in self.tasks if each.request not in wanted]
        self.tasks = deque(each for each in self.tasks if each.request in wanted)
        for task in dropped:
            task.cancel()
        await asyncio.gather(*dropped, return_exceptions=True)
