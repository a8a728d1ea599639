"""`with_options`: a view of the client with options for its calls, and the reports of `on_response`."""

import asyncio
from contextlib import suppress
from functools import cached_property
from typing import Any

import httpx
import pytest
from itwin_platform import AccessToken, BackoffPolicy, Gate, PlatformClient, PlatformError, ResponseInfo, UsageError
from itwin_platform_api.api.itwins import get_primary_account

from tests.support.event_loops import in_virtual_time
from tests.support.services import ScriptedTransport
from tests.wrapper.client.conftest import ACCOUNT, SCENE, SETTINGS, answering, pages


async def coroutine(_: object) -> None:
    """A callback that is a coroutine function."""


async def call_everything(view: PlatformClient) -> None:
    """One operation, both listings with two pages each, a generated function, and a request of no operation."""
    await view.itwins.get_primary_account()
    assert len(await view.itwins.list(page_size=1).collect()) == 2
    assert len(await view.scenes.list_objects(SCENE, "itwin-7", page_size=1).collect()) == 2
    await get_primary_account.asyncio(client=view.generated)
    await view.generated.get_async_httpx_client().get("/itwins/myprimaryaccount")


async def test_options_reach_every_request_of_the_view_and_no_other() -> None:
    """Operations, pages, generated functions and requests of the caller carry them; the client stays as it is."""
    client, requests = answering(pages)
    reported: list[ResponseInfo] = []
    async with client:
        view = client.with_options(timeout=httpx.Timeout(3.0, read=9.0), on_response=reported.append)
        headers = {"X-Feature": "on", "user-agent": "exporter/x"}
        await call_everything(view.with_options(headers=headers, correlation_id="c-1"))
        await call_everything(client)
    assert (len(requests), len(reported)) == (14, 7)
    assert SCENE not in repr([info.route for info in reported])
    for number, request in enumerate(requests):
        names = ("x-feature", "user-agent", "x-correlation-id")
        sent = [request.headers.get_list(name) for name in names], request.extensions["timeout"]
        if number < 7:
            assert sent == ([["on"], ["exporter/x"], ["c-1"]], {"connect": 3.0, "read": 9.0, "write": 3.0, "pool": 3.0})
        else:
            assert (sent[0][::2], sent[1]["read"]) == ([[], []], 30.0)


LIMITS: list[tuple[dict[str, Any], str]] = [
    ({"max_attempts": 2}, "503"),
    ({"deadline": 5.0}, "the deadline of 5 s passed"),
    ({"queue_timeout": 0.5}, "the queue_timeout of 0.5 s passed"),
]


@pytest.mark.parametrize(("options", "said"), LIMITS)
def test_a_view_has_limits_of_its_own(options: dict[str, Any], said: str) -> None:
    """The limits of a view end its calls, and the other limits are those of the client."""
    service = ScriptedTransport(503, latency=4.0)

    async def call() -> list[object]:
        async with answering(transport=service, gate=Gate(1))[0] as client:
            view = client.with_options(**options)
            calls = [view.itwins.get_primary_account() for _ in range(2)]
            return [*await asyncio.gather(*calls, return_exceptions=True)]

    assert said in str(in_virtual_time(call())[-1])
    assert options.get("max_attempts") in (None, len(service.requests) / 2)


async def test_views_nest() -> None:
    """Nested views add their headers; for other options the innermost value applies, and None removes it."""
    client, requests = answering()
    reported: list[str] = []
    outer = client.with_options(headers={"A": "1", "B": "1"}, correlation_id="outer", timeout=5.0)
    inner = outer.with_options(headers={"b": "2"}, on_response=lambda info: reported.append(info.route))
    async with client:
        await inner.itwins.get_primary_account()
        await inner.with_options(correlation_id=None, on_response=None).itwins.get_primary_account()
    first, second = requests
    assert (first.headers["a"], first.headers.get_list("b")) == ("1", ["2"])
    assert (first.headers["x-correlation-id"], first.extensions["timeout"]["read"]) == ("outer", 5.0)
    assert "x-correlation-id" not in second.headers
    assert reported == ["/itwins/myprimaryaccount"]


