"""Check the sandbox: `python -m measure.conformance [NAME]`.

`specification` compares its responses with openapi.yaml, and `quick` does the same with a few hundred cases.
`itwins_client` runs another team's client against it. Without a name, all checks run.
"""

import argparse
import asyncio
import sys

from . import itwins_client, specification

#: The cases of each operation and run. A full run sends more than 10,000 cases.
EXAMPLES, QUICK_EXAMPLES = 650, 10


def main() -> bool:
    """Run the checks one after the other, and return whether all pass."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="?", choices=("quick", "specification", "itwins_client"), help="the check to run")
    only = parser.parse_args().only
    passes = True
    if only != "itwins_client":
        passes = specification.check(examples=QUICK_EXAMPLES if only == "quick" else EXAMPLES)
    if only in (None, "itwins_client"):
        passes = asyncio.run(itwins_client.check()) and passes
    return passes


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
