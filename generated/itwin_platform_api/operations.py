"""Where each operation is, and limits of whole requests."""

#: The modules of the operations.
MODULES: dict[str, str] = {
    "create_detector": "api.detectors.create_detector",
    "create_repository_resource": "api.repositories.create_repository_resource",
    "create_scene": "api.scenes.create_scene",
    "get_primary_account": "api.itwins.get_primary_account",
    "list_itwins": "api.itwins.list_itwins",
    "list_scene_objects": "api.scenes.list_scene_objects",
    "update_repository": "api.repositories.update_repository",
    "update_webhook": "api.webhooks.update_webhook",
}
#: The most bytes of a body, by method and route.
BODY_LIMITS: dict[tuple[str, str], int] = {
    ("POST", "/scenes/"): 4_718_592,
}
