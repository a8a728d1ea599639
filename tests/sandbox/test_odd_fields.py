"""Odd fields that the described rules allow: rejected with strict, noted in the journal otherwise."""

from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

from tests.support.operations import OPERATIONS
from tests.support.sandboxes import requests_of, serving

OBJECT = "sceneData.objects[0]"
PHOTO = {"name": "d", "type": "PhotoObjectDetector"}
BASIC = {"type": "Basic", "username": "u", "password": "p"}
LEVELS = {"minimumLevel": 5, "maximumLevel": 3}


def scene(**changes: object) -> dict[str, Any]:
    """The body of a scene with one object."""
    item = {"kind": "Layer", "version": "1.0.0", "data": {}, **changes}
    return {"displayName": "S", "sceneData": {"objects": [item]}}


def view(**changes: object) -> dict[str, Any]:
    """The body of a scene with one view."""
    return scene(kind="View3d", data={"direction": {"x": 0, "y": 0, "z": 1}, **changes})


async def send(sandbox: Sandbox, http: httpx.AsyncClient, operation: str, body: object) -> httpx.Response:
    """Carries out an operation with a body, on a repository that takes every option."""
    method, url = requests_of(sandbox)[operation]
    repository_ids = sandbox.repository_ids
    url = url.replace(repository_ids["WebMapService"], repository_ids["UrlTemplate"])
    return await http.request(method, url, json=body)


@pytest.mark.parametrize(
    ("operation", "body", "target"),
    [
        ("update_repository", {"colour": "red"}, "colour"),
        ("update_repository", {"displayName": "  "}, "displayName"),
        ("update_repository", {"displayName": "a\x07"}, "displayName"),
        ("update_repository", {"uri": "data.example.com"}, "uri"),
        ("update_repository", {"uri": "http://["}, "uri"),
        ("update_repository", {"options": {"style": "dark"}}, "options.style"),
        ("update_repository", {"options": LEVELS}, "options.minimumLevel"),
        ("update_repository", {"authentication": BASIC | {"password": ""}}, "password"),
        ("update_repository", {"authentication": BASIC | {"key": "k"}}, "authentication.key"),
        ("create_repository_resource", {"id": "a", "displayName": "A", "class": "iModels"}, "class"),
        ("create_scene", scene(sceneId="x"), f"{OBJECT}.sceneId"),
        ("create_scene", scene(displayOrder=1), f"{OBJECT}.displayOrder"),
        ("create_scene", scene(displayName=""), f"{OBJECT}.displayName"),
        ("create_scene", {"displayName": "S", "createdById": "x"}, "createdById"),
        ("create_scene", view(near=5, far=1), f"{OBJECT}.data.near"),
        ("create_scene", view(fov=180), f"{OBJECT}.data.fov"),
        ("create_scene", view(up={"x": 0, "y": 0, "z": 0}), f"{OBJECT}.data.up"),
        ("create_scene", view(aspectRatio=-1), f"{OBJECT}.data.aspectRatio"),
        ("create_scene", view(zoom=1), f"{OBJECT}.data.zoom"),
        ("create_detector", PHOTO | {"name": ""}, "detector.name"),
        ("create_detector", PHOTO | {"versions": []}, "detector.versions"),
        ("create_detector", PHOTO | {"documentationUrl": "page 5"}, "detector.documentationUrl"),
        ("update_webhook", {"secret": ""}, "secret"),
        ("update_webhook", {"callbackUrl": "ftp://hooks.example.com"}, "callbackUrl"),
        ("update_webhook", {"eventTypes": []}, "eventTypes"),
        ("update_webhook", {"url": "https://hooks.example.com"}, "url"),
    ],
)
async def test_an_odd_field_is_noted_or_rejected(operation: str, body: dict[str, Any], target: str) -> None:
    """The request succeeds, and its record notes the odd field; with strict, the operation's own error names it."""
    async with serving(objects=1) as (sandbox, http):
        response = await send(sandbox, http, operation, body)
        (note,) = sandbox.requests[0].notes
        assert (response.status_code, note.partition(": ")[0]) == (OPERATIONS[operation].success, target)
    async with serving(objects=1, strict=True) as (sandbox, http):
        response = await send(sandbox, http, operation, body)
        assert response.status_code == OPERATIONS[operation].error["status"]
        assert [detail["target"] for detail in response.json()["error"]["details"]] == [target]


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("update_repository", {}),
        ("update_repository", {"displayName": "A", "uri": "https://data.example.com/a?b=c"}),
        ("update_repository", {"authentication": BASIC, "options": {"queryParameters": {"any": "thing"}}}),
        ("create_repository_resource", {"id": "a/b", "displayName": "A", "type": "T"}),
        ("create_scene", view(near=0.1, far=100, fov=1.0472, aspectRatio=1.7)),
        ("create_detector", {"name": "@a/b", "type": "PhotoObjectDetector", "description": None}),
        ("update_webhook", {"active": True, "secret": "s", "callbackUrl": "http://localhost:3000/hook"}),
    ],
)
@pytest.mark.itwin_sandbox(strict=True)
async def test_strict_accepts_what_is_meant(
    http: httpx.AsyncClient, sandbox: Sandbox, operation: str, body: dict[str, Any]
) -> None:
    """An ordinary request is carried out and leaves no note."""
    response = await send(sandbox, http, operation, body)
    assert (response.status_code, sandbox.requests[0].notes) == (OPERATIONS[operation].success, ()), response.text
