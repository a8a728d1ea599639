"""Make the calls of one client in its own process, and print how many succeeded and the seconds that they took."""

import asyncio
import json
import logging
import os
import sys
import time

from .callers import CALLERS


async def run(name: str, address: str, calls: int, retries: int | None, seconds: float) -> None:
    """Make all calls at the same time, stop after `seconds`, and print the results."""
    async with CALLERS[name](address, retries, calls) as call:
        began = time.monotonic()
        tasks = [asyncio.ensure_future(call()) for _ in range(calls)]
        done, _ = await asyncio.wait(tasks, timeout=seconds)
        elapsed = time.monotonic() - began
        print(json.dumps([sum(task.exception() is None for task in done), elapsed]), flush=True)
        # Waiting threads and tasks would keep this process running for minutes.
        os._exit(0)


if __name__ == "__main__":
    # Some clients log a traceback for each 429.
    logging.disable(logging.CRITICAL)
    client, address, calls, retries, seconds = sys.argv[1:]
    allowed = None if retries == "default" else int(retries)
    asyncio.run(run(client, address, int(calls), allowed, float(seconds)))
