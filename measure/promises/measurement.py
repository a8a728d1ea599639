"""Making one measurement: at once, or in a process of its own that is ended when it takes too long."""

import asyncio
import logging
import multiprocessing
import traceback
from collections.abc import Callable, Coroutine
from multiprocessing.connection import Connection

from .figure import Figure

Measurement = Callable[[], list[Figure] | Coroutine[object, object, list[Figure]]]


def measured(measurement: Measurement) -> list[Figure]:
    """Make a measurement, in an event loop of its own where it needs one."""
    # Cooldowns by the hundred are what is measured here, and nobody is to be warned of them.
    logging.getLogger("itwin_platform").addHandler(logging.NullHandler())
    result = measurement()
    return result if isinstance(result, list) else asyncio.run(result)


def measured_within(measurement: Measurement, *, seconds: float) -> list[Figure]:
    """Make a measurement in a process of its own; one that fails or takes longer is a figure that does not hold."""
    spawning = multiprocessing.get_context("spawn")
    ours, theirs = spawning.Pipe(duplex=False)
    process = spawning.Process(target=_send, args=(measurement, theirs))
    process.start()
    theirs.close()
    try:
        if not ours.poll(seconds):
            return [_unfinished(measurement, f"not ended after {seconds:g} s")]
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
