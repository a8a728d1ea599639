"""Make the calls of one client in its own process, and print the results."""

import asyncio
import json
import logging
import os
import sys
import time

from .callers import CALLERS


async def run(name: str, address: str, calls: int, most_retries: int | None, seconds: float) -> dict[str, float]:
    """Make all calls at the same time, and stop after `seconds`."""
    async with CALLERS[name](address, most_retries, calls) as call:
        began = time.monotonic()
        tasks = [asyncio.ensure_future(call()) for _ in range(calls)]
        done, unfinished = await asyncio.wait(tasks, timeout=seconds)
        elapsed = time.monotonic() - began
        succeeded = sum(task.exception() is None for task in done)
        results = {
            "succeeded": succeeded,
            "failed": len(done) - succeeded,
            "unfinished": len(unfinished),
            "seconds": elapsed,
        }
        print(json.dumps(results), flush=True)
        # Threads and tasks that still wait would keep this process running for minutes.
        os._exit(0)


if __name__ == "__main__":
    # Some clients log a traceback for each 429.
    logging.disable(logging.CRITICAL)
    client, address, calls, most_retries, seconds = sys.argv[1:]
    retries = None if most_retries == "default" else int(most_retries)
    asyncio.run(run(client, address, int(calls), retries, float(seconds)))
