"""Every keyword of the public face counts: another value makes another request, result or time."""

import asyncio
import contextlib
import inspect
import random
import ssl
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx
import itwin_platform
import pytest
from itwin_platform import (
    AccessToken,
    BackoffPolicy,
    BackoffTransport,
    Gate,
    Pager,
    PlatformClient,
    RateLimit,
    Repository,
    RepositoryOptions,
    SceneObjectCreate,
)

from tests.support.certificates import authority, server_context
from tests.support.faces import TokenAuth
from tests.support.public_face import CALLABLES
from tests.support.virtual_time import in_virtual_time

ITWIN = "dc90a5f3-2f61-4c87-9f35-1a4b7c6d8e90"
SCENE = "6a2d2381-6c57-9332-387a-5b7c00000000"
DELIVERY = b'{"eventType": "iTwins.iTwinCreated.v1", "messageId": "m", "webhookId": "w", "content": {}}'
MOMENT = datetime(2100, 1, 1, tzinfo=UTC)

#: Calls something of the public face with keywords, and returns what comes of it.
Observe = Callable[..., object]


class Why(str):
    """Why no test gives a keyword another value."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Fresh:
    """Another value that is made for each test, because it has a state."""

    make: Callable[[], object]


@dataclass(frozen=True, slots=True)
class With:
    """Another value, and what else is then given with it and without it; or another way to observe it."""

    value: object
    others: Mapping[str, object] = field(default_factory=dict)
    observe: Observe | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Something that is called: how to observe it, what is always given, and another value for each keyword."""

    observe: Observe
    given: Mapping[str, object] = field(default_factory=dict)
    keywords: Mapping[str, object]


noted: list[object] = []


def note(value: object) -> None:
    """Be a callback."""
    noted.append(type(value).__name__)


Step = int | httpx.Response | Exception


class Service(httpx.AsyncBaseTransport):
    """Responds after a second: with the steps of its script, then with the account, 7 items in pages, or a change."""

    def __init__(self) -> None:
        self.script: list[Step] = []
        self.requests: list[object] = []
        self.latency = 1.0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Respond."""
        now, body = round(asyncio.get_running_loop().time(), 3), await request.aread()
        headers = sorted(request.headers.multi_items())
        self.requests.append((now, request.method, str(request.url), headers, body, request.extensions.get("timeout")))
        await asyncio.sleep(self.latency)
        step = self.script.pop(0) if self.script else httpx.Response(200, json=content_of(request.url))
        if isinstance(step, Exception):
            raise step
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


def through_client(**settings: Any) -> object:
    """Observe a client with these settings."""
    service = Service()
    if "http_client" in settings:
        settings["transport"] = None

    async def observe() -> object:
        async with client_of(service, **settings) as platform:
            return await through_view(platform)

    async def too_many(platform: PlatformClient) -> object:
        return await platform.itwins.list(page_size=5_000).collect()

    async def through_view(platform: PlatformClient) -> list[str]:
        outcomes = [await outcome_of(too_many(platform))]
        outcomes.append(await outcome_of(platform.detectors.create(name="@a/b", type="PhotoObjectDetector")))
        return [*outcomes, *await outcomes_of(platform.itwins.get_primary_account, service)]

    return in_virtual_time(outcome_of(observe())), service.requests


def through_options(**options: Any) -> object:
    """Observe a view with these options."""
    service = Service()

    async def observe() -> object:
        async with client_of(service) as client:
            platform = client.with_options(**options)
            await outcome_of(platform.detectors.create(name="@a/b", type="PhotoObjectDetector"))
            return await outcomes_of(platform.itwins.get_primary_account, service)

    return in_virtual_time(observe()), service.requests


def through_transport(**settings: Any) -> object:
    """Observe an httpx client on a BackoffTransport with these settings."""
    service = Service()

    async def observe() -> object:
        arguments: dict[str, Any] = {"transport": service, **settings}
        transport = BackoffTransport(**arguments)
        async with httpx.AsyncClient(transport=transport) as client:
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


def resume_of(name: str) -> str:
    """Return where a listing continues after its first page."""
    group, _, operation = name.partition(".")

    async def first_page() -> str | None:
        async with client_of(Service()) as platform:
            page = await getattr(getattr(platform, group), operation)(**ROWS[name].given).first_page()
            assert isinstance(page, itwin_platform.Page)
            return page.resume

    resume = in_virtual_time(first_page())
    assert resume is not None
    return resume


def through_token(**keywords: Any) -> object:
    """Observe the requests of a provider's token, and how often the provider is asked in two hours."""
    service, asked = Service(), []

    def provide() -> AccessToken:
        asked.append(1)
        return AccessToken(**keywords)

    async def observe() -> None:
        async with client_of(service, token=provide) as platform:
            await platform.itwins.get_primary_account()
            await platform.itwins.get_primary_account()

    return in_virtual_time(observe()), service.requests, len(asked)


