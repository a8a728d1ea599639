"""Exports all iTwins to a CSV file; started again after a crash it goes on where it was, and no row is lost or doubled.

Run it with `python examples/nightly_export.py itwins.csv`, one at a time: against the platform that
ITWIN_PLATFORM_BASE_URL, ITWIN_PLATFORM_VENDOR and ITWIN_PLATFORM_TOKEN name, else against a sandbox of its own.

How: the rows of a page are forced to disk behind those of the pages before. Then a file that tells how long the rows
are, and where the listing goes on, takes the place of the one before it in one step. Rows beyond that length are of a
page that nobody has noted: they are cut off, and the page is read again.

Why CSV: it can be cut and added to at any row. Parquet can be read only once its end is written; convert the whole
file afterwards. The names in it are untrusted: let a spreadsheet import them as text, or it runs them as formulas.

A listing ends at 10,000 iTwins (X-Max-Return), and `list_all`, which reads beyond, cannot be resumed. So this lists by
the time of creation, in ranges that are halved until they are short enough. That time never changes, and what is
created meanwhile is left to the next night; an iTwin deleted while its range is read can hide another one.
"""

import asyncio
import csv
import io
import json
import os
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from itwin_platform import ITwin, PlatformClient, PlatformError
from itwin_platform_sandbox import Sandbox

COLUMNS = ("id", "number", "displayName", "class", "subClass", "type", "status", "parentId", "createdDateTime")
#: The most iTwins of one range: below the cap, so that none is lost when some more come to be seen meanwhile.
MOST = 9_000


@dataclass
class Progress:
    """Bytes of rows that are safe, the ranges of time that are left, and where in the first of them to go on."""

    size: int
    ranges: list[tuple[str, str]]
    resume: str | None = None


async def export(platform: PlatformClient, target: Path, *, page_size: int = 1000, most: int = MOST) -> None:
    """Writes the iTwins to `target`, which appears, or is replaced, when all of them are there."""
    rows, noted = target.with_suffix(".rows"), target.with_suffix(".progress")
    if noted.exists():
        progress = Progress(**json.loads(noted.read_text()))
        print(f"going on behind {progress.size} bytes")
    else:
        progress = Progress(0, [("1970-01-01T00:00:00+00:00", datetime.now(UTC).isoformat())])
    while progress.ranges:
        since, until = progress.ranges[0]
        condition = f"createdDateTime ge {_literal(since)} and createdDateTime lt {_literal(until)}"
        if progress.resume is None and await _is_too_long(platform, condition, most):
            progress.ranges[:1] = _halves(since, until)
            continue
        pager = platform.itwins.list(
            filter=condition,
            order_by="createdDateTime ASC",
            include_inactive=True,
            representation="full",
            page_size=page_size,
            resume=progress.resume,
        )
        async for page in pager.pages():
            if pager.truncated:
                raise RuntimeError(f"more than {pager.max_return} iTwins came to fit {condition}: delete {noted}")
            left = progress.ranges if page.resume else progress.ranges[1:]
            progress = Progress(_append(rows, progress.size, page.items), left, page.resume)
            _replace(noted, json.dumps(asdict(progress)))
    noted.unlink()
    _force(target.parent)  # a note of rows that have gone to their place would be one of rows that are lost
    rows.replace(target)
    _force(target.parent)


async def _is_too_long(platform: PlatformClient, condition: str, most: int) -> bool:
    beyond = platform.itwins.list(filter=condition, include_inactive=True, skip=most, limit=1, page_size=1)
    return bool(await beyond.collect())


def _halves(since: str, until: str) -> list[tuple[str, str]]:
    begin, end = datetime.fromisoformat(since), datetime.fromisoformat(until)
    middle = (begin + (end - begin) / 2).isoformat()
    if middle == since:
        raise RuntimeError(f"too many iTwins were created at {since} to tell them apart by it")
    return [(since, middle), (middle, until)]


def _literal(moment: str) -> str:
    return moment.replace("+00:00", "Z")


def _append(rows: Path, size: int, itwins: Iterable[ITwin]) -> int:
    """Writes rows behind the first `size` bytes, whatever is there now, and returns how many are safe on disk then."""
    text = io.StringIO()
    table: csv.DictWriter[str] = csv.DictWriter(text, COLUMNS, restval="", extrasaction="ignore")
    if not size:
        table.writeheader()
    table.writerows(itwin.to_dict() for itwin in itwins)
    added = text.getvalue().encode()
    with rows.open("ab") as file:
        file.truncate(size)
        file.write(added)
    _force(rows)
    return size + len(added)


def _replace(path: Path, text: str) -> None:
    draft = path.with_suffix(".draft")
    draft.write_text(text)
    _force(draft)
    draft.replace(path)
    _force(path.parent)


def _force(path: Path) -> None:
    """Returns when a file, or the names in a folder, are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@asynccontextmanager
async def platform_or_sandbox() -> AsyncIterator[PlatformClient]:
    """A client of the platform that the environment names, else of a sandbox that has more than one listing shows."""
    if "ITWIN_PLATFORM_BASE_URL" in os.environ:
        async with PlatformClient() as platform:
            yield platform
        return
    async with (
        Sandbox(itwins=12_000) as sandbox,
        PlatformClient(sandbox.base_url, vendor="sandbox", token=sandbox.token) as platform,
    ):
        yield platform


async def main(target: Path) -> None:
    """Exports, and says what there is."""
    async with platform_or_sandbox() as platform:
        await export(platform, target)
    with target.open(newline="", encoding="utf-8") as file:
        print(f"{sum(1 for _ in csv.DictReader(file))} iTwins in {target}")


if __name__ == "__main__":
    try:
        asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "itwins.csv")))
    except PlatformError as error:
        sys.exit(f"{error}\nStart it again to go on from here.")
