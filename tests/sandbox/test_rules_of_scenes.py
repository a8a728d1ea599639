"""What Create scene and List scene objects accept and reject. Source: sections 2.6, 2.7, 4.5, 4.6, 7 and 8."""

import json
import uuid
from collections.abc import Awaitable, Callable

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

Detail = tuple[str, str | None]
Rejected = tuple[int, str, list[Detail]]
Rejecting = Callable[..., Awaitable[Rejected]]

INVALID = "InvalidScenesRequest"
SCENE_ID = "7f2c1f8e-0000-9332-387a-5b7c00000000"
OBJECT = {"kind": "Layer", "version": "1.0.0", "data": {}}
VECTOR = {"x": 1, "y": 2.5, "z": -3}
VIEW = {"position": VECTOR, "direction": VECTOR, "up": VECTOR}


@pytest.fixture
def size() -> int:
    """As many iTwins and scene objects as fill several pages."""
    return 250


def scene_with(*objects: object) -> dict[str, object]:
    """The body of a scene with these objects."""
    return {"displayName": "S", "sceneData": {"objects": list(objects)}}


@pytest.mark.parametrize(
    ("objects", "target"),
    [
        ([OBJECT | {"id": SCENE_ID}] * 2, "objects[1].id"),
        ([OBJECT | {"kind": "View3d", "data": VIEW, "relatedId": SCENE_ID}], "objects[0].relatedId"),
        ([OBJECT | {"relatedId": SCENE_ID}], "objects[0].relatedId"),
        ([OBJECT | {"kind": "GISStyling"}], "objects[0].relatedId"),
    ],
)
async def test_a_scene_that_breaks_a_rule_is_rejected(
    rejected: Rejecting, sandbox: Sandbox, objects: list[object], target: str
) -> None:
    """What objects mean to each other is checked: 400 with the path of the wrong field."""
    expected = (400, INVALID, [("InvalidRequestBody", f"sceneData.{target}")])
    body = scene_with(*objects)
    assert await rejected("POST", "/scenes/", params={"iTwinId": sandbox.itwin_id}, json=body) == expected


async def test_a_scene_needs_an_itwin(rejected: Rejecting) -> None:
    """Without iTwinId no scene is created."""
    expected = (400, INVALID, [("InvalidParameter", "iTwinId")])
    assert await rejected("POST", "/scenes/", json=scene_with()) == expected


async def test_what_a_scene_refers_to_must_exist(rejected: Rejecting, sandbox: Sandbox) -> None:
    """404 SceneNotFound for an unknown iTwin and for an unknown parent scene."""
    for itwin_id, body in (
        (SCENE_ID, scene_with()),
        ("myproject", scene_with()),
        (sandbox.itwin_id, scene_with() | {"parentId": SCENE_ID}),
    ):
        assert await rejected("POST", "/scenes/", params={"iTwinId": itwin_id}, json=body) == (404, "SceneNotFound", [])


