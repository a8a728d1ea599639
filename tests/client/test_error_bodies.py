"""From a response to an error: any body gives an error with what is known, and parsing never raises."""

import json
import pickle
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from hypothesis import example, given, settings, strategies as st
from itwin_platform import (
    APIStatusError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    ErrorCode,
    ErrorDetail,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    RequestTooLargeError,
    ServerError,
    UnprocessableError,
)

from tests.support.examples import examples
from tests.support.faces import moment_after, parse_retry_after, status_error_class

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def error_of(status: int = 422, body: object = b"", headers: Mapping[str, str] | None = None) -> APIStatusError:
    """The error for a response."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    known = httpx.Headers(headers)
    after = parse_retry_after(known.get("retry-after"), date=known.get("date"), now=NOW)
    return status_error_class(status)(
        status=status,
        headers=known,
        body=content,
        attempts=1,
        retry_after=after,
        retry_at=moment_after(NOW, after),
    )


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (302, APIStatusError, False),
        (400, BadRequestError, False),
        (401, AuthenticationError, False),
        (402, APIStatusError, False),
        (403, PermissionDeniedError, False),
        (404, NotFoundError, False),
        (409, ConflictError, False),
        (413, RequestTooLargeError, False),
        (418, APIStatusError, False),
        (422, UnprocessableError, False),
        (429, RateLimitError, True),
        (500, ServerError, False),
        (502, ServerError, True),
        (503, ServerError, True),
        (504, ServerError, True),
        (599, ServerError, False),
    ],
)
def test_each_status_has_its_class(status: int, kind: type[APIStatusError], retryable: bool) -> None:
    """As the tree says; what is not in it is the class above; four of them pass by themselves."""
    error = error_of(status)
    assert type(error) is kind
    assert (error.status, error.retryable) == (status, retryable)


def test_a_documented_body_is_read_completely() -> None:
    """Code, message, target, each detail, correlation id, headers in any case, and the bytes."""
    body = {
        "error": {
            "code": "InvalidiTwinsRequest",
            "message": "Not valid.",
            "target": "body",
            "details": [{"code": "InvalidValue", "message": "Too long.", "target": "uri"}, {"code": "Other"}],
        }
    }
    error = error_of(422, body, {"X-Correlation-Id": "c-1"})
    assert (error.code, error.message, error.target) == ("InvalidiTwinsRequest", "Not valid.", "body")
    assert error.details == (
        ErrorDetail(code="InvalidValue", message="Too long.", target="uri"),
        ErrorDetail(code="Other"),
    )
    assert error.code == ErrorCode("InvalidiTwinsRequest")
    assert (error.correlation_id, error.headers["x-CORRELATION-id"]) == ("c-1", "c-1")
    assert json.loads(error.body) == body
    assert str(error).splitlines() == [
        "422 InvalidiTwinsRequest: Not valid.",
        "- InvalidValue [uri]: Too long.",
        "- Other: no message",
        "- correlation id c-1",
    ]


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({"error": {"code": "TooManyRequests"}}, "TooManyRequests", None),
        ({"statusCode": 401, "message": "Invalid JWT."}, None, "Invalid JWT."),
        ({"code": "A", "message": "B"}, "A", "B"),
        ({"error": None}, None, None),
        ({"error": "text"}, None, None),
        ({"error": []}, None, None),
        ({"error": {"code": 7, "message": ["x"], "target": {}}}, None, None),
        ({"error": {"code": "A", "details": None}}, "A", None),
        ({"error": {"code": "A", "details": {"code": "B"}}}, "A", None),
        ({"error": {"code": "A", "details": [None, 1, "x", []]}}, "A", None),
        (None, None, None),
        ([], None, None),
        ("text", None, None),
        (7, None, None),
        (b"", None, None),
        (b"{", None, None),
        (b"\xff\xfe\x00", None, None),
        (b"[" * 100_000, None, None),
        (b"1" * 10_000, None, None),
        (b"<html>502 Bad Gateway</html>", None, None),
        (b"Internal Server Error", None, None),
        (b'\xef\xbb\xbf{"code": "A"}', "A", None),
        (b'{"code": "A", "code": "B"}', "B", None),
    ],
)
def test_any_other_body_is_read_as_far_as_it_goes(body: object, code: str | None, message: str | None) -> None:
    """The gateway's form, HTML, text, null, lists, nonsense: what cannot be read is None, and nothing raises."""
    error = error_of(500, body)
    assert (error.code, error.message, error.details) == (code, message, ())
    assert isinstance(error, ServerError)
    assert str(error).startswith("500 ")
    assert "null" not in str(error)


