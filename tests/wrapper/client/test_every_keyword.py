"""Every keyword of the public face counts: another value makes another request, result or time."""

import asyncio
import inspect
import random
import ssl
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import itwin_platform
import pytest
from itwin_platform import (
    BackoffPolicy,
    BackoffTransport,
    EngineTransport,
    Gate,
    Pager,
    PlatformClient,
    RateLimit,
    SceneObjectCreate,
)
from itwin_platform_transport import ServiceHeaders

from tests.support.event_loops import in_virtual_time
from tests.support.networks import authority, server_context
from tests.support.public_face import CALLABLES
from tests.support.services import RawServer, raw_response

ITWIN = "dc90a5f3-2f61-4c87-9f35-1a4b7c6d8e90"
SCENE = "6a2d2381-6c57-9332-387a-5b7c00000000"
MOMENT = datetime(2100, 1, 1, tzinfo=UTC)

#: Calls something of the public face with keywords, and returns what comes of it.
Observe = Callable[..., object]


class Row(NamedTuple):
    """Something that is called: how to observe it, what is always given, and another value for each keyword."""

    observe: Observe
    given: Mapping[str, object]
    keywords: Mapping[str, object]


class Fresh(NamedTuple):
    """Another value that is made for each test, because it has a state."""

    make: Callable[[], object]


class With(NamedTuple):
    """Another value, and what else is then given with it and without it; or another way to observe it."""

    value: object
    others: Mapping[str, object] = {}
    observe: Observe | None = None


noted: list[object] = []


def note(value: object) -> None:
    """Be a callback."""
    noted.append(type(value).__name__)


