"""An application as type checkers see it: mypy, pyright, ty and pyrefly, each at its strictest; never run."""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import assert_never, assert_type
from zoneinfo import ZoneInfo

import httpx
import httpx2
import itwin_platform as ip
from itwin_platform_api.api.itwins import list_itwins
from itwin_platform_api.models import ITwinsResponse


async def fresh() -> ip.AccessToken:
    """A token provider."""
    return ip.AccessToken("t", expires_at=datetime.now(UTC))


def count(event: ip.BackoffEvent) -> None:
    """A callback that tells the events apart."""
    match event:
        case ip.AttemptEnded():
            assert_type(event.status, int | None)
            assert_type(event.correlation_id, str | None)
        case ip.OutageStarted() | ip.OutageEnded():
            assert_type(event.route, str)
        case ip.CooldownStarted():
            assert_type(event.seconds, float)
        case _:
            assert_never(event)


async def make() -> None:
    """Arguments of both HTTP libraries, and each form of a token."""
    ip.PlatformClient(token=fresh, on_event=count, transport=httpx.AsyncHTTPTransport(), timeout=httpx.Timeout(5.0))
    ip.PlatformClient(token=lambda: "t", http_client=httpx.AsyncClient(), backoff=ip.BackoffPolicy(deadline=None))
    ip.PlatformClient(token=ip.AccessToken("t"), http_client=httpx2.AsyncClient(), timeout=httpx2.Timeout(5.0))
    httpx.AsyncClient(transport=ip.BackoffTransport(httpx2.AsyncHTTPTransport(), policy=ip.BackoffPolicy(), gate=None))


async def itwins(platform: ip.PlatformClient, status: ip.ITwinStatusParam = "Trial") -> None:
    """The group `itwins`."""
    assert_type(await platform.itwins.get_primary_account(), ip.ITwinSummary)
    pager = platform.itwins.list(
        sub_class=[ip.ITwinSubClass.PROJECT, "Road"], status=status, query_scope=ip.QueryScope.ORGANIZATION_ADMIN
    )
    assert_type(pager, ip.Pager[ip.ITwin])
    assert_type(await pager.collect(), list[ip.ITwin])
    async for item in pager:
        assert_type(item.id, str)
        assert_type(item.status, ip.ITwinStatus)
        assert_type(item.type_, str | None)
        assert_type(item.latitude, float | ip.Unset | None)
        assert_type(item.created_date_time, datetime | ip.Unset)
        if not isinstance(item.created_date_time, ip.Unset):
            assert_type(item.created_date_time.year, int)
        if item.iana_time_zone:
            ZoneInfo(item.iana_time_zone)
        assert_type(ip.ITwin.from_dict(item.to_dict()), ip.ITwin)
    assert_type(pager.collected, tuple[ip.ITwin, ...])
    assert_type(pager.resume, str)
    selected: list[ip.ITwinPropertyParam] = ["id", "notNamedYet"]
    platform.itwins.list(order_by="displayName DESC", select=selected)
    assert_type(platform.itwins.list_all(partition_by="lastModifiedDateTime", select="id"), ip.Pager[ip.ITwin])
    async for page in pager.pages():
        assert_type(page, ip.Page[ip.ITwin])
        assert_type(page.resume, str | None)


async def repositories(platform: ip.PlatformClient) -> None:
    """The group `repositories`."""
    basic = ip.BasicAuthentication(username="u", password="p")
    repository = await platform.repositories.update("i", "r", display_name=ip.UNSET, authentication=basic, options=None)
    assert_type(repository, ip.Repository)
    if isinstance(repository.authentication, ip.BasicAuthentication):
        assert_type(repository.authentication.replace(password="q"), ip.BasicAuthentication)
        await platform.repositories.update("i", "r", authentication=repository.authentication)
    if repository.options:
        assert_type(repository.options.minimum_level, int | None)
        changed: ip.RepositoryOptions = repository.options.replace(minimum_level=None)
        await platform.repositories.update("i", "r", options=changed)
    mapping: Mapping[str, object] = {"type": "Basic"}
    await platform.repositories.update("i", "r", authentication=mapping, options=mapping)
    password: ip.BasicAuthenticationParam = {"type": "Basic", "username": "u", "password": "p"}
    levels: ip.RepositoryOptionsParam = {"queryParameters": None, "minimumLevel": 3, "maximumLevel": 9}
    await platform.repositories.update("i", "r", authentication=password, options=levels)
    assert_type(await platform.repositories.create_resource("i", "r", id="a", display_name="b"), ip.Resource)


async def scenes(platform: ip.PlatformClient) -> None:
    """The group `scenes`."""
    axis = ip.Vector3d(x=0, y=0, z=1.5)
    model = ip.SceneObjectCreate(kind="Layer", version="1.0.0", data={"a": 1}, visible=True)
    mapping = {"kind": "Layer", "version": "1.0.0", "data": axis}
    camera: ip.View3dDataParam = {"position": axis, "up": {"x": 0, "y": 0, "z": 1}, "near": 1}
    known: ip.SceneObjectCreateParam = {"kind": "View3d", "version": "1.0.0", "data": camera}
    scene = await platform.scenes.create("i", display_name="S", objects=[model, mapping, known], correlation_id="c")
    assert_type(scene, ip.Scene)
    assert_type(scene.last_modified, datetime)
    listed = platform.scenes.list_objects(scene.id, "i", order_by="kind")
    assert_type(listed, ip.Pager[ip.SceneObject])
    assert_type([page.scene async for page in listed.pages()], list[ip.SceneState | None])
    async for item in listed:
        if isinstance(item.data, ip.View3dData):
            assert_type(item.data.up, ip.Vector3d)
        elif isinstance(item.data, ip.RepositoryResourceData):
            assert_type(item.data.itwin_id, str)
        ip.escape(item.data)


async def others(platform: ip.PlatformClient) -> None:
    """The groups `detectors` and `webhooks`, and a generated function that has no wrapper, or is called without it."""
    detector = await platform.detectors.create(name="n", type=ip.DetectorType.PHOTO_OBJECT_DETECTOR, display_name=None)
    assert_type(detector, ip.Detector)
    assert_type(detector.display_name, str | ip.Unset | None)
    webhook = await platform.webhooks.update("w", active=True, event_types=ip.EventType.ITWINS_ITWIN_CREATED_V1)
    assert_type(webhook, ip.Webhook)
    assert_type(webhook.event_types, list[ip.EventType])
    assert_type(ip.verify_delivery(b"{}", "s", secret="s").content, Mapping[str, object])
    assert_type(await list_itwins.asyncio(client=platform.generated), ITwinsResponse)


async def errors(platform: ip.PlatformClient) -> AsyncIterator[object]:
    """The attributes of each error."""
    try:
        await platform.itwins.get_primary_account()
    except ip.RateLimitError as error:
        assert_type(error.retry_after, float | None)
        assert_type(error.retry_at, datetime | None)
    except ip.APIStatusError as error:
        assert_type(error.status, int)
        assert_type(error.details, tuple[ip.ErrorDetail, ...])
        assert_type(error.correlation_id, str | None)
        yield error.code == ip.ErrorCode.SCENE_EXISTS
    except ip.OutcomeUnknownError as error:
        assert_type(error.scene_id, str | None)
    except ip.TransportError as error:
        assert_type(error.sent, bool)
    except ip.UsageError as error:
        assert_type(error.target, str | None)
    except ip.PlatformError as error:
        assert_type(error.resume, str | None)