async def test_the_keyword_of_an_operation_wins() -> None:
    """A keyword of the call, such as `correlation_id`, overrides the option and the header of the view."""
    client, requests = answering(pages)
    async with client:
        view = client.with_options(correlation_id="view", headers={"prefer": "return=minimal"})
        await view.scenes.list_objects(SCENE, "itwin-7", correlation_id="call").collect()
        await view.itwins.list(representation="full", limit=1).collect()
    assert {request.headers.get_list("x-correlation-id")[0] for request in requests[:2]} == {"call"}
    assert requests[2].headers.get_list("prefer") == ["return=representation"]


async def test_extras_are_added_to_a_request() -> None:
    """`extra_query` and `extra_body` nest, and hold for every page and for no other query than that of the link."""

    def service(request: httpx.Request) -> httpx.Response:
        following = {"_links": {"next": {"href": "?new=yes&$skip=5"}}} if len(requests) == 2 else {}
        return httpx.Response(200, json={"iTwins": [], "detector": {"name": "n"}, **following})

    client, requests = answering(service)
    async with client:
        view = client.with_options(extra_query={"new": "yes"}, extra_body={"colour": "red"})
        inner = view.with_options(extra_query={"newer": "a b"})
        await inner.detectors.create(name="n", type="PhotoObjectDetector")
        await client.with_options(extra_query={"new": "yes"}).itwins.list(page_size=5).collect()
    assert requests[0].content == b'{"name":"n","type":"PhotoObjectDetector","colour":"red"}'
    assert requests[0].url.query == b"new=yes&newer=a%20b"
    assert [request.url.params.get_list("new") for request in requests[1:]] == [["yes"], ["yes"]]


TAKEN: list[tuple[dict[str, Any], str]] = [
    ({"extra_query": {"status": "a"}}, "extra_query must not contain status: the operation sends it"),
    *(({"extra_query": {name: "5"}}, f"extra_query must not contain .*{name[1:]}") for name in ("$top", "$skip")),
    ({"extra_body": {"name": "x"}}, "extra_body must not contain name: the operation sends it"),
    ({"extra_body": {"x": 1}}, "extra_body: GET /itwins/ sends no body"),
]


@pytest.mark.parametrize(("option", "words"), TAKEN)
async def test_extras_replace_nothing_of_an_operation(option: dict[str, Any], words: str) -> None:
    """A name that the operation sends, and a body where it sends none, are rejected by the name of the option."""
    client, requests = answering()
    view = client.with_options(**option)
    creates = view.detectors.create(name="n", type="PhotoObjectDetector")
    with pytest.raises(UsageError, match=words) as caught:
        await (creates if "name" in words else view.itwins.list(status="Active").collect())
    creates.close()
    assert ([caught.value.argument], requests) == ([*option], [])


RESERVED = ["TE", "Trailer", "Upgrade", "Connection", "Transfer-Encoding", "Content-Length", "Content-Type"]
RESERVED += ["Authorization", "accept", "Accept-Encoding", "HOST"]
#: Invalid options, and the text of the error after the name of the option.
UNUSABLE: list[tuple[str, list[Any], str]] = [
    ("timeout", [0, True, None], "must be a number of seconds above 0"),
    ("deadline", [-1.0, float("nan"), "1", True], "must be"),
    ("queue_timeout", [-1], "must be a finite number of seconds of at least 0, or None"),
    ("max_attempts", [0, 1.5, None], "must be an integer"),
    ("headers", [["a"], None], "must be a mapping"),
    ("headers", [{name: "x"} for name in ("", "a b", "A:", 5)], "must contain names of HTTP headers, not "),
    ("headers", [{name: "planted"} for name in RESERVED], "must not contain .*: the client writes it"),
    ("headers", [{"headers": "x\r\nB: y"}, {"headers": None}], "must be a string of visible ASCII"),
    ("correlation_id", ["a\nb", 5], "must be a string of visible ASCII"),
    ("on_response", [5, coroutine], "must be a function"),
    ("extra_query", [{"a": 1}, ["a"]], "must be a mapping of names to strings$"),
    ("extra_query", [{"a": "\ud800"}, {"\ud800": "a"}], "must not hold a lone surrogate: it"),
    ("extra_body", [{5: "a"}], "must be a mapping of names to values$"),
    ("extra_body", [{"a": "\ud800"}], ".a cannot be serialized"),
]


