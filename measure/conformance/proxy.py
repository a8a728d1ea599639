"""Puts the Prism validation proxy between the client and the sandbox and runs every operation through it.

Prism reads the same `openapi.yaml` and says in the header `sl-violations` where a request or an answer breaks it.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from itwin_platform import (
    APIStatusError,
    BasicAuthentication,
    HeaderAuthentication,
    PlatformClient,
    RepositoryOptions,
)
from itwin_platform_sandbox import Sandbox

PROJECT = Path(__file__).resolve().parents[2]


class Watching(httpx.AsyncHTTPTransport):
    """Collects what the proxy says of each exchange."""

    def __init__(self) -> None:
        super().__init__()
        self.exchanges = 0
        self.violations: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends, and notes violations."""
        response = await super().handle_async_request(request)
        self.exchanges += 1
        for said in response.headers.get_list("sl-violations"):
            self.violations.append(f"{request.method} {request.url.path} -> {response.status_code}: {said}")
        return response


@asynccontextmanager
async def prism(binary: Path, upstream: str, port: int) -> AsyncIterator[None]:
    """Runs the proxy in front of an address, on a port."""
    process = await asyncio.create_subprocess_exec(
        *(str(binary), "proxy", str(PROJECT / "openapi.yaml"), upstream, "--host", "127.0.0.1", "--port", str(port)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None  # noqa: S101  # a pipe was asked for
    try:
        async with asyncio.timeout(60):
            while b"listening" not in (line := await process.stdout.readline()):
                if not line:
                    raise SystemExit("the proxy ended before it listened")
        drain = asyncio.create_task(process.stdout.read())
        yield
    finally:
        process.terminate()
        await process.wait()
    await drain


async def operations(platform: PlatformClient, sandbox: Sandbox) -> None:
    """Runs every operation in its forms, errors included."""
    itwin_id, repository_id = sandbox.itwin_id, sandbox.repository_ids["UrlTemplate"]
    await platform.itwins.get_primary_account()
    await platform.itwins.list(limit=10, page_size=4).collect()
    await platform.itwins.list(
        limit=10, representation="full", sub_class=["Project", "Asset"], order_by="number"
    ).collect()
    # A narrower `$select` gives objects that the specification cannot describe, as it says itself.
    select = ["id", "class", "subClass", "type", "number", "displayName", "status", "parentId"]
    await platform.itwins.list(limit=10, select=select, filter="displayName ge 'A'").collect()
    await platform.itwins.list(limit=10, include_inactive=True, search="bridge", query_scope="MemberOfiTwin").collect()
    await platform.repositories.update(itwin_id, repository_id, display_name="A name")
    basic = BasicAuthentication(username="u", password="p")
    options = RepositoryOptions(query_parameters={"style": "dark"}, minimum_level=0, maximum_level=24)
    await platform.repositories.update(itwin_id, repository_id, authentication=basic, options=options)
    header = HeaderAuthentication(key="k", value="v")
    await platform.repositories.update(itwin_id, repository_id, authentication=header)
    await platform.repositories.update(itwin_id, repository_id, authentication=None, options=None)
    await platform.repositories.create_resource(itwin_id, repository_id, id="a", display_name="A", type="layer")
    await platform.scenes.list_objects(sandbox.scene_id, itwin_id, limit=10, correlation_id="c-1").collect()
    data = {"iTwinId": itwin_id, "repositoryId": "iModels", "id": "x", "class": "iModels"}
    await platform.scenes.create(
        itwin_id,
        display_name="A scene",
        objects=[{"kind": "RepositoryResource", "version": "1.0.0", "data": data}],
    )
    await platform.detectors.create(name="d", type="PhotoObjectDetector", description=None)
    await platform.webhooks.update(sandbox.webhook_id, active=True, event_types=["iTwins.iTwinCreated.v1"])
    await platform.webhooks.deactivate(sandbox.webhook_id)
    for rejected in (
        platform.repositories.update(itwin_id, "unknown", display_name="x"),
        platform.repositories.create_resource(itwin_id, repository_id, id="a", display_name="A"),
        platform.webhooks.deactivate("unknown"),
        platform.scenes.list_objects("6a2d2381-6c57-4332-b87a-5b7c00000000", itwin_id).collect(),
    ):
        try:
            await rejected
        except APIStatusError:
            continue
        raise SystemExit("a request was accepted that must be rejected")


async def run(binary: Path) -> tuple[int, list[str]]:
    """Runs everything and returns how many exchanges there were, and the complaints of the proxy."""
    watching = Watching()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    async with (
        # Prism rewrites Host, so links to further pages would lead past it.
        Sandbox(itwins=200, public_url=address) as sandbox,
        prism(binary, sandbox.base_url, port),
        PlatformClient(address, vendor="sandbox", token=sandbox.token, transport=watching) as platform,
    ):
        await operations(platform, sandbox)
    return watching.exchanges, watching.violations
