"""How a call ends and what it says then, from the values that its attempts left."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from itwin_platform_transport import (
    AccessToken,
    BackoffPolicy,
    CallInfo,
    CallResult,
    DeadlineExceededError,
    NotSentError,
    OutcomeUnknownError,
    Request,
    ResponseDecodeError,
    StateError,
)
from itwin_platform_transport.attempts.call import Attempt, Call, Finding
from itwin_platform_transport.attempts.tokens import ObtainedToken
from itwin_platform_transport.connections.messages import Response
from itwin_platform_transport.errors import PlatformError
from itwin_platform_transport.policy import Outcome, Progress

from tests.support.services import now

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WHERE = "GET /things/{id}"
LOST = Progress(may_have_had_an_effect=True)
TOKEN = ObtainedToken(AccessToken("planted-token-of-a-call"), NOON, 1)
LIMITED = Attempt(Outcome.RATE_LIMITED, 0.0, Response(429), None, 7.0)


@asynccontextmanager
async def made(
    policy: BackoffPolicy | None = None, *, ends_at: float | None = None, **values: Any
) -> AsyncIterator[Call]:
    """A call that began at 10 s, of which its attempts have left these values; it is 15 s now."""
    await asyncio.sleep(15.0 - now())
    async with asyncio.timeout_at(ends_at) as limit:
        yield Call(
            request=Request("GET", httpx.URL("https://a.example:7/things/1"), (), b"", {}),
            info=CallInfo("GET", "/things/{id}", policy or BackoffPolicy(), values.pop("has_template", True)),
            clock=now,
            began_at=10.0,
            limit=limit,
            send=lambda *_: asyncio.sleep(0.0, LIMITED),
            now=lambda: NOON,
            ticket=0,
            token_failures=0,
            **values,
        )
        limit.reschedule(None)


@pytest.mark.parametrize(
    ("deadline", "ends_at", "is_admitted", "expected"),
    [
        (60.0, None, False, 75.0),
        (60.0, 25.0, False, 25.0),
        (5.0, 25.0, False, 20.0),
        (None, 25.0, False, 25.0),
        (60.0, 25.0, True, 75.0),
        (None, 25.0, True, None),
        (None, None, False, None),
    ],
)
async def test_the_deadline_takes_the_place_of_the_queue_timeout(
    deadline: float | None, ends_at: float | None, is_admitted: bool, expected: float | None
) -> None:
    """When the gate admits the call; until then the earlier one of both ends it. It starts once."""
    policy = BackoffPolicy(deadline=deadline, queue_timeout=None)
    async with made(policy, ends_at=ends_at) as call:
        assert call.elapsed == 0.0
        call.start_deadline(is_admitted=is_admitted)
        assert (call.limit.when(), call.is_queued, call.started_at) == (expected, not is_admitted, 15.0)
        await asyncio.sleep(1.0)
        call.start_deadline(is_admitted=True)
        assert call.limit.when() == (None if deadline is None else 15.0 + deadline)
        assert (call.started_at, call.elapsed) == (15.0, 1.0)


@pytest.mark.parametrize(
    ("max_wait", "deadline", "started_at", "longest"),
    [(30.0, 20.0, None, 20.0), (10.0, 20.0, None, 10.0), (30.0, 20.0, 1.0, 30.0), (30.0, None, None, 30.0)],
)
async def test_a_cooldown_is_waited_for_as_long_as_the_limits_allow(
    max_wait: float, deadline: float | None, started_at: float | None, longest: float
) -> None:
    """Until the deadline has started, its length counts too."""
    async with made(BackoffPolicy(max_wait=max_wait, deadline=deadline), started_at=started_at) as call:
        assert call.longest_cooldown == longest


@pytest.mark.parametrize(("has_template", "what"), [(True, "/things/{id}"), (False, "a.example")])
async def test_what_is_down_together(has_template: bool, what: str) -> None:
    """An operation, or all of a host where no template is known."""
    async with made(has_template=has_template) as call:
        assert call.operation == ("GET", what)


async def test_the_end_of_a_call_tells_what_its_attempts_learned() -> None:
    """Its response, how long it took, when to come back and why there is no retry."""
    async with made(sent=3, token=TOKEN) as call:
        retry_at = NOON + timedelta(seconds=7)
        expected = CallResult(LIMITED.response, 3, 5.0, 7.0, retry_at, "because", TOKEN.token)
        assert call.ended(LIMITED, reason="because") == expected
        later = call.ended(LIMITED._replace(retry_after=None))
        assert later == expected._replace(retry_after=None, retry_at=None, reason=None)


async def test_a_call_that_a_cooldown_holds_back_has_the_429_that_started_it() -> None:
    """Or no response where another process got it."""
    async with made(BackoffPolicy(max_wait=0.5), sent=1, started_at=12.0) as call:
        result = call.held_back(Finding(LIMITED, TOKEN, 99.0), seconds=40.0)
        assert (result.response, result.token, result.seconds) == (LIMITED.response, TOKEN.token, 5.0)
        assert (result.attempts, result.is_held_back, result.retry_after) == (1, True, 40.0)
        assert result.retry_at == NOON + timedelta(seconds=40)
        assert result.reason is not None
        for seen in (None, Finding(LIMITED, None, 99.0)):
            unknown = call.held_back(seen, seconds=40.0)
            assert unknown.token is None
            assert (unknown.response is None) is (seen is None)
        assert call.held_back(None, seconds=None).reason is None
        with pytest.raises(NotSentError, match=r"^GET /things/{id}: rate limited: retry in 40 s.*; 1 request") as held:
            call.held_back(None, seconds=40.0).returned(call.info)
        assert held.value.attempts == 1


@pytest.mark.parametrize(("status", "is_error"), [(299, True), (300, False)])
async def test_a_success_that_is_too_large_is_an_error_without_the_token(status: int, is_error: bool) -> None:
    """Its beginning stays on the error; an error's body may be cut."""
    text = f"é {TOKEN.token.value} ".encode("latin-1")
    response = Response(status, content=text + b"x" * 70_000, fault="it is too large")
    async with made(sent=2, token=TOKEN) as call:
        result = call.ended(Attempt(Outcome.FINAL, 0.0, response))
        if not is_error:
            assert result.returned(call.info) is response
            return
        with pytest.raises(ResponseDecodeError, match="it is too large") as raised:
            result.returned(call.info)
    assert (raised.value.attempts, raised.value.body[:1]) == (2, b"\xe9")
    assert len(raised.value.body) == 65_536 - len(TOKEN.token.value) + len("[redacted]")
    assert TOKEN.token.value.encode() not in raised.value.body


