"""Run Prism with `openapi.yaml` as a proxy between the client and the sandbox.

It lists violations of the specification in the header `sl-violations`.
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

DOCUMENT = Path(__file__).resolve().parents[2] / "openapi.yaml"
SOME_ID = "6a2d2381-6c57-4332-b87a-5b7c00000000"


class WatchedTransport(httpx.AsyncHTTPTransport):
    """A transport that collects the status of each response and the violations that Prism reports."""

    def __init__(self) -> None:
        super().__init__()
        self.statuses: list[int] = []
        self.violations: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request and note violations."""
        response = await super().handle_async_request(request)
        self.statuses.append(response.status_code)
        for violation in response.headers.get_list("sl-violations"):
            self.violations.append(f"{request.method} {request.url.path} -> {response.status_code}: {violation}")
        return response


@asynccontextmanager
async def prism(node: Path, upstream: str, *, port: int) -> AsyncIterator[None]:
    """Run Prism as a proxy on a port."""
    binary = str(node / "node_modules" / ".bin" / "prism")
    process = await asyncio.create_subprocess_exec(
        *(binary, "proxy", str(DOCUMENT), upstream, "--host", "127.0.0.1", "--port", str(port)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None  # noqa: S101  # a pipe was requested
    try:
        async with asyncio.timeout(60):
            while b"listening" not in (line := await process.stdout.readline()):
                if not line:
                    raise SystemExit("Prism ended before it listened")
        drain = asyncio.create_task(process.stdout.read())
        yield
    finally:
        process.terminate()
        await process.wait()
    await drain


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


async def operations(platform: PlatformClient, sandbox: Sandbox) -> None:
    """Call every operation with different arguments, also such that the service rejects."""
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
        platform.scenes.list_objects(SOME_ID, itwin_id).collect(),
    ):
        try:
            await rejected
        except APIStatusError:
            continue
        raise SystemExit("the sandbox accepted a request that it must reject")


async def check(node: Path) -> bool:
    """Call every operation through the proxy and print the violations."""
    watched, port = WatchedTransport(), free_port()
    address = f"http://127.0.0.1:{port}"
    async with (
        # Prism rewrites Host, so links to further pages would bypass it.
        Sandbox(itwins=200, public_url=address) as sandbox,
        prism(node, sandbox.base_url, port=port),
        PlatformClient(address, vendor="sandbox", token=sandbox.token, transport=watched) as platform,
    ):
        await operations(platform, sandbox)
    print(f"Prism as a proxy: {len(watched.statuses)} responses, {len(watched.violations)} violations")
    print(*watched.violations, sep="\n", end="")
    return bool(watched.statuses) and not watched.violations
