"""Retries, rate limits and tokens for asyncio, as a transport of httpx, with connections of its own.

Start with `BackoffTransport`. Everything that is public is exported here; the modules below are private.
"""

from typing import TYPE_CHECKING

from .attempts.call import CallInfo as CallInfo, CallResult as CallResult
from .attempts.tokens import AccessToken as AccessToken, TokenProvider as TokenProvider
from .attempts.transport import BackoffTransport as BackoffTransport
from .connections.messages import Request as Request, Response as Response, is_loopback as is_loopback
from .conventions import Conventions as Conventions, adopt as adopt
from .errors import (
    DeadlineExceededError as DeadlineExceededError,
    NotSentError as NotSentError,
    OutcomeUnknownError as OutcomeUnknownError,
    PlatformError as PlatformError,
    ResponseDecodeError as ResponseDecodeError,
    StateError as StateError,
    TokenError as TokenError,
    TransportError as TransportError,
    UsageError as UsageError,
)
from .events import (
    AttemptEnded as AttemptEnded,
    BackoffEvent as BackoffEvent,
    CooldownStarted as CooldownStarted,
    GateChanged as GateChanged,
    OutageEnded as OutageEnded,
    OutageStarted as OutageStarted,
)
from .gates.window import RateLimit as RateLimit
from .policy import (
    RETRYABLE_METHODS as RETRYABLE_METHODS,
    RETRYABLE_STATUS_CODES as RETRYABLE_STATUS_CODES,
    BackoffPolicy as BackoffPolicy,
)

if TYPE_CHECKING:
    from .gates.gate import Gate as Gate
    from .gates.redis import RedisGate as RedisGate
else:
    # Hidden from type checkers, which read the names that are imported as themselves, and would accept any other.
    from importlib import import_module as _import_module

    from .gates.gate import Gate

    #: What few applications need: it is imported on first use.
    _LAZY = {
        "RedisGate": ".gates.redis",
    }
    _eager = {name for name in globals() if not name[0] == "_" and name.lower() != name} - {"TYPE_CHECKING"}
    __all__ = sorted({*_eager, "adopt", "is_loopback", *_LAZY})  # noqa: PLE0605  # it is a list

    def __dir__() -> list[str]:
        return __all__

    def __getattr__(name: str) -> object:
        if name not in _LAZY:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value = _renamed(getattr(_import_module(_LAZY[name], __name__), name))
        return value

    def _renamed(value: object) -> object:
        """Let tracebacks, `repr` and documentation name the package that users import."""
        if isinstance(value, type):
            value.__module__ = __name__
        return value

    for _name in _eager:
        _renamed(globals()[_name])
