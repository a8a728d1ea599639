"""Secrets that are planted wherever a caller can put them, and are looked for wherever something is written."""

import logging
import traceback
from collections.abc import Awaitable, Callable

import httpx
import pytest
from itwin_platform import (
    AccessToken,
    BackoffEvent,
    BackoffPolicy,
    BasicAuthentication,
    HeaderAuthentication,
    OAuth2AuthorizationCodePKCEAuthentication,
    PlatformClient,
    QueryParameterAuthentication,
)

SECRET = "planted-secret"
Call = Callable[[PlatformClient], Awaitable[object]]

CALLS: dict[str, Call] = {
    "header": lambda platform: platform.repositories.update(
        "i", "r", authentication=HeaderAuthentication(key="k", value=SECRET)
    ),
    "query": lambda platform: platform.repositories.update(
        "i", "r", authentication=QueryParameterAuthentication(key="k", value=SECRET)
    ),
    "basic": lambda platform: platform.repositories.update(
        "i", "r", authentication=BasicAuthentication(username="u", password=SECRET)
    ),
    "oauth": lambda platform: platform.repositories.update(
        "i",
        "r",
        authentication=OAuth2AuthorizationCodePKCEAuthentication(
            client_id=SECRET,
            scopes="s",
            authorization_endpoint="https://a.example",
            token_endpoint="https://b.example",
            redirect_uri="https://c.example",
        ),
    ),
    "mapping": lambda platform: platform.repositories.update(
        "i", "r", authentication={"type": "Basic", "username": "u", "password": SECRET}
    ),
    "partial mapping": lambda platform: platform.repositories.update(
        "i", "r", authentication={"type": "Basic", "password": SECRET}
    ),
    "webhook": lambda platform: platform.webhooks.update("w", secret=SECRET, active=True),
    "search": lambda platform: platform.itwins.list(search=SECRET).collect(),
    "unsendable": lambda platform: platform.repositories.update(
        "i", "r", authentication=HeaderAuthentication(key="k", value=f"{SECRET}\ud800")
    ),
}
#: What the service does: a response, or an exception.
OUTCOMES: dict[str, int | Exception] = {
    "refused": 422,
    "server": 500,
    "unavailable": 503,
    "unauthorized": 401,
    "redirect": 302,
    "rate limit": 429,
    "not a success": 200,
    "not sent": httpx.ConnectError("x"),
    "lost": httpx.ReadTimeout("x"),
}


@pytest.mark.parametrize("happens", OUTCOMES)
@pytest.mark.parametrize("call", CALLS)
async def test_no_secret_is_written_anywhere(call: str, happens: str, caplog: pytest.LogCaptureFixture) -> None:
    """Not in the error, its repr, its traceback with locals off, the log of any logger of ours, the events, a repr."""
    caplog.set_level(logging.DEBUG)
    events: list[BackoffEvent] = []
    outcome = OUTCOMES[happens]

    def service(request: httpx.Request) -> httpx.Response:
        assert request.headers["authorization"] == f"Bearer token-{SECRET}"
        if isinstance(outcome, Exception):
            raise outcome
        return httpx.Response(outcome, content=b"[1]", headers={"retry-after": "1"})

    async with PlatformClient(
        "https://service.example",
        vendor="acme",
        token=lambda: AccessToken(f"token-{SECRET}"),
        transport=httpx.MockTransport(service),
        backoff=BackoffPolicy(max_wait=0.0),
        on_event=events.append,
    ) as platform:
        with pytest.raises(Exception) as raised:  # noqa: PT011  # whichever it is
            await CALLS[call](platform)
        written = [
            caplog.text,
            repr(events),
            repr(platform),
            repr(platform._auth),
            repr(raised.value),
            "".join(traceback.format_exception(raised.value)),
        ]
    assert type(raised.value).__module__.startswith("itwin_platform")
    for text in written:
        assert SECRET not in text


def test_the_traceback_check_would_find_one() -> None:
    """The check above is worth something: an exception that names the secret is found by it."""
    error = ValueError(f"password is {SECRET}")
    assert SECRET in "".join(traceback.format_exception(error))
