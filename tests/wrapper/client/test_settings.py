"""The settings of a client, and the arguments that it rejects. Source: sections 1, 5 and 9."""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx
import httpx2
import pytest
from itwin_platform import AccessToken, BackoffPolicy, Gate, PlatformClient, RateLimit, TokenError, UsageError

from tests.support.event_loops import in_virtual_time
from tests.wrapper.client.conftest import SETTINGS, Array, Index, answering

NAMES = {"base_url": "ITWIN_PLATFORM_BASE_URL", "vendor": "ITWIN_PLATFORM_VENDOR", "token": "ITWIN_PLATFORM_TOKEN"}


async def request_of(**settings: Any) -> httpx.Request:
    """Return the request of a call."""
    client, requests = answering(**settings)
    async with client:
        await client.itwins.get_primary_account()
    return requests[0]


async def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three variables of the environment set the address, the vendor and the token."""
    for name, variable in NAMES.items():
        monkeypatch.setenv(variable, SETTINGS[name])
    request = await request_of(base_url=None, vendor=None, token=None)
    assert request.url == "https://service.example/api/itwins/myprimaryaccount"
    assert request.headers["accept"] == "application/vnd.acme.itwin-platform.v1+json"
    assert request.headers["authorization"] == "Bearer planted-token"


async def test_an_argument_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """An argument overrides its environment variable."""
    for variable in NAMES.values():
        monkeypatch.setenv(variable, "https://not-this.example/")
    request = await request_of()
    assert "not-this" not in f"{request.url}{request.headers}"


@pytest.mark.parametrize("missing", [["base_url"], ["vendor"], ["token"], ["base_url", "token"]], ids=", ".join)
def test_a_missing_setting_is_named(missing: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says which arguments to give or which variables to set; an empty variable is a missing one."""
    monkeypatch.setenv(NAMES[missing[0]], "")
    variables = " and ".join(NAMES[name] for name in missing)
    named = f"{' and '.join(missing)} {'are' if missing[1:] else 'is'}"
    said = f"{named} missing: pass {missing[0]}=.*, or set {variables} in the environment"
    with pytest.raises(UsageError, match=said) as raised:
        answering(**dict.fromkeys(missing))
    assert raised.value.argument == missing[0]


@pytest.mark.parametrize("limit", [30.0, 0.5, httpx.Timeout(7.0, read=9.0), 31_536_000])
async def test_every_attempt_has_a_timeout(limit: float | httpx.Timeout) -> None:
    """Each phase of an attempt has a timeout, 30 s by default."""
    request = await request_of(**{} if limit == 30.0 else {"timeout": limit})
    assert request.extensions["timeout"] == httpx.Timeout(limit).as_dict()
    assert answering(timeout=httpx.Timeout(None))[0].generated.token == "", "the token is added to each attempt"


@pytest.mark.parametrize(
    ("base_url", "sent_to"),
    [
        *((f"https://service.example{path}", "https://service.example/") for path in ("", "/", "/ \n")),
        ("HTTPS://Service.Example:8443/a/A%20b/", "https://service.example:8443/a/A%20b/"),
        *((address, f"{address}/") for address in ("http://[::1]:8080/x", "http://127.8.9.10", "https://my_service:1")),
        ("http://localhost.:8080", "http://localhost.:8080/"),
    ],
)
async def test_a_path_prefix_is_kept(base_url: str, sent_to: str) -> None:
    """Requests go below the given path, with or without a slash at its end; plain http is for loopback."""
    assert str((await request_of(base_url=base_url)).url) == f"{sent_to}itwins/myprimaryaccount"


@pytest.mark.parametrize(
    ("base_url", "host"),
    [
        *(("https://service.example.:8443", "service.example:8443"), ("https://service.example.", "service.example")),
        *(("https://[fe80::1%25eth0]:8443", "[fe80::1]:8443"), ("https://[fe80::1%eth0]", "[fe80::1]")),
        ("https://münchen.example", "xn--mnchen-3ya.example"),
    ],
)
async def test_the_host_header_names_the_host_alone(base_url: str, host: str) -> None:
    """The Host header has neither the last dot of a name nor the zone of an address."""
    client, requests = answering(base_url=base_url)
    async with client:
        await client.itwins.get_primary_account()
        await client.generated.get_async_httpx_client().get("/itwins/myprimaryaccount")
    assert [request.headers["host"] for request in requests] == [host] * 2


