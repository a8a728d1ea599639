"""A scene that changes while somebody pages through it."""

from datetime import UTC, datetime, timedelta

from itwin_platform_sandbox._exchange import Answer
from itwin_platform_sandbox._state import time_text

from ._context import ChangeContext, objects_in


def scene_changes(context: ChangeContext, answer: Answer) -> Answer:
    """Remove the first object of the answered page from the scene afterwards, which moves all later ones up."""
    body = answer.body if isinstance(answer.body, dict) else {}
    for item in objects_in(body.get("objects")):
        scene = context.platform.scenes[str(item["sceneId"]).lower()]
        scene.objects[:] = [other for other in scene.objects if other["id"] != item["id"]]
        before = datetime.fromisoformat(str(scene.content["lastModified"])).astimezone(UTC)
        after = max(context.platform.now(), before + timedelta(milliseconds=1))
        scene.content["lastModified"] = time_text(after)
        break
    return answer
