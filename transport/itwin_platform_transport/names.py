"""What logs, spans and Redis show, and which headers of a service are read."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

#: The packages of the client: their root in a vendored copy, which has both below one name.
_PACKAGES = (
    ("itwin_platform", "itwin_platform_transport")
    if "." not in __name__.rpartition(".")[0]
    else (__name__.rpartition(".")[0].rpartition(".")[0],)
)
PACKAGE = _PACKAGES[0]
VERSION = "0.1.0"
LOGGER = logging.getLogger(PACKAGE)
# Without a handler, warnings would reach stderr in an application that configures no logging.
LOGGER.addHandler(logging.NullHandler())
#: What the fields of log records, the attributes of spans and the keys in Redis begin with.
FIELD_PREFIX, SPAN_PREFIX, REDIS_PREFIX = "itwin_", "itwin_platform.", "itwin-gate:"
#: The page with a section for each error: a file of the source tree, or its address once there is a site.
DOCUMENTATION = "docs/troubleshooting.md"


def is_own(module: str) -> bool:
    """Return whether a module belongs to the client."""
    return any(module == name or module.startswith(f"{name}.") for name in _PACKAGES)


class LimitNames(NamedTuple):
    """What a 429 names: the tier, the API and the operation of the limit; None for each other one."""

    tier: str | None
    api: str | None
    operation: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceHeaders:
    """The headers of responses that are read.

    Args:
        retry_after: those that say when to retry; the first that a response has counts.
        correlation_id: the one that names a request in the logs of the service; None for none.
        limit_tier: those in which a 429 names the tier of the limit; the first that it has counts.
        limit_api: the same for the API of the limit.
        limit_operation: the same for its operation.
    """

    retry_after: tuple[str, ...] = ("retry-after",)
    correlation_id: str | None = None
    limit_tier: tuple[str, ...] = ()
    limit_api: tuple[str, ...] = ()
    limit_operation: tuple[str, ...] = ()

    def limit_of(self, headers: Mapping[str, str]) -> LimitNames:
        """Return what the headers of a 429 name."""
        # Asking httpx.Headers for one name that is missing takes as long as for all names.
        present = {name.lower(): value for name, value in headers.items() if value}

        def first(names: tuple[str, ...]) -> str | None:
            return next((present[name.lower()] for name in names if name.lower() in present), None)

        return LimitNames(first(self.limit_tier), first(self.limit_api), first(self.limit_operation))

    def correlation_id_of(self, headers: Mapping[str, str]) -> str | None:
        """Return the correlation id in some headers; None when there is none."""
        return headers.get(self.correlation_id) if self.correlation_id else None
