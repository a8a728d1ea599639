"""Make all eight calls and a rejected one with the client that openapi-generator makes for Python.

Run as `python python_client.py URL IDS` where the package `client` can be imported.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

from client import (
    ApiClient,
    ApiException,
    Configuration,
    DetectorCreate,
    DetectorsApi,
    DetectorType,
    ItwinsApi,
    RepositoriesApi,
    RepositoryUpdate,
    ResourceCreate,
    SceneCreate,
    SceneDataCreate,
    SceneObjectCreate,
    ScenesApi,
    WebhooksApi,
    WebhookUpdate,
)

VIEW = {
    "position": {"x": 1, "y": 2, "z": 3},
    "direction": {"x": 0, "y": 1, "z": 0},
    "up": {"x": 0, "y": 0, "z": 1},
}


def calls(api: ApiClient, ids: dict[str, str]) -> dict[str, Callable[[], Any]]:
    """Return each call by its name."""
    itwins, repositories, scenes = ItwinsApi(api), RepositoriesApi(api), ScenesApi(api)
    view = SceneObjectCreate(version="1.0.0", kind="View3d", data=VIEW)
    scene = SceneCreate(display_name="python", scene_data=SceneDataCreate(objects=[view]))
    detector = DetectorCreate(name="@python/cracks", type=DetectorType.PHOTO_OBJECT_DETECTOR)
    resource = ResourceCreate(id="python", display_name="python")
    update = RepositoryUpdate(display_name="From Python")
    path = (ids["itwin"], ids["repository"])
    return {
        "list_itwins": lambda: itwins.list_itwins(top=5).i_twins[0].id,
        "get_primary_account": lambda: itwins.get_primary_account().i_twin.id,
        "update_repository": lambda: repositories.update_repository(*path, update).repository.id,
        "create_repository_resource": lambda: repositories.create_repository_resource(*path, resource).resource.id,
        "create_scene": lambda: scenes.create_scene(ids["itwin"], scene).scene.id,
        "list_scene_objects": lambda: scenes.list_scene_objects(ids["scene"], ids["itwin"]).objects[0].id,
        "create_detector": lambda: DetectorsApi(api).create_detector(detector).detector.name,
        "update_webhook": lambda: WebhooksApi(api).update_webhook(ids["webhook"], WebhookUpdate(active=True)).id,
        "rejected": lambda: itwins.list_itwins(filter="x", number="y"),
    }


def main() -> None:
    """Make the calls and print a row for each."""
    url, ids = sys.argv[1], json.loads(sys.argv[2])
    rows = []
    with ApiClient(Configuration(host=url, access_token="any-word")) as api:
        for name, call in calls(api, ids).items():
            try:
                rows.append({"name": name, "status": 200, "value": str(call())})
            except ApiException as error:
                rows.append({"name": name, "status": error.status, "value": json.loads(error.body)["error"]["code"]})
            except Exception as error:  # noqa: BLE001 - the row says what the client raised
                rows.append({"name": name, "status": 0, "value": repr(error)})
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
