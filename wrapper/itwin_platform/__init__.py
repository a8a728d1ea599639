"""Asyncio client of an iTwin platform service: iTwins, repositories, scenes, detectors and webhooks.

Start with `PlatformClient`. Everything that a user needs is exported here.
"""

from importlib import import_module as _import_module
from types import FunctionType as _FunctionType
from typing import TYPE_CHECKING

from itwin_platform_api.unset import UNSET as UNSET, Unset as Unset

from ._client import PlatformClient as PlatformClient
from ._errors import (
    APIStatusError as APIStatusError,
    AuthenticationError as AuthenticationError,
    BadRequestError as BadRequestError,
    ConflictError as ConflictError,
    DeadlineExceededError as DeadlineExceededError,
    DeliveryError as DeliveryError,
    ErrorDetail as ErrorDetail,
    NotFoundError as NotFoundError,
    NotSentError as NotSentError,
    OutcomeUnknownError as OutcomeUnknownError,
    PagingError as PagingError,
    PermissionDeniedError as PermissionDeniedError,
    PlatformError as PlatformError,
    RateLimitError as RateLimitError,
    RequestTooLargeError as RequestTooLargeError,
    ResponseDecodeError as ResponseDecodeError,
    ServerError as ServerError,
    StateError as StateError,
    TokenError as TokenError,
    TransportError as TransportError,
    UnprocessableError as UnprocessableError,
    UsageError as UsageError,
)
from ._http.attempts.tokens import AccessToken as AccessToken, TokenProvider as TokenProvider
from ._http.attempts.transport import BackoffTransport as BackoffTransport
from ._http.events import (
    AttemptEnded as AttemptEnded,
    BackoffEvent as BackoffEvent,
    CooldownStarted as CooldownStarted,
    GateChanged as GateChanged,
    OutageEnded as OutageEnded,
    OutageStarted as OutageStarted,
)
from ._http.gates.gate import Gate as Gate
from ._http.gates.window import RateLimit as RateLimit
from ._http.policy import BackoffPolicy as BackoffPolicy
from ._requests.platform import ResponseInfo as ResponseInfo
from ._version import __version__ as __version__

if TYPE_CHECKING:
    from itwin_platform_api.models import *  # noqa: F403  # all that the document does not mark `x-exported: false`

    from ._http.gates.redis import RedisGate as RedisGate
    from ._listings.pager import Pager as Pager
    from ._listings.run import Page as Page, SceneState as SceneState, TruncatedWarning as TruncatedWarning
    from ._operations.deliveries import (
        WebhookDelivery as WebhookDelivery,
        sign_delivery as sign_delivery,
        verify_delivery as verify_delivery,
    )
    from ._operations.repositories import (
        BasicAuthentication as BasicAuthentication,
        HeaderAuthentication as HeaderAuthentication,
        OAuth2AuthorizationCodePKCEAuthentication as OAuth2AuthorizationCodePKCEAuthentication,
        QueryParameterAuthentication as QueryParameterAuthentication,
        RepositoryOptions as RepositoryOptions,
    )
    from ._operations.scenes import escape as escape
else:
    # Hidden from type checkers, which read the names that are imported as themselves, and would accept any other.
    from itwin_platform_api import models as _models

    #: What a first call does not need, by its module; the models come on first use as well.
    _LAZY = {
        "._http.gates.redis": ["RedisGate"],
        "._listings.pager": ["Pager"],
        "._listings.run": ["Page", "SceneState", "TruncatedWarning"],
        "._operations.deliveries": ["WebhookDelivery", "sign_delivery", "verify_delivery"],
        "._operations.repositories": [
            "BasicAuthentication",
            "HeaderAuthentication",
            "OAuth2AuthorizationCodePKCEAuthentication",
            "QueryParameterAuthentication",
            "RepositoryOptions",
        ],
        "._operations.scenes": ["escape"],
    }
    _MODULES = {name: module for module, names in _LAZY.items() for name in names}
    _eager = {name for name in globals() if not name.startswith("_")} - {"TYPE_CHECKING"}
    __all__ = sorted({*_eager, "__version__", *_MODULES, *_models.__all__})  # noqa: PLE0605  # it is a list

    def __dir__() -> list[str]:
        return __all__

    def __getattr__(name: str) -> object:
        """Import a model, an enum, or what a first call does not need, on first use."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        source = _import_module(_MODULES[name], __name__) if name in _MODULES else _models
        globals()[name] = value = _renamed(getattr(source, name))
        return value

    def _renamed(value: object) -> object:
        """Let tracebacks, `repr` and documentation name the package that users import."""
        if isinstance(value, type | _FunctionType):
            value.__module__ = __name__
        return value

    for _name in _eager:
        _renamed(globals()[_name])
