"""Listings of a scene that changes: the change is reported, and no object comes twice."""

from dataclasses import replace
from datetime import UTC, datetime

from itwin_platform._listings.resume import Position
from itwin_platform._listings.run import ListingRun

from tests.support.listing_runs import content, run_of, taken
from tests.support.numbered_items import NumberedItems

NINE = datetime(2026, 1, 1, 9, tzinfo=UTC)
TEN = datetime(2026, 1, 1, 10, tzinfo=UTC)


def test_objects_of_a_changed_scene_come_once() -> None:
    """After a change, what came before is dropped and counted; before it, and without an id, everything is kept."""
    run = run_of()
    taken(run, content(["a", "b", "a"], "?$skip=10", modified=NINE))
    assert (run.changed, run.duplicates) == (False, 0)
    page = taken(run, content(["b", "c"], "?$skip=20", modified=TEN))
    assert page.items == ["c"]
    assert (run.changed, run.duplicates, run.items_read) == (True, 1, 4)
    page = taken(run, content(["c", "d", "b"], None, modified=TEN))
    assert page.items == ["d"]
    assert (run.changed, run.duplicates, run.items_read) == (True, 3, 5)


def test_objects_without_an_id_are_never_dropped() -> None:
    """Objects without an id are all kept."""
    items = NumberedItems(total=0)
    run = ListingRun(replace(items.listing(), identity=lambda _: None), Position())
    taken(run, content(["a"], "?$skip=10", modified=NINE))
    assert taken(run, content(["a"], modified=TEN)).items == ["a"]


def test_places_count_what_was_dropped() -> None:
    """A run that stops behind a dropped object does not give the next one twice."""
    run = run_of()
    taken(run, content(["a"], "?$skip=10", modified=NINE))
    run.take(run.requests(1)[0], content(["a", "b", "c"], modified=TEN))
    run.hand_out(1)
    assert (run.position.done, run.position.items, run.position.last_modified) == (2, 2, TEN.isoformat())


def test_a_change_between_two_runs_is_noticed() -> None:
    """`resume` says when the scene was last modified, so that a resumed run notices a change in between."""
    first = run_of()
    taken(first, content(["a"], "?$skip=10", modified=NINE))
    second = run_of(start=first.position)
    assert second.changed is False
    taken(second, content(["b"], modified=TEN, partial=True))
    assert (second.changed, second.is_partial) == (True, True)


def test_a_page_without_a_time_is_no_change() -> None:
    """Where the scene's state or its time is missing, nothing is concluded."""
    run = run_of()
    for page in (content(["a"], "?$skip=10", modified=NINE), content(["b"], "?$skip=20", partial=False)):
        taken(run, page)
    taken(run, content(["c"]))
    assert run.changed is False
