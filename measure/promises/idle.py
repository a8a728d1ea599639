"""POSTs on connections that were idle for nearly as long as their server keeps one, at a round trip of 100 ms.

A request that is on its way when the server closes the connection is lost, and nobody knows whether it had an effect.
"""

import asyncio
import contextlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from itwin_platform import BackoffPolicy, NotSentError, OutcomeUnknownError, PlatformClient, PlatformError

from .figure import Figure, exactly, not_measured

#: Half of the round trip, in seconds.
DELAY = 0.05
POSTS = 300
#: How long the connections are idle, in seconds: around the five of the servers, and around the time of the client.
PAUSES = {"4.85 to 5 s": (4.85, 5.0), "3.85 to 4.05 s": (3.85, 4.05)}

_UVICORN = """
import sys, uvicorn
async def app(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 404, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
"""
_NODE = """
require("http").createServer((request, response) => {
  request.on("data", () => {}).on("end", () => { response.statusCode = 404; response.end() })
}).listen(Number(process.argv[1]), "127.0.0.1")
"""
_APACHE = """
ServerName localhost
ServerRoot {folder}
PidFile {folder}/pid
ErrorLog {folder}/error
Mutex pthread
DocumentRoot {folder}
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
MaxRequestWorkers 400
Listen 127.0.0.1:{port}
"""
_NGINX = """
daemon off; pid {folder}/pid; error_log {folder}/error;
events {{ worker_connections 1024; }}
http {{ access_log off; keepalive_timeout 5; server {{ listen 127.0.0.1:{port}; return 404; }} }}
"""


def _configured(text: str, command: Sequence[str]) -> Callable[[Path, int], list[str]]:
    def arguments(folder: Path, port: int) -> list[str]:
        configuration = folder / "configuration"
        configuration.write_text(text.format(folder=folder, port=port))
        return [part.format(file=configuration) for part in command]

    return arguments


#: The program of each server, and its arguments for a folder and a port. All close an idle connection after 5 s.
SERVERS: dict[str, tuple[str, Callable[[Path, int], list[str]]]] = {
    "uvicorn": (sys.executable, lambda _, port: ["-c", _UVICORN, str(port)]),
    "node": ("node", lambda _, port: ["-e", _NODE, str(port)]),
    "Apache": ("apache2", _configured(_APACHE, ["-f", "{file}", "-D", "FOREGROUND"])),
    "nginx": ("nginx", _configured(_NGINX, ["-c", "{file}"])),
}


async def idle() -> list[Figure]:
    """Count the POSTs without a response on each server that this machine has."""
    figures: list[Figure] = []
    for name, (program, arguments) in SERVERS.items():
        if (found := shutil.which(program)) is None:
            figures.append(not_measured(f"POSTs on idle connections to {name}", f"{program} is not in the path"))
            continue
        with tempfile.TemporaryDirectory() as folder:
            async with _running(found, arguments, Path(folder)) as port, _far_away(port) as address:
                for words, pause in PAUSES.items():
                    lost = await _lost(address, pause)
                    figures.append(exactly(f"{name}: POSTs of {POSTS} lost after {words} of idleness", lost, 0))
    return figures


async def _lost(address: str, pause: tuple[float, float]) -> int:
    chance = random.Random(7)
    outcomes = await asyncio.gather(*(_is_lost(address, chance.uniform(*pause)) for _ in range(POSTS)))
    return sum(outcomes)


async def _is_lost(address: str, seconds: float) -> bool:
    policy = BackoffPolicy(max_attempts=1)
    async with PlatformClient(address, vendor="v", token="t", backoff=policy) as platform:
        for wait in (0.0, seconds):
            await asyncio.sleep(wait)
            try:
                await platform.detectors.create(name="d", type="PhotoObjectDetector")
            except (OutcomeUnknownError, NotSentError):
                return True
            except PlatformError:
                continue
    return False


@asynccontextmanager
async def _running(program: str, arguments: Callable[[Path, int], list[str]], folder: Path) -> AsyncIterator[int]:
    """Run a server on a free port of loopback."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([program, *arguments(folder, port)], stderr=subprocess.DEVNULL)  # noqa: ASYNC220, S603  # ours
    try:
        async with asyncio.timeout(30.0):
            while True:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                await asyncio.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait()


@asynccontextmanager
async def _far_away(port: int) -> AsyncIterator[str]:
    """Put a network with a round trip of 100 ms before a port: bytes and ends take their time, and stay in order."""
    loop, tasks = asyncio.get_running_loop(), set[asyncio.Task[None]]()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65_536):
                loop.call_later(DELAY, writer.write, data)
        loop.call_later(DELAY, writer.close)

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        for pair in ((reader, inner_writer), (inner_reader, writer)):
            task = asyncio.create_task(carry(*pair))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, backlog=1024)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        for task in tasks:
            task.cancel()
