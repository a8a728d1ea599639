"""Asyncio client of an iTwin platform service: iTwins, repositories, scenes, detectors and webhooks.

`PlatformClient` is where to begin; everything that a user needs is exported here.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ._api import UNSET, Unset
from ._auth import TokenSource
from ._backoff import BackoffPolicy
from ._client import PlatformClient
from ._deprecation import PlatformDeprecationWarning
from ._errors import (
    APIStatusError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    DeadlineExceededError,
    ErrorDetail,
    NotFoundError,
    NotSentError,
    OutcomeUnknownError,
    PagingError,
    PermissionDeniedError,
    PlatformError,
    RateLimitError,
    RequestTooLargeError,
    ResponseDecodeError,
    ServerError,
    TokenError,
    TransportError,
    UnprocessableError,
    UsageError,
)
from ._events import AttemptEnded, BackoffEvent, CooldownBegan
from ._fast import fast_transport
from ._gate import Gate, RequestGate
from ._tokens import AccessToken
from ._transport import BackoffTransport
from ._version import __version__
from ._window import Pass, RateLimit, WaitTooLongError

if TYPE_CHECKING:
    from ._api import (
        CapabilityLink,
        DataCenterLocation,
        Detector,
        DetectorType,
        ErrorCode,
        ErrorDetailCode,
        EventType,
        ITwin,
        ITwinClass,
        ITwinStatus,
        ITwinSubClass,
        ITwinSummary,
        QueryScope,
        Repository,
        RepositoryCapabilities,
        RepositoryClass,
        RepositoryResourceData,
        RepositorySubClass,
        Resource,
        ResourceCapabilities,
        ResourceClass,
        ResourceSubClass,
        Scene,
        SceneData,
        SceneObject,
        SceneObjectCreate,
        SceneObjectMinimal,
        Vector3d,
        View3dData,
        Webhook,
        WebhookScope,
    )
    from ._page import Page, SceneState, TruncatedWarning
    from ._pager import Pager
    from ._replacement import (
        BasicAuthentication,
        HeaderAuthentication,
        OAuth2AuthorizationCodePKCEAuthentication,
        QueryParameterAuthentication,
        RepositoryOptions,
    )
    from ._scene_data import escape
else:
    _MODULES = {
        **dict.fromkeys(("Page", "SceneState", "TruncatedWarning"), "_page"),
        "Pager": "_pager",
        "RepositoryOptions": "_replacement",
        "escape": "_scene_data",
    }

    # Out of sight of type checkers, for which it would make any name a name of this package.
    def __getattr__(name: str) -> object:
        """Imports a model, an enum, or what a first call does not need, when it is first named."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = "_replacement" if name.endswith("Authentication") else _MODULES.get(name, "_api")
        return getattr(import_module(f".{module}", __name__), name)


__all__ = [  # noqa: RUF022  # in the order of sorted(), which needs no tool to check
    "APIStatusError",
    "AccessToken",
    "AttemptEnded",
    "AuthenticationError",
    "BackoffEvent",
    "BackoffPolicy",
    "BackoffTransport",
    "BadRequestError",
    "BasicAuthentication",
    "CapabilityLink",
    "ConflictError",
    "CooldownBegan",
    "DataCenterLocation",
    "DeadlineExceededError",
    "Detector",
    "DetectorType",
    "ErrorCode",
    "ErrorDetail",
    "ErrorDetailCode",
    "EventType",
    "Gate",
    "HeaderAuthentication",
    "ITwin",
    "ITwinClass",
    "ITwinStatus",
    "ITwinSubClass",
    "ITwinSummary",
    "NotFoundError",
    "NotSentError",
    "OAuth2AuthorizationCodePKCEAuthentication",
    "OutcomeUnknownError",
    "Page",
    "Pager",
    "PagingError",
    "Pass",
    "PermissionDeniedError",
    "PlatformClient",
    "PlatformDeprecationWarning",
    "PlatformError",
    "QueryParameterAuthentication",
    "QueryScope",
    "RateLimit",
    "RateLimitError",
    "Repository",
    "RepositoryCapabilities",
    "RepositoryClass",
    "RepositoryOptions",
    "RepositoryResourceData",
    "RepositorySubClass",
    "RequestGate",
    "RequestTooLargeError",
    "Resource",
    "ResourceCapabilities",
    "ResourceClass",
    "ResourceSubClass",
    "ResponseDecodeError",
    "Scene",
    "SceneData",
    "SceneObject",
    "SceneObjectCreate",
    "SceneObjectMinimal",
    "SceneState",
    "ServerError",
    "TokenError",
    "TokenSource",
    "TransportError",
    "TruncatedWarning",
    "UNSET",
    "UnprocessableError",
    "Unset",
    "UsageError",
    "Vector3d",
    "View3dData",
    "WaitTooLongError",
    "Webhook",
    "WebhookScope",
    "__version__",
    "escape",
    "fast_transport",
]


def __dir__() -> list[str]:
    return __all__
