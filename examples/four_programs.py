"""Four small programs against a sandbox with faults and rate limits: a web service, an export, an update, a scene.

Run it with `python examples/four_programs.py`. It needs the extra `sandbox` and FastAPI, and uses pandas if it is
installed. Each program prints its results, and the number of responses and attempts.
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
    """The responses and the attempts of one program, counted by `on_response`."""

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
    """Serve models as JSON with `to_dict()`, and turn a rate limit into a 503 of the service."""
    app = FastAPI()

    @app.get("/itwins/{number}")
    async def itwins(number: int) -> list[dict[str, Any]]:
        # A user waits for this response: fail early.
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
    """Export all iTwins to CSV and to pandas; faults neither lose nor repeat a row."""
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


async def update(platform: PlatformClient, sandbox: Sandbox) -> None:
    """Change one option and the password of a repository, and keep everything else."""
    repository = (sandbox.itwin_id, sandbox.repository_ids["UrlTemplate"])
    complete = RepositoryOptions(query_parameters={"key": "made-up"}, minimum_level=1, maximum_level=20)
    stored = await platform.repositories.update(*repository, options=complete)
    sandbox.fault("reset_after_effect")
    if stored.options:
        stored = await platform.repositories.update(*repository, options=stored.options.replace(minimum_level=3))
    if kept := stored.options:
        print(f"  levels {kept.minimum_level} to {kept.maximum_level}, query parameters kept: {kept.query_parameters}")
    try:
        await platform.repositories.update(*repository, options={"minimumLevel": 4})
    except UsageError as error:
        print(f"  UsageError: {error}")
    login = BasicAuthentication(username="surveyor", password="made-up-1")
    await platform.repositories.update(*repository, authentication=login.replace(password="made-up-2"))
    print(f"  password changed: {login!r}")


async def scene(platform: PlatformClient, sandbox: Sandbox) -> None:
    """Create a scene from models and mappings, and recover a lost response by the id of the scene."""
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
        # Conflict: the id of the scene exists. Bad request: the ids of its objects exist.
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
        for program in (web_service, export, update, scene):
            journal = Journal()
            print(f"{program.__name__}: {program.__doc__}")
            await program(platform.with_options(on_response=journal.note, correlation_id=program.__name__), sandbox)
            print(f"  {journal}")


if __name__ == "__main__":
    asyncio.run(main())
