"""No response: which exceptions say that nothing was sent, and which leave the outcome open."""

import errno
import inspect
import ssl

import httpx
import pytest
from itwin_platform import (
    BackoffPolicy,
    DeadlineExceededError,
    NotSentError,
    OutcomeUnknownError,
    PlatformClient,
    TransportError,
)

from tests.support.exchange import PreparedResponse
from tests.support.scripted_transport import ScriptedTransport, backoff, send

REQUEST = httpx.Request("GET", "https://service.example/")
RESPONSE = httpx.Response(500, request=REQUEST)

#: Every exception that httpx has, and what it says of the request: requests that GET and POST send, and the error.
SORTED: list[tuple[Exception, int, int, type[TransportError]]] = [
    (httpx.ConnectError("x"), 7, 7, NotSentError),
    (httpx.ConnectTimeout("x"), 7, 7, NotSentError),
    (httpx.PoolTimeout("x"), 7, 7, NotSentError),
    (httpx.ProxyError("x"), 7, 7, NotSentError),
    (httpx.UnsupportedProtocol("x"), 1, 1, NotSentError),
    (httpx.LocalProtocolError("x"), 1, 1, NotSentError),
    (httpx.InvalidURL("x"), 1, 1, NotSentError),
    (httpx.ReadError("x"), 7, 1, OutcomeUnknownError),
    (httpx.ReadTimeout("x"), 7, 1, OutcomeUnknownError),
    (httpx.WriteError("x"), 7, 1, OutcomeUnknownError),
    (httpx.WriteTimeout("x"), 7, 1, OutcomeUnknownError),
    (httpx.CloseError("x"), 7, 1, OutcomeUnknownError),
    (httpx.RemoteProtocolError("x"), 7, 1, OutcomeUnknownError),
    (httpx.ProtocolError("x"), 7, 1, OutcomeUnknownError),
    (httpx.NetworkError("x"), 7, 1, OutcomeUnknownError),
    (httpx.TimeoutException("x"), 7, 1, OutcomeUnknownError),
    (httpx.TransportError("x"), 7, 1, OutcomeUnknownError),
    (httpx.DecodingError("x"), 7, 1, OutcomeUnknownError),
    (httpx.TooManyRedirects("x"), 7, 1, OutcomeUnknownError),
    (httpx.RequestError("x"), 7, 1, OutcomeUnknownError),
    (httpx.HTTPError("x"), 7, 1, OutcomeUnknownError),
    (httpx.HTTPStatusError("x", request=REQUEST, response=RESPONSE), 7, 1, OutcomeUnknownError),
    (httpx.StreamError("x"), 7, 1, OutcomeUnknownError),
    (httpx.StreamConsumed(), 7, 1, OutcomeUnknownError),
    (httpx.StreamClosed(), 7, 1, OutcomeUnknownError),
    (httpx.ResponseNotRead(), 7, 1, OutcomeUnknownError),
    (httpx.RequestNotRead(), 7, 1, OutcomeUnknownError),
    (httpx.CookieConflict("x"), 7, 1, OutcomeUnknownError),
    (ConnectionResetError(errno.ECONNRESET, "x"), 7, 1, OutcomeUnknownError),
    (TimeoutError("x"), 7, 1, OutcomeUnknownError),
    (ssl.SSLError("x"), 7, 1, OutcomeUnknownError),
]
PATIENT = BackoffPolicy()


def test_no_exception_of_httpx_is_forgotten() -> None:
    """The table above holds each exception class that httpx exports."""
    exported = {kind for _, kind in inspect.getmembers(httpx, inspect.isclass) if issubclass(kind, Exception)}
    assert exported <= {type(error) for error, *_ in SORTED}


@pytest.mark.parametrize(("error", "gets", "posts", "expected"), SORTED, ids=lambda value: type(value).__name__)
async def test_every_exception_is_sorted(
    error: Exception, gets: int, posts: int, expected: type[TransportError]
) -> None:
    """Certainly not sent, or outcome unknown; the cause stays, and a POST is retried only in the first case."""
    for method, requests in (("GET", gets), ("POST", posts)):
        service = ScriptedTransport(error)
        with pytest.raises(TransportError) as raised:
            await send(backoff(service, policy=PATIENT), method)
        assert type(raised.value) is expected
        assert raised.value.sent is (expected is OutcomeUnknownError)
        assert raised.value.attempts == len(service.requests) == requests
        assert raised.value.__cause__ is error
        assert type(error).__name__ in str(raised.value)


async def test_what_is_not_of_the_transport_passes_unchanged() -> None:
    """A bug in a transport is not dressed up as a lost response, and is not retried."""
    service = ScriptedTransport(KeyError("a bug"))
    with pytest.raises(KeyError, match="a bug"):
        await send(backoff(service))
    assert len(service.requests) == 1


async def test_a_post_is_sent_again_only_while_it_was_certainly_not_sent() -> None:
    """A connection that fails and a 429 are retried; with the first lost response it ends."""
    service = ScriptedTransport(httpx.ConnectError("x"), 429, httpx.ConnectTimeout("x"), httpx.ReadTimeout("x"), 201)
    with pytest.raises(
        OutcomeUnknownError,
        match=r"no response from \S+ after 4 attempts; the request may have had an effect \(ReadTimeout",
    ):
        await send(backoff(service), "POST")
    assert len(service.requests) == 4


SCENE = "6a2d2381-6c57-4332-b87a-5b7c00000001"


@pytest.mark.parametrize(
    ("lost", "expected", "attempts", "sent"),
    [
        (httpx.ReadTimeout("x"), OutcomeUnknownError, 1, True),
        (httpx.ConnectError("x"), NotSentError, 7, False),
        (PreparedResponse(fault="hang"), DeadlineExceededError, 1, True),
    ],
)
async def test_the_error_names_the_scene(
    lost: Exception | PreparedResponse, expected: type[TransportError], attempts: int, sent: bool
) -> None:
    """A lost scene can be looked for: its id is on the error and in its text, where one was given."""
    service = ScriptedTransport(lost)
    async with PlatformClient("https://service.example", vendor="acme", token="t-1", transport=service) as platform:
        with pytest.raises(expected) as raised:
            await platform.scenes.create("i-1", display_name="A", id=SCENE)
        assert (raised.value.scene_id, raised.value.attempts, raised.value.sent) == (SCENE, attempts, sent)
        assert SCENE in str(raised.value)
        with pytest.raises(expected) as raised:
            await platform.scenes.create("i-1", display_name="A")
        assert raised.value.scene_id is None
