"""Clients and transports of the caller, of httpx and of httpx2: calls, errors and closing."""

import asyncio
import gzip
import inspect
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import httpx
import httpx2
import pytest
from itwin_platform import (
    APIStatusError,
    AuthenticationError,
    BackoffPolicy,
    BackoffTransport,
    NotFoundError,
    OutcomeUnknownError,
    PlatformClient,
    ResponseDecodeError,
    TransportError,
    UsageError,
)

BASE_URL = "https://service.example/api"
ACCEPT = "application/vnd.acme.itwin-platform.v1+json"
ACCOUNT = b'{"iTwin": {"id": "a-1", "class": "Account", "displayName": "Acme"}}'
EMPTY_PAGE = b'{"iTwins": [], "_links": {}}'
#: Two modules with the same names.
LIBRARIES: dict[str, Any] = {"httpx": httpx, "httpx2": httpx2}
#: A status, headers and a body.
PlannedResponse = tuple[int, dict[str, str], bytes]


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> Any:
    """The library of the client or transport that the caller passes."""
    return LIBRARIES[request.param]


class Service:
    """Takes the next response for each request, repeats the last one, and records the requests."""

    def __init__(self, library: Any, *responses: PlannedResponse) -> None:
        self.requests: list[Any] = []
        left = iter(responses)

        def respond(request: Any) -> Any:
            self.requests.append(request)
            status, headers, content = next(left, responses[-1])
            return library.Response(status, headers=headers, stream=library.ByteStream(content))

        self.transport = library.MockTransport(respond)


def theirs_of(library: Any, service: Service) -> Any:
    """Return a client of the caller with its own settings."""
    return library.AsyncClient(
        transport=service.transport,
        auth=("user", "password"),
        params={"tenant": "7 8", "$top": "1"},
        headers={"User-Agent": "theirs", "X-Theirs": "yes", "Accept": "text/html"},
        follow_redirects=True,
        timeout=1.0,
        base_url="https://other.example/base",
    )


def platform_of(client: Any = None, **settings: Any) -> PlatformClient:
    """Return our client, perhaps with a client of the caller."""
    return PlatformClient(BASE_URL, vendor="acme", token="t-1", http_client=client, **settings)


async def test_our_request_goes_out_with_the_defaults_of_the_client(library: Any) -> None:
    """Our token, Accept, address and query stay as they are; other headers and parameters of the client are added."""
    service = Service(library, (200, {}, EMPTY_PAGE))
    async with theirs_of(library, service) as theirs, platform_of(theirs) as platform:
        assert await platform.itwins.list(display_name="A & B ä%20?#/+'|", page_size=5).collect() == []
    [request] = service.requests
    assert type(request) is library.Request
    assert request.headers["user-agent"].startswith("itwin-platform/")
    headers = {"authorization": "Bearer t-1", "accept": ACCEPT, "x-theirs": "yes"}
    assert dict(request.headers).items() >= headers.items()
    assert request.url.copy_with(query=None) == f"{BASE_URL}/itwins/"
    assert request.url.query == b"tenant=7+8&displayName=A%20%26%20B%20%C3%A4%2520%3F%23%2F%2B%27%7C&$top=5"


async def test_a_timeout_of_either_library_reaches_the_transport(library: Any) -> None:
    """Each phase of an attempt has its limit, in the client and in a view."""
    service = Service(library, (200, {}, ACCOUNT))
    limits, shorter = library.Timeout(7.0, connect=2.0, pool=None), library.Timeout(1.0)
    async with platform_of(transport=service.transport, timeout=limits) as platform:
        await platform.itwins.get_primary_account()
        await platform.with_options(timeout=shorter).itwins.get_primary_account()
    sent = [request.extensions["timeout"] for request in service.requests]
    assert sent == [limits.as_dict(), shorter.as_dict()]
    assert sent[0] == {"connect": 2.0, "read": 7.0, "write": 7.0, "pool": None}


