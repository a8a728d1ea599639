"""An application as type checkers see it: mypy, pyright, ty and pyrefly, each at its strictest; never run."""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import Any, assert_never, assert_type
from zoneinfo import ZoneInfo

import httpx
from itwin_platform import (
    UNSET,
    AccessToken,
    APIStatusError,
    AttemptEnded,
    BackoffEvent,
    BackoffPolicy,
    BackoffTransport,
    BasicAuthentication,
    BasicAuthenticationParam,
    CooldownStarted,
    Detector,
    DetectorType,
    ErrorCode,
    ErrorDetail,
    EventType,
    Gate,
    HeaderAuthentication,
    ITwin,
    ITwinStatus,
    ITwinStatusParam,
    ITwinSubClass,
    ITwinSummary,
    OAuth2AuthorizationCodePKCEAuthentication,
    OutageEnded,
    OutageStarted,
    OutcomeUnknownError,
    Page,
    Pager,
    PlatformClient,
    PlatformError,
    QueryParameterAuthentication,
    QueryScope,
    RateLimit,
    RateLimitError,
    RedisGate,
    Repository,
    RepositoryOptions,
    RepositoryOptionsParam,
    RepositoryResourceData,
    Resource,
    Scene,
    SceneObject,
    SceneObjectCreate,
    SceneObjectCreateParam,
    SceneState,
    TransportError,
    Unset,
    UsageError,
    Vector3d,
    View3dData,
    View3dDataParam,
    Webhook,
    WebhookDelivery,
    escape,
    sign_delivery,
    verify_delivery,
)
from itwin_platform_api.api.itwins import list_itwins
from itwin_platform_api.models import ITwinsResponse


async def fresh() -> AccessToken:
    """A token provider."""
    return AccessToken("t", expires_at=datetime.now(UTC))


def count(event: BackoffEvent) -> None:
    """A callback that tells the events apart."""
    match event:
        case AttemptEnded():
            assert_type(event.status, int | None)
            assert_type(event.correlation_id, str | None)
        case OutageStarted() | OutageEnded():
            assert_type(event.route, str)
        case CooldownStarted():
            assert_type(event.seconds, float)
        case _:
            assert_never(event)


async def make() -> None:
    """Every way to make a client."""
    PlatformClient()
    PlatformClient("https://s.example", vendor="v", token="t", timeout=5)
    PlatformClient(token=fresh, on_event=count, transport=httpx.AsyncHTTPTransport())
    PlatformClient(token=lambda: "t")
    PlatformClient(token=AccessToken("t"), backoff=BackoffPolicy(max_attempts=3, deadline=None))
    PlatformClient(gate=Gate(max_in_flight=5, rate=RateLimit(requests=100, per=60.0)))
    PlatformClient(gate=RedisGate("redis://localhost:6379/0", name="prod, service app 7", workers=4))
    PlatformClient(transport=httpx.AsyncHTTPTransport(), timeout=httpx.Timeout(5.0), allow_insecure=True)
    PlatformClient(http_client=httpx.AsyncClient(), max_response_bytes=1, check_requests=False)
    httpx.AsyncClient(transport=BackoffTransport(httpx.AsyncHTTPTransport(), policy=BackoffPolicy(), gate=None))


async def itwins(platform: PlatformClient, status: ITwinStatusParam = "Trial") -> None:
    """The group `itwins`."""
    assert_type(platform.itwins.list(status=status), Pager[ITwin])
    assert_type(await platform.itwins.get_primary_account(), ITwinSummary)
    pager = platform.itwins.list(
        sub_class=[ITwinSubClass.PROJECT, "Road"],
        status=ITwinStatus.ACTIVE,
        select=("id",),
        representation="minimal",
        query_scope=QueryScope.ORGANIZATION_ADMIN,
        max_return=5,
        concurrency=4,
    )
    assert_type(pager, Pager[ITwin])
    assert_type(await pager.collect(), list[ITwin])
    async for item in pager:
        assert_type(item, ITwin)
        assert_type(item.id, str)
        assert_type(item.status, ITwinStatus)
        assert_type(item.type_, str | None)
        assert_type(item.latitude, float | Unset | None)
        assert_type(item.created_date_time, datetime | Unset)
        if not isinstance(item.parent_id, Unset):
            assert_type(item.parent_id, str | None)
        if item.iana_time_zone:
            ZoneInfo(item.iana_time_zone)
        assert_type(item.to_dict(), dict[str, Any])
        assert_type(ITwin.from_dict(item.to_dict()), ITwin)
    assert_type(pager.truncated, bool)
    assert_type(pager.collected, tuple[ITwin, ...])
    assert_type(pager.resume, str)
    assert_type(platform.itwins.list_all(sub_class="Project"), Pager[ITwin])
    async for page in pager.pages():
        assert_type(page, Page[ITwin])
        assert_type(page.resume, str | None)


