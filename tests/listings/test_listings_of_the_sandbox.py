"""Listings of the running sandbox over HTTP are complete, whatever the pagination, the faults and the cap."""

from collections.abc import AsyncIterator

import pytest
from itwin_platform import (
    BackoffPolicy,
    PlatformClient,
    UsageError,
)
from itwin_platform_sandbox import Sandbox

PATIENT = BackoffPolicy(base_delay=0.001, max_delay=0.002)


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """A sandbox with a path prefix, and with iTwins and objects for several pages."""
    async with Sandbox(itwins=75, objects=45, path_prefix="/api") as running:
        yield running


@pytest.fixture
async def platform(sandbox: Sandbox) -> AsyncIterator[PlatformClient]:
    """A client of the sandbox with short delays before retries."""
    async with PlatformClient(sandbox.base_url, vendor="vendor", token=sandbox.token, backoff=PATIENT) as client:
        yield client


FAULTS = (
    *("next_relative", "next_blank_led", "next_null", "next_empty", "next_continuation_token", "other_page_size"),
    *("unknown_fields", "seen_shapes", "seen_headers", "missing_fields", "max_return_refused"),
)


@pytest.mark.parametrize("way", FAULTS)
async def test_every_way_of_paging(sandbox: Sandbox, platform: PlatformClient, way: str) -> None:
    """Both listings are complete and in order, however the service paginates and responds."""
    ids = [itwin.id for itwin in await platform.itwins.list().collect()]
    objects = [item.id for item in await platform.scenes.list_objects(sandbox.scene_id, sandbox.itwin_id).collect()]
    assert (len(set(ids)), len(set(objects))) == (75, 45)
    sandbox.fault(way, count=None)  # type: ignore[arg-type]  # one of the names above
    for concurrency in (1, 5):
        pager = platform.itwins.list(page_size=8, concurrency=concurrency)
        assert [itwin.id for itwin in await pager.collect()] == ids
        listing = platform.scenes.list_objects(sandbox.scene_id, sandbox.itwin_id, page_size=8, concurrency=concurrency)
        assert [item.id for item in await listing.collect()] == objects


@pytest.mark.parametrize("concurrency", [1, 6])
async def test_faults_on_the_way_lose_nothing(sandbox: Sandbox, platform: PlatformClient, concurrency: int) -> None:
    """Pages that are lost, rate limited or cut are requested again, and no item is lost."""
    ids = [itwin.id for itwin in await platform.itwins.list().collect()]
    for skip, name in enumerate(("reset_before_effect", "reset_in_head", "reset_in_body", "html_502", "unavailable")):
        sandbox.fault(name, operation="list_itwins", skip=3 * skip, retry_after="none")  # type: ignore[arg-type]  # as above
    sandbox.fault("rate_limited", operation="list_itwins", count=1, skip=2, retry_after="none")
    pager = platform.itwins.list(page_size=4, concurrency=concurrency)
    assert [itwin.id for itwin in await pager.collect()] == ids
    assert sandbox.faults == ()


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_a_scene_that_changes(sandbox: Sandbox, platform: PlatformClient, concurrency: int) -> None:
    """When objects are removed during the listing, `changed` is True and no object comes twice."""
    sandbox.fault("scene_changes", operation="list_scene_objects", count=3)
    pager = platform.scenes.list_objects(sandbox.scene_id, sandbox.itwin_id, page_size=4, concurrency=concurrency)
    ids = [item.id for item in await pager.collect()]
    assert pager.changed
    assert len(ids) == len(set(ids))


async def test_list_all_keeps_the_callers_keywords(sandbox: Sandbox, platform: PlatformClient) -> None:
    """`list_all` sends the caller's filters in every range."""
    listing = platform.itwins.list_all(
        sub_class=iter(["Asset", "Project"]),
        filter="status eq 'Inactive' or status eq 'Trial'",
        include_inactive=True,
        select=iter(["id", "subClass", "status"]),
        query_scope="OrganizationAdmin",
        page_size=4,
    )
    found = [itwin async for itwin in listing]
    assert {itwin.sub_class for itwin in found} == {"Asset", "Project"}
    assert {itwin.status for itwin in found} == {"Inactive", "Trial"}
    assert not any(itwin.display_name for itwin in found)
    assert {request.headers.get("x-itwin-query-scope") for request in sandbox.requests} == {"OrganizationAdmin"}


@pytest.mark.parametrize(
    ("keywords", "says"),
    [
        ({"partition_by": "displayName"}, "one of the times of an iTwin: createdDateTime or lastModifiedDateTime"),
        ({"page_size": 0}, "page_size must be an integer"),
        ({"filter": None}, "cannot be None"),
        ({"select": "id", "representation": "full"}, "cannot be combined"),
    ],
)
async def test_list_all_rejects_at_once(platform: PlatformClient, keywords: dict[str, object], says: str) -> None:
    """`list_all` rejects the arguments that `list` rejects, when it is called."""
    with pytest.raises(UsageError, match=says) as caught:
        platform.itwins.list_all(**keywords)  # type: ignore[arg-type]  # wrong on purpose
    assert caught.value.argument in keywords
