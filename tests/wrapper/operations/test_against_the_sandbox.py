"""All eight operations over real HTTP against the sandbox, and complete listings whatever it does."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from itwin_platform import (
    BackoffPolicy,
    DetectorType,
    ITwinSubClass,
    Pager,
    PlatformClient,
)
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
    itwin, tiles = sandbox.itwin_id, sandbox.repository_ids["UrlTemplate"]
    account = await client.itwins.get_primary_account()
    assert account.sub_class is ITwinSubClass.ACCOUNT
    assert len(await client.itwins.list().collect()) == 45
    repository = await client.repositories.update(itwin, tiles, display_name="Tiles", authentication=None)
    assert (repository.id, repository.display_name, repository.authentication) == (tiles, "Tiles", None)
    resource = await client.repositories.create_resource(itwin, tiles, id="a/b #?%", display_name="Roads", type="Layer")
    assert (resource.id, resource.type_, str(resource.class_)) == ("a/b #?%", "Layer", str(repository.class_))
    scene = await client.scenes.create(itwin, display_name="Overview", objects=[])
    assert (scene.display_name, scene.itwin_id, scene.scene_data.objects) == ("Overview", itwin, [])
    assert len(await client.scenes.list_objects(sandbox.scene_id, itwin).collect()) == 25
    detector = await client.detectors.create(name="@a/cracks", type="PhotoObjectDetector", display_name=None)
    assert (detector.type_, detector.versions) == (DetectorType.PHOTO_OBJECT_DETECTOR, [])
    webhook = await client.webhooks.activate(sandbox.webhook_id)
    assert webhook.active is True
    assert [(each.operation, each.method, each.route) for each in sandbox.requests] == [
        (name, OPERATIONS[name].method, OPERATIONS[name].path)
        for name in (
            *("get_primary_account", "list_itwins", "update_repository", "create_repository_resource"),
            *("create_scene", "list_scene_objects", "create_detector", "update_webhook"),
        )
    ]


@pytest.mark.parametrize("fault", ["unknown_enum_values", "unknown_fields", "nulls", "missing_fields"])
@pytest.mark.parametrize("name", OPERATIONS)
async def test_strange_responses_are_taken(
    name: str, fault: FaultName, sandbox: Sandbox, client: PlatformClient
) -> None:
    """Values and fields beyond the description, and everything that it does not promise, break no operation."""
    sandbox.fault(fault, operation=name, count=None)
    ids = {each: getattr(sandbox, each) for each in METHODS[name][1]}
    assert await called(client, name, ids) not in (None, [])
    assert {each.status for each in sandbox.requests} == {OPERATIONS[name].success}


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