@pytest.mark.parametrize(
    ("retry_after", "until", "left"), [(None, 20.0, None), (9.0, 20.0, 5.0), (9.0, 15.0, None), (9.0, 14.0, None)]
)
async def test_a_call_whose_operation_is_down_has_what_the_last_probe_got(
    retry_after: float | None, until: float, left: float | None
) -> None:
    """With what is left of the delay that the service named, and the token of the probe."""
    down = Attempt(Outcome.UNAVAILABLE, 0.0, Response(503), None, retry_after)
    async with made(sent=1) as call:
        result = call.found_down(Finding(down, TOKEN, until))
        assert (result.response, result.attempts, result.retry_after, result.token) == (
            *(down.response, 1, left, TOKEN.token),
        )
        assert result.reason == "other calls found the operation down; of this one 1 request was sent"
        assert call.found_down(Finding(down, None, until)).token is TOKEN.token
        failed = Attempt(Outcome.NOT_SENT, 0.0, None, httpx.ConnectError("planted"))
        with pytest.raises(NotSentError, match=r"other calls found the operation down \(ConnectError\); 1 request"):
            raise_of(call.found_down, Finding(failed, TOKEN, until))


def raise_of(function: Any, *arguments: Any) -> None:
    """Call it."""
    function(*arguments)


