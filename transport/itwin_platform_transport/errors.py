"""The errors that sending a request can raise, as one tree.

PlatformError                     .method .route .path of the call, once its request was made
  UsageError(ValueError)          rejected before sending: .argument .rule
    StateError                    a closed transport or gate, or one of another event loop
  TransportError                  no response: .sent (whether the request can have had an effect) .attempts
    NotSentError                  it certainly had none
    OutcomeUnknownError           it may have had one
    DeadlineExceededError         the deadline or the queue timeout passed
  TokenError                      the token provider failed, or returned no usable token
  ResponseDecodeError             a success that cannot be used: .status .headers .body .correlation_id .attempts

The package above adds the errors of its service. `doc_url` is the section of a class on the troubleshooting page.
"""

import math
import sys
from collections.abc import Mapping
from datetime import datetime
from operator import index
from typing import SupportsIndex, cast

from .names import DOCUMENTATION, is_client_module


class _DocumentationURL:
    def __get__(self, instance: object, owner: "type[PlatformError]") -> str:
        return f"{DOCUMENTATION}#{owner._section}"  # noqa: SLF001  # of the class that it describes


class PlatformError(Exception):
    """The base of all errors that this package raises, and of those of the package above.

    Attributes:
        method: the HTTP method of the call; None before its request was made.
        route: the template of its path, such as `/things/{thing_id}`; None before its request was made.
        path: the path as it was sent, with its ids, which the text leaves out; None before its request was made.
        correlation_id: the id in the response; None when no response came, or it has no id.
        resume: set by the package above: continues a listing that failed; None for other calls.
        collected: set by the package above: the items that a listing had when it failed.
        doc_url: the section of the troubleshooting page for the class.
    """

    #: The section of each class.
    _section = "platformerror"
    doc_url: _DocumentationURL = _DocumentationURL()

    method: str | None = None
    route: str | None = None
    path: str | None = None
    correlation_id: str | None = None

    def __init_subclass__(cls) -> None:
        if is_client_module(cls.__module__):  # a class of the application has no section of its own
            cls._section = cls.__name__.lower()

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.resume: str | None = None
        self.collected: tuple[object, ...] = ()

    def __str__(self) -> str:
        text, call = str(self.args[0]), f"{self.method} {self.route}: "
        return text if self.method is None or text.startswith(call) else f"{call}{text}"

    def __repr__(self) -> str:
        path = "" if self.path is None else f", path={self.path!r}"
        return f"{type(self).__name__}({str(self)!r}{path})"

    def __reduce__(self) -> tuple[object, ...]:
        # Unpickling skips __init__, because its arguments are not kept: the attributes are the state.
        return type(self).__new__, (type(self), self.args[0]), self.__dict__


class UsageError(PlatformError, ValueError):
    """A call was rejected before anything was sent, or the client was closed before a retry.

    Args:
        rule: the broken rule, and the remedy.
        argument: the Python argument that is wrong, and inside it the property or item, such as `objects[3].kind`;
            None when it is no single one.
        code: the error code that the service documents for the rule; None when there is none.
        target: the property or parameter that the service documents for it; None when there is none.
    """

    def __init__(
        self, rule: str, *, argument: str | None = None, code: str | None = None, target: str | None = None
    ) -> None:
        suffix = f" ({code}{f' [{target}]' if target else ''})" if code else ""
        super().__init__(f"{rule}{suffix}")
        self.rule = rule
        self.argument = argument
        self.code = code
        self.target = target


class StateError(UsageError):
    """A closed client or gate was used, or one of another event loop. The arguments are not at fault."""


class TransportError(PlatformError):
    """No response came.

    Attributes:
        sent: whether the request can have had an effect. False also when a deadline or `aclose()` ended the attempt
            before a byte of the request was written.
        attempts: how many attempts were made. One that was ended before its request was written does not count.
        scene_id: set by the package above: the id of the scene that the request creates; None for other calls.
    """

    sent: bool = True
    scene_id: str | None = None

    def __init__(self, text: str, *, attempts: int = 0) -> None:
        super().__init__(text)
        self.attempts = attempts


