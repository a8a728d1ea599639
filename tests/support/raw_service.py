"""A service that answers with the bytes that it is given, and keeps the heads of what it was sent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

ACCOUNT = b'{"iTwin": {"id": "a-1", "class": "Account"}}'


def answer(body: bytes = ACCOUNT, *, head: bytes = b"HTTP/1.1 200 OK") -> bytes:
    """Writes an answer; `head` is its status line, and fields as one likes."""
    return b"%s\r\ncontent-length: %d\r\n\r\n%s" % (head, len(body), body)


class RawService:
    """Each request gets the next answer, the last one for ever; one that is no whole answer ends its connection."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.heads: list[bytes] = []
        self.port = 0
        #: Is set when a connection has ended.
        self.ended = asyncio.Event()

    def told(self, number: int, name: bytes) -> list[bytes]:
        """The values of a header field in one request."""
        fields = (line.partition(b": ") for line in self.heads[number].split(b"\r\n")[1:])
        return [value for key, _, value in fields if key.lower() == name]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one connection."""
        try:
            whole = True
            while whole:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heads.append(head)
                length = self.told(-1, b"content-length")
                await reader.readexactly(int(length[0]) if length else 0)
                said = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                writer.write(said)
                whole = b"\r\n\r\n" in said
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            return  # the client has gone, or the test is over
        finally:
            self.ended.set()
            writer.close()


@asynccontextmanager
async def raw_service(*answers: bytes) -> AsyncIterator[RawService]:
    """Listens on loopback."""
    service = RawService(*answers)
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0)
    service.port = server.sockets[0].getsockname()[1]
    try:
        yield service
    finally:
        server.close()
