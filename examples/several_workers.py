"""A FastAPI service with four workers that share one rate limit through Redis.

`python examples/several_workers.py` runs it on loopback against the local sandbox, with a Redis of its own, and shows
the responses on both sides. In production, set ITWIN_PLATFORM_BASE_URL, ITWIN_PLATFORM_VENDOR, ITWIN_PLATFORM_TOKEN and
REDIS_URL, and run `uvicorn --app-dir examples --workers 4 several_workers:app`.
"""

import asyncio
import os
import shutil
import socket
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from itwin_platform import BackoffPolicy, DeadlineExceededError, PlatformClient, RateLimit, RateLimitError, RedisGate
from itwin_platform_sandbox import Sandbox

WORKERS = 4
CALLS = 60


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open one gate and one client in each worker; gates of one name share one limit."""
    async with (
        RedisGate(os.environ["REDIS_URL"], name="example, app 7", rate=RateLimit(20, per=1), workers=WORKERS) as gate,
        # A user waits for each response: a call that has queued for ten seconds fails without being sent.
        PlatformClient(gate=gate, backoff=BackoffPolicy(queue_timeout=10.0, deadline=10.0)) as platform,
    ):
        app.state.platform = platform
        yield


app = FastAPI(title="Several workers", lifespan=lifespan)


@app.get("/account")
async def account(request: Request) -> dict[str, str | int]:
    """Return the id of the primary account, and the process that responds."""
    platform: PlatformClient = request.app.state.platform
    found = await platform.itwins.get_primary_account()
    return {"id": found.id, "worker": os.getpid()}


@app.get("/worker")
async def worker() -> int:
    """Return the process that responds."""
    return os.getpid()


@app.exception_handler(RateLimitError)
@app.exception_handler(DeadlineExceededError)
async def try_later(_: Request, error: Exception) -> JSONResponse:
    """Respond with 503 when the service is busy."""
    return JSONResponse({"error": type(error).__name__}, 503)


def redis_program() -> str | None:
    """Return the server of the system, otherwise the one that a package has put beside this Python."""
    path = f"{os.environ.get('PATH', '')}{os.pathsep}{Path(sys.executable).parent}"
    return shutil.which("valkey-server", path=path) or shutil.which("redis-server", path=path)


@asynccontextmanager
async def program(*arguments: str) -> AsyncIterator[None]:
    """Run a program until the block ends."""
    process = await asyncio.create_subprocess_exec(*arguments, stdout=asyncio.subprocess.DEVNULL)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):  # it may have ended by itself
            process.terminate()
        await process.wait()


async def all_workers_respond(browser: httpx.AsyncClient) -> None:
    """Wait until each worker has started."""
    seen: set[int] = set()
    while len(seen) < WORKERS:
        responses = await asyncio.gather(*(browser.get("/worker") for _ in range(10)), return_exceptions=True)
        seen |= {response.json() for response in responses if isinstance(response, httpx.Response)}


async def main() -> None:
    """Send 60 requests to four workers of a service whose platform accepts 20 a second from all of them."""
    redis_server = redis_program()
    if redis_server is None:
        print("no Redis server was found: install valkey-server or redis-server")
        return
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        redis_socket = f"{folder}/redis"
        async with Sandbox(itwins=50, rate="20/1") as sandbox:
            os.environ["ITWIN_PLATFORM_BASE_URL"] = sandbox.base_url
            os.environ["ITWIN_PLATFORM_VENDOR"] = "sandbox"
            os.environ["ITWIN_PLATFORM_TOKEN"] = sandbox.token
            os.environ["REDIS_URL"] = f"unix://{redis_socket}"
            listening.close()
            here = str(Path(__file__).parent)
            uvicorn = (
                sys.executable,
                "-m",
                "uvicorn",
                "--app-dir",
                here,
                "--port",
                str(port),
                "--workers",
                str(WORKERS),
            )
            async with (
                program(redis_server, "--port", "0", "--unixsocket", redis_socket, "--save", "", "--dir", folder),
                program(*uvicorn, "--log-level", "warning", "several_workers:app"),
                # A new connection for each request, so that all workers get some.
                httpx.AsyncClient(
                    base_url=f"http://127.0.0.1:{port}",
                    timeout=30.0,
                    trust_env=False,  # httpx would ask a proxy of the environment for loopback addresses too
                    limits=httpx.Limits(max_keepalive_connections=0),
                ) as browser,
            ):
                await all_workers_respond(browser)
                responses = await asyncio.gather(*(browser.get("/account") for _ in range(CALLS)))
            workers = {response.json()["worker"] for response in responses if response.is_success}
            print("the browser saw", dict(Counter(response.status_code for response in responses)))
            print("workers that responded:", len(workers))
            print("the platform saw", dict(Counter(request.status for request in sandbox.requests)))


if __name__ == "__main__":
    asyncio.run(main())
