"""Measures what the sandbox promises of its speed, in about a minute: `python -m measure.speed.sandbox`.

Listing 50,000 scene objects, a create and a reset beside them, validating 100 scene objects, what others notice of slow
senders, and the memory of large bodies in flight.
"""

import asyncio
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx
from itwin_platform_sandbox import Sandbox
from itwin_platform_sandbox._service.document import DOCUMENTED
from itwin_platform_sandbox._service.messages import Body

OBJECTS = 50_000
HEADERS = {"Authorization": "Bearer measured"}
UUID = "dc90a5f3-2f61-4c87-9f35-1a4b7c6d8e90"
VECTOR = {"x": 1.5, "y": -2.5, "z": 3.25}
VIEW = {
    **dict.fromkeys(("position", "direction", "up"), VECTOR),
    **dict.fromkeys(("aspectRatio", "near", "far", "fov", "width"), 1.5),
    "isOrthographic": False,
    "ecefTransform": [1.0] * 16,
}
RESOURCE = {"iTwinId": UUID, "repositoryId": "imodels", "id": "model", "class": "iModels"}


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure beside its bar."""

    name: str
    value: float
    bar: float
    unit: str


async def median_ms(action: Callable[[], Awaitable[object]], rounds: int) -> float:
    """Return the median time of an action in milliseconds."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        await action()
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1000


async def large_scene() -> list[Figure]:
    """Read a scene of 50,000 objects page by page, create scenes beside it, and reset."""
    async with (
        Sandbox(itwins=1, objects=OBJECTS) as large,
        Sandbox(itwins=1, objects=0) as empty,
        httpx.AsyncClient(headers=HEADERS, timeout=60) as http,
    ):
        # Processor time of the sandbox and its client together, which other programs of the machine do not change.
        started, seen = time.process_time(), 0
        url = f"{large.base_url}/scenes/{large.scene_id}/objects?iTwinId={large.itwin_id}"
        while url:
            page = (await http.get(url)).json()
            seen += len(page["objects"])
            url = page["_links"].get("next", {}).get("href", "")
        listed = time.process_time() - started
        assert seen == OBJECTS
        created = []
        for sandbox in (large, empty):
            address = f"{sandbox.base_url}/scenes/?iTwinId={sandbox.itwin_id}"
            created.append(await median_ms(lambda address=address: http.post(address, json={"displayName": "s"}), 200))  # type: ignore[misc] # a lambda with a default
        started = time.perf_counter()
        large.reset()
        reset = time.perf_counter() - started
    return [
        Figure("500 pages of 50,000 objects, processor time with the client", listed, 3, "s"),
        Figure("a create beside 50,000 objects, more than in an empty sandbox", created[0] - created[1], 3, "ms"),
        Figure("a reset of 50,000 objects", reset, 0.3, "s"),
    ]


def validation() -> Figure:
    """Validate 100 scene objects, half of them views."""
    kinds = (("View3d", VIEW), ("RepositoryResource", RESOURCE))
    objects = [{"kind": kind, "version": "1.0.0", "data": data, "visible": True} for kind, data in kinds * 50]
    body = Body(json.dumps({"displayName": "s", "sceneData": {"objects": objects}}).encode())
    times = []
    for _ in range(100):
        started = time.perf_counter()
        _, details = DOCUMENTED["create_scene"].read_body(body, "application/json")
        times.append(time.perf_counter() - started)
        assert details == []
    return Figure("validating 100 scene objects", statistics.median(times) * 1000, 2, "ms")


async def beside_slow_senders() -> Figure:
    """Send requests while 20 clients send a body byte by byte."""
    async with Sandbox(itwins=50, objects=0) as sandbox, httpx.AsyncClient(headers=HEADERS) as http:
        port = int(sandbox.base_url.rpartition(":")[2])

        async def send_slowly() -> None:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"POST /scenes/ HTTP/1.1\r\nHost: a.localhost\r\nContent-Length: 4000000\r\n\r\n")
            while True:
                writer.write(b" ")
                await asyncio.sleep(0.001)

        slow = [asyncio.create_task(send_slowly()) for _ in range(20)]
        await asyncio.sleep(0.1)
        value = await median_ms(lambda: http.get(f"{sandbox.base_url}/itwins/?$top=10"), 300)
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
    return Figure("the median of others beside 20 slow senders", value, 20, "ms")


HOLD = """
import asyncio, sys
async def hold(port):
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"POST /scenes/ HTTP/1.1\\r\\nHost: a.localhost\\r\\nContent-Length: 8000001\\r\\n\\r\\n")
    writer.write(b" " * 8_000_000)
    await asyncio.sleep(4)
    writer.close()
async def main():
    await asyncio.gather(*(hold(int(sys.argv[1])) for _ in range(100)))
asyncio.run(main())
"""


async def large_bodies() -> Figure:
    """Let another process hold 100 unfinished bodies of 8 MB, and return by how much this process grew."""
    async with Sandbox(itwins=1, objects=0) as sandbox:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        command = [sys.executable, "-c", HOLD, sandbox.base_url.rpartition(":")[2]]
        process = await asyncio.create_subprocess_exec(*command, stderr=subprocess.DEVNULL)
        await process.wait()
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return Figure("memory of 100 unfinished bodies of 8 MB", grown, 150, "MiB")


async def main() -> int:
    """Print the figures, and return 1 if one is above its bar."""
    figures = [await large_bodies(), *await large_scene(), validation(), await beside_slow_senders()]
    for figure in figures:
        missed = "" if figure.value <= figure.bar else "  MISSED"
        print(f"{figure.name:<65}{figure.value:9.2f} {figure.unit:<4}bar {figure.bar:g}{missed}")
    return int(any(figure.value > figure.bar for figure in figures))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
