"""All eight operations over real HTTP against the sandbox, and complete listings whatever it does."""

from collections.abc import AsyncIterator

import pytest
from itwin_platform import (
    BackoffPolicy,
    DetectorType,
    ITwinSubClass,
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


@pytest.mark.parametrize("fault", ["unknown_enum_values", "unknown_fields", "nulls", "missing_fields", "seen_shapes"])
@pytest.mark.parametrize("name", OPERATIONS)
async def test_strange_responses_are_taken(
    name: str, fault: FaultName, sandbox: Sandbox, client: PlatformClient
) -> None:
    """Values, fields and shapes beyond the description, and everything that it does not promise, break no operation."""
    sandbox.fault(fault, operation=name, count=None)
    ids = {each: getattr(sandbox, each) for each in METHODS[name][1]}
    assert await called(client, name, ids) not in (None, [])
    assert {each.status for each in sandbox.requests} == {OPERATIONS[name].success}
