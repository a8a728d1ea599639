"""What people try first: wrong arguments are named where they are passed, and a wrong use says what to write."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from itwin_platform import AccessToken, BackoffPolicy, Gate, PlatformClient, TokenError, UsageError
from pytest_httpx import HTTPXMock

from tests.client.conftest import ACCOUNT, answering


async def coroutine(_: object) -> None:
    """A callback that nobody would await."""


def client(**arguments: Any) -> PlatformClient:
    """A client with these arguments."""
    required: dict[str, Any] = {"base_url": "https://service.example", "vendor": "v", "token": "t"}
    return PlatformClient(**(required | arguments))


ARGUMENTS: list[tuple[str, list[object]]] = [
    ("gate", [5, Gate]),
    ("on_event", [5, coroutine]),
    ("backoff", [{}, BackoffPolicy]),
    ("max_response_bytes", [None, float("nan"), "5", 0, -1, True]),
    ("timeout", [10**400, "5", None, True, 0, -1.0, float("nan"), float("inf")]),
    ("ssl_context", ["company.pem", Path("company.pem")]),
    ("allow_insecure", ["False", 0]),
    ("check_requests", ["no", None]),
    ("vendor", ["two words", 5, b"x"]),
    ("base_url", ["service.example", "https://u:p@service.example", "http://service.example", 5, b"x"]),
]


@pytest.mark.parametrize(("argument", "values"), ARGUMENTS)
def test_a_constructor_names_the_wrong_argument(argument: str, values: list[object]) -> None:
    """An argument of a wrong type or out of range is a UsageError that names it, before anything is sent."""
    for value in values:
        with pytest.raises(UsageError, match=argument) as caught:
            client(**{argument: value})
        assert caught.value.argument == argument


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("transport", "http_client"), ("ssl_context", "transport"), ("ssl_context", "http_client")],
)
def test_arguments_that_exclude_each_other_are_named(ours: str, theirs: str) -> None:
    """A transport and a client of the caller have connections of their own."""
    given = {
        "transport": httpx.MockTransport(lambda _: httpx.Response(200)),
        "http_client": httpx.AsyncClient(),
        "ssl_context": ssl.create_default_context(),
    }
    with pytest.raises(
        UsageError, match=f"{ours} (and {theirs} exclude each other|applies to the client's own)"
    ) as caught:
        client(**{name: given[name] for name in (ours, theirs)})
    assert caught.value.argument == ours


async def test_a_pager_that_is_used_like_a_list_says_what_to_write() -> None:
    """`await pager` and `for item in pager` name `async for` and `collect()`."""
    pager: Any = client().itwins.list()
    with pytest.raises(TypeError, match=r"await pager\.collect\(\)"):
        await pager
    with pytest.raises(TypeError, match="async for item in pager"):
        list(pager)


@pytest.mark.parametrize(("keywords", "sent", "found"), [({}, 1, ["a"]), ({"limit": 0}, 0, [])])
async def test_the_first_page_takes_one_request(keywords: dict[str, Any], sent: int, found: list[str]) -> None:
    """`first_page` sends one request, whatever `concurrency` is, and its page continues the listing."""
    page = {"iTwins": [{"id": "a"}], "_links": {"next": {"href": "?$skip=1&$top=1"}}}
    platform, requests = answering(lambda _: httpx.Response(200, json=page, headers={"x-correlation-id": "c"}))
    async with platform:
        first = await platform.itwins.list(page_size=1, concurrency=5, **keywords).first_page()
    assert [each.id for each in first.items] == found
    assert first.resume is not None
    assert len(requests) == sent
    assert first.response is None or first.response.correlation_id == "c"


async def test_extras_are_sent_beside_what_an_operation_sends() -> None:
    """`extra_query` and `extra_body` nest, hold for every page, and never replace what an operation sends."""
    pages = iter([{"iTwins": [], "_links": {"next": {"href": "?new=yes&$skip=5"}}}, {"iTwins": []}])

    def service(request: httpx.Request) -> httpx.Response:
        return httpx.Response(
            200, json=next(pages) if request.url.path.endswith("/itwins/") else {"detector": {"name": "n"}}
        )

    platform, requests = answering(service)
    async with platform:
        view = platform.with_options(extra_query={"new": "yes"}, extra_body={"colour": "red"})
        view = view.with_options(extra_query={"newer": "a b"})
        await view.detectors.create(name="n", type="PhotoObjectDetector")
        assert requests[0].content == b'{"name":"n","type":"PhotoObjectDetector","colour":"red"}'
        assert requests[0].url.query == b"new=yes&newer=a%20b"
        with pytest.raises(UsageError, match=r"extra_body must not contain name: the operation sends it") as caught:
            await view.with_options(extra_body={"name": "x"}).detectors.create(name="n", type="PhotoObjectDetector")
        assert caught.value.argument == "extra_body"
        with pytest.raises(UsageError, match="extra_body: GET /itwins/myprimaryaccount sends no body") as caught:
            await view.itwins.get_primary_account()
        assert caught.value.argument == "extra_body"
        view = platform.with_options(extra_query={"new": "yes"})
        with pytest.raises(UsageError, match="extra_query must not contain status: the operation sends it"):
            await view.with_options(extra_query={"status": "a"}).itwins.list(status="Active").collect()
        await view.itwins.list(page_size=5).collect()
    assert [request.url.params.get_list("new") for request in requests[1:]] == [["yes"], ["yes"]]


@pytest.mark.parametrize("is_given", [False, True], ids=["default", "another's client"])
async def test_cookies_are_neither_stored_nor_sent(httpx_mock: HTTPXMock, is_given: bool) -> None:
    """What `platform.generated` receives in Set-Cookie is not sent back, nor is a cookie of the caller."""
    cookies = [(b"set-cookie", value) for value in (b"session=1; Path=/", b"bad=\xc3\xa9\x01; Path=/", b"=;;")]
    httpx_mock.add_response(json=ACCOUNT, headers=cookies, is_reusable=True)
    async with (
        httpx.AsyncClient() as theirs,
        client(http_client=theirs if is_given else None) as platform,
    ):
        generated = platform.generated.get_async_httpx_client()
        for _ in range(2):
            await generated.request("GET", "/itwins/myprimaryaccount", headers={"Cookie": "mine=1"})
        await platform.itwins.get_primary_account()
        assert list(generated.cookies.jar) == []
    assert ["cookie" in request.headers for request in httpx_mock.get_requests()] == [False] * 3


@pytest.mark.parametrize("seconds", ["5", True, 1e300])
def test_an_expiry_that_is_no_number_is_rejected(seconds: Any) -> None:
    """A token that expires in no number of seconds, or twice, is a TokenError."""
    with pytest.raises(TokenError, match="expires_in must be a number of seconds"):
        AccessToken("t", expires_in=seconds)
    with pytest.raises(TokenError, match="takes the place of expires_at"):
        AccessToken("t", datetime.now(UTC), expires_in=5)


def test_a_token_expires_in_seconds() -> None:
    """`expires_in` is what identity providers return: seconds from now."""
    expires_at = AccessToken("t", expires_in=3600).expires_at
    assert expires_at is not None
    assert timedelta(minutes=59) < expires_at - datetime.now(UTC) <= timedelta(hours=1)
