"""An HTTP server of its own on the loopback interface, which counts what it sees and answers as it is told."""

import asyncio
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from socket import SO_LINGER, SOL_SOCKET
from types import MappingProxyType, TracebackType
from typing import Literal, Self

import httpx

from .plain_transport import plain_transport


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request as the server saw it, and when its first byte was there, in the event loop's time."""

    at: float
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the server does with a request, after `delay` seconds: a whole answer, or one that is lost.

    `reset` closes the connection without a byte, `cut` within the body, `hang` never answers.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    body: bytes = b"{}"
    delay: float = 0.0
    fault: Literal["reset", "cut", "hang"] | None = None


class CountingServer:
    """Listens from `async with` to its end; `requests` holds all that came."""

    def __init__(self, answer: Callable[[Received], Answer]) -> None:
        self._answer = answer
        self._tasks: set[asyncio.Task[None]] = set()
        self.requests: list[Received] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=1024)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def transport(self) -> httpx.AsyncBaseTransport:
        """What sends to it."""
        return plain_transport()

    @property
    def open_connections(self) -> int:
        """Connections that have not ended."""
        return len(self._tasks)

    async def quiet(self) -> None:
        """Waits until every connection has ended."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (received := await _receive(reader)) is not None:
                self.requests.append(received)
                if not await _deliver(self._answer(received), writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            # The client went away; what it had sent is counted.
            return
        finally:
            writer.close()


async def _receive(reader: asyncio.StreamReader) -> Received | None:
    first = await reader.read(1)
    if not first:
        return None
    at = asyncio.get_running_loop().time()
    head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *fields = head[:-4].split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in fields)}
    method, path, _ = line.split(" ")
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(at=at, method=method, path=path, headers=headers, body=body)


async def _deliver(answer: Answer, writer: asyncio.StreamWriter) -> bool:
    if answer.delay:
        await asyncio.sleep(answer.delay)
    if answer.fault == "hang":
        await asyncio.Event().wait()
    if answer.fault == "reset":
        writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        return False
    head = [f"HTTP/1.1 {answer.status} {_phrase(answer.status)}", f"content-length: {len(answer.body)}"]
    head.extend(f"{name}: {value}" for name, value in answer.headers.items())
    body = answer.body[: len(answer.body) // 2] if answer.fault == "cut" else answer.body
    writer.write("\r\n".join([*head, "", ""]).encode() + body)
    await writer.drain()
    return answer.fault is None


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in {each.value for each in HTTPStatus} else "Unknown"
