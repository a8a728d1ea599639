"""The words of every error: reviewed as one list, printable, free of tokens, and in words that Python users know."""

import ast
import json
import pickle
import re
from collections.abc import Awaitable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from itwin_platform import (
    APIStatusError,
    NotSentError,
    OutcomeUnknownError,
    PlatformClient,
    PlatformError,
    RateLimitError,
    ServerError,
    UsageError,
)
from itwin_platform_transport.errors import counted, in_seconds, sent_so_far

from tests.wrapper.client.conftest import SETTINGS, answering, error_of
from tests.wrapper.client.test_settings import ARGUMENTS
from tests.wrapper.client.test_with_options import UNUSABLE
from tests.wrapper.operations.conftest import called
from tests.wrapper.operations.test_documented_rules import CASES, is_rejected, keywords_of
from tests.wrapper.operations.test_rejected_requests import NEVER_SENT, OWN_RULES, SAID

PROJECT = Path(__file__).resolve().parents[3]
PACKAGES = (PROJECT / "wrapper" / "itwin_platform", PROJECT / "transport" / "itwin_platform_transport")
STORED = Path(__file__).with_name("error_messages.txt")

#: What raises, or makes what is raised, besides the classes whose names end in Error or Warning.
_CALLS = re.compile(r"(Error|Warning|warn|_failed|_Failure|kind|decode_error|progress\.error)$")
#: Names under which the words of an error are put together.
_PARTS = {"reason", "what", "said", "advice"}
#: Functions that return the words of an error.
_REASONS = {"decide", "exceeded_limit", "when_to_retry"}


def messages() -> list[str]:
    """Return all messages; what is filled in stands in braces."""
    modules = [path.read_text(encoding="utf-8") for package in PACKAGES for path in package.rglob("*.py")]
    return sorted({text for module in modules for text in _of(ast.parse(module))})


