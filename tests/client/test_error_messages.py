"""The words of every error: reviewed as one list, and in the words that Python users know."""

import re

import httpx
import pytest
from itwin_platform import (
    BackoffPolicy,
    NotFoundError,
    NotSentError,
    OutcomeUnknownError,
    PlatformError,
    RateLimitError,
    ServerError,
    _errors,
)

from tests.client.conftest import answering
from tests.support.error_messages import PROJECT, STORED, messages
from tests.support.faces import counted, in_seconds, sent_so_far
from tests.support.mistakes import errors, what_is_missing

#: Words of the wire, and words that the project does not use.
FOREIGN = re.compile(
    r"\$(top|search|orderby)\b(?! twice)|\b(subClass|displayName|callbackUrl|eventTypes|iTwinId|pageSize)\b|"
    r"\b(answer|refuse|text|leave out|left out|give|gave|stand-in)s?\b|\(s\)"
)


def test_every_message_is_in_the_list() -> None:
    """error_messages.txt lists every message: python -m tests.support.error_messages rewrites it."""
    assert messages() == STORED.read_text(encoding="utf-8").splitlines()


def test_messages_are_written_for_users_of_python() -> None:
    """Python argument names, no names of the wire, and the field's words."""
    assert [message for message in messages() if FOREIGN.search(message)] == []


async def test_an_error_names_the_argument_the_rule_and_the_remedy() -> None:
    """So does the error of each mistake in the tables of all tests."""
    assert [(name, str(error)) for name, error in await errors() if what_is_missing(error)] == []


@pytest.mark.parametrize(
    ("outcome", "error", "text"),
    [
        (
            httpx.ConnectError("planted"),
            NotSentError,
            (
                "GET /itwins/myprimaryaccount: could not connect to https://service.example after 1 attempt; "
                "nothing was sent (ConnectError; max_attempts=1 reached)"
            ),
        ),
        (
            httpx.ReadTimeout("planted"),
            OutcomeUnknownError,
            (
                "GET /itwins/myprimaryaccount: no response from https://service.example after 1 attempt; "
                "the request may have had an effect (ReadTimeout; max_attempts=1 reached)"
            ),
        ),
        (
            httpx.UnsupportedProtocol("planted"),
            NotSentError,
            (
                "GET /itwins/myprimaryaccount: the request cannot be sent as HTTP; nothing was sent "
                "(UnsupportedProtocol; a retry would not change that)"
            ),
        ),
        (
            httpx.Response(429, headers={"retry-after": "44.9731"}),
            RateLimitError,
            "GET /itwins/myprimaryaccount: 429 rate limited: retry in 45 s (longer than max_wait=30 s)",
        ),
        (
            httpx.Response(429, json={"error": {"code": "TooManyRequests", "message": "Slow down."}}),
            RateLimitError,
            (
                "GET /itwins/myprimaryaccount: 429 TooManyRequests: Slow down.\n"
                "- rate limited: not retried: longer than max_wait=0 s"
            ),
        ),
        (
            httpx.Response(503, json={"error": {"code": "Down", "message": "Later."}}, headers={"retry-after": "2.54"}),
            ServerError,
            "GET /itwins/myprimaryaccount: 503 Down: Later.\n- retry in 2.5 s (max_attempts=1 reached)",
        ),
        (
            httpx.Response(500),
            ServerError,
            "GET /itwins/myprimaryaccount: 500 without a code: the response has no message",
        ),
        (
            httpx.Response(500, text="Out of disk.\nmore"),
            ServerError,
            "GET /itwins/myprimaryaccount: 500 without a code: Out of disk.",
        ),
    ],
    ids=[
        "connect",
        "timeout",
        "protocol",
        "rate limit",
        "rate limit without a delay",
        "unavailable",
        "nothing said",
        "text",
    ],
)
async def test_what_an_error_says(outcome: httpx.Response | Exception, error: type[PlatformError], text: str) -> None:
    """What happened, what was sent, and when a retry makes sense."""

    def service(request: httpx.Request) -> httpx.Response:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    wait = 0.0 if "max_wait=0 s" in text else 30.0
    client, _ = answering(service, backoff=BackoffPolicy(max_attempts=1, max_wait=wait))
    async with client:
        with pytest.raises(error) as caught:
            await client.itwins.get_primary_account()
    assert str(caught.value) == text
    assert (caught.value.method, caught.value.route) == ("GET", "/itwins/myprimaryaccount")


async def test_a_call_that_is_held_back_says_for_how_long() -> None:
    """Without being sent: the cooldown is known."""
    client, requests = answering(
        lambda _: httpx.Response(429, headers={"retry-after": "44.2"}), backoff=BackoffPolicy(max_wait=30.0)
    )
    async with client:
        for _ in range(2):
            with pytest.raises(
                RateLimitError,
                match=r"myprimaryaccount: 429 rate limited: retry in 4[45] s \(longer than max_wait=30 s\)$",
            ):
                await client.itwins.get_primary_account()
    assert len(requests) == 1


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(44.9731, "45 s"), (60.0, "60 s"), (9.94, "10 s"), (2.54, "2.5 s"), (2.0, "2 s"), (0.104, "0.1 s")],
)
def test_durations_are_rounded(seconds: float, text: str) -> None:
    """Nobody waits 44.9731 seconds."""
    assert in_seconds(seconds) == text


def test_counts_have_the_right_number() -> None:
    """One request, two requests, none."""
    assert [counted(count, "request") for count in (1, 2, 1000)] == ["1 request", "2 requests", "1,000 requests"]
    assert sent_so_far(0) == "nothing was sent"
    assert [sent_so_far(count) for count in (1, 2)] == ["1 request was sent", "2 requests were sent"]


def test_each_class_names_its_section_in_the_documentation() -> None:
    """A file of the source tree and a heading of it, so that it leads somewhere without a network."""
    for name, kind in vars(_errors).items():
        if isinstance(kind, type) and issubclass(kind, PlatformError):
            page, _, anchor = kind.doc_url.partition("#")
            assert f"\n## {name}\n" in (PROJECT / page).read_text(encoding="utf-8")
            assert anchor == name.lower()
    assert RateLimitError.doc_url == "docs/troubleshooting.md#ratelimiterror"


def test_a_class_of_the_application_leads_to_that_of_its_base() -> None:
    """It has no section of its own."""

    class LayerMissingError(NotFoundError):
        """An error of an application."""

    assert LayerMissingError.doc_url == NotFoundError.doc_url
