"""Run the measurements of reliability and print a table for each: `python -m measure.promises [NAME ...]`.

A name selects one measurement, such as `connections`. Everything runs on loopback.
"""

import asyncio
import logging
import sys
import time
import traceback
from collections.abc import Callable, Coroutine

from .cancellation import cancellation
from .connections import connections
from .figure import Figure, print_figures
from .learning import learning
from .list_all_requests import list_all_requests
from .operations import operations
from .outage import outage
from .parsing import parsing
from .shared import shared

Measurement = Callable[[], list[Figure] | Coroutine[object, object, list[Figure]]]
MEASUREMENTS: dict[str, Measurement] = {
    "learning": learning,
    "outage": outage,
    "operations": operations,
    "connections": connections,
    "shared": shared,
    "list_all_requests": list_all_requests,
    "cancellation": cancellation,
    "parsing": parsing,
}


def measured(name: str, measurement: Measurement) -> list[Figure]:
    """Run a measurement, in a new event loop if it is a coroutine. An exception becomes a figure that does not hold."""
    try:
        result = measurement()
        return result if isinstance(result, list) else asyncio.run(result)
    except Exception:  # noqa: BLE001  # the other measurements must still run
        traceback.print_exc()
        return [Figure(promise=name, allowed="figures", measured="failed: see above", holds=False)]


def main() -> int:
    """Print the tables and return 1 if a promise does not hold."""
    names = sys.argv[1:] or list(MEASUREMENTS)
    if unknown := set(names) - MEASUREMENTS.keys():
        raise SystemExit(f"no such measurement: {', '.join(sorted(unknown))}; there are {', '.join(MEASUREMENTS)}")
    # The client would log hundreds of warnings about cooldowns.
    logging.getLogger("itwin_platform").addHandler(logging.NullHandler())
    holds = True
    for name in names:
        began = time.monotonic()
        figures = measured(name, MEASUREMENTS[name])
        print_figures(name, figures, seconds=time.monotonic() - began)
        holds = holds and all(figure.holds for figure in figures)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
