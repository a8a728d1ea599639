"""Asyncio client of an iTwin platform service: iTwins, repositories, scenes, detectors and webhooks.

Start with `PlatformClient`. Everything that a user needs is exported here.
"""

from importlib import import_module as _import_module
from types import FunctionType as _FunctionType
from typing import TYPE_CHECKING, get_type_hints as _get_type_hints

from itwin_platform_api.unset import UNSET as UNSET, Unset as Unset
from itwin_platform_transport import (
    AccessToken as AccessToken,
    AttemptEnded as AttemptEnded,
    BackoffEvent as BackoffEvent,
    BackoffPolicy as BackoffPolicy,
    BackoffTransport as BackoffTransport,
    CooldownStarted as CooldownStarted,
    DeadlineExceededError as DeadlineExceededError,
    EngineTransport as EngineTransport,
    Gate as Gate,
    GateChanged as GateChanged,
    NotSentError as NotSentError,
    OutageEnded as OutageEnded,
    OutageStarted as OutageStarted,
    OutcomeUnknownError as OutcomeUnknownError,
    PlatformError as PlatformError,
    RateLimit as RateLimit,
    RedisGate as RedisGate,
    ResponseDecodeError as ResponseDecodeError,
    StateError as StateError,
    TokenError as TokenError,
    TokenProvider as TokenProvider,
    TransportError as TransportError,
    UsageError as UsageError,
)

from ._client import PlatformClient as PlatformClient
from ._errors import (
    APIStatusError as APIStatusError,
    AuthenticationError as AuthenticationError,
    BadRequestError as BadRequestError,
    ConflictError as ConflictError,
    DeliveryError as DeliveryError,
    ErrorDetail as ErrorDetail,
    NotFoundError as NotFoundError,
    PagingError as PagingError,
    PermissionDeniedError as PermissionDeniedError,
    RateLimitError as RateLimitError,
    RequestTooLargeError as RequestTooLargeError,
    ServerError as ServerError,
    UnprocessableError as UnprocessableError,
)
from ._requests.sender import ResponseInfo as ResponseInfo
from ._version import __version__ as __version__

if TYPE_CHECKING:
    from itwin_platform_api.models import *  # noqa: F403  # all that the document does not mark `x-exported: false`

    from ._listings.pager import Pager as Pager
    from ._listings.pages import Page as Page, SceneState as SceneState, TruncatedWarning as TruncatedWarning
    from ._operations.deliveries import (
        WebhookDelivery as WebhookDelivery,
        sign_delivery as sign_delivery,
        verify_delivery as verify_delivery,
    )
    from ._operations.scenes import escape as escape
else:
    # Hidden from type checkers, which read the imports above, and would accept any name because of `__getattr__`.
    from itwin_platform_api import models as _models

    #: The modules of the names that are imported when they are first used.
    _LAZY = {
        "Pager": "._listings.pager",
        **dict.fromkeys(("Page", "SceneState", "TruncatedWarning"), "._listings.pages"),
        **dict.fromkeys(("WebhookDelivery", "sign_delivery", "verify_delivery"), "._operations.deliveries"),
        "escape": "._operations.scenes",
        **dict.fromkeys(_models.__all__, _models.__name__),
    }
    _EAGER = {name for name in globals() if not name.startswith("_")} - {"TYPE_CHECKING"}
    __all__ = sorted({*_EAGER, *_LAZY, "__version__"})  # noqa: PLE0605  # it is a list

    def __dir__() -> list[str]:
        return __all__

    def __getattr__(name: str) -> object:
        if name not in _LAZY:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value = _shown(getattr(_import_module(_LAZY[name], __name__), name))
        return value

    def _shown(value: object) -> object:
        """Let tracebacks, `repr` and pickles name this package, as httpx and openai do; the transport names itself."""
        if isinstance(value, type | _FunctionType) and value.__module__ != PlatformError.__module__:
            if hasattr(value, "__attrs_attrs__"):
                # For pydantic and FastAPI, resolve annotations while `__module__` is the module that has their names.
                value.__annotations__ = _get_type_hints(value)
            value.__module__ = __name__
        return value

    for _name in _EAGER:
        _shown(globals()[_name])
