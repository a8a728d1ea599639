"""A FastAPI service with one shared client, whose calls are cancelled when the browser disconnects.

`python examples/web_service.py` runs it against the local sandbox. In production, set ITWIN_PLATFORM_BASE_URL,
ITWIN_PLATFORM_VENDOR and ITWIN_PLATFORM_TOKEN, and run `uvicorn --app-dir examples web_service:app`.

When a browser disconnects, FastAPI lets the endpoint finish and drops its response, except for a StreamingResponse.
`unless_disconnected` cancels the work instead: the client then ends its request to the platform and releases the
connection.
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
    StateError,
    UsageError,
)
from itwin_platform_sandbox import Sandbox

T = TypeVar("T")


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Keep one client open while the service runs: all requests share its connections, token and gate."""
    # A user waits for each response: fail after ten seconds, queue for at most five, and wait for no delay above two.
    policy = BackoffPolicy(deadline=10.0, queue_timeout=5.0, max_wait=2.0)
    async with PlatformClient(backoff=policy) as platform:
        app.state.platform = platform
        yield


app = FastAPI(title="iTwins", lifespan=lifespan)


def platform_of(request: Request) -> PlatformClient:
    """Return the client of the running service."""
    platform: PlatformClient = request.app.state.platform
    return platform


Platform = Annotated[PlatformClient, Depends(platform_of)]


async def unless_disconnected(request: Request, work: Coroutine[object, object, T]) -> T:
    """Return the result of `work`, or cancel it when the client of `request` disconnects.

    This receives the remaining messages of the request, so read its body before.
    """

    async def disconnected() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working, watching = asyncio.create_task(work), asyncio.create_task(disconnected())
    try:
        await asyncio.wait((working, watching), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return await working
        raise HTTPException(499, "client disconnected")  # for access logs, in which 499 is usual
    finally:
        working.cancel()
        watching.cancel()
        await asyncio.wait((working, watching))


@app.get("/account")
async def account(request: Request, platform: Platform) -> dict[str, str]:
    """Return the primary account."""
    found = await unless_disconnected(request, platform.itwins.get_primary_account())
    return {"id": found.id, "name": found.display_name}


@app.get("/projects")
async def projects(
    request: Request, platform: Platform, limit: Annotated[int, Query(ge=1, le=1000)] = 10
) -> list[dict[str, str]]:
    """Return the first projects."""
    pager = platform.itwins.list(sub_class="Project", limit=limit)
    found = await unless_disconnected(request, pager.collect())
    return [{"id": itwin.id, "name": itwin.display_name, "status": itwin.status} for itwin in found]


@app.exception_handler(PlatformError)
async def platform_failed(_: Request, error: PlatformError) -> JSONResponse:
    """Translate an error of the platform: 503 to retry later, 504, 422 for a wrong call, 404, otherwise 502."""
    body = {"error": type(error).__name__, "correlation_id": getattr(error, "correlation_id", None)}
    # During a cooldown, the first call ends with RateLimitError, and later calls are not even sent.
    if isinstance(error, RateLimitError | DeadlineExceededError) and error.retry_at is not None:
        seconds = max(1, math.ceil((error.retry_at - datetime.now(UTC)).total_seconds()))
        return JSONResponse(body, 503, {"Retry-After": str(seconds)})
    if isinstance(error, DeadlineExceededError):
        return JSONResponse(body, 504 if error.attempts else 503)  # without an attempt, the call only queued
    if isinstance(error, UsageError) and not isinstance(error, StateError):
        return JSONResponse(body | {"reason": str(error)}, 422)
    return JSONResponse(body, 404 if isinstance(error, NotFoundError) else 502)


@asynccontextmanager
async def running() -> AsyncIterator[httpx.AsyncClient]:
    """Run the service on loopback, and yield an HTTP client of it."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none"))
    serving = asyncio.create_task(server.serve([listening]))
    try:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        # With trust_env, httpx would ask a proxy of the environment for loopback addresses too.
        async with httpx.AsyncClient(base_url=address, trust_env=False) as browser:
            yield browser
    finally:
        server.should_exit = True
        await serving


async def main() -> None:
    """Send requests to the service, disconnect during one of them, and meet a rate limit."""
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
                print("/projects: the browser disconnects while the platform does not respond")
            print("/account", (await browser.get("/account")).status_code)
            for request in sandbox.requests[-2:]:
                print(f"  the platform received {request.operation}: {request.status or 'cancelled'}")

            sandbox.fault("rate_limited", seconds=30)
            for path in ("/account", "/projects"):
                response = await browser.get(path)
                print(
                    path, response.status_code, response.json()["error"], "Retry-After", response.headers["retry-after"]
                )


if __name__ == "__main__":
    asyncio.run(main())
