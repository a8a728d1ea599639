"""Making one measurement, in a process of its own or not."""

import asyncio
import logging
from collections.abc import Callable, Coroutine

from .figure import Figure

Measurement = Callable[[], list[Figure] | Coroutine[object, object, list[Figure]]]


def measured(measurement: Measurement) -> list[Figure]:
    """Make a measurement, in an event loop of its own where it needs one."""
    # Cooldowns by the hundred are what is measured here, and nobody is to be warned of them.
    logging.getLogger("itwin_platform").addHandler(logging.NullHandler())
    result = measurement()
    return result if isinstance(result, list) else asyncio.run(result)
