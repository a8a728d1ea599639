"""A FastAPI service with one shared client: held open by its lifespan, cancelled with the request that needs it.

`python examples/web_service.py` shows it at work against the local sandbox. In earnest, with ITWIN_PLATFORM_BASE_URL,
ITWIN_PLATFORM_VENDOR and ITWIN_PLATFORM_TOKEN set: `uvicorn --app-dir examples web_service:app`.

When a browser goes away, FastAPI by itself lets an endpoint run to its end and throws the answer away (only a
StreamingResponse is ended). `unless_gone` cancels the work instead; the client then ends its request to the platform
and gives the connection back.
"""

import asyncio
import math
import os
import socket
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated, TypeVar

import httpx
import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Query, Request
from fastapi.responses import JSONResponse
from itwin_platform import (
    BackoffPolicy,
    DeadlineExceededError,
    NotFoundError,
    PlatformClient,
    PlatformError,
    RateLimitError,
    UsageError,
)
from itwin_platform_sandbox import Sandbox

T = TypeVar("T")


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Holds one client open while the service runs: its connections, token and gate serve all requests."""
    # Somebody waits for each answer: give up after ten seconds, and on a wait of more than two at once.
    async with PlatformClient(backoff=BackoffPolicy(deadline=10.0, max_wait=2.0)) as platform:
        app.state.platform = platform
        yield


app = FastAPI(title="iTwins", lifespan=lifespan)


def platform_of(request: Request) -> PlatformClient:
    """The client of the running service."""
    platform: PlatformClient = request.app.state.platform
    return platform


Platform = Annotated[PlatformClient, Depends(platform_of)]


async def unless_gone(request: Request, work: Coroutine[object, object, T]) -> T:
    """Returns what `work` returns; cancels it when the other side of `request` goes away.

    It reads what else the server has to say of the request, so a body must have been read before.
    """

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working, watching = asyncio.create_task(work), asyncio.create_task(gone())
    try:
        await asyncio.wait((working, watching), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return await working
        raise HTTPException(499, "the caller has gone")  # nobody reads it; the number is the usual one in access logs
    finally:
        working.cancel()
        watching.cancel()
        await asyncio.wait((working, watching))


@app.get("/account")
async def account(request: Request, platform: Platform) -> dict[str, str]:
    """The primary account of the service's user."""
    found = await unless_gone(request, platform.itwins.get_primary_account())
    return {"id": found.id, "name": found.display_name}


@app.get("/projects")
async def projects(
    request: Request, platform: Platform, limit: Annotated[int, Query(ge=1, le=1000)] = 10
) -> list[dict[str, str]]:
    """The first projects."""
    found = await unless_gone(request, platform.itwins.list(sub_class="Project", limit=limit).collect())
    return [{"id": itwin.id, "name": itwin.display_name, "status": itwin.status} for itwin in found]


@app.exception_handler(PlatformError)
async def platform_failed(_: Request, error: PlatformError) -> JSONResponse:
    """Says in this service's terms what went wrong: the caller's mistake, try later, or the platform."""
    body = {"error": type(error).__name__, "correlation_id": getattr(error, "correlation_id", None)}
    # While the platform asks everybody to wait, the first call ends in RateLimitError, later ones are not even sent.
    if isinstance(error, RateLimitError | DeadlineExceededError) and error.retry_at is not None:
        seconds = max(1, math.ceil((error.retry_at - datetime.now(UTC)).total_seconds()))
        return JSONResponse(body, 503, {"Retry-After": str(seconds)})
    if isinstance(error, DeadlineExceededError):
        return JSONResponse(body, 504)
    if isinstance(error, UsageError):
        return JSONResponse(body | {"reason": str(error)}, 422)
    return JSONResponse(body, 404 if isinstance(error, NotFoundError) else 502)


@asynccontextmanager
async def running() -> AsyncIterator[httpx.AsyncClient]:
    """Runs the service on loopback; yields a browser that is pointed at it."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none"))
    serving = asyncio.create_task(server.serve([listening]))
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{listening.getsockname()[1]}") as browser:
            yield browser
    finally:
        server.should_exit = True
        await serving


async def main() -> None:
    """Asks the service for this and that, goes away in the middle, and meets a rate limit."""
    async with Sandbox(itwins=50) as sandbox:
        os.environ["ITWIN_PLATFORM_BASE_URL"] = sandbox.base_url
        os.environ["ITWIN_PLATFORM_VENDOR"] = "sandbox"
        os.environ["ITWIN_PLATFORM_TOKEN"] = sandbox.token
        async with running() as browser:
            for path in ("/account", "/projects?limit=2"):
                print(path, (await browser.get(path)).json())

            sandbox.fault("stall")
            try:
                await browser.get("/projects", timeout=0.5)
            except httpx.ReadTimeout:
                print("/projects: the browser goes away while the platform keeps it waiting")
            print("/account", (await browser.get("/account")).status_code)
            for request in sandbox.requests[-2:]:
                print(f"  the platform saw {request.operation}, and answered {request.status or 'nobody: given up'}")

            sandbox.fault("rate_limited", seconds=30)
            for path in ("/account", "/projects"):
                answer = await browser.get(path)
                print(path, answer.status_code, answer.json()["error"], "Retry-After", answer.headers["retry-after"])


if __name__ == "__main__":
    asyncio.run(main())