def test_a_detail_without_parts_is_kept() -> None:
    """A detail that leaves everything out is still one."""
    error = error_of(422, {"error": {"code": "A", "details": [{}, {"target": "uri"}]}})
    assert [str(detail) for detail in error.details] == ["no code: no message", "no code [uri]: no message"]


def test_a_rate_limit_of_which_nothing_is_known_is_one() -> None:
    """Without a body, a delay and a reason, the text says what the status means."""
    assert str(error_of(429, b"")) == "429 rate limited"


def test_a_text_that_no_log_can_hold_is_made_one() -> None:
    """Half of a surrogate pair, which JSON can write, does not come out again; the body keeps it."""
    error = error_of(422, b'{"error": {"code": "A\\ud800", "message": "\\udfff"}}')
    assert str(error).encode() == b"422 A?: ?"
    assert b"ud800" in error.body


@pytest.mark.parametrize("code", ["iTwinNotFound", "", "🙂", "InsufficientPermissions"])
def test_a_code_compares_as_string(code: str) -> None:
    """Known or not, it is the text that came, and equal to the enum's member where there is one."""
    error = error_of(404, {"error": {"code": code}})
    assert error.code == code
    assert (error.code == ErrorCode("InsufficientPermissions")) is (code == "InsufficientPermissions")


@pytest.mark.parametrize(
    ("headers", "after"),
    [
        ({"Retry-After": "30"}, 30.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "Sun, 01 Mar 2026 13:00:10 GMT", "date": "Sun, 01 Mar 2026 13:00:00 GMT"}, 10.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "0"}, None),
        ({}, None),
    ],
)
def test_a_rate_limit_says_when_to_continue(headers: Mapping[str, str], after: float | None) -> None:
    """`retry_after` in seconds, `retry_at` as a moment of our own clock, both None where nothing usable was said."""
    error = error_of(429, {}, headers)
    assert error.retry_after == after
    assert error.retry_at == (None if after is None else NOW + timedelta(seconds=after))
    assert ("retry in" in str(error)) is (after is not None)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["error", "code", "message", "details", "target", "x"]), inner)
    ),
    max_leaves=20,
)


@settings(max_examples=examples(100))
@given(st.binary() | anything.map(lambda value: json.dumps(value).encode()), st.integers(300, 999))
@example(b'{"error": {"details": [{"code": {"code": null}}]}}', 300)
def test_no_body_makes_the_parser_raise(body: bytes, status: int) -> None:
    """Any body with any status gives an error with a message."""
    error = status_error_class(status)(status=status, headers={}, body=body, attempts=1)
    assert str(error).encode()
    assert error.body == body


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, (None, None, None)),
        (
            {
                "ITwinPlatform-RateLimited-Tier": "Trial",
                "ITwinPlatform-RateLimited-API": "iTwins",
                "ITwinPlatform-RateLimited-Operation": "get-my-itwins",
            },
            ("Trial", "iTwins", "get-my-itwins"),
        ),
        ({"iTwinPlatform-Tier": "Standard"}, ("Standard", None, None)),
        ({"Tier": "Standard", "ITwinPlatform-RateLimited-Tier": ""}, ("Standard", None, None)),
    ],
)
def test_a_rate_limit_names_what_was_exceeded(
    headers: dict[str, str], expected: tuple[str | None, str | None, str | None]
) -> None:
    """Tier, API and operation come from either set of headers that has been seen, and are None where absent."""
    error = RateLimitError(status=429, headers=httpx.Headers(headers), body=b"", attempts=1)
    assert isinstance(error, RateLimitError)
    assert (error.tier, error.api, error.operation) == expected
    restored = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own
    assert (restored.tier, restored.api, restored.operation) == expected