def data_of(kind: Callable[..., object]) -> Observe:
    """Return what observes the text and the public attributes of an object."""

    def observe(**keywords: Any) -> object:
        made = kind(**keywords)
        names = [name for name in dir(made) if not name.startswith("_")]
        return str(made), {name: value for name in names if not callable(value := getattr(made, name))}

    return observe


def repository(**properties: object) -> Repository:
    """Return a stored repository."""
    return Repository.from_dict({"id": "r"} | properties)


def through_ssl(ssl_context: ssl.SSLContext | None = None) -> object:
    """Observe a client of a service whose certificate only a company trusts."""

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async def observe() -> str:
        async with await asyncio.start_server(respond, "127.0.0.1", 0, ssl=server_context()) as server:
            address = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            async with client_of(None, base_url=address, ssl_context=ssl_context) as platform:
                return (await outcome_of(platform.itwins.get_primary_account())).partition(":")[0]

    return asyncio.run(observe())


def verified(**keywords: Any) -> object:
    """Observe a delivery, or its rejection."""
    try:
        return itwin_platform.verify_delivery(**keywords)
    except itwin_platform.DeliveryError as error:
        return str(error)


PAGES: dict[str, object] = {
    "page_size": 2,
    "limit": 4,
    "concurrency": With(4, {"page_size": 2}),
    "on_page": note,
}
STATUS_ERROR: dict[str, object] = {
    "status": 500,
    "headers": {},
    "body": b'{"code": "A", "message": "made-up-token"}',
    "attempts": 1,
}
OTHER_STATUS_ERROR: dict[str, object] = {
    "status": 501,
    "attempts": 2,
    "headers": {"x-correlation-id": "c"},
    "body": b"[]",
    "retry_after": 5.0,
    "retry_at": MOMENT,
    "reason": "r",
    "token": "made-up-token",
}
TEXT = {"text": "b"}
USAGE = {"rule": "b", "argument": "a", "code": "C", "target": "t"}
WEBHOOK = {"webhook_id": "w"}
MADE_BY_CLIENT = "the client makes it: see test_every_field_of_a_report_varies"
BY_HTTPX = {"request": Why("httpx calls it, with its request")}
AUTHENTICATIONS = {
    "HeaderAuthentication": ("key", "value"),
    "QueryParameterAuthentication": ("key", "value"),
    "BasicAuthentication": ("username", "password"),
    "OAuth2AuthorizationCodePKCEAuthentication": (
        *("client_id", "scopes", "authorization_endpoint", "token_endpoint", "redirect_uri"),
    ),
}


