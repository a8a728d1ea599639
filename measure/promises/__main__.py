"""Measures every promise and prints the table: `python -m measure.promises`, under five minutes, on loopback only."""

import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from .cancellation import cancellation
from .connections import connections
from .deadlines import deadlines
from .figure import Figure, print_figures
from .fuzzing import fuzzing
from .herd import herd
from .hostile_links import hostile_links
from .lost_answers import lost_answers
from .measurement import Measurement, measured
from .outage import outage
from .secrets import secrets
from .token_calls import token_calls

#: Where time is measured: one after the other, with the machine to itself.
TIMED: tuple[Measurement, ...] = (herd, outage, deadlines, token_calls, connections)
#: Where things are counted: two at a time, the longest first.
COUNTED: tuple[Measurement, ...] = (lost_answers, fuzzing, hostile_links, cancellation, secrets)


def main() -> int:
    """Prints the table; the status is 1 where a promise does not hold."""
    began = time.monotonic()
    figures: list[Figure] = []
    for measurement in TIMED:
        figures += measured(measurement)
        print(f"{time.monotonic() - began:5.0f} s  {measurement.__name__}", file=sys.stderr)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        for measurement, result in zip(COUNTED, processes.map(measured, COUNTED), strict=True):
            figures += result
            print(f"{time.monotonic() - began:5.0f} s  {measurement.__name__}", file=sys.stderr)
    print_figures(figures, seconds=time.monotonic() - began)
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