@pytest.mark.parametrize(
    ("option", "value", "said"), [(name, value, said) for name, values, said in UNUSABLE for value in values]
)
def test_an_unusable_option_is_rejected_at_once(option: str, value: Any, said: str) -> None:
    """An invalid option raises UsageError with its name in `with_options`; so does a header of the client itself."""
    with pytest.raises(UsageError, match=f"^{option}.*{said}") as caught:
        answering()[0].with_options(**{option: value})
    assert str(caught.value.argument).partition(".")[0] == option
    assert "planted" not in str(caught.value)


async def test_closing_a_view_closes_nothing() -> None:
    """A view shares the token. Closing it leaves its client open, and closing the client closes the view."""
    tokens = iter(["planted-token"])
    client, requests = answering(token=lambda: AccessToken(next(tokens), expires_in=3600))
    async with client.with_options(timeout=5.0) as view:
        await view.itwins.get_primary_account()
    await view.aclose()
    await client.itwins.get_primary_account()
    await client.aclose()
    with pytest.raises(UsageError, match="the client is closed"):
        await view.itwins.get_primary_account()
    assert len(requests) == 2


class Named(PlatformClient):
    """A client of an application, with an attribute and a group of its own."""

    name = "unnamed"

    def __init__(self, name: str, **settings: Any) -> None:
        super().__init__(**settings)
        self.name = name

    @cached_property
    def reports(self) -> list[PlatformClient]:
        """A cached property that refers to its client."""
        return [self]


async def test_a_view_of_a_subclass_has_its_attributes() -> None:
    """A view is made without the constructor of its class, and makes a cached property anew."""
    async with Named("orders", **SETTINGS, transport=httpx.MockTransport(pages)) as client:
        assert client.reports == [client]
        view = client.with_options(correlation_id="view")
        assert (type(view), view.name, view.reports) == (Named, "orders", [view])


async def reported(*responses: httpx.Response, **settings: Any) -> list[ResponseInfo]:
    """Make calls until all responses are used, and return the reports of `on_response`."""
    left, infos = [*responses], list[ResponseInfo]()
    async with answering(lambda request: left.pop(0), **settings)[0] as client:
        while left:
            with suppress(PlatformError):
                await client.with_options(on_response=infos.append).itwins.get_primary_account()
    return infos


def test_a_response_is_described() -> None:
    """The response info has the final response, the attempts of the call, and its seconds with delays and retries."""
    limit = {f"itwinplatform-ratelimited-{name}": name for name in ("tier", "api", "operation")}
    final = httpx.Response(
        200, json=ACCOUNT, headers=[("x-correlation-id", "a"), *limit.items(), ("X-Correlation-ID", "b")]
    )
    policy = BackoffPolicy(base_delay=7.0, max_delay=7.0)
    (info,) = in_virtual_time(reported(httpx.Response(503), final, backoff=policy))
    assert (info.method, info.route, info.status) == ("GET", "/itwins/myprimaryaccount", 200)
    assert (info.attempts, info.correlation_id, info.headers["X-Correlation-ID"]) == (2, "a, b", "a, b")
    assert (info.tier, info.api, info.operation) == ("tier", "api", "operation")
    assert 7.0 <= info.seconds <= 7.5


async def test_errors_with_a_status_are_reported() -> None:
    """A 404, an invalid body and a body that is too large are reported too."""
    bodies = [httpx.Response(404), httpx.Response(200, text="no JSON"), httpx.Response(200, content=b"x" * 2000)]
    infos = await reported(*bodies, max_response_bytes=1000)
    assert [(info.status, info.attempts) for info in infos] == [(404, 1), (200, 1), (200, 1)]
