"""A scene that changes while a client pages through it."""

from datetime import datetime, timedelta

from ..._service.messages import ServiceResponse
from ..._service.state import Platform, StoredScene, time_text
from .context import ChangeContext, objects_in


def has_objects(_: ChangeContext, response: ServiceResponse) -> bool:
    """Return whether the page has an object of a scene."""
    return isinstance(response.body, dict) and any(objects_in(response.body.get("objects")))


def scene_changes(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Remove the first object of the page from the scene, which moves all later objects up."""
    body = response.body if isinstance(response.body, dict) else {}
    for item in objects_in(body.get("objects")):
        for scene in context.platform.scenes.values():
            _remove(context.platform, scene, str(item["id"]))
        break
    return response


def _remove(platform: Platform, scene: StoredScene, object_id: str) -> None:
    remaining = [item for item in scene.objects if item["id"] != object_id]
    if len(remaining) < len(scene.objects):
        scene.objects[:] = remaining
        before = datetime.fromisoformat(str(scene.content["lastModified"]))
        # A reader compares the times, so they differ even where the clock stands still.
        scene.content["lastModified"] = time_text(max(platform.now(), before + timedelta(milliseconds=1)))
