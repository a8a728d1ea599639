"""Listings as lazy pages: requested one after the other or concurrently, in the same order."""

import asyncio
import warnings
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Generic

from itwin_platform_api.request import RequestValues
from itwin_platform_transport import PlatformError, check_integer

from .._requests.sender import DecodedResponse, PlatformSender, ResponseInfo, as_callback
from .position import Listing, Position, carried, listing_name, page_numbers, parameters_of, read_resume, write_resume
from .run import Page, PageContent, Run, T, TruncatedWarning

#: The requests in flight, by their queries.
Tasks = dict[str, asyncio.Task[DecodedResponse]]


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
    """

    collected: tuple[T, ...] = ()
    """What the last `collect()` that failed had read: as `collected` of its error, with the type of the items."""

    _listing: Listing
    _path: str
    _start: Position
    _send: Callable[[RequestValues], Coroutine[object, object, DecodedResponse]]
    _read: Callable[[DecodedResponse], PageContent[T]]
    _begin: Callable[[Listing, Position], Run[T]]
    _concurrency: int
    _on_page: Callable[[Page[T]], None]
    _run: Run[T]
    _warned = False

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
        return write_resume(self._run.position, self._listing)

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
        return self._run.position.items - self._start.items

    async def __aiter__(self) -> AsyncGenerator[T, None]:
        """Yield the items in order; an error carries `.resume`."""
        async with aclosing(self._pages(self._concurrency)) as pages:
            async for run, page in pages:
                for item in page.items:
                    run.handed_out += 1
                    yield item

    async def pages(self) -> AsyncGenerator[Page[T], None]:
        """Yield the pages in order; an error carries `.resume`."""
        async with aclosing(self._pages(self._concurrency)) as pages:
            async for run, page in pages:
                run.handed_out += len(page.items)
                yield page

    async def first_page(self) -> Page[T]:
        """Return the first page; one request is sent. An error carries `.resume`."""
        async with aclosing(self._pages(1)) as pages:
            async for run, page in pages:
                run.handed_out += len(page.items)
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
            self.collected = tuple(items)
            error.collected = self.collected
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

    async def _pages(self, count: int) -> AsyncGenerator[tuple[Run[T], Page[T]], None]:
        run = self._run = self._begin(self._listing, self._start)
        tasks: Tasks = {}
        first = self._listing.first
        info: ResponseInfo | None = None
        try:
            while queries := run.requests(count):
                try:
                    # A page that nothing is requested beside needs no task.
                    response = await (tasks.pop(queries[0], None) or self._send(first._replace(query=queries[0])))
                except PlatformError as error:
                    if not run.recovers(error):
                        raise
                    continue
                if count > 1 and run.pages_read:
                    # The next request begins before this response is decoded: the service works meanwhile.
                    await self._keep(tasks, run.requests(count + 1)[1:])
                    await asyncio.sleep(0)
                info = response.info()
                page = run.take(self._read(response), response=info)
                del response  # or its body would stay in memory until the next response has come
                self._on_page(page)
                if count > 1:
                    await self._keep(tasks, run.requests(count))
                yield run, page
            if run.problem is not None:
                raise run.problem
        except PlatformError as failure:
            failure.resume = write_resume(run.position, self._listing)
            failure.method, failure.route, failure.path = first.method, first.route, self._path
            if failure is run.problem and info is not None:
                failure.correlation_id = info.correlation_id
            raise
        finally:
            await self._keep(tasks, ())

    async def _keep(self, tasks: Tasks, queries: Sequence[str]) -> None:
        """Send the requests with these queries that are not in flight yet, and cancel all others.

        A response waits in its task, not yet decoded, until the pages before it have been yielded.
        """
        dropped = [tasks.pop(query) for query in [*tasks] if query not in queries]
        for task in dropped:
            task.cancel()
        await asyncio.gather(*dropped, return_exceptions=True)
        for query in queries:
            if query not in tasks:
                tasks[query] = asyncio.create_task(self._send(self._listing.first._replace(query=query)))


class OperationPager(Pager[T]):
    """A pager as the operations make it: `Pager` is for readers, and shows none of these arguments."""

    def __init__(
        self,
        first: RequestValues,
        *,
        name: str,
        sender: PlatformSender,
        read: Callable[[DecodedResponse], PageContent[T]],
        parameters: frozenset[str],
        most: int,
        limit: int | None,
        concurrency: int,
        resume: str | None,
        on_page: Callable[[Page[T]], None] | None,
        begin: Callable[[Listing, Position], Run[T]] = Run,
    ) -> None:
        check_integer("limit", 0 if limit is None else limit, least=0)
        check_integer("concurrency", concurrency, least=1)
        first = sender.with_extras(first)
        page_size, skip = page_numbers(first, most)
        self._listing = listing = Listing(
            first=first,
            carried=carried(parameters_of(first)),
            name=listing_name(name, first),
            parameters=parameters.union(sender.options.query),
            page_size=page_size,
            skip=skip,
            limit=limit,
        )
        self._path = sender.service.prefix + first.path
        self._start = Position() if resume is None else read_resume(resume, listing)
        self._send, self._read, self._begin = sender.send, read, begin
        self._concurrency, self._on_page = concurrency, as_callback("on_page", on_page) or (lambda _: None)
        self._run = begin(listing, self._start)
