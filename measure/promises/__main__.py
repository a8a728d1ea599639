"""Measure every promise and print the table: `python -m measure.promises [NAME ...]`, on loopback only.

A name selects one measurement, such as `connections`, or `shared` all measurements of a limit that processes share.
Each measurement runs in its own process for twenty minutes at most, so that a failure hides no other figure.
"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from .cancellation import cancellation
from .connections import connections
from .deadlines import deadlines
from .figure import Figure, print_figures
from .foreign_responses import foreign_responses
from .fuzzing import fuzzing
from .herd import herd, modelled_herd
from .hostile_links import hostile_links
from .idle import idle
from .learning import learning
from .list_all_requests import list_all_requests
from .lost_responses import lost_responses
from .lost_state import lost_state
from .measurement import Measurement, measured_within
from .modelled_processes import modelled_processes, thousand_processes
from .mutated_lists import mutated_lists
from .operations import operations
from .outage import outage
from .parsing import parsing
from .secrets import secrets
from .shared_limit import shared_limit, shared_limit_of_other_servers
from .token_calls import token_calls

#: Measurements of time, which run one after the other with the machine to themselves.
TIMED: tuple[Measurement, ...] = (
    herd,
    modelled_herd,
    learning,
    outage,
    operations,
    deadlines,
    token_calls,
    connections,
    idle,
)
#: The same for a limit that processes share.
SHARED: tuple[Measurement, ...] = (
    shared_limit,
    shared_limit_of_other_servers,
    lost_state,
    modelled_processes,
    thousand_processes,
)
#: Measurements that count, which run two at a time, the longest first.
COUNTED: tuple[Measurement, ...] = (
    lost_responses,
    fuzzing,
    parsing,
    foreign_responses,
    mutated_lists,
    list_all_requests,
    hostile_links,
    cancellation,
    secrets,
)

#: Seconds after which a measurement does not hold.
TIMEOUT = 1200.0


def selected(names: list[str], measurements: tuple[Measurement, ...]) -> list[Measurement]:
    """Return the measurements with these names, or all measurements without names."""
    shared = "shared" in names
    return [each for each in measurements if not names or each.__name__ in names or (shared and each in SHARED)]


def main() -> int:
    """Print the table and return 1 if a promise does not hold."""
    began, names = time.monotonic(), sys.argv[1:]
    if unknown := set(names) - {each.__name__ for each in (*TIMED, *SHARED, *COUNTED)} - {"shared"}:
        known = ", ".join(["shared", *(each.__name__ for each in (*TIMED, *SHARED, *COUNTED))])
        print(f"no such measurement: {', '.join(sorted(unknown))}; there are {known}", file=sys.stderr)
        return 2
    figures: list[Figure] = []
    measure = partial(measured_within, seconds=TIMEOUT)
    for parallel, measurements in ((1, (*TIMED, *SHARED)), (2, COUNTED)):
        chosen = selected(names, measurements)
        with ThreadPoolExecutor(parallel) as threads:
            for measurement, found in zip(chosen, threads.map(measure, chosen), strict=True):
                figures += found
                print(f"{time.monotonic() - began:5.0f} s  {measurement.__name__}", file=sys.stderr)
    print_figures(figures, seconds=time.monotonic() - began)
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
