"""Measure every promise and print the table: `python -m measure.promises [NAME ...]`, on loopback only.

A name is that of one measurement, such as `connections`, or `shared` for all that processes share through Redis. Each
measurement runs in a process of its own for twenty minutes at most, so that none hides what the others found.
"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from .cancellation import cancellation
from .connections import connections
from .deadlines import deadlines
from .figure import Figure, print_figures
from .fuzzing import fuzzing
from .herd import herd, modelled_herd
from .hostile_links import hostile_links
from .lost_responses import lost_responses
from .measurement import Measurement, measured_within
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


#: No measurement takes longer, in seconds, or it does not hold.
LONGEST = 1200.0


def chosen(names: list[str], measurements: tuple[Measurement, ...]) -> list[Measurement]:
    """Return the measurements of these names; all of them when there are no names."""
    shared = "shared" in names
    return [each for each in measurements if not names or each.__name__ in names or (shared and each in SHARED)]


def main() -> int:
    """Print the table; the status is 1 where a promise does not hold."""
    began, names = time.monotonic(), sys.argv[1:]
    if unknown := set(names) - {each.__name__ for each in (*TIMED, *SHARED, *COUNTED)} - {"shared"}:
        print(f"no such measurement: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    figures: list[Figure] = []
    measure = partial(measured_within, seconds=LONGEST)
    for at_once, measurements in ((1, (*TIMED, *SHARED)), (2, COUNTED)):
        named = chosen(names, measurements)
        with ThreadPoolExecutor(at_once) as threads:
            for measurement, found in zip(named, threads.map(measure, named), strict=True):
                figures += found
                print(f"{time.monotonic() - began:5.0f} s  {measurement.__name__}", file=sys.stderr)
    print_figures(figures, seconds=time.monotonic() - began)
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
