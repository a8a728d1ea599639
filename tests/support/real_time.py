"""Waiting in real time, for tests of sockets, processes and servers: they wait for a condition, not for seconds."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

#: Seconds after which a waiting test counts as hanging. No test on a slow machine needs as long. The time limit of
#: pytest is longer, so that the traceback shows the wait.
LONGEST = 50.0


async def until(condition: Callable[[], bool]) -> None:
    """Wait until other tasks, threads or processes have made a condition true."""
    async with asyncio.timeout(LONGEST):
        while not condition():  # noqa: ASYNC110  # used where no event is set
            await asyncio.sleep(0.001)


def pass_time(monkeypatch: pytest.MonkeyPatch, *, seconds: float) -> None:
    """Put the clock of the running event loop forward, so that its timers are due. Not possible with uvloop."""
    loop = asyncio.get_running_loop()
    clock = loop.time
    monkeypatch.setattr(loop, "time", lambda: clock() + seconds)


def run_in(loop: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine function to its end, in uvloop if the name says so. One that hangs fails."""
    factory = None
    if loop.startswith("uvloop"):
        factory = pytest.importorskip("uvloop", reason="it does not run on Windows").new_event_loop

    async def bounded() -> None:
        async with asyncio.timeout(LONGEST):
            await work()

    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(bounded())