class Service(httpx.AsyncBaseTransport):
    """Responds after a second: with the steps of its script, then with the account, 7 items in pages, or a change."""

    def __init__(self) -> None:
        self.script: list[int | httpx.Response] = []
        self.requests: list[object] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Respond."""
        now, body = round(asyncio.get_running_loop().time(), 3), await request.aread()
        headers = sorted(request.headers.multi_items())
        self.requests.append((now, request.method, str(request.url), headers, body, request.extensions.get("timeout")))
        await asyncio.sleep(1.0)
        step = self.script.pop(0) if self.script else httpx.Response(200, json=content_of(request.url))
        return httpx.Response(step, json={}) if isinstance(step, int) else step


def content_of(url: httpx.URL) -> dict[str, object]:
    """Return the body of a success."""
    first, top = int(url.params.get("$skip", 0)), min(int(url.params.get("$top", 3)), 3)
    items = [{"id": str(number), "kind": "k", "createdDateTime": f"2026-01-0{number + 1}"} for number in range(7)]
    more = first + top < len(items)
    following = str(url.copy_merge_params({"$skip": first + top, "$top": top}))
    return {
        **{name: {"id": "x"} for name in ("repository", "resource", "scene", "detector", "webhook")},
        **dict.fromkeys(("iTwins", "objects"), items[first : first + top]),
        "iTwin": {"id": "a", "displayName": "A" * 3_000},
        "_links": {"next": {"href": following}} if more else {},
        "sceneContext": {"displayName": f"S{first}", "lastModified": f"2026-01-0{first + 1}", "isPartial": more},
    }


async def outcome_of(call: Awaitable[object]) -> str:
    """Return the result of a call, or its error."""
    try:
        return repr(await call)
    except (itwin_platform.PlatformError, httpx.HTTPError) as error:
        return f"{type(error).__name__}: {error}"


def client_of(service: httpx.AsyncBaseTransport | None, **settings: Any) -> PlatformClient:
    """Return a client of a service."""
    known = {"base_url": "https://a.example", "vendor": "v", "token": "planted-token", "transport": service}
    return PlatformClient(**(known | settings))


DATE = {"date": "Thu, 31 Dec 2099 23:59:00 GMT"}


async def outcomes_of(
    call: Callable[[], Awaitable[object]], service: Service, date: Mapping[str, str] = DATE
) -> list[str]:
    """Make 25 calls at once, and calls that meet rate limits, a blip and an outage."""
    outcomes = [*await asyncio.gather(*(outcome_of(call()) for _ in range(25)))]
    until = httpx.Response(429, headers={"retry-after": "Fri, 01 Jan 2100 00:00:00 GMT", **date})
    limited = httpx.Response(429, headers={"retry-after": "10"})
    for script in ([limited], [503] * 4, [429] * 3, [until], [503] * 30):
        service.script = [*script]
        outcomes.append(await outcome_of(call()))
    service.script = []
    return [*outcomes, await outcome_of(call())]


def through_client(options: Mapping[str, Any] | None = None, **settings: Any) -> object:
    """Observe a client with these settings, or a view of it with these options."""
    service = Service()
    if "http_client" in settings:
        settings["transport"] = None

    async def too_many(platform: PlatformClient) -> object:
        return await platform.itwins.list(page_size=5_000).collect()

    async def observe() -> object:
        async with client_of(service, **settings) as client:
            platform = client.with_options(**options or {})
            outcomes = [await outcome_of(too_many(platform))]
            outcomes.append(await outcome_of(platform.detectors.create(name="@a/b", type="PhotoObjectDetector")))
            return [*outcomes, *await outcomes_of(platform.itwins.get_primary_account, service)]

    return in_virtual_time(outcome_of(observe())), service.requests


async def slow_token() -> str:
    """Return a token after a second."""
    await asyncio.sleep(1.0)
    return "slow"


def through_transport(**settings: Any) -> object:
    """Observe an httpx client on a BackoffTransport with these settings."""
    service = Service()

    async def observe() -> object:
        given = {} if "http_client" in settings else {"transport": service}
        arguments: dict[str, Any] = {**given, **settings}
        async with httpx.AsyncClient(transport=BackoffTransport(**arguments)) as client:
            return await outcomes_of(lambda: client.get("https://a.example/myprimaryaccount"), service, {})

    return in_virtual_time(observe()), service.requests


def through_call(name: str) -> Observe:
    """Return what observes an operation."""
    group, _, operation = name.partition(".")

    async def observe(service: Service, keywords: Mapping[str, Any]) -> object:
        async with client_of(service) as platform:
            called = getattr(getattr(platform, group), operation)(**keywords)
            is_pager = isinstance(called, Pager)
            outcome = await outcome_of(called.collect() if is_pager else called)
            return outcome, asyncio.get_running_loop().time(), [called.truncated] if is_pager else []

    def run(**keywords: Any) -> object:
        service = Service()
        return in_virtual_time(observe(service, keywords)), service.requests

    return run


def resume_of(name: str) -> Fresh:
    """Return where a listing continues after its first page."""
    group, _, operation = name.partition(".")

    async def first_page() -> str | None:
        async with client_of(Service()) as platform:
            page = await getattr(getattr(platform, group), operation)(**ROWS[name].given).first_page()
            assert isinstance(page, itwin_platform.Page)
            assert page.resume is not None
            return page.resume

    return Fresh(lambda: in_virtual_time(first_page()))


def through_ssl(ssl_context: ssl.SSLContext | None = None, *, trust_env: bool = True) -> object:
    """Observe a client of a service whose certificate only a company trusts."""

    async def observe() -> str:
        async with (
            RawServer(raw_response(), context=server_context()) as server,
            client_of(None, base_url=server.address, ssl_context=ssl_context, trust_env=trust_env) as platform,
        ):
            return (await outcome_of(platform.itwins.get_primary_account())).partition(":")[0]

    return asyncio.run(observe())


def through_ssl_of_a_transport(
    *,
    kind: type[BackoffTransport | EngineTransport] = BackoffTransport,
    ssl_context: ssl.SSLContext | None = None,
    trust_env: bool = True,
    **_: object,
) -> object:
    """Observe the same through an httpx client on a transport of ours."""

    async def observe() -> str:
        transport = kind(ssl_context=ssl_context, trust_env=trust_env)
        async with (
            RawServer(raw_response(), context=server_context()) as server,
            httpx.AsyncClient(transport=transport) as client,
        ):
            return (await outcome_of(client.get(server.address))).partition(":")[0]

    return asyncio.run(observe())


through_ssl_of_the_engine = partial(through_ssl_of_a_transport, kind=EngineTransport)


def through_environment(observe: Callable[..., object]) -> Observe:
    """Return what observes whether a client trusts the authority that the environment names."""

    def observed(*, trust_env: bool = True, **_: object) -> object:
        with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "authority.pem"
            path.write_text(authority())
            patch.setenv("SSL_CERT_FILE", str(path))
            return observe(trust_env=trust_env)

    return observed


def data_of(name: str) -> Observe:
    """Return what observes the text and the public attributes of an object."""

    def observe(**keywords: Any) -> object:
        made = getattr(itwin_platform, name)(**keywords)
        names = [name for name in dir(made) if not name.startswith("_")]
        return str(made), {name: value for name in names if not callable(value := getattr(made, name))}

    return observe


def pages_of(name: str) -> dict[str, object]:
    """Return the keywords of each listing."""
    concurrency = With(4, {"page_size": 2})
    return {"page_size": 2, "limit": 4, "concurrency": concurrency, "on_page": note, "resume": resume_of(name)}


#: A row for everything that can be called with a keyword.
ROWS: dict[str, Row] = {
    "PlatformClient": Row(
        through_client,
        {},
        {"base_url": "https://b.example", "vendor": "w", "token": "another-token", "timeout": 5.0, "on_event": note}
        | {"backoff": BackoffPolicy(max_attempts=2), "check_requests": False, "max_response_bytes": 2_000}
        | {"transport": Fresh(Service), "http_client": Fresh(lambda: httpx.AsyncClient(transport=Service()))}
        | {"ssl_context": With(Fresh(lambda: ssl.create_default_context(cadata=authority())), {}, through_ssl)}
        | {"trust_env": With(False, {}, through_environment(through_ssl))}
        | {"gate": Fresh(lambda: Gate(1)), "allow_insecure": With(True, {"base_url": "http://a.example"})},
    ),
    "PlatformClient.with_options": Row(
        lambda **options: through_client(options),
        {},
        {"timeout": 5.0, "deadline": 5.0, "queue_timeout": 0.5, "max_attempts": 2, "on_response": note}
        | {"headers": {"x-feature": "on"}, "correlation_id": "c-1", "extra_query": {"x": "1"}, "extra_body": {"x": 1}},
    ),
    "BackoffPolicy": Row(
        lambda **keywords: through_client(backoff=BackoffPolicy(**keywords)),
        {},
        {"max_attempts": 2, "max_wait": 5.0, "deadline": 5.0, "queue_timeout": 0.5}
        | {"base_delay": 0.25, "max_delay": 1.0, "max_in_flight": 3},
    ),
    "EngineTransport": Row(
        through_ssl_of_the_engine,
        {},
        {"ssl_context": Fresh(lambda: ssl.create_default_context(cadata=authority()))}
        | {"trust_env": With(False, {}, through_environment(through_ssl_of_the_engine))},
    ),
    "BackoffTransport": Row(
        through_transport,
        {"now": lambda: datetime(2099, 12, 31, tzinfo=UTC)},
        {"policy": BackoffPolicy(max_attempts=2), "max_response_bytes": 2_000, "on_event": note}
        | {"transport": Fresh(Service), "token": "another", "gate": Fresh(lambda: Gate(1))}
        | {"headers": ServiceHeaders(retry_after=())}
        | {"token_timeout": With(0.5, {"token": slow_token})}
        | {"http_client": Fresh(lambda: httpx.AsyncClient(transport=Service()))}
        | {
            "ssl_context": With(
                Fresh(lambda: ssl.create_default_context(cadata=authority())), {}, through_ssl_of_a_transport
            )
        }
        | {"trust_env": With(False, {}, through_environment(through_ssl_of_a_transport))}
        | {"random_number": lambda: 1.0, "now": lambda: datetime(2099, 12, 31, 23, 59, 50, tzinfo=UTC)},
    ),
    "Gate": Row(
        lambda **keywords: through_transport(gate=Gate(**keywords), now=lambda: MOMENT),
        {},
        {"max_in_flight": 2, "rate": RateLimit(1, 2.0), "random_number": lambda: 1.0},
    ),
    "RateLimit": Row(
        lambda **keywords: through_transport(gate=Gate(rate=RateLimit(**keywords)), now=lambda: MOMENT),
        {"requests": 2, "per": 3.0},
        {"requests": 3, "per": 6.0},
    ),
    "AccessToken": Row(
        data_of("AccessToken"), {"value": "a"}, {"value": "b", "expires_at": MOMENT, "expires_in": 3_600.0}
    ),
    "itwins.list": Row(
        through_call("itwins.list"),
        {},
        dict.fromkeys(("type", "number", "display_name", "parent_id", "itwin_account_id", "search"), "a")
        | {"sub_class": ["Project", "Asset"], "status": "Trial", "filter": "a eq 'b'", "select": "id"}
        | {"order_by": "displayName ASC", "include_inactive": True, "representation": "full", "skip": 1}
        | {"query_scope": "OrganizationAdmin", "max_return": 5}
        | pages_of("itwins.list"),
    ),
    "itwins.list_all": Row(
        through_call("itwins.list_all"),
        {},
        {"partition_by": "lastModifiedDateTime", "sub_class": "Project", "filter": "a eq 'b'", "select": "number"}
        | {"include_inactive": True, "representation": "full", "query_scope": "OrganizationAdmin"}
        | pages_of("itwins.list_all"),
    ),
    "repositories.update": Row(
        through_call("repositories.update"),
        {"itwin_id": ITWIN, "repository_id": "r", "display_name": "a"},
        dict.fromkeys(("itwin_id", "repository_id", "display_name", "uri"), "b")
        | {"authentication": None, "options": None},
    ),
    "repositories.create_resource": Row(
        through_call("repositories.create_resource"),
        {"itwin_id": ITWIN, "repository_id": "r", "id": "a", "display_name": "A"},
        dict.fromkeys(("itwin_id", "repository_id", "id", "display_name", "type"), "b"),
    ),
    "scenes.create": Row(
        through_call("scenes.create"),
        {"itwin_id": ITWIN, "display_name": "A"},
        dict.fromkeys(("itwin_id", "display_name", "description", "correlation_id"), "b")
        | {"id": SCENE, "parent_id": SCENE, "objects": [SceneObjectCreate(version="1", kind="GISStyling", data={})]},
    ),
    "scenes.list_objects": Row(
        through_call("scenes.list_objects"),
        {"scene_id": SCENE, "itwin_id": ITWIN},
        {"scene_id": SCENE.replace("6", "7"), "itwin_id": "b", "correlation_id": "b", "order_by": "kind ASC", "skip": 1}
        | pages_of("scenes.list_objects"),
    ),
    "detectors.create": Row(
        through_call("detectors.create"),
        {"name": "@a/b", "type": "PhotoObjectDetector"},
        dict.fromkeys(("display_name", "description", "documentation_url"), "https://b.example")
        | {"name": "@a/c", "type": "PointCloudSegmentationDetector"},
    ),
    "webhooks.update": Row(
        through_call("webhooks.update"),
        {"webhook_id": "w", "active": True},
        {"webhook_id": "x", "active": False, "callback_url": "https://b.example", "secret": "s" * 40}
        | {"event_types": "iTwins.iTwinCreated.v1"},
    ),
    **{
        name: Row(through_call(name), {"webhook_id": "w"}, {"webhook_id": "x", "secret": "s" * 40})
        for name in ("webhooks.activate", "webhooks.deactivate")
    },
}
#: What has no row: the client makes or calls it, or other tests vary each keyword.
WITHOUT_A_ROW = {
    *("AttemptEnded", "CooldownStarted", "OutageStarted", "OutageEnded", "GateChanged"),
    *("Page", "SceneState", "Pager", "ResponseInfo", "WebhookDelivery"),
    *(name for name in CALLABLES if name.startswith(("Gate.", "RedisGate."))),
    *(
        f"{name}.{method}"
        for name in ("BackoffTransport", "EngineTransport")
        for method in ("send", "handle_async_request")
    ),
    "RedisGate",  # it needs a server: the tests of RedisGate in tests/transport/attempts
    *(name for name in CALLABLES if name.endswith("Error")),  # test_errors.py
    *("sign_delivery", "verify_delivery"),  # tests/wrapper/operations
    "escape",  # tests/generated
}


def test_every_keyword_has_a_row() -> None:
    """The table has every keyword of the public face, and no other."""
    parameters = {name: {*inspect.signature(CALLABLES[name]).parameters} - {"self"} for name in CALLABLES}
    expected = {name: names for name, names in parameters.items() if names and name not in WITHOUT_A_ROW}
    assert {name: set(row.keywords) for name, row in ROWS.items()} == expected


@pytest.mark.filterwarnings("ignore::itwin_platform.TruncatedWarning")
@pytest.mark.parametrize("name", ROWS)
def test_another_value_counts(name: str) -> None:
    """Another value of a keyword makes a difference, and the same values make none."""
    row, seen = ROWS[name], dict[str, str]()

    def observed(observe: Observe, keywords: Mapping[str, Any]) -> str:
        random.seed(7)
        noted.clear()
        fresh = {name: each.make() if isinstance(each, Fresh) else each for name, each in keywords.items()}
        return repr((observe(**fresh), noted))

    for keyword, other in row.keywords.items():
        value, others, own = other if isinstance(other, With) else With(other)
        observe, given = own or row.observe, {**row.given, **others}
        # Most keywords of a row are compared with the same call.
        if (key := f"{observe} {others}") not in seen:
            seen[key] = observed(observe, given)
            assert observed(observe, given) == seen[key], keyword
        assert observed(observe, {**given, keyword: value}) != seen[key], keyword
