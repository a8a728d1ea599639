"""One call of each operation."""

from collections.abc import Awaitable, Callable

from itwin_platform import BasicAuthentication, PlatformClient

ITWIN = "dc90a5f3-2f61-4c87-9f35-1a4b7c6d8e90"
SCENE = "6a2d2381-6c57-4332-b87a-5b7c00000000"
#: A secret in the arguments of the calls.
SECRET = "planted-secret"
#: A confidential search term, which is part of the address of a request.
SEARCH_TERM = "planted-word"

CALLS: dict[str, Callable[[PlatformClient], Awaitable[object]]] = {
    "update_repository": lambda platform: platform.repositories.update(
        ITWIN, "r-1", authentication=BasicAuthentication(username="u", password=SECRET)
    ),
    "create_repository_resource": lambda platform: platform.repositories.create_resource(
        ITWIN, "r-1", id="roads", display_name="Roads"
    ),
    "list_itwins": lambda platform: platform.itwins.list(search=SEARCH_TERM).collect(),
    "get_primary_account": lambda platform: platform.itwins.get_primary_account(),
    "create_scene": lambda platform: platform.scenes.create(ITWIN, display_name="Overview", id=SCENE),
    "list_scene_objects": lambda platform: platform.scenes.list_objects(SCENE, ITWIN).collect(),
    "create_detector": lambda platform: platform.detectors.create(name="@example/cracks", type="PhotoObjectDetector"),
    "update_webhook": lambda platform: platform.webhooks.update("w-1", active=True, secret=SECRET),
}
