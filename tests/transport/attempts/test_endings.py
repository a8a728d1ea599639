"""What a call says that ends without a usable response: what happened, how much was sent, and why there is no retry."""

import httpx
import pytest
from itwin_platform_transport import (
    BackoffPolicy,
    BackoffTransport,
    NotSentError,
    OutcomeUnknownError,
    PlatformError,
    ResponseDecodeError,
)

from tests.support.services import Outcome, ScriptedTransport, backoff, rate_limited, response, send

POLICY = BackoffPolicy(max_attempts=2, base_delay=0.0)
ORIGIN = "https://service.example"


@pytest.mark.parametrize(
    ("method", "script", "kind", "said"),
    [
        (
            *("POST", [httpx.LocalProtocolError("planted")], NotSentError),
            "the request cannot be sent as HTTP; nothing was sent (LocalProtocolError; a retry would not change that)",
        ),
        (
            *("POST", [rate_limited("1"), httpx.ConnectError("planted")], NotSentError),
            (
                f"could not connect to {ORIGIN} after 3 attempts; the request had no effect "
                "(ConnectError; max_attempts=2 reached)"
            ),
        ),
        (
            *("POST", [httpx.ReadError("planted")], OutcomeUnknownError),
            (
                f"no response from {ORIGIN} after 1 attempt; the request may have had an effect "
                "(ReadError; POST is not idempotent)"
            ),
        ),
        (
            *("GET", [503, httpx.ConnectError("planted")], OutcomeUnknownError),
            (
                f"no response from {ORIGIN} after 2 attempts; the request may have had an effect "
                "(ConnectError; max_attempts=2 reached)"
            ),
        ),
    ],
)
async def test_a_call_without_a_response_says_what_happened(
    method: str, script: list[Outcome], kind: type[PlatformError], said: str
) -> None:
    """And whether it can have had an effect; the words of an exception of httpx may be confidential."""
    with pytest.raises(kind) as raised:
        await send(backoff(ScriptedTransport(*script), policy=POLICY), method)
    assert str(raised.value) == f"{method} /things: {said}"
    assert raised.value.__cause__ is script[-1]


async def test_a_success_that_is_too_large_is_an_error_without_the_token() -> None:
    """Its beginning stays on the error, 64 KiB of it."""
    token = "planted-token-of-a-call"
    service = ScriptedTransport(response(299, content=f"é {token} ".encode("latin-1") + b"x" * 100_000))
    with pytest.raises(ResponseDecodeError, match="larger than max_response_bytes") as raised:
        await send(BackoffTransport(service, token=token, max_response_bytes=80_000))
    kept = raised.value.body
    assert (raised.value.attempts, kept[:13], len(kept)) == (1, b"\xe9 [redacted] ", 65_536 - len(token) + 10)
