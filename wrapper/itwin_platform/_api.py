"""The seam: the only module that names the generated package. Regenerating and vendoring meet the wrapper here.

A model costs about a millisecond of import, so each is imported when it is first named, and so are the operations.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from itwin_platform_api.decoding import decode_datetime as decode_datetime
from itwin_platform_api.operations import BODY_LIMITS as BODY_LIMITS, MODULES as MODULES
from itwin_platform_api.request import RequestValues as RequestValues
from itwin_platform_api.rules import Reject as Reject, Rule as Rule, Violation as Violation
from itwin_platform_api.types import (
    PLAIN as PLAIN,
    UNSET as UNSET,
    Unset as Unset,
    copy_values as copy_values,
    encode as encode,
    encode_scalar as encode_scalar,
)

if TYPE_CHECKING:
    from itwin_platform_api.api.detectors import create_detector as create_detector
    from itwin_platform_api.api.itwins import get_primary_account as get_primary_account, list_itwins as list_itwins
    from itwin_platform_api.api.repositories import (
        create_repository_resource as create_repository_resource,
        update_repository as update_repository,
    )
    from itwin_platform_api.api.scenes import create_scene as create_scene, list_scene_objects as list_scene_objects
    from itwin_platform_api.api.webhooks import update_webhook as update_webhook
    from itwin_platform_api.client import AuthenticatedClient as AuthenticatedClient
    from itwin_platform_api.models import *  # noqa: F403  # the models, and what stands for them in requests
else:

    def __getattr__(name: str) -> object:
        """Import the module of an operation, the client, or a model, on first use."""
        import itwin_platform_api as generated
        from itwin_platform_api import models

        if name in MODULES:
            value: object = import_module(f"{generated.__name__}.{MODULES[name]}")
        else:
            value = getattr(generated if name == "AuthenticatedClient" else models, name)
        globals()[name] = value
        return value