@pytest.mark.parametrize(
    "base_url",
    [
        *("http://service.example", "http://localhost.example", "http://127.0.0.1.example", "http://10.0.0.1"),
        *("http://[fe80::1%25eth0]:80", "http://service.example."),
        *("http://api.localhost", "http://0.0.0.0:80", "http://[::2]", "http://[::ffff:10.0.0.1]"),
    ],
)
async def test_a_token_does_not_travel_in_the_open(base_url: str) -> None:
    """Plain http to a host other than loopback is rejected without `allow_insecure=True`."""
    with pytest.raises(UsageError, match="allow_insecure=True") as caught:
        answering(base_url=base_url)
    assert caught.value.argument == "base_url"
    assert (await request_of(base_url=base_url, allow_insecure=True)).headers["authorization"] == "Bearer planted-token"


NO_URLS = [
    *("https://[::1", "https://service.example:port", "https://service..example", f"https://{'x' * 64}.example"),
    *("https://xn--a", "https://ex%61mple.com", "https://a,b.example", "https://."),
    *("https://[fe80::1%25]", "https://[fe80::1%25a,b]", "https://[::g]", "https://[::1]a"),
]
UNSEEN = ["https://service .example", "https://service.example/\ta", "https://a\u200b.example", "https://a\r\nhost:a"]
MORE_THAN_A_PATH = [
    *("https://user:planted@service.example", "https://service.example/?a=b", "https://service.example#"),
    *("https://service:4711/planted@host.example", "https://host.example\\@service.example"),
]
#: Objects of another library, not for asyncio, a class, or a value of the other argument.
NO_CLIENTS = [object(), httpx2.Client(), httpx2.AsyncClient, httpx2.AsyncHTTPTransport()]
NO_TRANSPORTS = [object(), httpx.HTTPTransport, httpx2.HTTPTransport(), httpx2.AsyncClient()]
#: Invalid arguments, and the text of the error.
ARGUMENTS: list[tuple[str, str, list[Any]]] = [
    ("base_url", "starts with https://", ["service.example", "ftp://service.example", "https://", "//a.example", " "]),
    ("base_url", "must not contain a user", MORE_THAN_A_PATH),
    ("base_url", "percent-encode blanks and control characters", UNSEEN),
    ("base_url", "not a URL", NO_URLS),
    ("base_url", "has the port .*, and ports go from 1 to", ["https://a.example:0", "https://a.example:65536"]),
    ("vendor", "must be one word", ["", "a b", "a/b", "a.b", "acme\n", "{vendor}", "é", "-acme", "a;q=1"]),
    *((name, "must be a str", [5, b"x"]) for name in ("base_url", "vendor")),
    ("gate", "must be a Gate", [5, Gate]),
    ("on_event", "must be a function", [5, asyncio.sleep]),
    ("backoff", "must be a BackoffPolicy", [{}, BackoffPolicy]),
    ("max_response_bytes", "must be an integer of at least 1, not tests.wrapper.client.conftest.Array$", [Array()]),
    ("max_response_bytes", "must be an integer", [None, float("nan"), "5", 0, True]),
    ("timeout", "must be a number", [10**400, "5", None, True, 0, float("nan"), float("inf")]),
    ("ssl_context", "must be an ssl.SSLContext", ["company.pem"]),
    *((name, "must be True or False", ["no", 0]) for name in ("allow_insecure", "check_requests", "trust_env")),
    ("http_client", r"must be an httpx.AsyncClient or an httpx2.AsyncClient, not ", NO_CLIENTS),
    ("transport", r"must be an httpx.AsyncBaseTransport or an httpx2.AsyncBaseTransport, not ", NO_TRANSPORTS),
]


@pytest.mark.parametrize(
    ("argument", "said", "value"), [(name, said, value) for name, said, values in ARGUMENTS for value in values]
)
def test_a_constructor_names_the_wrong_argument(argument: str, said: str, value: Any) -> None:
    """A wrong type, range or address is a UsageError that names it; user information does not show in it."""
    with pytest.raises(UsageError, match=f"^{argument}.*{said}") as caught:
        PlatformClient(**SETTINGS | {argument: value})
    assert caught.value.argument == argument
    assert "planted" not in str(caught.value)


