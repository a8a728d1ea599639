"""The tree of errors: what it says of itself, what a caller catches, and how it survives pickling."""

import copy
import inspect
import pickle
import re
from datetime import UTC, datetime

import httpx
import itwin_platform
import pytest
from itwin_platform import (
    APIStatusError,
    DeadlineExceededError,
    DeliveryError,
    NotSentError,
    OutcomeUnknownError,
    PagingError,
    PlatformError,
    ResponseDecodeError,
    StateError,
    TokenError,
    TransportError,
    UsageError,
    _errors,
)

from tests.support.faces import status_error_class

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HEADERS = httpx.Headers({"X-Correlation-Id": "c-1", "retry-after": "30"})
CLASSES = [kind for _, kind in inspect.getmembers(_errors, inspect.isclass) if issubclass(kind, PlatformError)]


def refusal(status: int) -> APIStatusError:
    """An error with everything on it."""
    body = b'{"error": {"code": "A", "message": "B", "target": "C", "details": [{"code": "D"}]}}'
    return status_error_class(status)(
        status=status, headers=HEADERS, body=body, attempts=3, retry_after=30.0, retry_at=NOW
    )


def examples() -> list[PlatformError]:
    """One of each class, with all that it can carry."""
    lost = OutcomeUnknownError("lost", attempts=2)
    lost.scene_id = "scene-1"
    errors = [
        PlatformError("base"),
        UsageError("a rule", code="InvalidValue", target="uri"),
        UsageError("a rule alone"),
        StateError("closed"),
        TransportError("transport", attempts=1),
        NotSentError("not sent", attempts=5),
        lost,
        DeadlineExceededError("late", attempts=1, sent=False, retry_at=NOW),
        TokenError("token"),
        PagingError("paging"),
        DeliveryError("delivery"),
        ResponseDecodeError(200, HEADERS, b"[", reason="because"),
        ResponseDecodeError(200, httpx.Headers(), b"["),
        *(refusal(status) for status in (302, 400, 401, 403, 404, 409, 413, 422, 429, 503)),
    ]
    for number, error in enumerate(errors):
        error.resume = f"resume-{number}"
        error.collected = (1, 2)
    return errors


def test_an_error_of_the_caller_counts_its_attempts() -> None:
    """Where nothing is said, nothing was sent for an error without a response, and a response took one attempt."""
    assert (TransportError("x").attempts, ResponseDecodeError(200, httpx.Headers(), b"[").attempts) == (0, 1)


def test_every_class_is_exported_and_in_the_tree() -> None:
    """The docstring of the module is the tree: each class, beneath the one that it derives from."""
    lines = re.findall(r"^(?P<indent> *)(?P<name>[A-Z]\w+Error)\b", _errors.__doc__ or "", re.MULTILINE)
    above: dict[int, str] = {-2: "Exception"}
    for indent, name in lines:
        above[len(indent)] = name
        assert issubclass(getattr(_errors, name), getattr(_errors, above[len(indent) - 2], Exception))
    assert {name for _, name in lines} == {kind.__name__ for kind in CLASSES}
    assert all(getattr(itwin_platform, kind.__name__) is kind for kind in CLASSES)


def test_there_is_an_example_of_every_class() -> None:
    """So that what follows holds for all of them."""
    assert {type(error) for error in examples()} == set(CLASSES)


@pytest.mark.parametrize("error", examples(), ids=lambda error: type(error).__name__)
def test_every_error_survives_pickling_and_copying(error: PlatformError) -> None:
    """Text and everything on it, twice over, and with what a caller added."""
    error.add_note("a caller's note")
    once = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own bytes
    twice = pickle.loads(pickle.dumps(once))  # noqa: S301  # our own bytes
    for copied in (twice, copy.copy(error), copy.deepcopy(error)):
        assert type(copied) is type(error)
        assert str(copied) == str(error)
        assert vars(copied) == vars(error)
        assert copied.args == error.args


def test_a_usage_error_is_a_value_error_with_its_rule() -> None:
    """UsageError is a ValueError with the documented code and target."""
    error = UsageError("uri is empty", code="InvalidValue", target="uri")
    assert isinstance(error, ValueError)
    assert (error.rule, error.code, error.target) == ("uri is empty", "InvalidValue", "uri")
    assert str(error) == "uri is empty (InvalidValue [uri])"
    assert str(UsageError("a", code="B")) == "a (B)"
    assert str(UsageError("a", target="b")) == "a"


@pytest.mark.parametrize(
    ("error", "sent"),
    [
        (NotSentError("x"), False),
        (OutcomeUnknownError("x"), True),
        (TransportError("x"), True),
        (DeadlineExceededError("x"), True),
        (DeadlineExceededError("x", sent=False), False),
    ],
)
def test_a_transport_error_says_whether_it_can_have_had_an_effect(error: TransportError, sent: bool) -> None:
    """By its class, or by what is known."""
    assert error.sent is sent


def test_a_decode_error_names_status_reason_and_correlation_id() -> None:
    """And keeps the response."""
    error = ResponseDecodeError(201, HEADERS, b"[", reason="it is a list")
    assert str(error) == "response with status 201: it is a list (correlation id c-1)"
    assert (error.status, error.headers["X-CORRELATION-ID"], error.body) == (201, "c-1", b"[")
