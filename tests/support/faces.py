"""What tests name of the wrapper's private modules, wherever it is defined.

A module can be renamed, split and merged, and what is in it moved, without a change of a test.
"""

import importlib
import re
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import itwin_platform

if TYPE_CHECKING:
    from itwin_platform._errors import (
        counted as counted,
        in_seconds as in_seconds,
        sent_so_far as sent_so_far,
        status_error_class as status_error_class,
    )
    from itwin_platform._http.attempts.body import (
        KEPT_OF_TOO_LARGE as KEPT_OF_TOO_LARGE,
        decoded_body as decoded_body,
        read_body as read_body,
    )
    from itwin_platform._http.attempts.call import (
        CallInfo as CallInfo,
        CallResult as CallResult,
    )
    from itwin_platform._http.attempts.tokens import (
        EARLY_SHARE as EARLY_SHARE,
        EARLY_WINDOW as EARLY_WINDOW,
        EXPIRY_MARGIN as EXPIRY_MARGIN,
        EXPIRY_SHARE as EXPIRY_SHARE,
        FAILURE_SHARED as FAILURE_SHARED,
        Freshness as Freshness,
        TokenAuth as TokenAuth,
        freshness as freshness,
    )
    from itwin_platform._http.attempts.transport import (
        MAX_RESPONSE_BYTES as MAX_RESPONSE_BYTES,
    )
    from itwin_platform._http.connections.connection import (
        TRANSITIONS as TRANSITIONS,
    )
    from itwin_platform._http.connections.engine import (
        KEEPALIVE as KEEPALIVE,
        EngineTransport as EngineTransport,
        addresses_of as addresses_of,
        connect as connect,
    )
    from itwin_platform._http.connections.given_client import (
        _warn as _warn,
        close_if_surplus as close_if_surplus,
    )
    from itwin_platform._http.connections.messages import (
        Request as Request,
        Response as Response,
        as_httpx as as_httpx,
        send_through as send_through,
        values_of as values_of,
        without_encoding as without_encoding,
    )
    from itwin_platform._http.gates.redis import (
        LEASE as LEASE,
        RedisGate as RedisGate,
        RedisState as RedisState,
        Reply as Reply,
        Report as Report,
        ServerRejectsError as ServerRejectsError,
        ServerUnreachableError as ServerUnreachableError,
    )
    from itwin_platform._http.gates.window import (
        Permit as Permit,
        WaitTooLongError as WaitTooLongError,
        Window as Window,
    )
    from itwin_platform._http.policy import (
        EFFECT_POSSIBLE as EFFECT_POSSIBLE,
        FAILURES_TO_CLOSE as FAILURES_TO_CLOSE,
        JITTER_SECONDS as JITTER_SECONDS,
        JITTER_SHARE as JITTER_SHARE,
        LONGEST_CLOSURE as LONGEST_CLOSURE,
        MOST_PATHS as MOST_PATHS,
        OUTCOMES as OUTCOMES,
        RETRY_AFTER_JITTER_SHARE as RETRY_AFTER_JITTER_SHARE,
        RULES as RULES,
        SUSPECTS_SHARE as SUSPECTS_SHARE,
        Outage as Outage,
        Outcome as Outcome,
        Progress as Progress,
        decide as decide,
        delay_before as delay_before,
        moment_after as moment_after,
        parse_retry_after as parse_retry_after,
        retry_after_of as retry_after_of,
    )
    from itwin_platform._operations import (
        as_enum as as_enum,
        as_list as as_list,
        check_path_id as check_path_id,
        usage_error as usage_error,
    )
    from itwin_platform._operations.detectors import (
        Detectors as Detectors,
    )
    from itwin_platform._operations.itwins import (
        ITWINS_PER_PAGE as ITWINS_PER_PAGE,
        MOST_RETURNED as MOST_RETURNED,
        ITwins as ITwins,
    )
    from itwin_platform._operations.repositories import (
        Authentication as Authentication,
        CompleteObject as CompleteObject,
        Repositories as Repositories,
    )
    from itwin_platform._operations.scenes import (
        JSON as JSON,
        OBJECTS_PER_PAGE as OBJECTS_PER_PAGE,
        Scenes as Scenes,
        objects_to_create as objects_to_create,
    )
    from itwin_platform._operations.webhooks import (
        Webhooks as Webhooks,
    )
    from itwin_platform._requests.platform import (
        DecodedResponse as DecodedResponse,
        read_json as read_json,
        with_changes as with_changes,
    )
    from itwin_platform._requests.request import (
        check_address as check_address,
        check_body_size as check_body_size,
        check_header as check_header,
        check_path as check_path,
        write_json as write_json,
    )
else:

    def __getattr__(name: str) -> object:
        """Find a function, a class or a constant."""
        return getattr(module_of(name), name)


_PACKAGE = Path(itwin_platform.__file__).parent
_DEFINITION = re.compile(r"^(?:class|def|async def) (\w+)", re.MULTILINE)
_CONSTANTS = re.compile(r"^(\w+(?:, \w+)*)(?:: [^=\n]+)? = ", re.MULTILINE)


@cache
def _modules() -> dict[str, list[str]]:
    """Return the modules that define each name; a class or a function is meant before a constant or an alias."""
    definitions: dict[str, list[str]] = {}
    constants: dict[str, list[str]] = {}
    for path in sorted(_PACKAGE.rglob("*.py")):
        parts, text = path.relative_to(_PACKAGE).with_suffix("").parts, path.read_text(encoding="utf-8")
        module = ".".join((_PACKAGE.name, *parts)).removesuffix(".__init__")
        for name in set(_DEFINITION.findall(text)):
            definitions.setdefault(name, []).append(module)
        for name in {name for names in _CONSTANTS.findall(text) for name in names.split(", ")}:
            constants.setdefault(name, []).append(module)
    return constants | definitions


def module_of(name: str) -> ModuleType:
    """Return the module that defines a function, a class or a constant.

    Raises:
        AttributeError: no module does, or several do.
    """
    modules = _modules().get(name, [])
    if len(modules) != 1:
        raise AttributeError(f"{name} is defined in {len(modules)} modules of {_PACKAGE.name}: {modules}")
    return importlib.import_module(modules[0])
