"""Shows projects and the objects of a scene, as a FastAPI service.

One client serves all requests: it is made when the service starts and closed when it ends. Where the platform is, and
with which token, the environment says: ITWIN_PLATFORM_BASE_URL, ITWIN_PLATFORM_VENDOR, ITWIN_PLATFORM_TOKEN.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, FastAPI, Query, Request
from fastapi.responses import JSONResponse

from ._vendor.itwin import (
    APIStatusError,
    PlatformClient,
    PlatformError,
    RateLimitError,
    UsageError,
    __version__,
    escape,
)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Holds the client open while the service runs."""
    async with PlatformClient() as platform:
        app.state.platform = platform
        yield


app = FastAPI(title="My service", lifespan=lifespan)


def platform_of(request: Request) -> PlatformClient:
    """The client of the running service."""
    platform: PlatformClient = request.app.state.platform
    return platform


Platform = Annotated[PlatformClient, Depends(platform_of)]


@app.get("/client")
async def client() -> dict[str, str]:
    """Which client the service brings along."""
    return {"package": PlatformClient.__module__, "version": __version__}


@app.get("/projects")
async def projects(platform: Platform, limit: Annotated[int, Query(ge=1, le=1000)] = 10) -> list[dict[str, str]]:
    """The first projects of the caller of the platform."""
    pager = platform.itwins.list(sub_class="Project", limit=limit)
    return [{"id": itwin.id, "name": itwin.display_name, "status": itwin.status} async for itwin in pager]


@app.get("/itwins/{itwin_id}/scenes/{scene_id}/objects")
async def scene_objects(platform: Platform, itwin_id: str, scene_id: str) -> list[dict[str, object]]:
    """The objects of a scene; their data is untrusted, so it is escaped before it goes on."""
    pager = platform.scenes.list_objects(scene_id, itwin_id)
    return [{"id": item.id, "kind": item.kind, "data": escape(item.data)} async for item in pager]


@app.exception_handler(PlatformError)
async def platform_failed(_: Request, error: PlatformError) -> JSONResponse:
    """Says in this service's terms what went wrong: the caller's mistake, later, or the platform."""
    body = {"error": type(error).__name__, "reason": str(error)}
    if isinstance(error, UsageError):
        return JSONResponse(body, status_code=422)
    if isinstance(error, RateLimitError) and error.retry_after is not None:
        return JSONResponse(body, status_code=503, headers={"Retry-After": str(round(error.retry_after) + 1)})
    if isinstance(error, APIStatusError) and error.status == 404:
        return JSONResponse(body, status_code=404)
    return JSONResponse(body, status_code=502)
