"""All eight operations over real HTTP against the sandbox."""

import uuid

import pytest
from itwin_platform import (
    BasicAuthentication,
    ConflictError,
    DetectorType,
    ErrorCode,
    ITwinSubClass,
    OutcomeUnknownError,
    PlatformClient,
    RepositoryOptions,
    RepositoryResourceData,
    View3dData,
)
from itwin_platform_sandbox import Sandbox
from itwin_platform_sandbox._faults.catalogue import FaultName

from tests.operations.conftest import OPERATIONS, Ids, called


async def test_all_eight_operations_succeed(sandbox: Sandbox, client: PlatformClient) -> None:
    """Each is carried out by one request to its documented method and route."""
    itwin, tiles = sandbox.itwin_id, sandbox.repository_ids["UrlTemplate"]
    account = await client.itwins.get_primary_account()
    assert account.sub_class is ITwinSubClass.ACCOUNT
    assert len(await client.itwins.list().collect()) == 25
    repository = await client.repositories.update(itwin, tiles, display_name="Tiles", authentication=None)
    assert (repository.id, repository.display_name, repository.authentication) == (tiles, "Tiles", None)
    resource = await client.repositories.create_resource(itwin, tiles, id="a/b #?%", display_name="Roads", type="Layer")
    assert (resource.id, resource.type_, str(resource.class_)) == ("a/b #?%", "Layer", str(repository.class_))
    scene = await client.scenes.create(itwin, display_name="Overview", objects=[])
    assert (scene.display_name, scene.itwin_id, scene.scene_data.objects) == ("Overview", itwin, [])
    objects = await client.scenes.list_objects(sandbox.scene_id, itwin).collect()
    assert len(objects) == 12
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


async def test_the_sandbox_stores_what_the_client_sends(sandbox: Sandbox, client: PlatformClient) -> None:
    """Authentication and options come back as they were given, and one property is changed without losing another."""
    target = (sandbox.itwin_id, sandbox.repository_ids["UrlTemplate"])
    options = RepositoryOptions(query_parameters={"format": "png"}, minimum_level=1, maximum_level=None)
    await client.repositories.update(
        *target, options=options, authentication=BasicAuthentication(username="u", password="p")
    )
    stored = await client.repositories.update(*target, display_name="Renamed")
    changed = await client.repositories.update(
        *target,
        options=RepositoryOptions.of(stored).replace(maximum_level=24),
        authentication=BasicAuthentication.of(stored).replace(password="q"),
    )
    assert RepositoryOptions.of(changed) == options.replace(maximum_level=24)
    assert BasicAuthentication.of(changed) == BasicAuthentication(username="u", password="q")


async def test_objects_come_back_as_they_were_sent(sandbox: Sandbox, client: PlatformClient) -> None:
    """Typed data goes out and comes back typed, in the response and in the listing."""
    listed = await client.scenes.list_objects(sandbox.scene_id, sandbox.itwin_id).collect()
    known = {each.kind: each.data for each in listed if isinstance(each.data, RepositoryResourceData | View3dData)}
    assert known.keys() == {"RepositoryResource", "View3d"}
    objects = [{"kind": kind, "version": "1.0.0", "data": data} for kind, data in known.items()]
    scene = await client.scenes.create(sandbox.itwin_id, display_name="Copy", objects=objects)
    assert [each.data for each in scene.scene_data.objects] == list(known.values())
    again = await client.scenes.list_objects(scene.id, sandbox.itwin_id).collect()
    assert [each.data for each in again] == list(known.values())


async def test_an_id_makes_a_lost_response_repairable(sandbox: Sandbox, client: PlatformClient) -> None:
    """The scene is created and the response is lost: the error names the id, and a retry tells that it is there."""
    scene_id = str(uuid.uuid4())
    sandbox.fault("reset_after_effect", operation="create_scene")
    with pytest.raises(OutcomeUnknownError) as lost:
        await client.scenes.create(sandbox.itwin_id, display_name="S", id=scene_id)
    assert lost.value.scene_id == scene_id
    with pytest.raises(ConflictError) as taken:
        await client.scenes.create(sandbox.itwin_id, display_name="S", id=scene_id)
    assert taken.value.code == ErrorCode.SCENE_EXISTS
    assert await client.scenes.list_objects(scene_id, sandbox.itwin_id).collect() == []


@pytest.mark.parametrize("fault", ["unknown_enum_values", "unknown_fields", "nulls", "missing_fields", "seen_shapes"])
@pytest.mark.parametrize("name", OPERATIONS)
async def test_strange_responses_are_taken(
    name: str, fault: FaultName, sandbox: Sandbox, client: PlatformClient
) -> None:
    """Values, fields and shapes beyond the description, and everything that it does not promise, break no operation."""
    sandbox.fault(fault, operation=name, count=None)
    ids = Ids(
        itwin=sandbox.itwin_id, repository=sandbox.repository_id, scene=sandbox.scene_id, webhook=sandbox.webhook_id
    )
    result = await called(client, name, ids=ids)
    assert result not in (None, [])
    assert [each.status for each in sandbox.requests] == [OPERATIONS[name].success] * len(sandbox.requests)
