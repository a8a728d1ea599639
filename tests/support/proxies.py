"""A proxy on loopback that connects every request to the same server."""

import asyncio
from typing import Self


class Proxy:
    """Accepts CONNECT requests within `async with`, and records their heads.

    Args:
        port: the port on loopback that it connects to, for any requested host.
        answer: its response to CONNECT; any status but 200 ends the connection.
    """

    def __init__(self, port: int, *, answer: bytes = b"200 Connection established") -> None:
        self._port = port
        self._answer = answer
        self._tasks: set[asyncio.Task[None]] = set()
        self.address = ""
        self.heads: list[str] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.address = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers = [writer]
        try:
            self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode("latin-1"))
            writer.write(b"HTTP/1.1 %s\r\ncontent-length: 0\r\n\r\n" % self._answer)
            if self._answer.startswith(b"200"):
                above, other = await asyncio.open_connection("127.0.0.1", self._port)
                writers.append(other)
                await asyncio.gather(_pump(reader, other), _pump(above, writer))
        except (ConnectionError, asyncio.IncompleteReadError):
            return  # one side closed its connection
        finally:
            for each in writers:
                each.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    writer.close()