async def repositories(platform: PlatformClient) -> None:
    """The group `repositories`."""
    basic = BasicAuthentication(username="u", password="p")
    repository = await platform.repositories.update("i", "r", display_name=UNSET, authentication=basic, options=None)
    assert_type(repository, Repository)
    header = HeaderAuthentication(key="k", value="v")
    assert_type(header.replace(value="w"), HeaderAuthentication)
    assert_type(QueryParameterAuthentication.of(repository), QueryParameterAuthentication)
    oauth = OAuth2AuthorizationCodePKCEAuthentication(
        client_id="c", scopes="s", authorization_endpoint="a", token_endpoint="t", redirect_uri="r"
    )
    await platform.repositories.update("i", "r", authentication=oauth)
    assert_type(BasicAuthentication.of(repository), BasicAuthentication)
    assert_type(BasicAuthentication.of(repository).replace(password="q"), BasicAuthentication)
    assert_type(RepositoryOptions.of(repository).replace(minimum_level=None), RepositoryOptions)
    mapping: Mapping[str, object] = {"type": "Basic"}
    await platform.repositories.update("i", "r", authentication=mapping, options=mapping)
    password: BasicAuthenticationParam = {"type": "Basic", "username": "u", "password": "p"}
    levels: RepositoryOptionsParam = {"queryParameters": None, "minimumLevel": 3, "maximumLevel": 9}
    await platform.repositories.update("i", "r", authentication=password, options=levels)
    assert_type(await platform.repositories.create_resource("i", "r", id="a", display_name="b"), Resource)


async def scenes(platform: PlatformClient) -> None:
    """The group `scenes`."""
    axis = Vector3d(x=0, y=0, z=1.5)
    model = SceneObjectCreate(kind="Layer", version="1.0.0", data={"a": 1}, visible=True)
    mapping = {"kind": "Layer", "version": "1.0.0", "data": axis}
    camera: View3dDataParam = {"position": axis, "up": {"x": 0, "y": 0, "z": 1}, "near": 1}
    known: SceneObjectCreateParam = {"kind": "View3d", "version": "1.0.0", "data": camera}
    scene = await platform.scenes.create("i", display_name="S", objects=[model, mapping, known], correlation_id="c")
    assert_type(scene, Scene)
    assert_type(scene.last_modified, datetime)
    listed = platform.scenes.list_objects(scene.id, "i", order_by="kind")
    assert_type(listed, Pager[SceneObject])
    assert_type([page.scene async for page in listed.pages()], list[SceneState | None])
    async for item in listed:
        if isinstance(item.data, View3dData):
            assert_type(item.data.up, Vector3d)
        elif isinstance(item.data, RepositoryResourceData):
            assert_type(item.data.itwin_id, str)
        escape(item.data)


async def others(platform: PlatformClient) -> None:
    """The groups `detectors` and `webhooks`."""
    detector = await platform.detectors.create(name="n", type=DetectorType.PHOTO_OBJECT_DETECTOR, display_name=None)
    assert_type(detector, Detector)
    assert_type(detector.display_name, str | Unset | None)
    webhook = await platform.webhooks.update("w", active=True, event_types=EventType.ITWINS_ITWIN_CREATED_V1)
    assert_type(webhook, Webhook)
    assert_type(webhook.event_types, list[EventType])
    assert_type(await platform.webhooks.activate("w"), Webhook)
    delivery = verify_delivery(b"{}", sign_delivery(b"{}", secret="s"), secret="s")
    assert_type(delivery, WebhookDelivery)
    assert_type(delivery.content, Mapping[str, object])


async def generated(platform: PlatformClient) -> None:
    """A generated function that has no wrapper, or whose wrapper is not wanted."""
    assert_type(await list_itwins.asyncio(client=platform.generated), ITwinsResponse)


async def errors(platform: PlatformClient) -> AsyncIterator[object]:
    """What can be caught."""
    try:
        await platform.itwins.get_primary_account()
    except RateLimitError as error:
        assert_type(error.retry_after, float | None)
        assert_type(error.retry_at, datetime | None)
    except APIStatusError as error:
        assert_type(error.status, int)
        assert_type(error.details, tuple[ErrorDetail, ...])
        assert_type(error.correlation_id, str | None)
        yield error.code == ErrorCode.SCENE_EXISTS
    except OutcomeUnknownError as error:
        assert_type(error.scene_id, str | None)
    except TransportError as error:
        assert_type(error.sent, bool)
    except UsageError as error:
        assert_type(error.target, str | None)
    except PlatformError as error:
        assert_type(error.resume, str | None)
