"""Run Prism with `openapi.yaml` between the client and the sandbox, and instead of the sandbox.

As a proxy it lists violations of the specification in the header `sl-violations`. As a mock it responds with the
examples of the specification.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from itwin_platform import (
    APIStatusError,
    BasicAuthentication,
    HeaderAuthentication,
    PlatformClient,
    PlatformError,
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
async def prism(node: Path, *arguments: str, port: int) -> AsyncIterator[None]:
    """Run Prism on a port: `mock DOCUMENT`, or `proxy DOCUMENT UPSTREAM`."""
    binary = str(node / "node_modules" / ".bin" / "prism")
    process = await asyncio.create_subprocess_exec(
        *(binary, *arguments, "--host", "127.0.0.1", "--port", str(port)),
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


async def check_proxy(node: Path) -> bool:
    """Call every operation through the proxy and print the violations."""
    watched, port = WatchedTransport(), free_port()
    address = f"http://127.0.0.1:{port}"
    async with (
        # Prism rewrites Host, so links to further pages would bypass it.
        Sandbox(itwins=200, public_url=address) as sandbox,
        prism(node, "proxy", str(DOCUMENT), sandbox.base_url, port=port),
        PlatformClient(address, vendor="sandbox", token=sandbox.token, transport=watched) as platform,
    ):
        await operations(platform, sandbox)
    print(f"Prism as a proxy: {len(watched.statuses)} responses, {len(watched.violations)} violations")
    print(*watched.violations, sep="\n", end="")
    return bool(watched.statuses) and not watched.violations


def mocked_calls(platform: PlatformClient) -> dict[str, Callable[[], Awaitable[object]]]:
    """Return one call of each operation."""
    return {
        "list_itwins": lambda: platform.itwins.list(limit=1, page_size=1).collect(),
        "get_primary_account": platform.itwins.get_primary_account,
        "update_repository": lambda: platform.repositories.update(SOME_ID, "maps", display_name="Maps"),
        "create_repository_resource": lambda: platform.repositories.create_resource(
            SOME_ID, "maps", id="roads", display_name="Roads"
        ),
        "create_scene": lambda: platform.scenes.create(SOME_ID, display_name="Review"),
        "list_scene_objects": lambda: platform.scenes.list_objects(SOME_ID, SOME_ID, limit=1).collect(),
        "create_detector": lambda: platform.detectors.create(name="cracks", type="PhotoObjectDetector"),
        "update_webhook": lambda: platform.webhooks.update(SOME_ID, active=True),
    }


async def check_mock(node: Path) -> bool:
    """Call every operation of the mock and print a table; each must get 200 or 201 with an example that decodes."""
    watched, port = WatchedTransport(), free_port()
    clean = True
    print("Prism as a mock, called with the client of this project:")
    async with (
        prism(node, "mock", str(DOCUMENT), port=port),
        # The document writes the vendor media types with this vendor.
        PlatformClient(f"http://127.0.0.1:{port}", vendor="vendor", token="any-word", transport=watched) as platform,
    ):
        for name, call in mocked_calls(platform).items():
            try:
                result = type(await call()).__name__
            except PlatformError as error:
                result = f"{type(error).__name__}: {error}"
            good = watched.statuses[-1] in (200, 201) and "Error" not in result
            print(f"  {'ok' if good else 'WRONG':<6}{name:<32}{watched.statuses[-1]} {result}")
            clean = clean and good
    return clean


async def check(node: Path) -> bool:
    """Run both checks."""
    proxied = await check_proxy(node)
    return await check_mock(node) and proxied
