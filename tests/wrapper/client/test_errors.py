"""The tree of errors: the class, the attributes and the text of the error of any response."""

import asyncio
import copy
import inspect
import json
import pickle
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import itwin_platform
import pytest
from hypothesis import example, given, settings, strategies as st
from itwin_platform import (
    APIStatusError,
    BackoffPolicy,
    DeadlineExceededError,
    NotFoundError,
    NotSentError,
    OutcomeUnknownError,
    PagingError,
    PlatformError,
    RateLimitError,
    ResponseDecodeError,
    ServerError,
    StateError,
    TransportError,
    UsageError,
)

from tests.support.examples import examples
from tests.support.schema_values import ANY_JSON
from tests.wrapper.client.conftest import answering, error_of

PROJECT = Path(__file__).resolve().parents[3]
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HEADERS = httpx.Headers({"X-Correlation-Id": "c-1", "retry-after": "30"})
CLASSES = [kind for _, kind in inspect.getmembers(itwin_platform, inspect.isclass) if issubclass(kind, PlatformError)]


@pytest.mark.parametrize("status", [300, 418, 500, 502, 503, 504, 599])
async def test_an_undocumented_status_has_the_class_above_it(status: int) -> None:
    """An undocumented status has the class above it, and 502, 503 and 504 are retryable."""
    error = await error_of(httpx.Response(status))
    assert isinstance(error, APIStatusError)
    assert type(error) is (APIStatusError if status < 500 else ServerError)
    assert (error.status, error.retryable) == (status, status in (502, 503, 504))


@pytest.mark.parametrize(("note", "encoding"), [("ö", "utf-8"), ("ö", "latin-1"), ("\u2100 \u202e", "utf-8")])
async def test_headers_outside_ascii_are_those_of_the_error(note: str, encoding: str) -> None:
    """A header outside ASCII is on the error, in any encoding."""
    error = await error_of(httpx.Response(500, headers=[(b"x-note", note.encode(encoding))]))
    assert isinstance(error, APIStatusError)
    assert error.headers["x-note"] == note


#: Bodies, and the code that is read of them.
CODES: list[tuple[bytes, str | None]] = [
    (b'{"error": {"code": 7, "message": {"a": 5}, "target": {}}}', None),
    (b'{"error": {"code": "A", "details": [null, 1, "x", []]}}', "A"),
    *((body, "A") for body in (b'{"error": {"code": "A", "details": {"code": "B"}}}', b'\xef\xbb\xbf{"code": "A"}')),
    *((body, None) for body in (b"[" * 100_000, b'{"error":' * 480 + b"7" + b"}" * 480, b"null", b"[[]]")),
]


@pytest.mark.parametrize(("body", "code"), CODES, ids=lambda value: ascii(value)[:40])
def test_any_body_is_read(body: bytes, code: str | None) -> None:
    """The attributes that a body does not have are None, and no body raises."""
    error = ServerError(status=500, headers={}, body=body, attempts=1)
    assert (error.code, error.message, error.details) == (code, None, ())
    assert "null" not in str(error)


def made(**arguments: Any) -> APIStatusError:
    """An error with these arguments in place of nothing."""
    nothing: dict[str, Any] = {"status": 500, "headers": {}, "body": b"", "attempts": 1}
    return APIStatusError(**nothing | arguments)


OBJECTS = st.dictionaries(st.sampled_from(["error", "code", "message", "details", "target", "x"]), ANY_JSON)
BODIES = st.builds(json.dumps, ANY_JSON | OBJECTS | st.fixed_dictionaries({"error": OBJECTS | st.lists(OBJECTS)}))


@settings(max_examples=examples(100))
@given(st.binary() | BODIES.map(str.encode), st.integers(300, 999))
@example(b'{"error": {"details": [{"code": {"code": null}}]}}', 300)
def test_no_body_makes_the_parser_raise(body: bytes, status: int) -> None:
    """Any body with any status gives an error with a message."""
    error = made(status=status, body=body)
    assert str(error).encode()
    assert error.body == body


