"""Where a client gets its settings from, and what it rejects to begin with. Source: sections 1, 5 and 9."""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from itwin_platform import (
    AccessToken,
    BackoffPolicy,
    Gate,
    PlatformClient,
    RateLimit,
    ResponseDecodeError,
    TokenError,
    UsageError,
)

from tests.support.event_loops import in_virtual_time
from tests.wrapper.client.conftest import SETTINGS, Index, answering

NAMES = {"base_url": "ITWIN_PLATFORM_BASE_URL", "vendor": "ITWIN_PLATFORM_VENDOR", "token": "ITWIN_PLATFORM_TOKEN"}


async def request_of(**settings: Any) -> httpx.Request:
    """Return the request of a call."""
    client, requests = answering(**settings)
    async with client:
        await client.itwins.get_primary_account()
    return requests[0]


async def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without arguments, three variables say where to send, as which vendor and with which token."""
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
    assert request.url.host == "service.example"
    assert "not-this" not in str(request.headers)


@pytest.mark.parametrize("empty", [False, True], ids=["missing", "empty"])
@pytest.mark.parametrize(("name", "variable"), NAMES.items())
def test_a_missing_setting_is_named(name: str, variable: str, empty: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says which argument to give or which variable to set; an empty variable is a missing one."""
    if empty:
        monkeypatch.setenv(variable, "")
    with pytest.raises(UsageError, match=f"{name} is missing: pass {name}=..., or set {variable}"):
        answering(**{name: None})


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"connect": 30.0, "read": 30.0, "write": 30.0, "pool": 30.0}),
        ({"timeout": 2.5}, {"connect": 2.5, "read": 2.5, "write": 2.5, "pool": 2.5}),
        ({"timeout": httpx.Timeout(5.0, read=9.0)}, {"connect": 5.0, "read": 9.0, "write": 5.0, "pool": 5.0}),
        ({"timeout": 0.1}, {"connect": 0.1, "read": 0.1, "write": 0.1, "pool": 0.1}),
    ],
    ids=["default", "seconds", "parts", "short"],
)
async def test_every_attempt_has_a_timeout(settings: dict[str, Any], expected: dict[str, float]) -> None:
    """By default half a minute for each part of an attempt, and never none."""
    assert (await request_of(**settings)).extensions["timeout"] == expected


def test_settings_other_than_the_address_are_keywords() -> None:
    """The address may be given by position; nothing else."""
    with pytest.raises(TypeError):
        PlatformClient("https://service.example", "acme")  # type: ignore[call-arg]  # as a mistake


