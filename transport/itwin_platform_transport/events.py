"""Events of attempts and gates, as values: each is logged and passed to a callback.

Events contain no query values, no bodies and no secrets: a route is a template, such as `/things/{thing_id}`. A log
record has the fields of its event as attributes, for logs in JSON. Their names begin with a common prefix, and `event`
is the name of the class.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import TypeVar

from .errors import in_seconds
from .names import FIELD_PREFIX, LOGGER


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfCall:
    method: str
    route: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptEnded(_OfCall):
    """An attempt ended, with a response or an exception. It is logged at level DEBUG.

    Args:
        method: the HTTP method.
        route: the template of the path; the path itself where no template is known.
        status: the status of the response; None when none came.
        error: the name of the exception that came instead of a response; None when one came.
        seconds: how long it took, without the waits for the gate and for a token.
        attempt: the number of the attempt within its call, from 1.
        correlation_id: the id in the response; if there is none, the id that was sent.
    """

    status: int | None
    error: str | None
    seconds: float
    attempt: int
    correlation_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CooldownStarted(_OfCall):
    """A cooldown started: a 429 came while no cooldown was known. It is logged at level WARNING.

    Args:
        method: the HTTP method.
        route: the template of the path; the path itself when no template is known.
        seconds: how long no request starts; no request of this operation when the limit is its own.
        tier: the tier that the response names; None when it names none.
        api: the API that the response names.
        operation: the operation that the response names.
    """

    seconds: float
    tier: str | None = None
    api: str | None = None
    operation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutageStarted(_OfCall):
    """A circuit breaker opened: many attempts of one operation or of one path failed in a row.

    Its calls wait, and one of them probes every second or so. It is logged at level WARNING.

    Args:
        method: the HTTP method.
        route: the template of the path; the path itself when no template is known.
        status: the status of the last response; None when none came.
        error: the name of the exception that came instead; None when a response came.
        seconds: how long until the first probe.
    """

    status: int | None
    error: str | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OutageEnded(_OfCall):
    """A circuit breaker closed: the operation responds again. It is logged at level INFO.

    Args:
        method: the HTTP method.
        route: the template of the path; the path itself when no template is known.
        seconds: how long the breaker was open.
        probes: the number of failed probes, plus one for the success.
    """

    seconds: float
    probes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryScheduled(_OfCall):
    """A call waits before its next attempt. It is logged at level INFO, and no callback is called.

    Args:
        method: the HTTP method.
        route: the template of the path; the path itself when no template is known.
        status: the status of the response before; None when none came.
        error: the name of the exception that came instead; None when a response came.
        attempt: the number of the next attempt, from 2.
        seconds: the delay before it, without the waits for the gate and for a circuit breaker.
    """

    status: int | None
    error: str | None
    attempt: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GateChanged:
    """A shared gate lost its Redis server, logged at level WARNING, or has it back, logged at level INFO.

    Args:
        name: the name of the gate.
        is_shared: whether the limit is shared from now on; if not, each process continues with its share.
        reason: why the server was lost; None when it is back.
    """

    name: str
    is_shared: bool
    reason: str | None


BackoffEvent = AttemptEnded | CooldownStarted | OutageStarted | OutageEnded
Event = TypeVar("Event", bound=BackoffEvent | GateChanged)


def tell(event: Event, on_event: Callable[[Event], None] | None) -> None:
    """Log an event and pass it to a callback. A callback that fails is logged, and the request continues."""
    log(event)
    if on_event is None:
        return
    try:
        on_event(event)
    except Exception:  # noqa: BLE001  # a response must not be lost because a counter failed
        with suppress(Exception):
            LOGGER.exception("on_event failed", extra=_extra(event))


def log(event: BackoffEvent | RetryScheduled | GateChanged) -> None:
    """Log an event."""
    level, text, values = _line(event)
    if LOGGER.isEnabledFor(level):
        with suppress(Exception):  # a response must not be lost because a log handler failed
            LOGGER.log(level, text, *values, extra=_extra(event))


def _line(event: BackoffEvent | RetryScheduled | GateChanged) -> tuple[int, str, tuple[object, ...]]:
    """Return the level, the format and its values of the log line of an event."""
    if isinstance(event, GateChanged):
        return _line_of_gate(event)
    called, seconds = (event.method, event.route), in_seconds(event.seconds)
    if isinstance(event, CooldownStarted):
        return logging.WARNING, "%s %s -> 429: rate limited for %s", (*called, seconds)
    if isinstance(event, OutageStarted):
        text = "%s %s is down (%s): its calls wait, one probes in %s"
        return logging.WARNING, text, (*called, event.status or event.error, seconds)
    if isinstance(event, OutageEnded):
        return logging.INFO, "%s %s responds again after %s, %d probes", (*called, seconds, event.probes)
    if isinstance(event, RetryScheduled):
        result = event.status or event.error
        return logging.INFO, "%s %s -> %s: attempt %d in %s", (*called, result, event.attempt, seconds)
    attempt = (event.status or event.error, event.seconds * 1000, event.attempt, event.correlation_id)
    return logging.DEBUG, "%s %s -> %s in %.0f ms (attempt %d, correlation id %s)", (*called, *attempt)


def _line_of_gate(event: GateChanged) -> tuple[int, str, tuple[object, ...]]:
    change = "is shared again" if event.is_shared else "continues without its server"
    level = logging.INFO if event.is_shared else logging.WARNING
    return level, "gate %r %s%s", (event.name, change, f": {event.reason}" if event.reason else "")


def _extra(event: BackoffEvent | RetryScheduled | GateChanged) -> dict[str, object]:
    # The prefix avoids the names that logging, or a filter of the application, sets on a record.
    prefix = FIELD_PREFIX
    values = {f"{prefix}{field.name}": getattr(event, field.name) for field in fields(event)}
    return {f"{prefix}event": type(event).__name__, **values}