def _of(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        values: list[ast.expr] = []
        if isinstance(node, ast.Call) and _CALLS.search(ast.unparse(node.func)):
            values = [*node.args, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in _PARTS:
            values = [node.value]
        elif isinstance(node, ast.FunctionDef) and node.name in _REASONS:
            values = [each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value]
        for value in values:
            yield from (text for text in _texts(value) if " " in text)


def _texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from (*_texts(node.body), *_texts(node.orelse))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = [value.value if isinstance(value, ast.Constant) else _filled(value) for value in node.values]
        yield "".join(str(part) for part in parts)


def _filled(value: ast.expr) -> str:
    return "{" + ast.unparse(value.value if isinstance(value, ast.FormattedValue) else value) + "}"


#: What to do: what the value must be, or what to pass, to send or to omit instead.
_REMEDY = re.compile(r"\b(must|pass|send|use|omit|is required|at most)\b")


async def _made(**arguments: Any) -> None:
    await PlatformClient(**SETTINGS | arguments).aclose()


async def _viewed(platform: PlatformClient, **options: Any) -> None:
    await platform.with_options(**options).aclose()


def mistakes(platform: PlatformClient) -> Iterator[tuple[str, Awaitable[object]]]:
    """Return the mistakes of all tables, each with what is passed."""
    for name, _, values in ARGUMENTS:
        yield from ((f"client {name}={value!r}", _made(**{name: value})) for value in values)
    yield from ((f"with_options {options}", _viewed(platform, **options)) for options, _ in UNUSABLE)
    rows = [row[:2] for row in OWN_RULES] + [row[:2] for row in SAID + NEVER_SENT]
    rows += [(case.operation, keywords_of(case)) for case in CASES if is_rejected(case)]
    yield from ((f"{name} {keywords}", called(platform, name, keywords)) for name, keywords in rows)


def what_is_missing(error: UsageError) -> list[str]:
    """Return what an error does not name of argument, rule and remedy."""
    # Where no single argument is wrong, the rule names those that can be passed.
    argument = error.argument is None or error.argument in error.rule
    named = {"argument": argument, "rule": bool(error.rule), "remedy": _REMEDY.search(error.rule)}
    return [part for part, found in named.items() if not found]


async def errors() -> list[tuple[str, UsageError]]:
    """Make all mistakes, each of which must be rejected before anything is sent."""
    found = []
    platform, _ = answering()
    async with platform:
        for name, call in mistakes(platform):
            try:
                await call
            except UsageError as error:
                found.append((name, error))
            else:
                raise AssertionError(f"{name} is accepted")
    return found


#: Words of the wire, and words that the project does not use.
FOREIGN = re.compile(
    r"\$(top|search|orderby)\b(?! twice)|\b(subClass|displayName|callbackUrl|eventTypes|iTwinId|pageSize)\b|"
    r"\b(answer|refuse|text|leave out|left out|give|gave|stand-in)s?\b|\(s\)"
)


def test_every_message_is_in_the_list_in_words_for_users_of_python() -> None:
    """error_messages.txt lists every message: python -m tests.wrapper.client.test_error_messages rewrites it."""
    found = messages()
    assert found == STORED.read_text(encoding="utf-8").splitlines()
    assert [message for message in found if FOREIGN.search(message)] == []


async def test_an_error_names_the_argument_the_rule_and_the_remedy() -> None:
    """So does the error of each mistake in the tables of all tests."""
    assert [(name, str(error)) for name, error in await errors() if what_is_missing(error)] == []


NOT_CONNECTED = "could not connect to https://service.example after 1 attempt; nothing was sent"
NO_RESPONSE = "no response from https://service.example after 1 attempt; the request may have had an effect"
NO_HTTP = "the request cannot be sent as HTTP; nothing was sent"
LIMITED = httpx.Response(429, headers={"retry-after": "44.9731"})


@pytest.mark.parametrize(
    ("outcome", "kind", "text"),
    [
        (httpx.ConnectError("x"), NotSentError, f"{NOT_CONNECTED} (ConnectError; max_attempts=1 reached)"),
        (httpx.ReadTimeout("x"), OutcomeUnknownError, f"{NO_RESPONSE} (ReadTimeout; max_attempts=1 reached)"),
        (
            httpx.UnsupportedProtocol("x"),
            NotSentError,
            f"{NO_HTTP} (UnsupportedProtocol; a retry would not change that)",
        ),
        (LIMITED, RateLimitError, "429 rate limited: retry in 45 s (longer than max_wait=0 s)"),
        (
            httpx.Response(429, json={"error": {"code": "TooManyRequests", "message": "Slow down."}}),
            RateLimitError,
            "429 TooManyRequests: Slow down.\n- rate limited: not retried: longer than max_wait=0 s",
        ),
        (
            httpx.Response(503, json={"error": {"code": "Down", "message": "Later."}}, headers={"retry-after": "2.54"}),
            ServerError,
            "503 Down: Later.\n- retry in 2.5 s (max_attempts=1 reached)",
        ),
        (httpx.Response(500), ServerError, "500 without a code: an empty body"),
        (httpx.Response(500, text="Out of disk.\nmore"), ServerError, "500 without a code: Out of disk."),
        (httpx.Response(500, content=b"Out of disk."), ServerError, "500 without a code: Out of disk."),
    ],
)
async def test_what_an_error_says(outcome: httpx.Response | Exception, kind: type[PlatformError], text: str) -> None:
    """The call, what happened, what was sent, and when a retry makes sense."""
    error = await error_of(outcome)
    assert (type(error), str(error)) == (kind, f"GET /itwins/myprimaryaccount: {text}")
    assert (error.method, error.route) == ("GET", "/itwins/myprimaryaccount")


def test_durations_are_rounded_and_counts_have_the_right_number() -> None:
    """Nobody waits 44.9731 seconds, or sends 1 requests."""
    seconds = (44.9731, 60.0, 9.94, 2.54, 2.0, 0.104)
    assert [*map(in_seconds, seconds)] == ["45 s", "60 s", "10 s", "2.5 s", "2 s", "0.1 s"]
    assert [counted(count, "request") for count in (1, 2, 1000)] == ["1 request", "2 requests", "1,000 requests"]
    assert [*map(sent_so_far, range(3))] == ["nothing was sent", "1 request was sent", "2 requests were sent"]


TOKEN = "planted-token/of-30-characters"


def body(message: str, **more: object) -> bytes:
    """Return the body of an error."""
    return json.dumps({"error": {"code": "Code", "message": message, **more}}).encode()


async def rejection(content: bytes, *, token: str = TOKEN, **headers: str) -> APIStatusError:
    """Return the error for a response of 422."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    error = await error_of(httpx.Response(422, content=content, headers=sent), token=token)
    assert isinstance(error, APIStatusError)
    return error


@pytest.mark.parametrize("escaped", [False, True])
async def test_a_token_in_the_message_of_the_service_is_redacted(escaped: bool) -> None:
    """Neither in text, repr, attributes nor a pickle, also where JSON writes it with escapes."""
    content = body(f"bad token {TOKEN}", target=TOKEN, details=[{"code": "C", "message": TOKEN, "target": TOKEN}])
    if escaped:
        content = content.replace(b"/", b"\\/")
    error = await rejection(content, x_echo=f"Bearer {TOKEN}", x_correlation_id=TOKEN)
    for each in (error, pickle.loads(pickle.dumps(error))):  # noqa: S301  # our own
        assert TOKEN not in f"{each} {each!r} {vars(each)} {dict(each.headers)}"
        assert "bad token [redacted]" in str(each)
    assert TOKEN.encode() not in error.body.replace(b"\\/", b"")


@pytest.mark.parametrize(
    ("token", "said", "expected"),
    [
        ("t-1", "t-1 is no token, (t-1)", "[redacted] is no token, ([redacted])"),
        ("t-1", "t-12, at-1 and t-1-b are others", "t-12, at-1 and t-1-b are others"),
        ("token", "a token is missing", "a token is missing"),
        ("tokento", "atokentob", "atokentob"),
        ("tokentok", "atokentokb", "a[redacted]b"),
    ],
)
async def test_a_short_token_is_redacted_where_it_stands_alone(token: str, said: str, expected: str) -> None:
    """A part of another word stays, and so does a token that is a word itself."""
    error = await rejection(body(said), token=token, x_echo=said)
    assert (error.message, error.headers["x-echo"], error.body) == (expected, expected, body(expected))


async def test_control_characters_are_escaped() -> None:
    """Words of the service start no line of a log and steer no terminal."""
    hostile = "a\nERROR forged\r\x1b[31mred\x9b\u2028\u202e"
    error = await rejection(body(hostile, details=[{"code": hostile, "message": hostile, "target": hostile}]))
    assert len(str(error).splitlines()) == 2
    assert "\x1b" not in str(error)
    assert r"a\nERROR forged\r\x1b[31mred\x9b\u2028\u202e" in str(error)
    assert "\n" not in str(error.details[0])
    assert error.message == hostile


async def test_a_long_message_is_cut() -> None:
    """Of 3 MB, 2 kB are in the text and 64 KiB in `.body`; what we add ourselves stays."""
    correlation_id = "c" * 200
    error = await rejection(body("x" * 3_000_000), x_correlation_id=correlation_id)
    assert str(error).startswith("GET /itwins/myprimaryaccount: 422 Code: xxx")
    assert str(error).endswith(f"...\n- correlation id {correlation_id}")
    many = await rejection(body("m", details=[{"code": "c"}] * 10_000), x_correlation_id=correlation_id)
    assert max(len(str(error)), len(str(many))) <= 2048
    assert len(error.body) == 65_536


if __name__ == "__main__":
    STORED.write_text("\n".join(messages()) + "\n", encoding="utf-8")
