"""Code that type checkers must reject: never run.

`type: ignore` stands beside each mistake. mypy and pyright report one that is not needed, so that a mistake which they
let pass is seen.
"""

import httpx2
import itwin_platform as ip
import itwin_platform_api
from itwin_platform_api import models


async def calls(platform: ip.PlatformClient) -> None:
    """Arguments that are unknown, missing, or of another type."""
    ip.PlatformClient(timeout=None)  # type: ignore[arg-type]
    ip.PlatformClient(tokn="t")  # type: ignore[call-arg]
    ip.PlatformClient(http_client=httpx2.Client())  # type: ignore[arg-type]
    ip.PlatformClient(transport=httpx2.HTTPTransport())  # type: ignore[arg-type]
    platform.itwins.list(representation="representation")  # type: ignore[arg-type]
    platform.itwins.list(status=None)  # type: ignore[arg-type]
    platform.itwins.list("Project")  # type: ignore[call-arg]
    await platform.repositories.update("i", "r", uri=None)  # type: ignore[arg-type]
    await platform.scenes.create("i", display_name=ip.Vector3d(x=0, y=0, z=1))  # type: ignore[arg-type]
    await platform.scenes.create("i")  # type: ignore[call-arg]
    await platform.webhooks.update("w", secret=None)  # type: ignore[arg-type]


async def whole_objects(platform: ip.PlatformClient) -> None:
    """Objects that would be incomplete, or given for one another."""
    basic = ip.BasicAuthentication(username="u", password="p")
    ip.BasicAuthentication(username="u")  # type: ignore[call-arg]
    ip.HeaderAuthentication("k", "v")  # type: ignore[call-arg, arg-type]
    basic.replace(key="k")  # type: ignore[call-arg]
    ip.RepositoryOptions(minimum_level=3)  # type: ignore[call-arg]
    ip.Repository.from_dict({}).options.replace(minimum_level=3)  # type: ignore[union-attr]
    await platform.repositories.update("i", "r", options=basic)  # type: ignore[arg-type]


def mappings() -> tuple[object, ...]:
    """Names that are spelled as in Python, or omitted where the object replaces the stored one."""
    item: ip.SceneObjectCreateParam = {"kind": "L", "version": "1.0.0", "data": {}, "display_name": ""}  # type: ignore[typeddict-unknown-key]
    user: ip.BasicAuthenticationParam = {"type": "Basic", "username": "u"}  # type: ignore[typeddict-item]
    levels: ip.RepositoryOptionsParam = {"minimumLevel": 3}  # type: ignore[typeddict-item]
    return item, user, levels


async def absent(platform: ip.PlatformClient) -> float | None:
    """A field that may be absent is not used as if it were there."""
    itwin = (await platform.itwins.list(limit=1).collect())[0]
    return itwin.latitude  # type: ignore[return-value]


async def forgotten(platform: ip.PlatformClient) -> str:
    """A call that is not awaited gives no model."""
    return platform.itwins.get_primary_account().id  # type: ignore[attr-defined, no-any-return]


def names() -> tuple[object, ...]:
    """A name that the package does not have is an error, although names are imported late."""
    return (
        ip.Nothing,  # type: ignore[attr-defined]
        itwin_platform_api.Nothing,  # type: ignore[attr-defined]
        models.Nothing,  # type: ignore[attr-defined]
    )


async def absent_attribute(platform: ip.PlatformClient) -> int:
    """An attribute of a field that may be absent is not used without a check."""
    itwin = (await platform.itwins.list(limit=1).collect())[0]
    return itwin.created_date_time.year  # type: ignore[union-attr]
