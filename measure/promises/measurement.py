"""Run one measurement in this process, or in a new process with a timeout."""

import asyncio
import logging
import multiprocessing
import traceback
from collections.abc import Callable, Coroutine
from multiprocessing.connection import Connection

from .figure import Figure

Measurement = Callable[[], list[Figure] | Coroutine[object, object, list[Figure]]]


def measured(measurement: Measurement) -> list[Figure]:
    """Run a measurement, in a new event loop if it is a coroutine."""
    # Measurements cause hundreds of cooldowns, and the client would warn of each.
    logging.getLogger("itwin_platform").addHandler(logging.NullHandler())
    result = measurement()
    return result if isinstance(result, list) else asyncio.run(result)


def measured_within(measurement: Measurement, *, seconds: float) -> list[Figure]:
    """Run a measurement in a new process; a failure or a timeout becomes a figure that does not hold."""
    spawning = multiprocessing.get_context("spawn")
    ours, theirs = spawning.Pipe(duplex=False)
    process = spawning.Process(target=_send, args=(measurement, theirs))
    process.start()
    theirs.close()
    try:
        if not ours.poll(seconds):
            return [_unfinished(measurement, f"not finished after {seconds:g} s")]
        figures: list[Figure] = ours.recv()
        return figures or [_unfinished(measurement, "no figures")]
    except EOFError:
        return [_unfinished(measurement, "failed: see above")]
    finally:
        ours.close()
        process.terminate()
        process.join()


def _send(measurement: Measurement, connection: "Connection[list[Figure], object]") -> None:
    try:
        connection.send(measured(measurement))
    except Exception:  # noqa: BLE001  # the other measurements go on
        traceback.print_exc()


def _unfinished(measurement: Measurement, reason: str) -> Figure:
    return Figure(promise=measurement.__name__, allowed="figures", measured=reason, holds=False)