@pytest.mark.parametrize("token", [lambda scope: "t", lambda *, scope: "t", asyncio.sleep])
def test_a_provider_that_needs_an_argument_is_rejected(token: Any) -> None:
    """A token provider with a required argument is a TokenError at construction."""
    with pytest.raises(TokenError, match="must be callable without arguments") as raised:
        answering(token=token)
    assert raised.value.argument == "token"


async def test_a_coroutine_is_no_token() -> None:
    """A coroutine as token is a TokenError; a function without a signature is a provider."""
    assert (await request_of(token=partial(max, ["written-in-c"]))).headers["authorization"] == "Bearer written-in-c"
    with pytest.raises(TokenError, match="token is a coroutine: pass the coroutine function itself"):
        answering(token=asyncio.sleep(5))


@pytest.mark.parametrize(("timeout", "most"), [(5.0, 5.0), (httpx.Timeout(3.0, connect=7.0, pool=None), 7.0)])
def test_a_token_provider_has_as_long_as_a_phase_of_an_attempt(timeout: float | httpx.Timeout, most: float) -> None:
    """A token provider has the longest timeout of a phase."""

    async def call() -> None:
        async with answering(token=asyncio.Event().wait, timeout=timeout)[0] as platform:
            with pytest.raises(TokenError, match=f"it did not return within {most:g} s"):
                await platform.itwins.get_primary_account()

    in_virtual_time(call())


GIVEN: dict[str, Any] = {"transport": httpx.MockTransport(lambda _: httpx.Response(200)), "trust_env": False}
GIVEN |= {"http_client": httpx.AsyncClient(), "ssl_context": ssl.create_default_context()}


@pytest.mark.parametrize("theirs", ["transport", "http_client"])
@pytest.mark.parametrize("ours", ["ssl_context", "trust_env", "transport"])
def test_arguments_that_exclude_each_other_are_named(ours: str, theirs: str) -> None:
    """A transport and a client of the caller have connections of their own."""
    theirs = "http_client" if ours == "transport" else theirs
    said = f"{ours} (and {theirs} exclude each other|applies to the client's own)"
    with pytest.raises(UsageError, match=said) as caught:
        answering(**{"transport": None} | {name: GIVEN[name] for name in (ours, theirs)})
    assert caught.value.argument == ours


@pytest.mark.parametrize("seconds", ["3599", 3599, 3599.0, Index()])
def test_an_expiry_in_seconds_is_a_number_or_digits(seconds: Any) -> None:
    """Some identity providers return the number as a string."""
    expiry = AccessToken("t", expires_in=seconds).expires_at
    assert expiry is not None
    assert timedelta(seconds=3590) < expiry - datetime.now(UTC) <= timedelta(seconds=3599)


def test_integers_of_other_libraries_are_kept_as_those_of_python() -> None:
    """Integers of other libraries become integers of Python."""
    policy, rate = BackoffPolicy(max_attempts=Index(), deadline=Index()), RateLimit(Index(), Index())  # type: ignore[arg-type]
    assert (policy, rate) == (BackoffPolicy(max_attempts=3599, deadline=3599), RateLimit(3599, 3599))
    assert repr((Gate(Index()), policy, rate)).count("3599") == 5  # type: ignore[arg-type]


NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("argument", "values"),
    [
        *(("expires_in", {"expires_in": seconds}) for seconds in ("5 minutes", "", "nan", True, 1e300, [5])),
        ("expires_in", {"expires_at": NOON, "expires_in": 5}),
        ("expires_at", {"expires_at": NOON.replace(tzinfo=None)}),
    ],
)
def test_an_expiry_that_is_no_number_is_rejected(argument: str, values: dict[str, Any]) -> None:
    """A token that expires in no number of seconds, twice, or at a time without a zone, is a TokenError."""
    with pytest.raises(TokenError, match=f"{argument} must be ") as caught:
        AccessToken("t", **values)
    assert caught.value.argument == argument