async def test_a_client_of_the_caller_is_neither_changed_nor_closed(library: Any) -> None:
    """Its headers, auth, parameters, timeout and hooks stay as they were, and it can be used afterwards."""
    service = Service(library, (200, {"set-cookie": "theirs=2"}, ACCOUNT))

    def state() -> list[object]:
        kept = (theirs.auth, theirs.timeout, theirs.base_url, theirs.follow_redirects, theirs.event_hooks)
        return [*kept, dict(theirs.headers), str(theirs.params)]

    async with theirs_of(library, service) as theirs:
        before = state()
        async with platform_of(theirs) as platform:
            await platform.itwins.get_primary_account()
        assert (state(), theirs.is_closed) == (before, False)
        await theirs.get("/afterwards")
    assert service.requests[-1].headers["authorization"].startswith("Basic ")


async def test_backoff_and_errors_apply(library: Any) -> None:
    """A 503 is retried, redirects are not followed, and a status or an invalid body is a typed error.

    httpx parses the address of a redirect without following it: if that fails, the outcome is unknown.
    """
    redirected = (APIStatusError, "302")
    unreadable = redirected if library is httpx2 else (OutcomeUnknownError, "RemoteProtocolError")
    locations = ("https://evil.example/", "https://xn--evl-.example/", "http://[::1")
    service = Service(
        library,
        *((503, {}, b""), (200, {}, ACCOUNT)),
        *((302, {"location": location}, b"") for location in locations),
        (404, {}, b'{"error": {"code": "ResourceNotFound", "message": "No."}}'),
        (200, {}, b"["),
    )
    expected: list[tuple[type[Exception], str]] = [
        *(redirected, unreadable, unreadable),
        (NotFoundError, "ResourceNotFound"),
        (ResponseDecodeError, "JSON"),
    ]
    async with theirs_of(library, service) as theirs, platform_of(theirs) as platform:
        assert (await platform.itwins.get_primary_account()).id == "a-1"
        for error, message in expected:
            with pytest.raises(error, match=message):
                await platform.scenes.create("i-1", display_name="A")
    assert {request.url.host for request in service.requests} == {"service.example"}


@pytest.mark.parametrize(("read", "encoded"), [(False, False), (True, False), (True, True)])
async def test_a_hook_that_raises_for_the_status_changes_nothing(library: Any, read: bool, encoded: bool) -> None:
    """After an HTTPStatusError of a hook, the status is the result, with the body if the hook has read it."""

    async def hook(response: Any) -> None:
        if read:
            await response.aread()
        response.raise_for_status()  # as in the documentation of httpx

    body = b'{"error": {"code": "HeaderNotFound", "message": "No."}}'
    headers, content = ({"content-encoding": "gzip"}, gzip.compress(body)) if encoded else ({}, body)
    service = Service(library, (503, {}, b""), (401, headers, content))
    client = library.AsyncClient(transport=service.transport, event_hooks={"response": [hook]})
    async with client as theirs, platform_of(theirs) as platform:
        with pytest.raises(AuthenticationError) as raised:
            await platform.itwins.get_primary_account()
    assert (raised.value.attempts, raised.value.code) == (2, "HeaderNotFound" if read else None)


async def test_a_hook_that_consumes_the_body_is_an_error(library: Any) -> None:
    """If a hook has streamed the body of a response, the error says that the hook has to call `aread()`."""

    async def hook(response: Any) -> None:
        async for _ in response.aiter_raw():
            continue

    service = Service(library, (200, {}, ACCOUNT))
    client = library.AsyncClient(transport=service.transport, event_hooks={"response": [hook]})
    async with client as theirs, platform_of(theirs) as platform:
        with pytest.raises(ResponseDecodeError, match=r"read it with `aread\(\)`") as raised:
            await platform.itwins.get_primary_account()
    assert raised.value.body == b""


