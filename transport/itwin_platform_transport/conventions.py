"""What the package above calls things: its logger and prefixes, and the headers of its service.

There is one value for the process: errors are classes, and gates are made by applications, so neither could be handed
one. The names are neutral until a package above hands in its own. A vendored copy is a package with a value of its own.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

_OWN = __package__ or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conventions:
    """The names that logs, spans, Redis and errors show, and the headers that are read.

    Args:
        package: the package above; its name is that of the logger and of the tracer.
        version: its version, for the tracer.
        field_prefix: what the fields of log records begin with.
        span_prefix: what the attributes of spans begin with that no convention names.
        key_prefix: what the keys of a shared gate begin with in Redis.
        documentation: the page with a section for each error; None for none.
        retry_after: headers in which a response says when to retry; the first that it has counts.
        correlation_id: the header that names a request in the logs of the service; None for none.
        limit_tier: headers in which a 429 names the tier of the limit; the first that it has counts.
        limit_api: the same for the API of the limit.
        limit_operation: the same for its operation.
    """

    package: str = _OWN
    version: str = ""
    field_prefix: str = "request_"
    span_prefix: str = "request."
    key_prefix: str = "gate:"
    documentation: str | None = None
    retry_after: tuple[str, ...] = ("retry-after",)
    correlation_id: str | None = None
    limit_tier: tuple[str, ...] = ()
    limit_api: tuple[str, ...] = ()
    limit_operation: tuple[str, ...] = ()
    logger: logging.Logger = field(init=False)

    def __post_init__(self) -> None:
        logger = logging.getLogger(self.package)
        # Without a handler, warnings would reach stderr in an application that configures no logging.
        logger.addHandler(logging.NullHandler())
        object.__setattr__(self, "logger", logger)

    def limit_of(self, headers: Mapping[str, str]) -> tuple[str | None, str | None, str | None]:
        """Return the tier, the API and the operation of the limit that a response names; None for each other one."""
        named = (self.limit_tier, self.limit_api, self.limit_operation)
        # Asking httpx.Headers for one name that is missing takes as long as for all names.
        present = {name.lower() for name in headers}
        tier, api, operation = [
            next((headers[name] for name in names if name.lower() in present and headers[name]), None)
            for names in named
        ]
        return tier, api, operation


current: Conventions = Conventions()


def adopt(conventions: Conventions) -> None:
    """Use the names of the package above from now on."""
    global current  # noqa: PLW0603  # see above
    current = conventions


def is_own(module: str) -> bool:
    """Return whether a module belongs to this package, or to the package above."""
    return any(module == name or module.startswith(f"{name}.") for name in (_OWN, current.package))


def correlation_id_of(headers: Mapping[str, str]) -> str | None:
    """Return the correlation id in some headers; None when there is none."""
    return headers.get(current.correlation_id) if current.correlation_id else None
