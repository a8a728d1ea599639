"""A service with any number of iTwins, in a process of its own, which counts what it is asked for.

Run as `python -m measure.promises.itwin_server COUNT`. It prints its port, serves until its input closes, and then
prints how many requests were for pages, how many pages it returned more than once, and how many requests were for a
time only.
"""

import asyncio
import json
import re
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlsplit

CAP = 10_000
_BOUND = re.compile(r"createdDateTime (ge|lt) (\S+)")
_START = datetime(2020, 1, 1, tzinfo=UTC)
_STEP = timedelta(minutes=7)


class ITwins:
    """So many iTwins, created one after the other."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.pages: Counter[int] = Counter()
        self.looks = 0

    def respond(self, target: str) -> bytes:
        """Return the body of a page, or of the time of one iTwin."""
        query = dict(parse_qsl(urlsplit(target).query))
        skip, top, condition = int(query.get("$skip", "0")), int(query["$top"]), query.get("$filter", "")
        since, until = 0, self._count
        for comparison, text in _BOUND.findall(condition):
            place = -((_START - datetime.fromisoformat(text)) // _STEP)
            since, until = (place, until) if comparison == "ge" else (since, place)
        if "null" in condition:
            until = since
        end = min(until, since + CAP)
        found = range(min(since + skip, end), min(since + skip + top, end))
        if "$select" in query:
            self.looks += 1
            return json.dumps({"iTwins": [{"createdDateTime": _time(number)} for number in found]}).encode()
        self.pages[since + skip if found else -1] += 1
        links = {"next": {"href": f"?$skip={skip + top}&$top={top}"}} if found and found[-1] + 1 < end else {}
        return json.dumps({"iTwins": [_itwin(number) for number in found], "_links": links}).encode()


def _time(number: int) -> str:
    return (_START + number * _STEP).isoformat().replace("+00:00", "Z")


def _itwin(number: int) -> dict[str, object]:
    return {
        "id": f"6a2d2381-6c57-4332-b87a-{number:012x}",
        "class": "Endeavor",
        "subClass": "Project",
        "type": None,
        "number": f"P-{number}/4711",
        "displayName": f"Straße Zürich-Nord, Abschnitt {number}",
        "status": "Active",
    }


async def _serve(itwins: ITwins, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            body = itwins.respond(head.split(" ", 2)[1])
            writer.write(b"HTTP/1.1 200 OK\r\nx-max-return: 10000\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main(count: int) -> None:
    """Serve until the input closes."""
    itwins = ITwins(count)
    server = await asyncio.start_server(lambda *streams: _serve(itwins, *streams), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    again = sum(times - 1 for page, times in itwins.pages.items() if page >= 0)
    print(json.dumps([itwins.pages.total(), again, itwins.looks]), flush=True)
    server.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
