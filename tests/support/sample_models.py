"""Models as responses bring them: each documented response of tests/support/samples, decoded."""

import json
from pathlib import Path
from typing import Any

from itwin_platform_api import models

SAMPLES = Path(__file__).resolve().parent / "samples"
_MODELS: dict[str, Any] = {
    "create_detector.201": models.DetectorResponse,
    "create_repository_resource.201": models.ResourceResponse,
    "create_scene.201": models.SceneResponse,
    "get_primary_account.200": models.PrimaryAccountResponse,
    "list_itwins.200": models.ITwinsResponse,
    "list_scene_objects.200": models.SceneObjectsResponse,
    "update_repository.200": models.RepositoryResponse,
    "update_webhook.200": models.Webhook,
}


def sent(name: str) -> Any:
    """A response's body as it came."""
    return json.loads((SAMPLES / f"{name}.json").read_text(encoding="utf-8"))


#: What each response decodes to, by its name.
ANSWERS: dict[str, Any] = {name: model.from_dict(sent(name)) for name, model in _MODELS.items()}
