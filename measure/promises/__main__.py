"""Measure every promise and print the table: `python -m measure.promises`, on loopback only.

With the word `shared` it measures what processes share through Redis, and nothing else.
"""

import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from .cancellation import cancellation
from .connections import connections
from .deadlines import deadlines
from .figure import Figure, print_figures
from .fuzzing import fuzzing
from .herd import herd, modelled_herd
from .hostile_links import hostile_links
from .lost_responses import lost_responses
from .measurement import Measurement, measured
from .modelled_processes import modelled_processes, thousand_processes
from .outage import outage
from .secrets import secrets
from .shared_limit import shared_limit, shared_limit_of_the_system
from .token_calls import token_calls

#: Where time is measured: one after the other, with the machine to itself.
TIMED: tuple[Measurement, ...] = (herd, modelled_herd, outage, deadlines, token_calls, connections)
#: The same, for what processes share.
SHARED: tuple[Measurement, ...] = (shared_limit, shared_limit_of_the_system, modelled_processes, thousand_processes)
#: Where things are counted: two at a time, the longest first.
COUNTED: tuple[Measurement, ...] = (lost_responses, fuzzing, hostile_links, cancellation, secrets)


def main() -> int:
    """Print the table; the status is 1 where a promise does not hold."""
    began = time.monotonic()
    figures: list[Figure] = []
    is_shared_only = "shared" in sys.argv[1:]
    for measurement in SHARED if is_shared_only else (*TIMED, *SHARED):
        figures += measured(measurement)
        print(f"{time.monotonic() - began:5.0f} s  {measurement.__name__}", file=sys.stderr)
    counted = () if is_shared_only else COUNTED
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        for measurement, result in zip(counted, processes.map(measured, counted), strict=True):
            figures += result
            print(f"{time.monotonic() - began:5.0f} s  {measurement.__name__}", file=sys.stderr)
    print_figures(figures, seconds=time.monotonic() - began)
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
