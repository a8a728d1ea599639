"""The operations on repositories, scenes, detectors and webhooks: bodies, errors and effects. Sections 2 and 4."""

import uuid
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

from tests.support.operations import nullable, wire_of
from tests.support.sandboxes import error_of, requests_of

#: The parameter for the order of scene objects.
ORDER = wire_of("list_scene_objects", "order_by")
SCENE_ID = "7f2c1f8e-0000-9332-387a-5b7c00000000"
OBJECT = {"kind": "Layer", "version": "1.0.0", "data": {}}
VECTOR = {"x": 1, "y": 2.5, "z": -3}
VIEW = {"position": VECTOR, "direction": VECTOR, "up": VECTOR}
RESOURCE = {"id": "a", "displayName": "A"}
PHOTO = {"name": "crack@bridge/1", "type": "PhotoObjectDetector"}
OAUTH_NAMES = ("clientId", "scopes", "authorizationEndpoint", "tokenEndpoint", "redirectUri")
OAUTH = {"type": "OAuth2AuthorizationCodePKCE", **dict.fromkeys(OAUTH_NAMES, "https://a.example")}
NOT_JSON = (b'{"displayName": NaN}', b'{"displayName": 1e999}', b"\xff", "{}".encode("utf-16"), b"[" * 5000)
DEEP = b'{"a":' * 102 + b"1" + b"}" * 102

CLOSED = "403 InsufficientPermissions"
NO_PERMISSION: dict[str, Any] = {"organization_administrator": False, "permissions": []}
USER = {"Authorization": "Bearer user"}


def repository_url(sandbox: Sandbox, sub_class: str = "WebMapService") -> str:
    """The path of a seeded repository."""
    return f"/itwins/{sandbox.itwin_id}/repositories/{sandbox.repository_ids[sub_class]}"


def scene_with(*objects: object, **fields: str) -> dict[str, object]:
    """The body of a scene with these objects."""
    scene: dict[str, object] = {"displayName": "S", "sceneData": {"objects": list(objects)}}
    return scene | fields


async def updated(http: httpx.AsyncClient, url: str, body: object) -> dict[str, Any]:
    """The repository after an update that succeeds."""
    response = await http.patch(url, json=body)
    assert response.status_code == 200
    repository: dict[str, Any] = response.json()["repository"]
    return repository


INVALID = "422 InvalidiTwinsRequest, InvalidValue"
WRONG_SCENE = "400 InvalidScenesRequest, InvalidRequestBody sceneData.objects"
REPOSITORY = "/itwins/{itwin_id}/repositories"
OTHERS_REPOSITORY = "/itwins/none/repositories/{repository_id}"
SCENES = "/scenes/?iTwinId={itwin_id}"
OBJECTS = "/scenes/{scene_id}/objects"


