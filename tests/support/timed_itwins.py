"""iTwins with times, in memory, listed by filters over these up to a cap."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from itwin_platform import ITwin, Pager, UnprocessableError, Unset
from itwin_platform._listings.links import Query, page_of, skip_of
from itwin_platform._listings.page import Answer, Listing, Place
from itwin_platform._listings.time_ranges import TimeRangeListing

_TERM = re.compile(r"createdDateTime (ge|lt|eq) (\S+)")


def refusal(code: str, target: str) -> UnprocessableError:
    """The answer to a request that the service does not carry out."""
    return UnprocessableError(
        status=422,
        code="InvalidiTwinsRequest",
        message=f"{code} [{target}]",
        target=None,
        details=(),
        headers={},
        body=b"",
        attempts=1,
    )


@dataclass(kw_only=True)
class TimedITwins:
    """A service with iTwins by id, each with its time.

    A time may be missing (UNSET), null, or something else; `others` stand where there is no iTwin. `refuses` decides
    which filters are refused, `ignores_filter` lets all of them pass, `before` is called with the number of each
    request.
    """

    times: Mapping[str, datetime | str | Unset | None]
    others: list[object] = field(default_factory=list)
    cap: int = 20
    page_size: int = 5
    refuses: Callable[[str], bool] = lambda condition: False
    ignores_filter: bool = False
    before: Callable[[int], None] = lambda number: None
    requests: int = 0
    conditions: list[str] = field(default_factory=list)
    selects: list[str] = field(default_factory=list)

    def whole(self, within: str | None = None) -> TimeRangeListing:
        """Lists all of it."""
        return TimeRangeListing(
            time="createdDateTime", within=within, page_size=self.page_size, read=self.list, look=self.list
        )

    def list(
        self,
        *,
        filter: str | Unset,
        select: str = "",
        skip: int = 0,
        limit: int | None = None,
    ) -> Pager[ITwin]:
        """Lists what a filter takes."""
        condition = filter or ""
        self.conditions.append(condition)
        self.selects.append(select)

        async def fetch(place: Place) -> Answer[ITwin]:
            self.before(self.requests)
            self.requests += 1
            if self.refuses(condition):
                raise refusal("InvalidValue", "$filter")
            return self._page(condition, place.query or page_of(skip=skip, page_size=self.page_size))

        name = f"timed {condition}"
        return Pager(Listing(fetch=fetch, name=name, page_size=self.page_size, skip=skip, limit=limit))

    def _page(self, condition: str, query: Query) -> Answer[ITwin]:
        skip = skip_of(query) or 0
        found = [identity for identity, time in self.times.items() if self.ignores_filter or _fits(time, condition)]
        found, behind = found[: self.cap], skip + self.page_size
        items = [_itwin(identity, self.times[identity]) for identity in found[skip:behind]]
        return Answer(
            items=items or [*self.others],  # type: ignore[list-item]  # also what is no iTwin
            next_href=f"?$skip={behind}" if behind < len(found) else None,
            address="https://service.example/itwins/",
            query=query,
            max_return=self.cap,
        )


def _itwin(identity: str, time: datetime | str | Unset | None) -> ITwin:
    itwin = ITwin.from_dict({"id": identity} if identity else {})
    itwin.created_date_time = time  # type: ignore[assignment]  # also what the description does not have
    return itwin


def _fits(time: datetime | str | Unset | None, condition: str) -> bool:
    for comparison, value in _TERM.findall(condition):
        if value == "null":
            return not isinstance(time, datetime)
        bound = datetime.fromisoformat(value)
        if not isinstance(time, datetime) or (time >= bound) is (comparison == "lt"):
            return False
    return True
