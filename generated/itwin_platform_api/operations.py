"""The modules of the operations, and the limits of bodies."""

#: The module of each operation.
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
#: The maximum size of a body in bytes, by method and route.
BODY_LIMITS: dict[tuple[str, str], int] = {
    ("POST", "/scenes/"): 4_718_592,
}