@pytest.mark.parametrize(
    ("base_url", "sent_to"),
    [
        ("https://service.example", "https://service.example/"),
        ("https://service.example/", "https://service.example/"),
        ("https://service.example/a/b/", "https://service.example/a/b/"),
        ("HTTPS://Service.Example:8443/A%20b", "https://service.example:8443/A%20b/"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x/"),
        ("http://127.8.9.10", "http://127.8.9.10/"),
        ("http://localhost.:8080", "http://localhost.:8080/"),
        (" https://service.example/a \n", "https://service.example/a/"),
        ("https://my_service:8443", "https://my_service:8443/"),
    ],
)
async def test_a_path_prefix_is_kept(base_url: str, sent_to: str) -> None:
    """Requests go below the given path, with or without a slash at its end; plain http is for loopback."""
    assert str((await request_of(base_url=base_url)).url) == f"{sent_to}itwins/myprimaryaccount"


@pytest.mark.parametrize(
    ("base_url", "host"),
    [
        ("https://service.example.:8443", "service.example:8443"),
        ("https://[2001:db8::1]:8443", "[2001:db8::1]:8443"),
        ("https://[fe80::1%25eth0]:8443", "[fe80::1]:8443"),
        ("https://[fe80::1%eth0]", "[fe80::1]"),
        ("https://münchen.example", "xn--mnchen-3ya.example"),
    ],
)
async def test_the_host_header_names_the_host_alone(base_url: str, host: str) -> None:
    """Neither the dot behind a full name nor the zone of an address is sent, also in a request that is made by hand."""
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
    """Plain http to a host that is not loopback is rejected, unless the caller says that it is meant."""
    with pytest.raises(UsageError, match="allow_insecure=True") as caught:
        answering(base_url=base_url)
    assert caught.value.argument == "base_url"
    request = await request_of(base_url=base_url, allow_insecure=True)
    assert request.headers["authorization"] == "Bearer planted-token"


async def coroutine(_: object) -> None:
    """A callback that nobody would await."""


NO_WORDS = ["", " ", "a b", "two words", "a/b", "a.b", "acme\n", "{vendor}", "é", "-acme", "a;q=1", "a,b"]
NO_URLS = [
    *("https://[::1", "https://service.example:port", "https://service..example", f"https://{'x' * 64}.example"),
    *("https://xn--a", "https://ex%61mple.com", "https://a,b.example", "https://service.example\\a", "https://."),
    *("https://[fe80::1%25]", "https://[fe80::1%25a,b]", "https://[::g]", "https://[::1]a"),
]
UNSEEN = [
    *("https://service .example", "https://service.example/\ta", "https://a\u200b.example"),
    *("https://service.example/\x00", "https://service.example\r\nhost:a"),
]
NO_ADDRESSES = ["service.example", "ftp://service.example", "https://", "//service.example"]
MORE_THAN_A_PATH = [
    *("https://user:planted@service.example", "https://service.example/?a=b", "https://service.example/?"),
    *("https://service.example/#a", "https://service.example#", "https://service:4711/planted@host.example"),
    *("https://service:planted/a@host.example", "https://host.example\\@service.example"),
]
#: Of another library, not for asyncio, the class itself, or what the other argument takes.
NO_CLIENTS = [object(), httpx2.Client(), httpx.Client(), httpx2.AsyncClient, httpx2.AsyncHTTPTransport()]
NO_TRANSPORTS = [object(), httpx2.HTTPTransport(), httpx.HTTPTransport, httpx2.AsyncHTTPTransport, httpx2.AsyncClient()]
#: Arguments that cannot be used, and what the error says of them.
ARGUMENTS: list[tuple[str, str, list[Any]]] = [
    ("base_url", "starts with https://", NO_ADDRESSES),
    ("base_url", "must not contain a user", MORE_THAN_A_PATH),
    ("base_url", "must be a str", [5, b"x"]),
    ("base_url", "percent-encode blanks and control characters", UNSEEN),
    ("base_url", "starts with https://", [" ", "\n"]),
    ("vendor", "must be one word", NO_WORDS),
    ("vendor", "must be a str", [5, b"x"]),
    ("gate", "must be a Gate", [5, Gate]),
    ("on_event", "must be a function", [5, coroutine]),
    ("backoff", "must be a BackoffPolicy", [{}, BackoffPolicy]),
    ("max_response_bytes", "must be an integer", [None, float("nan"), "5", 0, -1, True]),
    ("timeout", "must be a number", [10**400, 31_536_001, "5", None, True, 0, -1.0, float("nan"), float("inf")]),
    ("ssl_context", "must be an ssl.SSLContext", ["company.pem", Path("company.pem")]),
    ("allow_insecure", "must be True or False", ["False", 0]),
    ("check_requests", "must be True or False", ["no", None]),
    ("trust_env", "must be True or False", ["no", None]),
    ("http_client", r"must be an httpx.AsyncClient or an httpx2.AsyncClient, not ", NO_CLIENTS),
    ("transport", r"must be an httpx.AsyncBaseTransport or an httpx2.AsyncBaseTransport, not ", NO_TRANSPORTS),
]


@pytest.mark.parametrize(
    ("argument", "said", "value"),
    [
        (argument, said, value)
        for argument, said, values in [*ARGUMENTS, ("base_url", "not a URL", NO_URLS)]
        for value in values
    ],
)
def test_a_constructor_names_the_wrong_argument(argument: str, said: str, value: Any) -> None:
    """A wrong type, range or address is a UsageError that names it; user information does not show in it."""
    with pytest.raises(UsageError, match=f"^{argument}.*{said}") as caught:
        PlatformClient(**SETTINGS | {argument: value})
    assert caught.value.argument == argument
    assert "planted" not in str(caught.value)


def test_a_timeout_may_last_a_year_or_for_ever_and_the_generated_client_has_no_token_of_its_own() -> None:
    """Its requests get the token where they are sent."""
    client, _ = answering(timeout=31_536_000)
    assert client.generated.token == ""
    assert answering(timeout=httpx.Timeout(None))[0].generated.token == ""


@pytest.mark.parametrize(("timeout", "most"), [(5.0, 5.0), (httpx.Timeout(3.0, connect=7.0, pool=None), 7.0)])
def test_a_token_provider_has_as_long_as_a_phase_of_an_attempt(timeout: float | httpx.Timeout, most: float) -> None:
    """The longest of its time limits."""

    async def call() -> None:
        async with answering(token=asyncio.Event().wait, timeout=timeout)[0] as platform:
            with pytest.raises(TokenError, match=f"it did not return within {most:g} s"):
                await platform.itwins.get_primary_account()

    in_virtual_time(call())


async def test_a_response_may_have_one_byte_at_least() -> None:
    """The least `max_response_bytes` is 1, and it holds."""
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=b"{}"))
    async with PlatformClient(**SETTINGS | {"transport": transport, "max_response_bytes": 1}) as client:
        with pytest.raises(ResponseDecodeError, match="larger than max_response_bytes, 1 bytes"):
            await client.itwins.get_primary_account()


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("transport", "http_client"),
        *(("ssl_context", theirs) for theirs in ("transport", "http_client")),
        *(("trust_env", theirs) for theirs in ("transport", "http_client")),
    ],
)
def test_arguments_that_exclude_each_other_are_named(ours: str, theirs: str) -> None:
    """A transport and a client of the caller have connections of their own."""
    given: dict[str, Any] = {
        "transport": httpx.MockTransport(lambda _: httpx.Response(200)),
        "http_client": httpx.AsyncClient(),
        "ssl_context": ssl.create_default_context(),
        "trust_env": False,
    }
    said = f"{ours} (and {theirs} exclude each other|applies to the client's own)"
    with pytest.raises(UsageError, match=said) as caught:
        PlatformClient(**SETTINGS | {name: given[name] for name in (ours, theirs)})
    assert caught.value.argument == ours


