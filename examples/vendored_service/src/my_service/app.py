"""A FastAPI service that shows projects and the objects of a scene.

One client serves all requests: the service opens it at the start and closes it at the end. The environment variables
ITWIN_PLATFORM_BASE_URL, ITWIN_PLATFORM_VENDOR and ITWIN_PLATFORM_TOKEN name the platform and the token.
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
    StateError,
    UsageError,
    __version__,
    escape,
)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Keep the client open while the service runs."""
    async with PlatformClient() as platform:
        app.state.platform = platform
        yield


app = FastAPI(title="My service", lifespan=lifespan)


def platform_of(request: Request) -> PlatformClient:
    """Return the client of the running service."""
    platform: PlatformClient = request.app.state.platform
    return platform


Platform = Annotated[PlatformClient, Depends(platform_of)]


@app.get("/client")
async def client() -> dict[str, str]:
    """Return the package and the version of the vendored client."""
    return {"package": PlatformClient.__module__, "version": __version__}


@app.get("/projects")
async def projects(platform: Platform, limit: Annotated[int, Query(ge=1, le=1000)] = 10) -> list[dict[str, str]]:
    """Return the first projects."""
    pager = platform.itwins.list(sub_class="Project", limit=limit)
    return [{"id": itwin.id, "name": itwin.display_name, "status": itwin.status} async for itwin in pager]


@app.get("/itwins/{itwin_id}/scenes/{scene_id}/objects")
async def scene_objects(platform: Platform, itwin_id: str, scene_id: str) -> list[dict[str, object]]:
    """Return the objects of a scene, with their untrusted data escaped."""
    pager = platform.scenes.list_objects(scene_id, itwin_id)
    return [{"id": item.id, "kind": item.kind, "data": escape(item.data)} async for item in pager]


@app.exception_handler(PlatformError)
async def platform_failed(_: Request, error: PlatformError) -> JSONResponse:
    """Translate an error of the platform: 422 for a wrong call, 503 to retry later, 404, otherwise 502."""
    body = {"error": type(error).__name__, "reason": str(error)}
    if isinstance(error, UsageError) and not isinstance(error, StateError):
        return JSONResponse(body, status_code=422)
    if isinstance(error, RateLimitError) and error.retry_after is not None:
        return JSONResponse(body, status_code=503, headers={"Retry-After": str(round(error.retry_after) + 1)})
    if isinstance(error, APIStatusError) and error.status == 404:
        return JSONResponse(body, status_code=404)
    return JSONResponse(body, status_code=502)
