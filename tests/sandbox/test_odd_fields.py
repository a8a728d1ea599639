"""Odd fields that the described rules allow: rejected with strict, noted in the journal otherwise."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

VECTOR = {"x": 0, "y": 0, "z": 1}


@pytest.fixture
async def strict() -> AsyncIterator[Sandbox]:
    """A strict sandbox."""
    async with Sandbox(itwins=10, objects=10, strict=True) as running:
        yield running


def scene(**changes: object) -> dict[str, Any]:
    """The body of a scene with one object."""
    return {
        "displayName": "S",
        "sceneData": {"objects": [{"kind": "Layer", "version": "1.0.0", "data": {}, **changes}]},
    }


def view(**changes: object) -> dict[str, Any]:
    """The body of a scene with one view."""
    return scene(kind="View3d", data={"direction": VECTOR, **changes})


OBJECT = "sceneData.objects[0]"
ODD: list[tuple[str, dict[str, Any], str]] = [
    ("update_repository", {"colour": "red"}, "colour"),
    ("update_repository", {"displayName": "  "}, "displayName"),
    ("update_repository", {"displayName": "a\x07"}, "displayName"),
    ("update_repository", {"uri": "data.example.com"}, "uri"),
    ("update_repository", {"options": {"style": "dark"}}, "options.style"),
    (
        "update_repository",
        {"authentication": {"type": "Basic", "username": "u", "password": ""}},
        "password",
    ),
    (
        "update_repository",
        {"authentication": {"type": "Basic", "username": "u", "password": "p", "key": "k"}},
        "authentication.key",
    ),
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
    ("create_detector", {"name": "", "type": "PhotoObjectDetector"}, "detector.name"),
    ("create_detector", {"name": "d", "type": "PhotoObjectDetector", "versions": []}, "detector.versions"),
    (
        "create_detector",
        {"name": "d", "type": "PhotoObjectDetector", "documentationUrl": "page 5"},
        "detector.documentationUrl",
    ),
    ("update_webhook", {"secret": ""}, "secret"),
    ("update_webhook", {"callbackUrl": "ftp://hooks.example.com"}, "callbackUrl"),
    ("update_webhook", {"eventTypes": []}, "eventTypes"),
    ("update_webhook", {"url": "https://hooks.example.com"}, "url"),
]
STATUSES = {
    "update_repository": (200, 422),
    "create_repository_resource": (201, 422),
    "create_scene": (201, 400),
    "create_detector": (201, 400),
    "update_webhook": (200, 422),
}


async def send(sandbox: Sandbox, operation: str, body: object) -> httpx.Response:
    """Carries out an operation with a body."""
    repository = f"/itwins/{sandbox.itwin_id}/repositories/{sandbox.repository_id}"
    requests = {
        "update_repository": ("PATCH", repository),
        "create_repository_resource": ("POST", f"{repository}/resources"),
        "create_scene": ("POST", f"/scenes/?iTwinId={sandbox.itwin_id}"),
        "create_detector": ("POST", "/reality-analysis/detectors"),
        "update_webhook": ("PATCH", f"/webhooks/{sandbox.webhook_id}"),
    }
    method, url = requests[operation]
    async with httpx.AsyncClient(base_url=sandbox.base_url, headers={"Authorization": "Bearer a"}) as http:
        return await http.request(method, url, json=body)


@pytest.mark.parametrize(("operation", "body", "target"), ODD)
async def test_strict_rejects_what_is_odd(strict: Sandbox, operation: str, body: dict[str, Any], target: str) -> None:
    """The operation's own error names the field."""
    response = await send(strict, operation, body)
    assert response.status_code == STATUSES[operation][1]
    assert [detail["target"] for detail in response.json()["error"]["details"]] == [target]


@pytest.mark.parametrize(("operation", "body", "target"), ODD)
async def test_otherwise_the_journal_notes_it(
    sandbox: Sandbox, operation: str, body: dict[str, Any], target: str
) -> None:
    """The request succeeds, and its record notes the odd field."""
    response = await send(sandbox, operation, body)
    assert response.status_code == STATUSES[operation][0]
    (note,) = sandbox.requests[0].notes
    assert note.startswith(f"{target}: ")


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("update_repository", {}),
        (
            "update_repository",
            {
                "displayName": "A",
                "uri": "https://data.example.com/a?b=c",
                "authentication": {"type": "Header", "key": "k", "value": "v"},
                "options": {"queryParameters": {"any": "thing"}},
            },
        ),
        ("create_repository_resource", {"id": "a/b", "displayName": "A", "type": "T"}),
        ("create_scene", view(near=0.1, far=100, fov=1.0472, aspectRatio=1.7)),
        ("create_detector", {"name": "@a/b", "type": "PhotoObjectDetector", "description": None}),
        ("update_webhook", {"active": True, "secret": "s", "callbackUrl": "http://localhost:3000/hook"}),
    ],
)
async def test_strict_accepts_what_is_meant(strict: Sandbox, operation: str, body: dict[str, Any]) -> None:
    """An ordinary request is carried out and leaves no note."""
    response = await send(strict, operation, body)
    assert response.status_code == STATUSES[operation][0], response.text
    assert strict.requests[0].notes == ()