async def test_a_client_that_the_caller_has_closed_is_a_usage_error(library: Any) -> None:
    """No request is sent or retried through a closed client."""
    theirs = library.AsyncClient()
    platform = platform_of(theirs)
    await theirs.aclose()
    with pytest.raises(UsageError, match="http_client is closed"):
        await platform.itwins.get_primary_account()
    await platform.aclose()
    assert asyncio.get_running_loop().time() == 0.0


#: The exceptions of both libraries, and those with a fixed text.
EXCEPTIONS = [name for name, kind in inspect.getmembers(httpx, inspect.isclass) if issubclass(kind, Exception)]
OWN_TEXT = ("StreamConsumed", "StreamClosed", "ResponseNotRead", "RequestNotRead")


def example(library: Any, name: str) -> Any:
    """Return an exception of a library, by its name."""
    kind = getattr(library, name)
    if name == "HTTPStatusError":
        return kind("x", request=library.Request("GET", BASE_URL), response=library.Response(500))
    return kind() if name in OWN_TEXT else kind("x")


def failing(library: Any, error: Exception, *, at: str) -> Any:
    """Return a transport that fails before the head of a response, in its body, or when the body is closed."""

    class Body(library.AsyncByteStream):  # type: ignore[misc]  # of either library
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield ACCOUNT
            if at == "body":
                raise error

        async def aclose(self) -> None:
            if at == "closing":
                raise error

    def respond(_: Any) -> Any:
        if at == "head":
            raise error
        return library.Response(200, stream=Body())

    return library.MockTransport(respond)


@pytest.mark.parametrize("at", ["head", "body", "closing"])
@pytest.mark.parametrize("name", EXCEPTIONS)
async def test_an_exception_of_httpx2_counts_as_that_of_httpx(name: str, at: str) -> None:
    """The call raises the same error with the same text, and its cause has the exception of httpx2."""
    ends = []
    for library in (httpx, httpx2):
        original = example(library, name)
        transport = failing(library, original, at=at)
        async with platform_of(transport=transport, backoff=BackoffPolicy(base_delay=0.0)) as platform:
            for call in (platform.itwins.get_primary_account, partial(platform.scenes.create, "i", display_name="A")):
                with pytest.raises(TransportError) as raised:
                    await call()
                cause = raised.value.__cause__
                assert cause is not None
                assert original in (cause, cause.__cause__)
                ends.append([type(raised.value), str(raised.value), raised.value.sent, type(cause), str(cause)])
    assert ends[:2] == ends[2:]


async def test_a_subclass_of_theirs_counts_as_its_base() -> None:
    """The nearest base class of httpx2 counts, and not the name of the subclass."""

    class ConnectError(httpx2.ReadTimeout):
        """An exception of the transport of a caller."""

    transport = failing(httpx2, ConnectError("x"), at="head")
    async with platform_of(transport=transport) as platform:
        with pytest.raises(OutcomeUnknownError, match="ReadTimeout"):
            await platform.scenes.create("i-1", display_name="A")


async def test_an_exception_of_the_caller_stays_as_it_is(library: Any) -> None:
    """An exception that is no failure of a library or the network is raised as it is: it is a bug of the transport."""
    error = KeyError("x")
    async with platform_of(transport=failing(library, error, at="body")) as platform:
        with pytest.raises(KeyError) as raised:
            await platform.itwins.get_primary_account()
    assert raised.value is error


async def test_a_client_of_httpx2_cannot_send_through_a_backoff_transport() -> None:
    """The error says that it is a transport of httpx, before a request is sent."""
    service = Service(httpx, (200, {}, ACCOUNT))
    transport: Any = BackoffTransport(service.transport)
    async with httpx2.AsyncClient(transport=transport) as client:
        with pytest.raises(UsageError, match=r"sends an httpx\.Request, not httpx2\.Request: use it in an"):
            await client.get(BASE_URL)
    assert service.requests == []
