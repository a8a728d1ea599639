"""Read all iTwins in a process of its own, which may be killed after any item.

Run as `python -m measure.promises.itwin_reader PORT FILE KILL_AT CONCURRENCY`. It continues at the last complete line
of the file, appends the id of each iTwin with the string that continues after it, and kills itself (SIGKILL) when the
file holds KILL_AT lines. With PORT alone it reads without a file and prints the memory that it took.
"""

import asyncio
import os
import re
import signal
import sys
from pathlib import Path

from itwin_platform import PlatformClient


async def read(port: str, path: Path, kill_at: int, concurrency: int) -> None:
    """Read on, item by item."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []  # noqa: ASYNC240  # nothing else runs yet
    resume = lines[-1].split()[1].decode() if lines else None
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    written = len(lines)
    async with PlatformClient(f"http://127.0.0.1:{port}", vendor="v", token="t") as platform:
        pager = platform.itwins.list_all(concurrency=concurrency, resume=resume)
        async for itwin in pager:
            os.write(file, f"{itwin.id} {pager.resume}\n".encode())
            written += 1
            if written == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)


async def stream(port: str) -> None:
    """Read all of it, keep nothing, and print how much the peak of memory grew after the first page, in MB."""
    before = count = 0
    async with PlatformClient(f"http://127.0.0.1:{port}", vendor="v", token="t") as platform:
        async for page in platform.itwins.list_all(concurrency=4).pages():
            before = before or peak()
            count += len(page.items)
    print(count, (peak() - before) / 1024)


def peak() -> int:
    """Return the peak of this process's memory in KiB; `getrusage` would count that of the parent, too."""
    found = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) if found else 0


if __name__ == "__main__":
    if len(sys.argv) == 2:
        asyncio.run(stream(sys.argv[1]))
    else:
        asyncio.run(read(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
