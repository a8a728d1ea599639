"""An application as type checkers see it: checked by mypy and pyright, never run.

Where a call must not type-check, `type: ignore` with its code stands beside it: mypy reports one that is not needed.
"""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import assert_type

import httpx
from itwin_platform import (
    UNSET,
    AccessToken,
    APIStatusError,
    BackoffPolicy,
    BackoffTransport,
    BasicAuthentication,
    Detector,
    DetectorType,
    ErrorCode,
    ErrorDetail,
    EventType,
    Gate,
    HeaderAuthentication,
    ITwin,
    ITwinStatus,
    ITwinSubClass,
    ITwinSummary,
    OutcomeUnknownError,
    Page,
    Pager,
    PlatformClient,
    PlatformError,
    QueryScope,
    RateLimit,
    RateLimitError,
    Repository,
    RepositoryOptions,
    RepositoryResourceData,
    Resource,
    Scene,
    SceneObject,
    SceneObjectCreate,
    TransportError,
    Unset,
    UsageError,
    Vector3d,
    View3dData,
    Webhook,
    escape,
)


async def fresh() -> AccessToken:
    """A token source."""
    return AccessToken("t", expires_at=datetime.now(UTC))


async def make() -> None:
    """Every way to make a client."""
    PlatformClient()
    PlatformClient("https://s.example", vendor="v", token="t", timeout=5)
    PlatformClient(token=fresh)
    PlatformClient(token=lambda: "t")
    PlatformClient(token=AccessToken("t"), backoff=BackoffPolicy(max_attempts=3, deadline=None))
    PlatformClient(gate=Gate(max_in_flight=5, rate=RateLimit(requests=100, per=60.0)))
    PlatformClient(transport=httpx.AsyncHTTPTransport(), timeout=httpx.Timeout(5.0), allow_insecure=True)
    PlatformClient(http_client=httpx.AsyncClient(), max_response_bytes=1, check_requests=False)
    httpx.AsyncClient(transport=BackoffTransport(httpx.AsyncHTTPTransport(), policy=BackoffPolicy(), gate=None))
    PlatformClient(timeout=None)  # type: ignore[arg-type]
    PlatformClient(tokn="t")  # type: ignore[call-arg]


async def itwins(platform: PlatformClient) -> None:
    """The group `itwins`."""
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
    async for page in pager.pages():
        assert_type(page, Page[ITwin])
        assert_type(page.resume, str | None)
    platform.itwins.list(representation="representation")  # type: ignore[arg-type]
    platform.itwins.list(status=None)  # type: ignore[arg-type]
    platform.itwins.list("Project")  # type: ignore[call-arg]


async def repositories(platform: PlatformClient) -> None:
    """The group `repositories`."""
    basic = BasicAuthentication(username="u", password="p")
    repository = await platform.repositories.update("i", "r", display_name=UNSET, authentication=basic, options=None)
    assert_type(repository, Repository)
    assert_type(BasicAuthentication.of(repository), BasicAuthentication)
    assert_type(BasicAuthentication.of(repository).replace(password="q"), BasicAuthentication)
    assert_type(RepositoryOptions.of(repository).replace(minimum_level=None), RepositoryOptions)
    mapping: Mapping[str, object] = {"type": "Basic"}
    await platform.repositories.update("i", "r", authentication=mapping, options=mapping)
    assert_type(await platform.repositories.create_resource("i", "r", id="a", display_name="b"), Resource)
    BasicAuthentication(username="u")  # type: ignore[call-arg]
    HeaderAuthentication("k", "v")  # type: ignore[call-arg, arg-type]
    basic.password = "q"  # type: ignore[misc]
    basic.replace(key="k")  # type: ignore[call-arg]
    await platform.repositories.update("i", "r", uri=None)  # type: ignore[arg-type]
    await platform.repositories.update("i", "r", options=basic)  # type: ignore[arg-type]


async def scenes(platform: PlatformClient) -> None:
    """The group `scenes`."""
    axis = Vector3d(x=0, y=0, z=1.5)
    model = SceneObjectCreate(kind="Layer", version="1.0.0", data={"a": 1}, visible=True)
    mapping = {"kind": "Layer", "version": "1.0.0", "data": axis}
    scene = await platform.scenes.create("i", display_name="S", objects=[model, mapping], correlation_id="c")
    assert_type(scene, Scene)
    assert_type(scene.last_modified, datetime)
    listed = platform.scenes.list_objects(scene.id, "i", order_by="kind")
    assert_type(listed, Pager[SceneObject])
    async for item in listed:
        if isinstance(item.data, View3dData):
            assert_type(item.data.up, Vector3d)
        elif isinstance(item.data, RepositoryResourceData):
            assert_type(item.data.itwin_id, str)
        escape(item.data)
    await platform.scenes.create("i", display_name=axis)  # type: ignore[arg-type]
    await platform.scenes.create("i")  # type: ignore[call-arg]


async def others(platform: PlatformClient) -> None:
    """The groups `detectors` and `webhooks`."""
    detector = await platform.detectors.create(name="n", type=DetectorType.PHOTO_OBJECT_DETECTOR, display_name=None)
    assert_type(detector, Detector)
    assert_type(detector.display_name, str | Unset | None)
    webhook = await platform.webhooks.update("w", active=True, event_types=EventType.ITWINS_ITWIN_CREATED_V1)
    assert_type(webhook, Webhook)
    assert_type(webhook.event_types, list[EventType])
    assert_type(await platform.webhooks.activate("w"), Webhook)
    await platform.webhooks.update("w", secret=None)  # type: ignore[arg-type]


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


def mistakes() -> None:
    """Names that are nowhere: late imports must not hide it."""
    from itwin_platform import Nothing  # type: ignore[attr-defined]
    from itwin_platform_api import Nothing as OfThePackage  # type: ignore[attr-defined]
    from itwin_platform_api.models import Nothing as OfTheModels  # type: ignore[attr-defined]

    _ = (Nothing, OfThePackage, OfTheModels)
