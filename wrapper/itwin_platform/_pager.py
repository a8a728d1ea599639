"""Listings as lazy pages: read one after the other, or several at once, in the same order."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Generic

from ._errors import PagingError, PlatformError
from ._page import Answer, Listing, Page, T
from ._paging import Position, Query, Trail, next_query, read_resume, stride, write_resume


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn(Generic[T]):
    """A page ready to be handed out: its items, each with the place behind it, and the place behind the page."""

    items: list[tuple[Position, T]]
    after: Position
    query: Query
    following: Query | None
    problem: PagingError | None
    ends: bool
    page: Page[T]


class Pager(Generic[T]):
    """A listing, lazily: the first request goes out with the first `async for`. Source: sections 4.3 and 4.6.

    `async for item in pager`, `async for page in pager.pages()`, or `await pager.collect()`. Each of them reads from
    the beginning, or from `resume`; the marks below are those of the run under way, or of the one that ended last.

    Attributes:
        truncated: the listing stopped because X-Max-Return was reached; what lies past it was not returned.
        max_return: the X-Max-Return that the service echoed.
        is_partial: the service withheld objects because of insufficient permissions.
        changed: the scene was modified while it was read: objects may be missing.
        duplicates: objects of a changed scene that came twice and were dropped.
        pages_read, items_read: what this run has read.
    """

    def __init__(self, listing: Listing[T]) -> None:
        self._listing = listing
        self._start = read_resume(listing.resume, listing=listing.name) if listing.resume is not None else Position()
        self._begin()

    def _begin(self) -> None:
        self._at = self._start
        self._seen: set[object] = set()
        self.truncated = False
        self.max_return = self._start.max_return
        self.is_partial = False
        self.changed = False
        self.duplicates = 0
        self.pages_read = 0
        self.items_read = 0

    @property
    def resume(self) -> str:
        """Where the listing goes on after what was handed out last: give it to the same call, also elsewhere."""
        return write_resume(self._at, listing=self._listing.name)

    async def __aiter__(self) -> AsyncIterator[T]:
        """Yields the items in order; an error carries `.resume`."""
        async with aclosing(self._turns()) as turns:
            async for turn in turns:
                for position, item in turn.items:
                    self._at = position
                    self.items_read += 1
                    yield item
                self._at = turn.after

    async def pages(self) -> AsyncGenerator[Page[T], None]:
        """Yields the pages in order; an error carries `.resume`."""
        async with aclosing(self._turns()) as turns:
            async for turn in turns:
                self._at = turn.after
                self.items_read += len(turn.items)
                yield turn.page

    async def collect(self) -> list[T]:
        """Reads all items into a list.

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
        return items

    async def _turns(self) -> AsyncGenerator[_Turn[T], None]:
        self._begin()
        if self._remaining() == 0:
            return
        trail = Trail()
        ahead: deque[tuple[Query | None, asyncio.Task[Answer[T]]]] = deque()
        try:
            self._fetch(self._at.query, ahead)
            while ahead:
                turn = self._turn(await ahead.popleft()[1], trail)
                self.pages_read += 1
                if self._listing.on_page is not None:
                    self._listing.on_page(turn.page)
                if ahead and ahead[0][0] != turn.following:
                    await _cancel(ahead)
                self._read_ahead(turn, ahead)
                yield turn
                if turn.problem is not None:
                    raise turn.problem
                if not turn.ends and not ahead:
                    self._fetch(turn.following, ahead)
        except PlatformError as error:
            error.resume = self.resume
            raise
        finally:
            await _cancel(ahead)

    def _fetch(self, query: Query | None, ahead: "deque[tuple[Query | None, asyncio.Task[Answer[T]]]]") -> None:
        ahead.append((query, asyncio.create_task(self._listing.fetch(query))))

    def _read_ahead(self, turn: _Turn[T], ahead: "deque[tuple[Query | None, asyncio.Task[Answer[T]]]]") -> None:
        """Asks for the pages after this one, up to `concurrency`, where the service pages as asked."""
        known = (
            None if turn.following is None else stride(turn.query, turn.following, page_size=self._listing.page_size)
        )
        if turn.ends or known is None or self._listing.concurrency == 1:
            return
        remaining = self._remaining(turn.after)
        while len(ahead) < self._listing.concurrency:
            skip = known.first + len(ahead) * known.step
            capped = self.max_return is not None and skip >= self.max_return
            enough = remaining is not None and len(ahead) * known.step >= remaining
            if ahead and (capped or enough):
                return
            self._fetch(known.at(skip), ahead)

    def _remaining(self, at: Position | None = None) -> int | None:
        limit = self._listing.limit
        return None if limit is None else max(0, limit - (at or self._at).items)

    def _turn(self, answer: Answer[T], trail: Trail) -> _Turn[T]:
        self._note(answer)
        start = replace(
            self._at, query=answer.query, max_return=self.max_return, last_modified=self._last_modified(answer)
        )
        items = self._positioned(answer, start)
        end = items[-1][0] if items else start
        whole = len(answer.items) == end.done or self._remaining(end) != 0
        following, problem = self._following(answer, trail)
        capped = self.max_return is not None and end.items >= self.max_return
        reached = self.max_return is not None and self._listing.skip + end.items >= self.max_return
        self.truncated = reached and (following is None or capped)
        after = replace(end, done=len(answer.items)) if whole else end
        if whole and following is not None:
            after = replace(end, query=following, done=0)
        left = not whole or following is not None or problem is not None
        resume = write_resume(after, listing=self._listing.name) if left else None
        return _Turn(
            items=items,
            after=after,
            query=answer.query,
            following=following,
            problem=problem if whole and self._remaining(end) != 0 else None,
            ends=following is None or capped or self._remaining(end) == 0,
            page=Page(items=[item for _, item in items], resume=resume, scene=answer.scene),
        )

    def _following(self, answer: Answer[T], trail: Trail) -> tuple[Query | None, PagingError | None]:
        try:
            following = next_query(answer.next_href, address=answer.address, current=answer.query)
        except PagingError as error:
            return None, error
        if following is not None and trail.repeats(following):
            return None, PagingError("the link to the next page leads to one that was read before")
        return following, None

    def _positioned(self, answer: Answer[T], start: Position) -> list[tuple[Position, T]]:
        """Returns the items that are to be handed out, each with the place behind it."""
        items: list[tuple[Position, T]] = []
        remaining = self._remaining(start)
        for place, item in enumerate(answer.items[start.done :], start=start.done + 1):
            if remaining is not None and len(items) >= remaining:
                break
            if not self._drop(item):
                items.append((replace(start, done=place, items=start.items + len(items) + 1), item))
        return items

    def _drop(self, item: T) -> bool:
        if self._listing.identity is None:
            return False
        identity = self._listing.identity(item)
        twice = self.changed and identity in self._seen
        self._seen.add(identity)
        self.duplicates += twice
        return twice

    def _note(self, answer: Answer[T]) -> None:
        if answer.max_return is not None:
            self.max_return = answer.max_return
        if answer.scene is not None:
            self.is_partial = self.is_partial or answer.scene.is_partial
            first = self._at.last_modified
            self.changed = self.changed or (first is not None and first != self._last_modified(answer))

    def _last_modified(self, answer: Answer[T]) -> str | None:
        said = answer.scene.last_modified if answer.scene is not None else None
        return said.isoformat() if isinstance(said, datetime) else self._at.last_modified


async def _cancel(ahead: "deque[tuple[Query | None, asyncio.Task[Answer[T]]]]") -> None:
    tasks = [task for _, task in ahead]
    ahead.clear()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