@pytest.mark.parametrize(
    ("method", "path", "body", "error"),
    [
        ("PATCH", REPOSITORY + "/{Storage}", {"displayName": "New"}, f"{INVALID} class"),
        ("PATCH", REPOSITORY + "/{EvoWorkspace}", {"options": {"queryParameters": {}}}, f"{INVALID} options"),
        ("PATCH", REPOSITORY + "/{WebMapService}", {"options": {"minimumLevel": 3}}, f"{INVALID} options"),
        ("POST", REPOSITORY + "/{Performance}/resources", RESOURCE, f"{INVALID} class"),
        ("PATCH", REPOSITORY + "/none", {}, "404 iTwinRepositoryNotFound"),
        ("POST", OTHERS_REPOSITORY + "/resources", {}, "404 iTwinRepositoryNotFound"),
        ("PATCH", "/webhooks/a%0Ab", {}, "404 WebhookNotFound"),
        ("POST", "/scenes/", scene_with(), "400 InvalidScenesRequest, InvalidParameter iTwinId"),
        ("POST", f"/scenes/?iTwinId={SCENE_ID}", scene_with(), "404 SceneNotFound"),
        ("POST", "/scenes/?iTwinId=myproject", scene_with(), "404 SceneNotFound"),
        ("POST", SCENES, scene_with(parentId=SCENE_ID), "404 SceneNotFound"),
        ("POST", SCENES, scene_with(*[OBJECT | {"id": SCENE_ID}] * 2), f"{WRONG_SCENE}[1].id"),
        ("POST", SCENES, scene_with(OBJECT | {"relatedId": SCENE_ID}), f"{WRONG_SCENE}[0].relatedId"),
        ("POST", SCENES, scene_with(OBJECT | {"kind": "GISStyling"}), f"{WRONG_SCENE}[0].relatedId"),
        ("GET", f"{OBJECTS}?iTwinId={{itwin_id}}&{ORDER}=x", None, f"404 SceneObjectNotFound, InvalidValue {ORDER}"),
        ("GET", OBJECTS + f"?iTwinId={SCENE_ID}", None, "404 SceneObjectNotFound"),
        ("GET", OBJECTS, None, "404 SceneObjectNotFound, InvalidParameter iTwinId"),
    ],
)
async def test_a_broken_rule_is_rejected(
    http: httpx.AsyncClient, sandbox: Sandbox, method: str, path: str, body: object, error: str
) -> None:
    """A broken rule that the document cannot state is the operation's own error, which names the field."""
    ids = {name: getattr(sandbox, name) for name in ("itwin_id", "repository_id", "scene_id")}
    response = await http.request(method, path.format(**ids, **sandbox.repository_ids), json=body)
    assert error_of(response) == error


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        *((content, "application/json") for content in (b"", b"{", b"[1]", b"null", *NOT_JSON, DEEP)),
        *((b"{}", media_type) for media_type in ("text/plain", "application/x-www-form-urlencoded", "")),
    ],
)
async def test_a_body_that_is_no_json_object_is_rejected(
    http: httpx.AsyncClient, sandbox: Sandbox, content: bytes, media_type: str
) -> None:
    """A body that is no JSON object, or not labelled as JSON, gets the documented 422."""
    for operation in ("update_repository", "create_repository_resource"):
        method, url = requests_of(sandbox)[operation]
        response = await http.request(method, url, headers={"Content-Type": media_type}, content=content)
        assert error_of(response) == "422 InvalidiTwinsRequest, InvalidRequestBody"


