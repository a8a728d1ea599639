"""The names that users see in logs, spans and Redis, and the headers of a service that the transport reads."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

#: In a vendored copy, the package that holds the whole client; empty otherwise.
_COPY = __name__.rpartition(".")[0].rpartition(".")[0]
#: The packages of the client.
_PACKAGES = (_COPY,) if _COPY else ("itwin_platform", "itwin_platform_transport")
#: The name of the logger and of the tracer.
PACKAGE = _PACKAGES[0]
#: The version of the tracer. A test compares it with the version of the distribution.
VERSION = "0.1.0"
LOGGER = logging.getLogger(PACKAGE)
# Without a handler, warnings would reach stderr in an application that configures no logging.
LOGGER.addHandler(logging.NullHandler())
#: Prefix of the names of log record fields.
FIELD_PREFIX = "itwin_"
#: Prefix of the names of span attributes.
SPAN_PREFIX = "itwin_platform."
#: Prefix of the keys in Redis.
REDIS_PREFIX = "itwin-gate:"
#: The page with a section for each error, as a path in the source tree: the project has no public address yet.
DOCUMENTATION = "docs/troubleshooting.md"


def is_client_module(module: str) -> bool:
    """Return whether a module belongs to the client."""
    return f"{module}.".startswith(tuple(f"{name}." for name in _PACKAGES))


class LimitNames(NamedTuple):
    """The tier, the API and the operation that a 429 names; None for each that it does not name."""

    tier: str | None
    api: str | None
    operation: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceHeaders:
    """The names of the response headers that are read.

    Of several names for one value, the first one that a response has is used.

    Args:
        retry_after: when to retry, as seconds or as an HTTP date.
        correlation_id: the id of the request in the logs of the service; None for none.
        limit_tier: the tier of the limit that a 429 reports.
        limit_api: the API of that limit.
        limit_operation: the operation of that limit.
    """

    retry_after: tuple[str, ...] = ("retry-after",)
    correlation_id: str | None = None
    limit_tier: tuple[str, ...] = ()
    limit_api: tuple[str, ...] = ()
    limit_operation: tuple[str, ...] = ()

    def limit_of(self, headers: Mapping[str, str]) -> LimitNames:
        """Return the tier, the API and the operation that the headers of a 429 name."""
        present = {name.lower(): value for name, value in headers.items() if value}

        def first(names: tuple[str, ...]) -> str | None:
            return next((present[name.lower()] for name in names if name.lower() in present), None)

        return LimitNames(first(self.limit_tier), first(self.limit_api), first(self.limit_operation))

    def correlation_id_of(self, headers: Mapping[str, str]) -> str | None:
        """Return the correlation id in some headers; None when there is none."""
        return headers.get(self.correlation_id) if self.correlation_id else None