STATUS: dict[str, Any] = {"status": 400, "headers": HEADERS, "attempts": 3, "retry_after": 30.0, "retry_at": NOW}
STATUS["body"] = b'{"code": "A", "details": [{"code": "D"}]}'
DETAILED = b"""{"error": {"code": "A", "message": "B", "details": [
    {"code": "V", "message": "Long.", "target": "uri"}, {"target": "b"}, {}]}}"""
ALL_LINES = """\
422 A: B
- V [uri]: Long.
- no code [b]: no message
- no code: no message
- retry in 30 s
- correlation id c-1"""
#: The text of an error, and its arguments.
TEXTS: dict[str, dict[str, Any]] = {
    ALL_LINES: STATUS | {"status": 422, "body": DETAILED},
    "429 rate limited": {"status": 429},
    "429 A: no content type, 13 B: see .body\n- rate limited": {"status": 429, "body": b'{"code": "A"}'},
    "429 rate limited: retry in 9.9 s (because)": {"status": 429, "retry_after": 9.9, "reason": "because"},
    "429 rate limited: retry in 11 s": {"status": 429, "retry_after": 10.1},
    # Half of a surrogate pair, which JSON can write and no log can hold.
    "422 A?: ?": {"status": 422, "body": b'{"code": "A\\ud800", "message": "\\udfff"}'},
}


@pytest.mark.parametrize("text", TEXTS)
def test_the_text_has_all_known_parts(text: str) -> None:
    """The text has the parts of the error in order, with a word for each missing part."""
    assert str(made(**TEXTS[text])) == text


@pytest.mark.parametrize(("size", "is_cut"), [(1_920 - 7, False), (1_920 - 6, True)])
def test_the_longest_text_is_not_cut(size: int, is_cut: bool) -> None:
    """The text of the service is cut, with three dots, only beyond its share of the limit."""
    error = made(body=json.dumps({"code": "A", "message": "m" * size}).encode())
    assert (len(str(error)), str(error).endswith("...")) == (1_920, is_cut)
    identified = made(headers={"x-correlation-id": "c" * 300}, body=b"m" * 3000, retry_after=5.0)
    assert len(str(identified)) == 1_921
    assert str(identified).endswith(f"\n- correlation id {'c' * 200}"), "a service may send anything back"
    assert identified.correlation_id == "c" * 300


async def test_the_code_of_a_long_error_is_read() -> None:
    """The code is read from the complete body, although `.body` keeps 64 KiB of it."""
    error = await error_of(httpx.Response(500, json={"error": {"padding": "x" * 200_000, "code": "A", "target": "b"}}))
    assert isinstance(error, APIStatusError)
    assert (error.code, error.target, len(error.body)) == ("A", "b", 65_536)
    success = await error_of(httpx.Response(200, content=b"x" * 200_000))
    assert isinstance(success, ResponseDecodeError)
    assert len(success.body) == 200_000


TRIAL = {f"ITwinPlatform-RateLimited-{name}": name for name in ("Tier", "API", "Operation")}


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, (None, None, None)),
        (TRIAL, ("Tier", "API", "Operation")),
        ({"iTwinPlatform-Tier": "Standard", "Tier": "Trial"}, ("Standard", None, None)),
        ({"Tier": "Standard", "ITwinPlatform-RateLimited-Tier": ""}, ("Standard", None, None)),
    ],
)
async def test_a_rate_limit_names_tier_api_and_operation(
    headers: dict[str, str], expected: tuple[str | None, ...]
) -> None:
    """Tier, API and operation come from either set of headers that has been seen, and are None where absent."""
    error = await error_of(httpx.Response(429, headers=headers | {"retry-after": "9"}))
    assert isinstance(error, RateLimitError)
    assert (error.tier, error.api, error.operation) == expected


def test_a_transport_error_says_whether_it_can_have_had_an_effect() -> None:
    """The class decides whether a request was sent; the default of `attempts` is 0, and 1 with a response."""
    assert ResponseDecodeError(200, {}, b"").attempts == 1
    errors = [kind("x") for kind in (NotSentError, OutcomeUnknownError, TransportError, DeadlineExceededError)]
    assert [(error.sent, error.attempts) for error in errors] == [(False, 0), (True, 0), (True, 0), (True, 0)]