class NotSentError(TransportError):
    """No response came, and the request certainly had no effect: it is safe to retry."""

    sent = False


class OutcomeUnknownError(TransportError):
    """No response came, and the request may have had an effect: check before you retry."""


class DeadlineExceededError(TransportError):
    """The deadline or the queue timeout passed.

    Attributes:
        retry_at: when a known cooldown ends; None when none is known.
    """

    def __init__(self, text: str, *, attempts: int = 0, sent: bool = True, retry_at: datetime | None = None) -> None:
        super().__init__(text, attempts=attempts)
        self.sent = sent
        self.retry_at = retry_at


class TokenError(PlatformError):
    """The token provider failed, or returned no usable token.

    Attributes:
        argument: the Python argument that is wrong: `token`, or one of `AccessToken`.
    """

    def __init__(self, text: str, *, argument: str = "token") -> None:
        super().__init__(text)
        self.argument = argument


class ResponseDecodeError(PlatformError):
    """A success does not match the specification, or is larger than `max_response_bytes`.

    Attributes:
        status: the HTTP status, below 300.
        headers: the response headers, looked up without regard to case.
        body: the body, as far as it was read.
        attempts: how many attempts were made.
    """

    def __init__(
        self,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
        *,
        reason: str | None = None,
        correlation_id: str | None = None,
    ) -> None:
        problem = reason or "the body does not match the specification"
        self.correlation_id: str | None = correlation_id
        suffix = f" (correlation id {self.correlation_id})" if self.correlation_id else ""
        super().__init__(f"response with status {status}: {problem}{suffix}")
        self.status = status
        self.headers = headers
        self.body = body
        self.attempts = 1


def check_integer(name: str, value: object, *, least: int | None) -> int:
    """Return an integer of Python or of another library as an int; it must be at least `least`."""
    number, rule = as_number(value), f"{name} must be an integer{'' if least is None else f' of at least {least}'}"
    if not isinstance(number, int):
        raise UsageError(f"{rule}, not {class_name(value)}", argument=name)
    if least is not None and number < least:
        raise UsageError(rule, argument=name)
    return number


def check_seconds(name: str, value: object, *, bounds: str = "of at least 0") -> float:
    """Return a finite number of seconds as an int or a float; it must not be negative."""
    number, rule = as_number(value), f"{name} must be a finite number of seconds {bounds}"
    if number is None:
        raise UsageError(f"{rule}, not {class_name(value)}", argument=name)
    if not 0.0 <= number <= sys.float_info.max:
        raise UsageError(rule, argument=name)
    return number


def as_number(value: object) -> float | None:
    """Return an integer of Python or of another library as an int, and a float as it is; None for any other value."""
    if isinstance(value, float):
        return value
    if isinstance(value, bool):
        return None
    try:
        return int(index(cast("SupportsIndex", value)))
    except TypeError:  # an array of NumPy has `__index__` too, and raises this
        return None


def class_name(value: object) -> str:
    """Return the name of the class of a value with its module."""
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def in_seconds(seconds: float) -> str:
    """Write a duration for people: whole seconds from 10 on, rounded up, two digits below."""
    return f"{math.ceil(seconds)} s" if seconds > 9.9 else f"{seconds:.2g} s"


def when_to_retry(seconds: float | None, *, reason: str | None) -> str | None:
    """Tell when to retry, and why the client did not; None when neither is known."""
    if seconds is None:
        return reason and f"not retried: {reason}"
    advice = f"retry in {in_seconds(seconds)}"
    return f"{advice} ({reason})" if reason else advice


def counted(count: int, noun: str) -> str:
    """Write a count with its noun in the right number."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def sent_so_far(count: int) -> str:
    """Tell how many requests were sent."""
    return f"{counted(count, 'request')} {'was' if count == 1 else 'were'} sent" if count else "nothing was sent"
