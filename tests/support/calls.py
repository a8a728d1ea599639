"""The methods of the wrapper, with the arguments of a plain call of each, and the largest pages."""

from typing import Any

from itwin_platform_api.api.itwins import list_itwins
from itwin_platform_api.api.scenes import list_scene_objects

#: The largest number of items of a page.
ITWINS_PER_PAGE, OBJECTS_PER_PAGE = (each.RULES["top"].maximum for each in (list_itwins, list_scene_objects))
ITWIN = "dc90a5f3-2f61-4c87-9f35-1a4b7c6d8e90"
SCENE = "6a2d2381-6c57-9332-387a-5b7c00000000"
#: The ids that the plain calls pass.
IDS = {
    "itwin_id": ITWIN,
    "repository_id": "5f6e7d8c-0000-4000-8000-000000000003",
    "scene_id": SCENE,
    "webhook_id": "8d9e0f1a-0000-4000-8000-000000000004",
}
#: For each operation: its method, the names of its ids, and its required keywords.
METHODS: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "update_repository": ("repositories.update", ("itwin_id", "repository_id"), {"display_name": "Tiles"}),
    "create_repository_resource": (
        *("repositories.create_resource", ("itwin_id", "repository_id")),
        {"id": "roads", "display_name": "Roads"},
    ),
    "list_itwins": ("itwins.list", (), {}),
    "get_primary_account": ("itwins.get_primary_account", (), {}),
    "create_scene": ("scenes.create", ("itwin_id",), {"display_name": "Overview"}),
    "list_scene_objects": ("scenes.list_objects", ("scene_id", "itwin_id"), {}),
    "create_detector": ("detectors.create", (), {"name": "@a/cracks", "type": "PhotoObjectDetector"}),
    "update_webhook": ("webhooks.update", ("webhook_id",), {"active": True}),
}
