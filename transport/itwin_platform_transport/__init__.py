"""Retries, rate limits and tokens for asyncio, as a transport of httpx, with connections of its own.

Start with `BackoffTransport`. Everything that is public is exported here; the modules below are private.
"""

import typing as _typing
from types import ModuleType as _ModuleType

from .attempts.call import CallInfo as CallInfo
from .attempts.results import CallResult as CallResult
from .attempts.tokens import AccessToken as AccessToken, TokenProvider as TokenProvider
from .attempts.transport import MAX_RESPONSE_BYTES as MAX_RESPONSE_BYTES, BackoffTransport as BackoffTransport
from .connections.engine import EngineTransport as EngineTransport
from .connections.given_client import is_timeout as is_timeout
from .connections.hosts import host_header as host_header, is_host as is_host, is_loopback as is_loopback
from .connections.httpx2_adapter import (
    HTTPX2Client as HTTPX2Client,
    HTTPX2Timeout as HTTPX2Timeout,
    HTTPX2Transport as HTTPX2Transport,
)
from .connections.messages import Origin as Origin, Request as Request, Response as Response
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
    as_number as as_number,
    check_integer as check_integer,
    when_to_retry as when_to_retry,
)
from .events import (
    AttemptEnded as AttemptEnded,
    BackoffEvent as BackoffEvent,
    CooldownStarted as CooldownStarted,
    GateChanged as GateChanged,
    OutageEnded as OutageEnded,
    OutageStarted as OutageStarted,
)
from .gates.gate import Gate as Gate
from .gates.redis import RedisGate as RedisGate
from .gates.window import RateLimit as RateLimit
from .names import ServiceHeaders as ServiceHeaders
from .policy import (
    RETRYABLE_METHODS as RETRYABLE_METHODS,
    RETRYABLE_STATUS_CODES as RETRYABLE_STATUS_CODES,
    BackoffPolicy as BackoffPolicy,
)

if not _typing.TYPE_CHECKING:
    # Hidden from type checkers, which read the names that are imported as themselves.
    __all__ = sorted(name for name in globals() if name[0] != "_" and not isinstance(globals()[name], _ModuleType))  # noqa: PLE0605
    for _value in map(globals().get, __all__):
        if isinstance(_value, type):
            # Tracebacks, `repr` and documentation name the package that users import.
            _value.__module__ = __name__
