"""Four small programs against a sandbox that fails and limits: a web service, an export, a change, a scene.

Run it with `python examples/four_programs.py`; it needs the extra `sandbox`, FastAPI for the service and, if it is
installed, pandas for a table. Each program prints what it did and what the client went through for it.
"""

import asyncio
import csv
import io
import math
import uuid
from collections import Counter
from importlib import import_module
from typing import Any

import httpx
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from itwin_platform import (
    BackoffPolicy,
    BadRequestError,
    BasicAuthentication,
    ConflictError,
    OutcomeUnknownError,
    PlatformClient,
    RateLimitError,
    RepositoryOptions,
    RepositoryResourceData,
    ResponseInfo,
    SceneObjectCreate,
    UsageError,
)
from itwin_platform_sandbox import Sandbox


class Journal:
    """Counts the responses and the attempts of one program, as `on_response` tells them."""

    def __init__(self) -> None:
        self.statuses: Counter[int] = Counter()
        self.attempts = 0

    def note(self, info: ResponseInfo) -> None:
        """Count one final response."""
        self.statuses[info.status] += 1
        self.attempts += info.attempts

    def __str__(self) -> str:
        return f"{self.statuses.total()} responses {dict(self.statuses)} with {self.attempts} requests"


async def web_service(platform: PlatformClient, sandbox: Sandbox) -> None:
    """A service returns models as they are, with `to_dict()`; a rate limit becomes its own 503."""
    app = FastAPI()

    @app.get("/itwins/{number}")
    async def itwins(number: int) -> list[dict[str, Any]]:
        # Whoever waits for this service should not wait long.
        view = platform.with_options(deadline=2.0, queue_timeout=1.0, max_attempts=2)
        return [itwin.to_dict() for itwin in await view.itwins.list(limit=number).collect()]

    @app.exception_handler(RateLimitError)
    async def rate_limited(_: Request, error: RateLimitError) -> JSONResponse:
        return JSONResponse({"error": "try later"}, 503, {"Retry-After": str(math.ceil(error.retry_after or 1))})

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as browser:
        sandbox.fault("unavailable")
        response = await browser.get("/itwins/2")
        print(f"  GET /itwins/2 -> {response.status_code}, {[itwin['displayName'] for itwin in response.json()]}")
        sandbox.fault("rate_limited", seconds=3)
        response = await browser.get("/itwins/2")
        print(f"  GET /itwins/2 -> {response.status_code}, Retry-After: {response.headers['retry-after']}")


async def export(platform: PlatformClient, sandbox: Sandbox) -> None:
    """All iTwins as CSV, and as a table of pandas; faults on the way lose and repeat nothing."""
    sandbox.fault("unavailable", count=2)
    sandbox.fault("rate_limited", seconds=1)
    rows = [itwin.to_dict() async for itwin in platform.itwins.list(representation="full", page_size=50)]
    target = io.StringIO()
    table: csv.DictWriter[str] = csv.DictWriter(target, list(rows[0]), restval="", extrasaction="ignore")
    table.writeheader()
    table.writerows(rows)
    print(f"  CSV: {len(rows)} rows, {len({row['id'] for row in rows})} ids, {len(rows[0])} columns")
    try:
        pandas = import_module("pandas")
    except ImportError:
        print("  pandas is not installed: pandas.DataFrame(rows) would make a column of each property")
    else:
        print(f"  pandas: {pandas.DataFrame(rows).groupby('subClass').size().to_dict()}")


async def change(platform: PlatformClient, sandbox: Sandbox) -> None:
    """One option and the password of a repository change, and everything else stays."""
    place = (sandbox.itwin_id, sandbox.repository_ids["UrlTemplate"])
    whole = RepositoryOptions(query_parameters={"key": "made-up"}, minimum_level=1, maximum_level=20)
    stored = await platform.repositories.update(*place, options=whole)
    sandbox.fault("reset_after_effect")
    stored = await platform.repositories.update(*place, options=RepositoryOptions.of(stored).replace(minimum_level=3))
    kept = RepositoryOptions.of(stored)
    print(f"  levels {kept.minimum_level} to {kept.maximum_level}, query parameters kept: {kept.query_parameters}")
    try:
        await platform.repositories.update(*place, options={"minimumLevel": 4})
    except UsageError as error:
        print(f"  UsageError: {error}")
    login = BasicAuthentication(username="surveyor", password="made-up-1")
    await platform.repositories.update(*place, authentication=login.replace(password="made-up-2"))
    print(f"  password changed: {login!r}")


async def scene(platform: PlatformClient, sandbox: Sandbox) -> None:
    """A scene of models and mappings; a lost response is recovered, because the scene has an id of its own."""
    layer = RepositoryResourceData(
        id=sandbox.repository_id, itwin_id=sandbox.itwin_id, class_="GeographicInformationSystem", repository_id="gis"
    )
    objects: list[SceneObjectCreate | dict[str, object]] = [
        SceneObjectCreate(id=str(uuid.uuid4()), kind="RepositoryResource", version="1.0.0", data=layer),
        {"id": str(uuid.uuid4()), "kind": "Layer", "version": "1.0.0", "data": {"displayName": "<b>Terrain</b>"}},
    ]
    scene_id = str(uuid.uuid4())
    sandbox.fault("reset_after_effect")
    try:
        await platform.scenes.create(sandbox.itwin_id, id=scene_id, display_name="Site", objects=objects)
    except OutcomeUnknownError as error:
        print(f"  OutcomeUnknownError, scene_id kept: {error.scene_id == scene_id}")
    try:
        await platform.scenes.create(sandbox.itwin_id, id=scene_id, display_name="Site", objects=objects)
    except (ConflictError, BadRequestError) as error:
        # Conflict: the id of the scene is taken. Bad request: those of its objects are.
        reason = error.details[0].message if error.details else error.message
        print(f"  {type(error).__name__}, so the first request had arrived: {reason}")
    kinds = [item.kind async for item in platform.scenes.list_objects(scene_id, sandbox.itwin_id)]
    print(f"  objects of the scene: {kinds}")


async def main() -> None:
    """Run the programs one after the other, each with a view of one client."""
    policy = BackoffPolicy(base_delay=0.05, max_wait=5.0)
    async with (
        Sandbox(itwins=250) as sandbox,
        PlatformClient(sandbox.base_url, vendor="sandbox", token=sandbox.token, backoff=policy) as platform,
    ):
        for program in (web_service, export, change, scene):
            journal = Journal()
            print(f"{program.__name__}: {program.__doc__}")
            await program(platform.with_options(on_response=journal.note, correlation_id=program.__name__), sandbox)
            print(f"  {journal}")


if __name__ == "__main__":
    asyncio.run(main())