@pytest.mark.parametrize("seconds", ["3599", 3599, 3599.0, Index()])
def test_an_expiry_in_seconds_is_a_number_or_digits(seconds: Any) -> None:
    """Some identity providers return the number as a string."""
    expiry = AccessToken("t", expires_in=seconds).expires_at
    assert expiry is not None
    assert timedelta(seconds=3590) < expiry - datetime.now(UTC) <= timedelta(seconds=3599)


def test_integers_of_other_libraries_are_kept_as_those_of_python() -> None:
    """Where a number is computed with, sent to Redis or shown, it is one of Python."""
    policy, rate = BackoffPolicy(max_attempts=Index(), deadline=Index()), RateLimit(Index(), Index())  # type: ignore[arg-type]
    assert (policy, rate) == (BackoffPolicy(max_attempts=3599, deadline=3599), RateLimit(3599, 3599))
    assert repr((Gate(Index()), policy, rate)).count("3599") == 5  # type: ignore[arg-type]


class Array:
    """Several integers of another library, such as an array of numpy."""

    def __index__(self) -> int:
        raise TypeError("only integer scalar arrays can be converted to a scalar index")


@pytest.mark.parametrize("value", [Array(), "5", None, Decimal(5)], ids=["array", "str", "None", "Decimal"])
def test_a_number_of_a_wrong_type_is_rejected_with_its_class(value: Any) -> None:
    """Also an array, which has the method of an integer."""
    name = f"{type(value).__module__}.{type(value).__qualname__}$".removeprefix("builtins.")
    with pytest.raises(UsageError, match=f"max_in_flight must be an integer of at least 1, not {name}"):
        Gate(value)
    with pytest.raises(UsageError, match=f"per must be a finite number of seconds above 0, not {name}"):
        RateLimit(1, value)
    with pytest.raises(UsageError, match=f"timeout must be a number of seconds above 0, or .*, not {name}"):
        PlatformClient(**SETTINGS, timeout=value)


@pytest.mark.parametrize("seconds", ["5 minutes", "", "nan", True, 1e300, [5]])
def test_an_expiry_that_is_no_number_is_rejected(seconds: Any) -> None:
    """A token that expires in no number of seconds, or twice, is a TokenError."""
    for expected, arguments in (
        ("expires_in must be a number of seconds", (None, seconds)),
        ("expires_in must be .* takes the place of expires_at", (datetime.now(UTC), 5)),
        ("expires_at must be an aware datetime", (datetime.now(), None)),  # without a zone
    ):
        with pytest.raises(TokenError, match=expected) as caught:
            AccessToken("t", arguments[0], expires_in=arguments[1])
        assert caught.value.argument == expected.partition(" ")[0]
