"""Tests of sockets, processes and servers have real time: they wait for what happens, and never for so many seconds."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

#: A test that waits longer, in seconds, hangs. Machines are slow, so it is much longer than any of them needs; it is
#: shorter than what pytest allows a test, so that the test says what it waits for.
LONGEST = 50.0


async def until(condition: Callable[[], bool]) -> None:
    """Wait until other tasks, threads or processes have made the condition true."""
    async with asyncio.timeout(LONGEST):
        while not condition():  # noqa: ASYNC110  # used where nothing sets off an event
            await asyncio.sleep(0.001)


def pass_time(monkeypatch: pytest.MonkeyPatch, *, seconds: float) -> None:
    """Put the clock of the running event loop forward, so that its timers are due; uvloop does not allow it."""
    loop = asyncio.get_running_loop()
    clock = loop.time
    monkeypatch.setattr(loop, "time", lambda: clock() + seconds)


def run_in(loop: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine function to its end, under uvloop where the loop is named so; one that hangs fails."""
    factory = None
    if loop.startswith("uvloop"):
        factory = pytest.importorskip("uvloop", reason="it does not run on Windows").new_event_loop

    async def bounded() -> None:
        async with asyncio.timeout(LONGEST):
            await work()

    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(bounded())
