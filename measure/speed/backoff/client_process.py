"""Make the calls of one client in a process of its own, and print how they ended."""

import asyncio
import json
import logging
import os
import sys
import time

from .callers import CALLERS


async def run(name: str, address: str, calls: int, most_retries: int | None, seconds: float) -> dict[str, float]:
    """Make all calls at once, and give up what has not ended after so many seconds."""
    async with CALLERS[name](address, most_retries, calls) as call:
        began = time.monotonic()
        tasks = [asyncio.ensure_future(call()) for _ in range(calls)]
        done, unfinished = await asyncio.wait(tasks, timeout=seconds)
        elapsed = time.monotonic() - began
        succeeded = sum(task.exception() is None for task in done)
        ended = {
            "succeeded": succeeded,
            "failed": len(done) - succeeded,
            "unfinished": len(unfinished),
            "seconds": elapsed,
        }
        print(json.dumps(ended), flush=True)
        # Threads and tasks that still wait would run for minutes: this process was for them alone.
        os._exit(0)


if __name__ == "__main__":
    # Some of them write a traceback for each refusal.
    logging.disable(logging.CRITICAL)
    chosen, where, count, allowed, most = sys.argv[1:]
    asyncio.run(run(chosen, where, int(count), None if allowed == "default" else int(allowed), float(most)))