async def test_a_gate_that_fails_is_named() -> None:
    """By its class alone, unless the error is one for users."""
    async with made(sent=1, progress=LOST) as call:
        error = call.not_admitted(ValueError("planted"))
        assert (type(error), str(error).partition(";")[0]) == (
            OutcomeUnknownError,
            f"{WHERE}: the gate failed (ValueError)",
        )
        assert str(call.not_admitted(StateError("the gate is closed"))).startswith(f"{WHERE}: the gate is closed; 1 ")
        assert error.attempts == 1


@pytest.mark.parametrize(
    ("values", "kind", "said"),
    [
        ({}, NotSentError, "the client was closed; nothing was sent"),
        (
            {"sent": 1, "is_in_flight": True, "progress": LOST},
            OutcomeUnknownError,
            "the client was closed; 1 request was",
        ),
        (
            {"sent": 1, "progress": LOST},
            StateError,
            "the client was closed before a retry; 1 request was sent, and may",
        ),
    ],
)
async def test_a_call_that_closing_ended_says_what_was_sent(
    values: dict[str, Any], kind: type[PlatformError], said: str
) -> None:
    """Closing ends it now, unless its time was over before."""
    async with made(ends_at=20.0, **values) as call:
        call.close()
        assert (call.was_closed, call.limit.when()) == (True, 15.0)
        error = call.out_of_time(seconds=None)
        assert type(error) is kind
        assert str(error).startswith(f"{WHERE}: {said}")
    async with made(ends_at=15.0) as late:
        late.close()
        assert not late.was_closed
        late.limit.reschedule(None)


@pytest.mark.parametrize(
    ("queued", "deadline", "is_queued", "what"),
    [
        (5.0, 60.0, True, "queue_timeout of 5 s"),
        (60.0, 60.0, True, "queue_timeout of 60 s"),
        (61.0, 60.0, True, "deadline of 60 s"),
        (5.0, None, True, "queue_timeout of 5 s"),
        (None, 60.0, True, "deadline of 60 s"),
        (5.0, 60.0, False, "deadline of 60 s"),
    ],
)
async def test_a_call_out_of_time_names_the_limit(
    queued: float | None, deadline: float | None, is_queued: bool, what: str
) -> None:
    """The one that ended it, how much was sent, and when a cooldown ends."""
    policy = BackoffPolicy(queue_timeout=queued, deadline=deadline)
    async with made(policy, is_queued=is_queued, sent=2, progress=LOST) as call:
        error = call.out_of_time(seconds=3.0)
        assert isinstance(error, DeadlineExceededError)
        assert str(error) == f"{WHERE}: the {what} passed; 2 requests were sent"
        assert (error.attempts, error.sent, error.retry_at) == (2, True, NOON + timedelta(seconds=3))
        call.waits_for_token = True
        assert "passed while the token provider was called; 2" in str(call.out_of_time(seconds=None))


@pytest.mark.parametrize(
    ("outcome", "values", "kind", "said"),
    [
        (Outcome.UNSENDABLE, {}, NotSentError, "the request cannot be sent as HTTP; nothing was sent"),
        (Outcome.NOT_SENT, {}, NotSentError, "could not connect to https://a.example:7; nothing was sent"),
        (
            *(Outcome.NOT_SENT, {"sent": 2}, NotSentError),
            "could not connect to https://a.example:7 after 2 attempts; nothing was sent",
        ),
        (
            *(Outcome.OUTCOME_UNKNOWN, {"sent": 1, "progress": LOST}, OutcomeUnknownError),
            "no response from https://a.example:7 after 1 attempt; the request may have had an effect",
        ),
    ],
)
async def test_a_call_without_a_response_says_what_happened(
    outcome: Outcome, values: dict[str, Any], kind: type[PlatformError], said: str
) -> None:
    """And whether it can have had an effect, with the kind of failure and why there is no retry."""
    cause = httpx.ReadError("planted")
    async with made(**values) as call:
        with pytest.raises(kind) as raised:
            raise_of(lambda: call.ended(Attempt(outcome, 0.0, None, cause), reason="because"))
    assert str(raised.value) == f"{WHERE}: {said} (ReadError; because)"
    assert raised.value.__cause__ is cause
