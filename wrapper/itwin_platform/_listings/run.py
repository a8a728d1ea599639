"""One run through a listing, without input and output: what to ask for next, and what an answer comes to."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Generic

from .._errors import PagingError
from .links import LoopDetector, Query, is_as_asked, next_query, shifted
from .page import Answer, Listing, Page, T
from .resume import Position, write_resume


class ListingRun(Generic[T]):
    """Takes the answers of one run in order, and knows at any moment where the listing goes on.

    The order of one page: `queries`, `take` with the answer to the first of them, `hand_out` for what the caller got.
    """

    def __init__(self, listing: Listing[T], start: Position) -> None:
        self._listing = listing
        self._start = self._before = self._behind = start
        self._places: Sequence[int] = ()
        self._handed_out = 0
        self._trail = LoopDetector()
        self._steady = False
        self._ended = self._remaining(start) == 0
        self._seen: set[str | None] = set()
        self.problem: PagingError | None = None
        self.truncated = False
        self.max_return: int | None = None
        self.is_partial = False
        self.changed = False
        self.duplicates = 0
        self.pages_read = 0

    @property
    def position(self) -> Position:
        """The place behind what was handed out last."""
        if self._handed_out == len(self._places):
            return self._behind
        done = self._places[self._handed_out - 1] if self._handed_out else self._before.done
        return replace(self._before, done=done, items=self._before.items + self._handed_out)

    @property
    def items_read(self) -> int:
        """Items handed out in this run."""
        return self.position.items - self._start.items

    @property
    def resume(self) -> str:
        """The place behind what was handed out last, as a text."""
        return write_resume(self.position, listing=self._listing.name)

    def hand_out(self, count: int) -> None:
        """Counts items of the page that was taken last as handed out."""
        self._handed_out += count

    def queries(self, count: int) -> list[Query | None]:
        """Returns the queries of the next pages in order, up to `count` of them as far as they are known."""
        if self._ended or self.problem is not None:
            return []
        following, size = self._behind.query, self._listing.page_size
        if following is None or not self._steady:
            return [following]
        ahead = [shifted(following, size * step) for step in range(count)]
        bounds = (self._remaining(self._behind), self._until_cap(self._behind))
        most = min(-(-bound // size) for bound in (*bounds, size * count) if bound is not None)
        return [*ahead[: max(1, most)]]

    def take(self, answer: Answer[T]) -> Page[T]:
        """Takes the answer to the first of the queries, and returns its page."""
        self._before = before = replace(
            self._behind, query=answer.query, last_modified=self._note(answer, self._behind.last_modified)
        )
        remaining = self._remaining(before)
        items, places = self._without_duplicates(answer.items, start=before.done)
        whole = remaining is None or len(items) <= remaining
        items, self._places, self._handed_out = items[:remaining], places[:remaining], 0
        following = self._following(answer)
        goes_on = following if whole else None
        self._behind = behind = replace(
            before,
            query=goes_on or answer.query,
            done=0 if goes_on else len(answer.items) if whole else self._places[-1],
            items=before.items + len(items),
        )
        until_cap = self._until_cap(behind)
        capped = self.max_return is not None and behind.items >= self.max_return
        self.truncated = until_cap is not None and until_cap <= 0 and (following is None or capped)
        left = not whole or following is not None or self.problem is not None
        self._ended = self._remaining(behind) == 0 or capped or not left
        if self._ended:
            self.problem = None
        return Page(
            items=items,
            resume=write_resume(behind, listing=self._listing.name) if left else None,
            scene=answer.scene,
        )

    def _remaining(self, at: Position) -> int | None:
        limit = self._listing.limit
        return None if limit is None else max(0, limit - at.items)

    def _until_cap(self, at: Position) -> int | None:
        # Whether the cap counts what is skipped is not described: what might have been cut off counts as cut off.
        return None if self.max_return is None else self.max_return - self._listing.skip - at.items

    def _note(self, answer: Answer[T], last_seen: str | None) -> str | None:
        self.pages_read += 1
        if answer.max_return is not None:
            self.max_return = answer.max_return
        if answer.scene is None:
            return last_seen
        self.is_partial = self.is_partial or answer.scene.is_partial
        said = answer.scene.last_modified
        modified = said.isoformat() if isinstance(said, datetime) else last_seen
        self.changed = self.changed or (last_seen is not None and modified != last_seen)
        return modified

    def _without_duplicates(self, items: list[T], *, start: int) -> tuple[list[T], Sequence[int]]:
        """Returns the items from a place on, and with each of them the place behind it."""
        identity, fresh = self._listing.identity, items[start:]
        places = range(start + 1, len(items) + 1)
        if identity is None:
            return fresh, places
        names = [name if isinstance(name := identity(item), str) else None for item in fresh]
        twice = self._twice(names)
        if not twice:
            return fresh, places
        self.duplicates += len(twice)
        kept = [place for place in range(len(fresh)) if place not in twice]
        return [fresh[place] for place in kept], [places[place] for place in kept]

    def _twice(self, names: list[str | None]) -> set[int]:
        """Notes names, and returns the places of those that came before in a scene that was changed since."""
        twice: set[int] = set()
        if self.changed:
            for place, name in enumerate(names):
                if name is not None and name in self._seen:
                    twice.add(place)
                self._seen.add(name)
        else:
            self._seen.update(names)
        return twice

    def _following(self, answer: Answer[T]) -> Query | None:
        try:
            following = next_query(answer.next_href, address=answer.address, current=answer.query)
        except PagingError as error:
            self.problem = error
            return None
        if following is not None and self._trail.repeats(following):
            self.problem = PagingError("the link to the next page leads to one that was read before")
            return None
        size, is_first = self._listing.page_size, self.pages_read == 1
        if following is None or not is_as_asked(answer.query, following, page_size=size):
            self._steady = False
        else:
            # One link that says more than the place is read as a cursor: from then on links are followed.
            self._steady = is_first or (self._steady and following == shifted(answer.query, size))
        return following
