"""Asyncio client of an iTwin platform service: iTwins, repositories, scenes, detectors and webhooks.

Start with `PlatformClient`. Everything that a user needs is exported here.
"""

from importlib import import_module as _import_module
from types import FunctionType as _FunctionType
from typing import TYPE_CHECKING

from itwin_platform_api.unset import UNSET, Unset

from ._client import PlatformClient
from ._errors import (
    APIStatusError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    DeadlineExceededError,
    DeliveryError,
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
    StateError,
    TokenError,
    TransportError,
    UnprocessableError,
    UsageError,
)
from ._http.attempts.tokens import AccessToken, TokenProvider
from ._http.attempts.transport import BackoffTransport
from ._http.events import AttemptEnded, BackoffEvent, CooldownStarted, GateChanged, OutageEnded, OutageStarted
from ._http.gates.gate import Gate
from ._http.gates.window import RateLimit
from ._http.policy import BackoffPolicy
from ._requests.platform import ResponseInfo
from ._version import __version__

if TYPE_CHECKING:
    from itwin_platform_api.models import (
        BasicAuthenticationParam,
        CapabilityLink,
        DataCenterLocation,
        Detector,
        DetectorType,
        DetectorTypeParam,
        ErrorCode,
        ErrorDetailCode,
        EventType,
        EventTypeParam,
        HeaderAuthenticationParam,
        ITwin,
        ITwinClass,
        ITwinStatus,
        ITwinStatusParam,
        ITwinSubClass,
        ITwinSubClassParam,
        ITwinSummary,
        OAuth2AuthorizationCodePKCEAuthenticationParam,
        QueryParameterAuthenticationParam,
        QueryScope,
        QueryScopeParam,
        Repository,
        RepositoryCapabilities,
        RepositoryClass,
        RepositoryOptionsParam,
        RepositoryResourceData,
        RepositoryResourceDataParam,
        RepositorySubClass,
        Resource,
        ResourceCapabilities,
        ResourceClass,
        ResourceSubClass,
        Scene,
        SceneData,
        SceneObject,
        SceneObjectCreate,
        SceneObjectCreateParam,
        SceneObjectMinimal,
        StoredBasicAuthentication,
        StoredHeaderAuthentication,
        StoredOAuth2AuthorizationCodePKCEAuthentication,
        StoredQueryParameterAuthentication,
        StoredRepositoryOptions,
        Vector3d,
        Vector3dParam,
        View3dData,
        View3dDataParam,
        Webhook,
        WebhookScope,
    )

    from ._http.gates.redis import RedisGate
    from ._listings.pager import Pager
    from ._listings.run import Page, SceneState, TruncatedWarning
    from ._operations.deliveries import WebhookDelivery, sign_delivery, verify_delivery
    from ._operations.repositories import (
        BasicAuthentication,
        HeaderAuthentication,
        OAuth2AuthorizationCodePKCEAuthentication,
        QueryParameterAuthentication,
        RepositoryOptions,
    )
    from ._operations.scenes import escape
else:
    _MODULES = {
        **dict.fromkeys(("Page", "SceneState", "TruncatedWarning"), "_listings.run"),
        **dict.fromkeys(("WebhookDelivery", "sign_delivery", "verify_delivery"), "_operations.deliveries"),
        "Pager": "_listings.pager",
        "RedisGate": "_http.gates.redis",
        "RepositoryOptions": "_operations.repositories",
        "escape": "_operations.scenes",
    }

    # Hidden from type checkers, which would accept any name of this package otherwise.
    def __getattr__(name: str) -> object:
        """Import a model, an enum, or what a first call does not need, on first use."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        ours = name.endswith("Authentication") and not name.startswith("Stored")
        module = "_operations.repositories" if ours else _MODULES.get(name)
        if module is None:
            from itwin_platform_api import models as source
        else:
            source = _import_module(f".{module}", __name__)
        value = getattr(source, name)
        if isinstance(value, type | _FunctionType):
            value.__module__ = __name__
        globals()[name] = value
        return value


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
    "BasicAuthenticationParam",
    "CapabilityLink",
    "ConflictError",
    "CooldownStarted",
    "DataCenterLocation",
    "DeadlineExceededError",
    "DeliveryError",
    "Detector",
    "DetectorType",
    "DetectorTypeParam",
    "ErrorCode",
    "ErrorDetail",
    "ErrorDetailCode",
    "EventType",
    "EventTypeParam",
    "Gate",
    "GateChanged",
    "HeaderAuthentication",
    "HeaderAuthenticationParam",
    "ITwin",
    "ITwinClass",
    "ITwinStatus",
    "ITwinStatusParam",
    "ITwinSubClass",
    "ITwinSubClassParam",
    "ITwinSummary",
    "NotFoundError",
    "NotSentError",
    "OAuth2AuthorizationCodePKCEAuthentication",
    "OAuth2AuthorizationCodePKCEAuthenticationParam",
    "OutageEnded",
    "OutageStarted",
    "OutcomeUnknownError",
    "Page",
    "Pager",
    "PagingError",
    "PermissionDeniedError",
    "PlatformClient",
    "PlatformError",
    "QueryParameterAuthentication",
    "QueryParameterAuthenticationParam",
    "QueryScope",
    "QueryScopeParam",
    "RateLimit",
    "RateLimitError",
    "RedisGate",
    "Repository",
    "RepositoryCapabilities",
    "RepositoryClass",
    "RepositoryOptions",
    "RepositoryOptionsParam",
    "RepositoryResourceData",
    "RepositoryResourceDataParam",
    "RepositorySubClass",
    "RequestTooLargeError",
    "Resource",
    "ResourceCapabilities",
    "ResourceClass",
    "ResourceSubClass",
    "ResponseDecodeError",
    "ResponseInfo",
    "Scene",
    "SceneData",
    "SceneObject",
    "SceneObjectCreate",
    "SceneObjectCreateParam",
    "SceneObjectMinimal",
    "SceneState",
    "ServerError",
    "StateError",
    "StoredBasicAuthentication",
    "StoredHeaderAuthentication",
    "StoredOAuth2AuthorizationCodePKCEAuthentication",
    "StoredQueryParameterAuthentication",
    "StoredRepositoryOptions",
    "TokenError",
    "TokenProvider",
    "TransportError",
    "TruncatedWarning",
    "UNSET",
    "UnprocessableError",
    "Unset",
    "UsageError",
    "Vector3d",
    "Vector3dParam",
    "View3dData",
    "View3dDataParam",
    "Webhook",
    "WebhookDelivery",
    "WebhookScope",
    "__version__",
    "escape",
    "sign_delivery",
    "verify_delivery",
]


def __dir__() -> list[str]:
    return __all__


# Tracebacks, `repr` and documentation name the package that users import, not the module that defines the class.
for _public in [
    value for name, value in globals().items() if name in __all__ and isinstance(value, type | _FunctionType)
]:
    _public.__module__ = __name__
