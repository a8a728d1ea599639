"""All eight operations over real HTTP against the sandbox, and complete listings whatever it does."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from itwin_platform import BackoffPolicy, Pager, PlatformClient
from itwin_platform_sandbox import Sandbox
from itwin_platform_sandbox._faults.catalogue import FaultName

from tests.support.calls import METHODS
from tests.support.operations import OPERATIONS
from tests.wrapper.operations.conftest import called


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """A running sandbox with a path prefix, and with iTwins and objects for several pages."""
    async with Sandbox(itwins=45, objects=25, path_prefix="/api") as running:
        yield running


@pytest.fixture
async def client(sandbox: Sandbox) -> AsyncIterator[PlatformClient]:
    """A client of the sandbox with short delays before retries."""
    patient = BackoffPolicy(base_delay=0.001, max_delay=0.002)
    async with PlatformClient(sandbox.base_url, vendor="sandbox", token=sandbox.token, backoff=patient) as opened:
        yield opened


async def ids(pager: Pager[Any]) -> list[str]:
    """Read a listing, in which nothing comes twice."""
    found = [item.id for item in await pager.collect()]
    assert len(found) == len(set(found))
    return found


async def test_all_eight_operations_succeed(sandbox: Sandbox, client: PlatformClient) -> None:
    """Each is carried out by one request to its documented method and route."""
    ids = {each: getattr(sandbox, each) for each in ("itwin_id", "scene_id", "webhook_id")}
    ids |= {"repository_id": sandbox.repository_ids["UrlTemplate"]}
    for name, (_, needed, _) in METHODS.items():
        result = await called(client, name, {each: ids[each] for each in needed})
        assert not isinstance(result, list) or len(result) == {"list_itwins": 45, "list_scene_objects": 25}[name]
    assert [(each.operation, each.method, each.route, each.status) for each in sandbox.requests] == [
        (name, OPERATIONS[name].method, OPERATIONS[name].path, OPERATIONS[name].success) for name in METHODS
    ]


WAYS: tuple[FaultName, ...] = (
    *("next_foreign", "next_relative", "next_blank_led", "next_null", "next_empty"),
    *("next_continuation_token", "other_page_size"),
    *("unknown_fields", "missing_fields"),
)


@pytest.mark.parametrize("way", WAYS)
async def test_every_way_of_paging(way: FaultName, sandbox: Sandbox, client: PlatformClient) -> None:
    """Both listings are complete and in order, however the service paginates and responds."""
    scene = (sandbox.scene_id, sandbox.itwin_id)
    itwins, objects = await ids(client.itwins.list()), await ids(client.scenes.list_objects(*scene))
    assert (len(itwins), len(objects)) == (45, 25)
    sandbox.fault(way, count=None)
    for concurrency in (1, 5):
        assert await ids(client.itwins.list(page_size=8, concurrency=concurrency)) == itwins
        assert await ids(client.scenes.list_objects(*scene, page_size=8, concurrency=concurrency)) == objects