async def test_a_scene_id_is_taken_once(rejected: Rejecting, http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """An id that a scene has, in upper or lower case, gives 409 SceneExists."""
    params = {"iTwinId": sandbox.itwin_id}
    response = await http.post("/scenes/", params=params, json=scene_with() | {"id": SCENE_ID})
    assert response.json()["scene"]["id"] == SCENE_ID
    again = scene_with() | {"id": SCENE_ID.upper()}
    assert await rejected("POST", "/scenes/", params=params, json=again) == (409, "SceneExists", [])


@pytest.mark.parametrize(("more", "status"), [(0, 201), (1, 413)])
async def test_a_body_above_four_and_a_half_mebibytes_is_too_large(
    http: httpx.AsyncClient, sandbox: Sandbox, more: int, status: int
) -> None:
    """4718592 bytes are accepted, one more gives 413 RequestTooLarge."""
    body = json.dumps(scene_with()).encode("ascii")
    body += b" " * (4_718_592 - len(body) + more)
    headers = {"Content-Type": "application/json"}
    response = await http.post("/scenes/", params={"iTwinId": sandbox.itwin_id}, content=body, headers=headers)
    assert response.status_code == status
    if status == 413:
        assert response.json()["error"]["code"] == "RequestTooLarge"


async def test_a_scene_is_kept_as_it_was_posted(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """The response has the documented fields of each object; listing the scene has all that was posted."""
    view = {"kind": "View3d", "version": "1.2.3-beta.1", "data": VIEW, "order": 1, "displayName": "View"}
    styling = OBJECT | {"kind": "ZStyling", "relatedId": SCENE_ID, "visible": False, "id": str(uuid.uuid4())}
    body = {"displayName": "S", "description": "D", "parentId": sandbox.scene_id}
    objects = {"sceneData": {"objects": [view, styling]}}
    response = await http.post("/scenes/", params={"iTwinId": sandbox.itwin_id}, json=body | objects)
    scene = response.json()["scene"]
    assert response.status_code == 201
    assert {name: scene[name] for name in body} == body
    assert scene["iTwinId"] == sandbox.itwin_id
    first, second = scene["sceneData"]["objects"]
    assert first.keys() == {"id", "displayName", "kind", "version", "data"}
    assert second.keys() == {"id", "visible", "kind", "version", "data"}
    listed = (await http.get(f"/scenes/{scene['id']}/objects", params={"iTwinId": sandbox.itwin_id})).json()
    stamps = {"sceneId", "createdById", "creationTime", "lastModified"}
    assert [{name: item[name] for name in item.keys() - stamps} for item in listed["objects"]] == [
        view | {"id": first["id"]},
        styling,
    ]
    assert listed["sceneContext"] == {
        "displayName": "S",
        "lastModified": scene["lastModified"],
        "isPartial": False,
    }


async def test_data_of_many_levels_is_kept(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Nesting up to nearly a hundred levels is stored, returned and listed."""
    data: dict[str, object] = {}
    for _ in range(94):
        data = {"inner": data}
    params = {"iTwinId": sandbox.itwin_id}
    created = await http.post("/scenes/", params=params, json=scene_with(OBJECT | {"data": data}))
    scene = created.json()["scene"]
    listed = (await http.get(f"/scenes/{scene['id']}/objects", params=params)).json()
    assert scene["sceneData"]["objects"][0]["data"] == listed["objects"][0]["data"] == data


async def test_a_scene_without_objects_has_an_empty_list(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """sceneData gets a response although none was sent, and fields that were not sent are omitted."""
    response = await http.post("/scenes/", params={"iTwinId": sandbox.itwin_id}, json={"displayName": "S"})
    scene = response.json()["scene"]
    assert scene["sceneData"] == {"objects": []}
    assert not scene.keys() & {"description", "parentId"}


@pytest.mark.parametrize(
    ("params", "details"),
    [
        ({"orderBy": "colour"}, [("InvalidValue", "orderBy")]),
        ({"iTwinId": SCENE_ID}, []),
    ],
)
async def test_a_listing_of_objects_that_cannot_be_is_not_found(
    rejected: Rejecting, sandbox: Sandbox, params: dict[str, str], details: list[Detail]
) -> None:
    """404 SceneObjectNotFound is the one documented error; details name the wrong parameter."""
    url = f"/scenes/{sandbox.scene_id}/objects"
    expected = (404, "SceneObjectNotFound", details)
    assert await rejected("GET", url, params={"iTwinId": sandbox.itwin_id} | params) == expected


async def test_an_unknown_scene_is_not_found(rejected: Rejecting, sandbox: Sandbox) -> None:
    """404 SceneObjectNotFound for a scene that is not there, and without iTwinId."""
    params = {"iTwinId": sandbox.itwin_id}
    assert await rejected("GET", "/scenes/none/objects", params=params) == (404, "SceneObjectNotFound", [])
    _, code, details = await rejected("GET", f"/scenes/{sandbox.scene_id}/objects")
    assert (code, details) == ("SceneObjectNotFound", [("InvalidParameter", "iTwinId")])


async def test_objects_of_foreign_itwins_are_withheld(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Objects of an iTwin that the caller is no member of are withheld, and `isPartial` is true."""
    sandbox.add_token("user", organization_administrator=False, member_of=[sandbox.itwin_id])
    url = f"/scenes/{sandbox.scene_id}/objects?iTwinId={sandbox.itwin_id}&$skip=200"
    everything = (await http.get(url)).json()
    partial = (await http.get(url, headers={"Authorization": "Bearer user"})).json()
    assert (everything["sceneContext"]["isPartial"], len(everything["objects"])) == (False, 50)
    assert (partial["sceneContext"]["isPartial"], len(partial["objects"])) == (True, 25)


async def test_scenes_of_foreign_itwins_are_closed(rejected: Rejecting, sandbox: Sandbox) -> None:
    """A caller who is no member gets 403 for creating a scene or naming the iTwin, and 404 for listing one."""
    sandbox.add_token("outsider", organization_administrator=False, member_of=[])
    sandbox.add_token("member", organization_administrator=False, member_of=[sandbox.itwin_id])
    params = {"iTwinId": sandbox.itwin_id}
    outsider, member = {"Authorization": "Bearer outsider"}, {"Authorization": "Bearer member"}
    closed: Rejected = (403, "InsufficientPermissions", [])
    assert await rejected("POST", "/scenes/", params=params, json=scene_with(), headers=outsider) == closed
    data = {"iTwinId": sandbox.account_id, "repositoryId": "r", "id": "x"}
    reference = scene_with({"kind": "RepositoryResource", "version": "1.0.0", "data": data})
    assert await rejected("POST", "/scenes/", params=params, json=reference, headers=member) == closed
    status, _, _ = await rejected("GET", f"/scenes/{sandbox.scene_id}/objects", params=params, headers=outsider)
    assert status == 404


async def test_an_object_id_is_used_once_in_all_scenes(
    http: httpx.AsyncClient, rejected: Rejecting, sandbox: Sandbox
) -> None:
    """The id of an object of another scene is taken, in any case, until a reset."""
    params = {"iTwinId": sandbox.itwin_id}
    for object_id in (SCENE_ID.lower(), SCENE_ID.lower()):
        body = scene_with(OBJECT | {"id": object_id})
        assert (await http.post("/scenes/", params=params, json=body)).status_code == 201
        again = scene_with(OBJECT | {"id": object_id.upper()})
        expected = (400, INVALID, [("InvalidRequestBody", "sceneData.objects[0].id")])
        assert await rejected("POST", "/scenes/", params=params, json=again) == expected
        sandbox.reset()