async def test_only_properties_of_the_body_change(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Properties that are not in the body stay, and unknown ones are not stored."""
    before = await updated(http, repository_url(sandbox), {})
    after = await updated(http, repository_url(sandbox), {"displayName": "New", "colour": 1})
    assert after == before | {"displayName": "New"}
    assert before["authentication"]["type"] == "Basic"


@pytest.mark.parametrize(
    ("sub_class", "body"),
    [
        ("WebMapService", {"authentication": OAUTH, "options": {"queryParameters": {"b": "2"}, "future": [1]}}),
        ("WebMapService", {"authentication": None, "options": None}),
        ("UrlTemplate", {"displayName": "n" * 200, "uri": "u" * 2000}),
        ("UrlTemplate", {"options": {"minimumLevel": 0, "maximumLevel": 24}}),
    ],
)
async def test_complete_values_replace_the_stored_ones(
    http: httpx.AsyncClient, sandbox: Sandbox, sub_class: str, body: dict[str, object]
) -> None:
    """authentication and options replace the stored object with all its properties; limits are inclusive."""
    replaced = await updated(http, repository_url(sandbox, sub_class), body)
    assert {name: replaced[name] for name in body} == body


async def test_a_name_that_another_repository_has_is_rejected(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """409 iTwinRepositoryExists for the name of another repository, not for its own."""
    own = (await updated(http, repository_url(sandbox), {}))["displayName"]
    await updated(http, repository_url(sandbox), {"displayName": own})
    conflict = await http.patch(repository_url(sandbox, "ArcGIS"), json={"displayName": own})
    assert error_of(conflict) == "409 iTwinRepositoryExists"


async def test_every_documented_class_can_be_updated(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """All seeded subclasses can be updated, and a GIS repository without one has no such key."""
    gis = ("WebMapService", "WebMapTileService", "WebFeatureService", "ArcGIS", "UrlTemplate", "OgcApiFeatures")
    updatable = {*gis, "Performance", "EvoWorkspace", "GeographicInformationSystem"}
    assert sandbox.repository_ids.keys() == {*updatable, "Storage"}
    for sub_class in updatable:
        repository = await updated(http, repository_url(sandbox, sub_class), {"displayName": f"New {sub_class}"})
        assert repository.get("subClass", repository["class"]) == sub_class


async def test_a_resource_has_the_class_of_its_repository(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """201 with the sent fields and no others, class and subclass of the repository, and the address of its graphics."""
    body = {"id": "roads/#1?%", "type": "Layer", "displayName": "Roads"}
    for sub_class, classes in (("ArcGIS", {"subClass": "ArcGIS"}), ("GeographicInformationSystem", {})):
        response = await http.post(f"{repository_url(sandbox, sub_class)}/resources", json=body)
        resource = response.json()["resource"]
        graphics = resource.pop("capabilities")["graphics"]["uri"]
        assert resource == body | classes | {"class": "GeographicInformationSystem"}
        assert (response.status_code, graphics.rpartition("/")[2]) == (201, quote(body["id"], safe=""))


@pytest.mark.parametrize("second", [{"id": "a", "displayName": "B"}, {"id": "b", "displayName": "A"}])
async def test_a_resource_with_a_taken_id_or_name_is_rejected(
    http: httpx.AsyncClient, sandbox: Sandbox, second: object
) -> None:
    """409 iTwinRepositoryResourceExists for the same id or the same name in one repository."""
    url = f"{repository_url(sandbox)}/resources"
    for name in "ca":
        assert (await http.post(url, json={"id": name, "displayName": name.upper()})).status_code == 201
    assert error_of(await http.post(url, json=second)) == "409 iTwinRepositoryResourceExists"


@pytest.mark.parametrize(
    ("operation", "entitled_to", "error"),
    [
        ("update_repository", NO_PERMISSION, CLOSED),
        ("update_repository", NO_PERMISSION | {"permissions": ["itwins_modify"]}, None),
        ("update_repository", NO_PERMISSION | {"permissions": ["itwins_modify"], "member_of": []}, CLOSED),
        ("update_repository", {"permissions": [], "member_of": []}, None),
        ("update_webhook", {"scopes": ["itwin-platform"]}, "401 HeaderNotFound"),
        ("update_webhook", {"service_application": False}, CLOSED),
        ("update_webhook", NO_PERMISSION, CLOSED),
        ("update_webhook", {"organization_administrator": False, "member_of": []}, CLOSED),
        ("update_webhook", {"permissions": []}, None),
        ("update_webhook", NO_PERMISSION | {"permissions": ["webhooks_maintainer"]}, None),
    ],
)
async def test_a_change_needs_its_permission(
    http: httpx.AsyncClient, sandbox: Sandbox, operation: str, entitled_to: dict[str, Any], error: str | None
) -> None:
    """The permission on the iTwin or the administrator's role is needed; for a webhook, a service application too."""
    sandbox.add_token("user", **entitled_to)
    method, url = requests_of(sandbox)[operation]
    response = await http.request(method, url, json={}, headers=USER)
    assert (None if response.status_code == 200 else error_of(response)) == error


TEXTS = nullable("create_detector")


@pytest.mark.parametrize("texts", [{}, dict.fromkeys(TEXTS, "https://d.example"), {TEXTS[0]: None}])
async def test_a_detector_is_returned_without_versions(http: httpx.AsyncClient, texts: dict[str, str | None]) -> None:
    """201 with every field as it was sent, null where nothing was."""
    response = await http.post("/reality-analysis/detectors", json=PHOTO | texts)
    empty: dict[str, object] = {**dict.fromkeys(TEXTS), "versions": []}
    assert (response.status_code, response.json()) == (201, {"detector": PHOTO | empty | texts})


async def test_an_update_of_a_webhook_changes_the_named_fields(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """The response has the changed values and never the secret; an omitted secret is generated."""
    url = f"/webhooks/{sandbox.webhook_id}"
    before = (await http.patch(url, json={"secret": "planted"})).json()
    assert sandbox.has_secret(sandbox.webhook_id, "planted")
    shown = {"id", "scope", "scopeId", "active", "callbackUrl", "eventTypes", "created", "modified"}
    assert (before.keys(), before["active"]) == (shown, False)
    replaced = {"callbackUrl": "https://new.example/hook", "eventTypes": ["iTwins.iTwinDeleted.v1"]}
    for body in (replaced, {"active": True}, {"active": False}):
        after = (await http.patch(url, json=body)).json()
        assert after == before | body | {"modified": after["modified"]}
        assert after["modified"] >= before["modified"] > after["created"]
        before = after
    assert not sandbox.has_secret(sandbox.webhook_id, "planted")


async def test_an_id_is_taken_once_until_a_reset(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """The id of a scene gives 409 SceneExists, that of an object of any scene 400, in upper or lower case."""
    url = f"/scenes/?iTwinId={sandbox.itwin_id}"
    for _ in range(2):
        first = await http.post(url, json=scene_with(OBJECT | {"id": SCENE_ID}, id=SCENE_ID))
        assert (first.status_code, first.json()["scene"]["id"]) == (201, SCENE_ID)
        again = await http.post(url, json=scene_with(id=SCENE_ID.upper()))
        assert error_of(again) == "409 SceneExists"
        again = await http.post(url, json=scene_with(OBJECT | {"id": SCENE_ID.upper()}))
        assert error_of(again) == f"{WRONG_SCENE}[0].id"
        sandbox.reset()


async def test_a_body_above_four_and_a_half_mebibytes_is_too_large(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """4718592 bytes are accepted, one more is not; a scene without objects has an empty list, and nothing not sent."""
    url, headers = f"/scenes/?iTwinId={sandbox.itwin_id}", {"Content-Type": "application/json"}
    body = b'{"displayName": "S"}'.ljust(4_718_592)
    scene = (await http.post(url, content=body, headers=headers)).json()["scene"]
    assert scene["sceneData"] == {"objects": []}
    assert not scene.keys() & {"description", "parentId"}
    assert error_of(await http.post(url, content=body + b" ", headers=headers)) == "413 RequestTooLarge"


async def test_a_scene_is_kept_as_it_was_posted(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """The response has the documented fields of the body, and the listing has all of them at any depth."""
    deep: dict[str, object] = {}
    for _ in range(94):
        deep = {"inner": deep}
    view = {"kind": "View3d", "version": "1.2.3-beta.1", "data": VIEW, "order": 1, "displayName": "View"}
    styling = OBJECT | {"kind": "ZStyling", "relatedId": SCENE_ID, "visible": False, "id": str(uuid.uuid4())}
    fields = {"displayName": "S", "description": "D", "parentId": sandbox.scene_id}
    body = scene_with(view, styling | {"data": deep}, **fields)
    response = await http.post(f"/scenes/?iTwinId={sandbox.itwin_id}", json=body)
    scene = response.json()["scene"]
    first, second = scene["sceneData"]["objects"]
    assert response.status_code == 201
    assert {name: scene[name] for name in fields} == fields
    assert scene["iTwinId"] == sandbox.itwin_id
    assert first.keys() == {"id", "displayName", "kind", "version", "data"}
    assert second.keys() == {"id", "visible", "kind", "version", "data"}
    assert second["data"] == deep
    listed = (await http.get(f"/scenes/{scene['id']}/objects?iTwinId={sandbox.itwin_id}")).json()
    stamps = {"sceneId", "createdById", "creationTime", "lastModified"}
    objects = [{name: item[name] for name in item.keys() - stamps} for item in listed["objects"]]
    assert objects == [view | {"id": first["id"]}, styling | {"data": deep}]
    context = {"displayName": "S", "lastModified": scene["lastModified"], "isPartial": False}
    assert listed["sceneContext"] == context


async def test_objects_of_foreign_itwins_are_withheld(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Objects of an iTwin that the caller is no member of are withheld, and `isPartial` is true."""
    sandbox.add_token("user", organization_administrator=False, member_of=[sandbox.itwin_id])
    url = f"/scenes/{sandbox.scene_id}/objects?iTwinId={sandbox.itwin_id}"
    found = []
    for token in ("administrator", "user"):
        page = (await http.get(url, headers={"Authorization": f"Bearer {token}"})).json()
        found.append((page["sceneContext"]["isPartial"], len(page["objects"])))
    assert found == [(False, 30), (True, 27)]


async def test_scenes_of_foreign_itwins_are_closed(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """A caller outside the iTwin gets 403 for a new scene or a reference, and 404 for a listing."""
    sandbox.add_token("outsider", organization_administrator=False, member_of=[])
    sandbox.add_token("member", organization_administrator=False, member_of=[sandbox.itwin_id])
    data = {"iTwinId": sandbox.account_id, "repositoryId": "r", "id": "x"}
    reference = scene_with({"kind": "RepositoryResource", "version": "1.0.0", "data": data})
    for token, body in (("outsider", scene_with()), ("member", reference)):
        headers = {"Authorization": f"Bearer {token}"}
        response = await http.post(f"/scenes/?iTwinId={sandbox.itwin_id}", json=body, headers=headers)
        assert error_of(response) == CLOSED
    url, headers = (
        f"/scenes/{sandbox.scene_id}/objects?iTwinId={sandbox.itwin_id}",
        {"Authorization": "Bearer outsider"},
    )
    assert (await http.get(url, headers=headers)).status_code == 404
