"""Run mutation tests of the wrapper and the transport: `make mutants`.

Each mutant is one small change. The date is the seed of a sample of mutants from each folder, so that each day tries
others. A mutant runs only the tests that reach its line, the most specific first. The report lists the score of each
folder and each surviving mutant. The exit status is 1 if the tests of a folder kill less than 95 % of its mutants.
"""

import argparse
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from tools.mutation.candidates import Candidate, candidates, measure_coverage, sampled
from tools.mutation.mutants import Mutant
from tools.mutation.runs import FIRST, outcomes

#: Lowest share of killed mutants in each folder.
LEAST = 0.95


def main() -> None:
    """Run the sample and print the table."""
    parser = argparse.ArgumentParser(prog="make mutants")
    parser.add_argument("--each", type=int, default=60, help="mutants of each folder")
    parser.add_argument(
        "--seed", default=datetime.now(UTC).date().isoformat(), help="seed of the sample, the date by default"
    )
    parser.add_argument("--only", default="", help="one folder, such as transport/gates")
    chosen = parser.parse_args()
    measure_coverage()
    sample = list(sampled(candidates(), each=chosen.each, seed=chosen.seed, only=chosen.only))
    check_tests(sample)
    ended: list[tuple[Candidate, str]] = []
    for candidate, (how, test) in zip(sample, outcomes(sample, processes=os.cpu_count() or 1), strict=True):
        ended.append((candidate, how))
        print(f"{len(ended)} of {len(sample)}: {how}, {test}", file=sys.stderr, flush=True)
    raise SystemExit(report(ended, seed=chosen.seed))


def check_tests(sample: Sequence[Candidate]) -> None:
    """Run the tests without a mutant, and exit if one fails: its mutants would count as killed."""
    tests = sorted({test for candidate in sample for test in candidate.tests[:FIRST]})
    mutant = Mutant(line=1, start=0, end=0, before="", text="")
    ((how, test),) = outcomes([replace(sample[0], mutant=mutant, tests=tests)], processes=1)
    if how != "survives":
        raise SystemExit(f"tests fail without a change: {test}")


def report(ended: Sequence[tuple[Candidate, str]], *, seed: str) -> int:
    """Print the table and the survivors; return 1 if a folder has too low a score."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for candidate, how in ended:
        counts[candidate.folder][how] += 1
    print(f"{'folder':24}{'tried':>7}{'killed':>8}{'hangs':>7}{'survive':>9}{'share':>8}")
    too_few = 0
    for folder, count in sorted(counts.items()):
        share = (count["killed"] + count["hangs"]) / count.total()
        too_few += share < LEAST
        print(
            f"{folder:24}{count.total():>7}{count['killed']:>8}{count['hangs']:>7}{count['survives']:>9}{share:>8.0%}"
        )
    print(f"The sample is that of {seed}. Survivors and hanging tests:")
    for each, how in ended:
        if how != "killed":
            print(f"  {how}: {each.name}  ({len(each.tests)} tests)")
    return int(too_few > 0)


if __name__ == "__main__":
    main()