def of_authentication(name: str, fields: tuple[str, ...]) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a type of authentication."""
    kind = getattr(itwin_platform, name)
    first, other = dict.fromkeys(fields, "a"), dict.fromkeys(fields, "b")
    wire = through_call("repositories.update")
    call = {"itwin_id": ITWIN, "repository_id": "r"}

    def stored(text: str) -> Repository:
        complete = kind(**dict.fromkeys(fields, text)).wire_fields()
        return repository(authentication=complete)

    yield (
        name,
        Row(
            observe=lambda **keywords: wire(**call, authentication=kind(**keywords)),
            given=first,
            keywords={"unknown": {"x": 1}, **other},
        ),
    )
    yield (
        f"{name}.replace",
        Row(observe=lambda **keywords: kind(**first).replace(**keywords).wire_fields(), keywords=other),
    )
    yield (
        f"{name}.of",
        Row(
            observe=lambda repository: kind.of(repository).wire_fields(),
            given={"repository": stored("a")},
            keywords={"repository": stored("b")},
        ),
    )


OPTIONS: dict[str, Any] = {"query_parameters": {"a": "b"}, "minimum_level": 1, "maximum_level": 2}
OTHER_OPTIONS: dict[str, object] = {"query_parameters": None, "minimum_level": 3, "maximum_level": None}

#: A row for everything that can be called with a keyword.
ROWS: dict[str, Row] = {
    "PlatformClient": Row(
        observe=through_client,
        keywords={
            "base_url": "https://b.example",
            "vendor": "w",
            "token": "another-token",
            "backoff": BackoffPolicy(max_attempts=2),
            "timeout": 5.0,
            "check_requests": False,
            "max_response_bytes": 2_000,
            "transport": Fresh(Service),
            "http_client": Fresh(lambda: httpx.AsyncClient(transport=Service())),
            "ssl_context": With(Fresh(lambda: ssl.create_default_context(cadata=authority())), observe=through_ssl),
            "gate": Fresh(lambda: Gate(1)),
            "on_event": note,
            "allow_insecure": With(True, {"base_url": "http://a.example"}),
        },
    ),
    "PlatformClient.with_options": Row(
        observe=through_options,
        keywords={
            "timeout": 5.0,
            "deadline": 5.0,
            "queue_timeout": 0.5,
            "max_attempts": 2,
            "headers": {"x-feature": "on"},
            "correlation_id": "c-1",
            "extra_query": {"x": "1"},
            "extra_body": {"x": 1},
            "on_response": note,
        },
    ),
    "BackoffPolicy": Row(
        observe=lambda **keywords: through_client(backoff=BackoffPolicy(**keywords)),
        keywords={
            "max_attempts": 2,
            "max_wait": 5.0,
            "deadline": 5.0,
            "queue_timeout": 0.5,
            "base_delay": 0.25,
            "max_delay": 1.0,
            "max_in_flight": 3,
        },
    ),
    "BackoffTransport": Row(
        observe=through_transport,
        given={"now": lambda: datetime(2099, 12, 31, tzinfo=UTC)},
        keywords={
            "transport": Fresh(Service),
            "policy": BackoffPolicy(max_attempts=2),
            "gate": Fresh(lambda: Gate(1)),
            "auth": Fresh(lambda: TokenAuth("another-token")),
            "max_response_bytes": 2_000,
            "on_event": note,
            "random_number": lambda: 1.0,
            "now": lambda: datetime(2099, 12, 31, 23, 59, 50, tzinfo=UTC),
        },
    ),
    "BackoffTransport.handle_async_request": Row(observe=through_transport, keywords=BY_HTTPX),
    "Gate": Row(
        observe=lambda **keywords: through_transport(gate=Gate(**keywords), now=lambda: MOMENT),
        keywords={"max_in_flight": 2, "rate": RateLimit(1, 2.0), "random_number": lambda: 1.0},
    ),
    "RateLimit": Row(
        observe=lambda **keywords: through_transport(gate=Gate(rate=RateLimit(**keywords)), now=lambda: MOMENT),
        given={"requests": 2, "per": 3.0},
        keywords={"requests": 3, "per": 6.0},
    ),
    "AccessToken": Row(
        observe=through_token,
        given={"value": "token-a"},
        keywords={"value": "token-b", "expires_at": MOMENT, "expires_in": 3_600.0},
    ),
    "RepositoryOptions": Row(
        observe=lambda **keywords: through_call("repositories.update")(
            itwin_id=ITWIN, repository_id="r", options=RepositoryOptions(**keywords)
        ),
        given=OPTIONS,
        keywords={"unknown": {"x": 1}, **OTHER_OPTIONS},
    ),
    "RepositoryOptions.replace": Row(
        observe=lambda **keywords: RepositoryOptions(**OPTIONS).replace(**keywords).wire_fields(),
        keywords=OTHER_OPTIONS,
    ),
    "RepositoryOptions.of": Row(
        observe=lambda repository: RepositoryOptions.of(repository).wire_fields(),
        given={"repository": repository()},
        keywords={"repository": repository(options={"minimumLevel": 4})},
    ),
    **dict(row for name, fields in AUTHENTICATIONS.items() for row in of_authentication(name, fields)),
    "itwins.list": Row(
        observe=through_call("itwins.list"),
        keywords={
            "sub_class": ["Project", "Asset"],
            "status": "Trial",
            **dict.fromkeys(("type", "number", "display_name", "parent_id", "itwin_account_id", "search"), "a"),
            "filter": "a eq 'b'",
            "select": "id",
            "order_by": "displayName ASC",
            "include_inactive": True,
            "representation": "full",
            "query_scope": "OrganizationAdmin",
            "max_return": 5,
            "skip": 1,
            "resume": Fresh(lambda: resume_of("itwins.list")),
            **PAGES,
        },
    ),
    "itwins.list_all": Row(
        observe=through_call("itwins.list_all"),
        keywords={
            "partition_by": "lastModifiedDateTime",
            "sub_class": "Project",
            "filter": "a eq 'b'",
            "select": "number",
            "include_inactive": True,
            "representation": "full",
            "query_scope": "OrganizationAdmin",
            "resume": Fresh(lambda: resume_of("itwins.list_all")),
            **PAGES,
        },
    ),
    "repositories.update": Row(
        observe=through_call("repositories.update"),
        given={"itwin_id": ITWIN, "repository_id": "r", "display_name": "a"},
        keywords={
            **dict.fromkeys(("itwin_id", "repository_id", "display_name", "uri"), "b"),
            **dict.fromkeys(("authentication", "options"), None),
        },
    ),
    "repositories.create_resource": Row(
        observe=through_call("repositories.create_resource"),
        given={"itwin_id": ITWIN, "repository_id": "r", "id": "a", "display_name": "A"},
        keywords=dict.fromkeys(("itwin_id", "repository_id", "id", "display_name", "type"), "b"),
    ),
    "scenes.create": Row(
        observe=through_call("scenes.create"),
        given={"itwin_id": ITWIN, "display_name": "A"},
        keywords={
            **dict.fromkeys(("itwin_id", "display_name", "description", "correlation_id"), "b"),
            **dict.fromkeys(("id", "parent_id"), SCENE),
            "objects": [SceneObjectCreate(version="1", kind="GISStyling", data={})],
        },
    ),
    "scenes.list_objects": Row(
        observe=through_call("scenes.list_objects"),
        given={"scene_id": SCENE, "itwin_id": ITWIN},
        keywords={
            "scene_id": SCENE.replace("6", "7"),
            **dict.fromkeys(("itwin_id", "correlation_id"), "b"),
            "order_by": "kind ASC",
            "skip": 1,
            "resume": Fresh(lambda: resume_of("scenes.list_objects")),
            **PAGES,
        },
    ),
    "detectors.create": Row(
        observe=through_call("detectors.create"),
        given={"name": "@a/b", "type": "PhotoObjectDetector"},
        keywords={
            "name": "@a/c",
            "type": "PointCloudSegmentationDetector",
            **dict.fromkeys(("display_name", "description", "documentation_url"), "https://b.example"),
        },
    ),
    "webhooks.update": Row(
        observe=through_call("webhooks.update"),
        given=WEBHOOK | {"active": True},
        keywords={
            "webhook_id": "x",
            "active": False,
            "callback_url": "https://b.example",
            "event_types": "iTwins.iTwinCreated.v1",
            "secret": "s" * 40,
        },
    ),
    **{
        f"webhooks.{name}": Row(
            observe=through_call(f"webhooks.{name}"), given=WEBHOOK, keywords={"webhook_id": "x", "secret": "s" * 40}
        )
        for name in ("activate", "deactivate")
    },
    "sign_delivery": Row(
        observe=itwin_platform.sign_delivery,
        given={"body": DELIVERY, "secret": "a"},
        keywords={"body": b"{}", "secret": "b"},
    ),
    "verify_delivery": Row(
        observe=verified,
        given={"body": DELIVERY, "signature": itwin_platform.sign_delivery(DELIVERY, secret="a"), "secret": "a"},
        keywords={"body": b"{}", "signature": "sha256=0", "secret": "b"},
    ),
    "escape": Row(observe=itwin_platform.escape, given={"data": "<"}, keywords={"data": ["&"]}),
    **{
        name: Row(observe=data_of(value), given=STATUS_ERROR, keywords=OTHER_STATUS_ERROR)
        for name, value in CALLABLES.items()
        if inspect.isclass(value) and issubclass(value, itwin_platform.APIStatusError)
    },
    **{
        name: Row(observe=data_of(getattr(itwin_platform, name)), given={"text": "a"}, keywords=TEXT)
        for name in ("PlatformError", "TokenError", "PagingError", "DeliveryError")
    },
    **{
        name: Row(observe=data_of(getattr(itwin_platform, name)), given={"text": "a"}, keywords=TEXT | {"attempts": 2})
        for name in ("TransportError", "NotSentError", "OutcomeUnknownError")
    },
    "DeadlineExceededError": Row(
        observe=data_of(itwin_platform.DeadlineExceededError),
        given={"text": "a"},
        keywords=TEXT | {"attempts": 2, "sent": False, "retry_at": MOMENT},
    ),
    **{
        name: Row(observe=data_of(getattr(itwin_platform, name)), given={"rule": "a"}, keywords=USAGE)
        for name in ("UsageError", "StateError")
    },
    "ResponseDecodeError": Row(
        observe=data_of(itwin_platform.ResponseDecodeError),
        given={"status": 200, "headers": {}, "body": b""},
        keywords={"status": 201, "headers": {"a": "b"}, "body": b"x", "reason": "r"},
    ),
    "ErrorDetail": Row(
        observe=data_of(itwin_platform.ErrorDetail), keywords={"code": "C", "message": "m", "target": "t"}
    ),
}
#: What is called by the client alone, and by nobody else.
WHY: dict[str, str] = {
    **dict.fromkeys(("AttemptEnded", "CooldownStarted", "OutageStarted", "OutageEnded", "GateChanged"), MADE_BY_CLIENT),
    **{name: "the attempts call it" for name in CALLABLES if name.startswith(("Gate.", "RedisGate."))},
    "BackoffTransport.send": "the operations call it",
    "RedisGate": "each needs a server: see tests/attempts/test_redis_gate_lifetime.py, _outages.py and _sharing.py",
    **dict.fromkeys(("ResponseInfo", "Page", "SceneState", "WebhookDelivery", "Pager"), MADE_BY_CLIENT),
}


def keywords_of(name: str) -> set[str]:
    """Return the names of the parameters of something of the public face."""
    return {parameter for parameter in inspect.signature(CALLABLES[name]).parameters if parameter != "self"}


def test_every_keyword_has_a_row() -> None:
    """The table has every keyword of the public face, and no other."""
    expected = {name: keywords_of(name) for name in CALLABLES if name not in WHY}
    listed = {name: set(ROWS[name].keywords) if name in ROWS else set() for name in expected}
    assert {name: names ^ listed[name] for name, names in expected.items() if names != listed[name]} == {}


@pytest.mark.filterwarnings("ignore::itwin_platform.TruncatedWarning")
@pytest.mark.parametrize(
    ("name", "keyword"), [(name, keyword) for name, row in ROWS.items() for keyword in row.keywords]
)
def test_another_value_counts(name: str, keyword: str) -> None:
    """Another value of a keyword makes a difference, and the same values make none."""
    row, other = ROWS[name], ROWS[name].keywords[keyword]
    if isinstance(other, Why):
        pytest.skip(other)
    with_others = other if isinstance(other, With) else With(other)
    value, observe = with_others.value, with_others.observe or row.observe
    given = {**row.given, **with_others.others}
    seen = []
    for keywords in (given, given, {**given, keyword: value}):
        random.seed(7)
        noted.clear()
        fresh = {name: each.make() if isinstance(each, Fresh) else each for name, each in keywords.items()}
        seen.append(repr((observe(**fresh), noted)))
    assert seen[0] == seen[1]
    assert seen[0] != seen[2]


async def reports() -> list[object]:
    """Return what a client reports of two operations: rate limits, an outage of each, and pages of a scene."""
    found: list[object] = []

    def read(page: itwin_platform.Page[Any]) -> None:
        found.extend((page, page.scene))

    service = Service()
    async with client_of(service, on_event=found.append) as client:
        platform = client.with_options(on_response=found.append, deadline=None)
        webhook = partial(platform.webhooks.activate, "w")
        objects = platform.scenes.list_objects(SCENE, ITWIN, page_size=2, on_page=read).collect
        down: list[tuple[str, Callable[[], Awaitable[object]], Step, int]]
        down = [("", webhook, 503, 10), ("a", objects, httpx.ReadError("x"), 20)]
        for name, call, step, times in down:
            limit = {f"itwinplatform-ratelimited-{each}": name for each in ("tier", "api", "operation") if name}
            headers = {"retry-after": f"{times}", "x-correlation-id": f"c-{name}", **limit}
            for script in (
                [httpx.Response(429, headers=headers)],
                [*[step] * times, httpx.Response(404, headers=headers)],
            ):
                service.script, service.latency = [*script], times / 10
                await asyncio.gather(*(outcome_of(call()) for _ in range(8)))
    return found


@pytest.mark.parametrize(
    "kind",
    [
        *("AttemptEnded", "CooldownStarted", "OutageStarted", "OutageEnded"),
        *("ResponseInfo", "Page", "SceneState"),
    ],
)
def test_every_field_of_a_report_varies(kind: str) -> None:
    """No field of what the client reports always has the same value."""
    random.seed(7)
    found = [each for each in in_virtual_time(reports()) if isinstance(each, getattr(itwin_platform, kind))]
    values = {name: {repr(getattr(each, name)) for each in found} for name in keywords_of(kind)}
    constant = {name: seen for name, seen in values.items() if len(seen) < 2}
    assert constant == ({"probes": {"1"}} if kind == "OutageEnded" else {})  # an outage of two: test_outage.py