def test_each_class_names_its_section_in_the_documentation() -> None:
    """`doc_url` names a page and a heading; a derived class has that of its base."""

    class LayerMissingError(NotFoundError):
        """An error of an application."""

    for kind in CLASSES:
        page, _, anchor = kind.doc_url.partition("#")
        assert f"\n## {kind.__name__}\n" in (PROJECT / page).read_text(encoding="utf-8")
        assert anchor == kind.__name__.lower()
    assert LayerMissingError.doc_url == NotFoundError.doc_url == "docs/troubleshooting.md#notfounderror"


#: The arguments of the classes with arguments of their own; all others take a text.
DECODE: dict[str, Any] = {"status": 201, "headers": HEADERS, "body": b"[", "reason": "because", "correlation_id": "c-1"}
GIVEN: dict[type[PlatformError], dict[str, Any]] = {
    **{kind: {"rule": "a rule", "argument": "a", "code": "B", "target": "c"} for kind in (UsageError, StateError)},
    DeadlineExceededError: {"text": "late", "attempts": 1, "sent": False, "retry_at": NOW},
    ResponseDecodeError: DECODE,
    **{kind: STATUS | {"reason": "because"} for kind in CLASSES if issubclass(kind, APIStatusError)},
}


@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_survives_pickling_and_copying(kind: type[PlatformError]) -> None:
    """A copy of an error has its text, its attributes and its notes."""
    error = kind(**GIVEN.get(kind, {"text": "text"}))
    error.resume, error.collected = "resume", (1, 2)
    if isinstance(error, TransportError):
        error.scene_id = "scene-1"
    error.add_note("a caller's note")
    once = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own bytes
    twice = pickle.loads(pickle.dumps(once))  # noqa: S301  # our own bytes
    for copied in (twice, copy.copy(error), copy.deepcopy(error)):
        assert type(copied) is kind
        assert (str(copied), vars(copied), copied.args) == (str(error), vars(error), error.args)


async def test_errors_of_one_operation_tell_which_call_failed() -> None:
    """`path` is the path as it was sent, with ids; `repr` shows it, and neither the text nor the log does."""

    def respond(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("w-1"):
            raise httpx.ConnectError("refused")
        status = 404 if request.url.path.endswith("w-2") else 200
        return httpx.Response(status, headers={"x-correlation-id": "c-1"}, content=b"[]")

    client, _ = answering(respond, backoff=BackoffPolicy(max_attempts=1))
    async with client:
        webhooks = client.with_options(extra_query={"a": "b"}).webhooks
        updates = (webhooks.activate(f"w-{number}", secret="s" * 32) for number in (1, 2, 3))
        failed = await asyncio.gather(*updates, return_exceptions=True)
    kinds = (NotSentError, NotFoundError, ResponseDecodeError)
    for number, (error, kind) in enumerate(zip(failed, kinds, strict=True), 1):
        assert isinstance(error, PlatformError)
        assert type(error) is kind
        path = f"/api/webhooks/w-{number}"
        assert (error.method, error.route, error.path) == ("PATCH", "/webhooks/{webhook_id}", path)
        assert error.correlation_id == (None if kind is NotSentError else "c-1")
        assert repr(error).startswith(f"{kind.__name__}('PATCH /webhooks/{{webhook_id}}: ")
        assert repr(error).endswith(f", path='{path}')")
        assert "w-" not in str(error)
        assert kind is not NotSentError or "_transport" in traceback.extract_tb(error.__traceback__)[-1].filename


async def test_a_link_that_cannot_be_followed_tells_its_response() -> None:
    """A PagingError has the path of its listing, and the correlation id of the page with the link."""
    page = {"iTwins": [], "_links": {"next": {"href": "https://elsewhere.example/itwins"}}}
    client, _ = answering(lambda _: httpx.Response(200, headers={"x-correlation-id": "c-2"}, json=page))
    async with client:
        with pytest.raises(PagingError) as raised:
            await client.itwins.list().collect()
    assert (raised.value.path, raised.value.correlation_id) == ("/api/itwins/", "c-2")
