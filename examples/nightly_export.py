"""Export all iTwins to a CSV file; started again after a crash, it continues, and no row is lost or doubled.

Run it with `python examples/nightly_export.py itwins.csv`, one at a time: against the platform that
ITWIN_PLATFORM_BASE_URL, ITWIN_PLATFORM_VENDOR and ITWIN_PLATFORM_TOKEN name, else against a sandbox of its own.

How it works: the rows of a page are forced to disk after those of the pages before. Then a file with the length of the
rows, and the string that continues the listing, replaces the one before it in one step. Rows beyond that length belong
to a page that was not recorded: they are cut off, and the page is read again.

Why CSV: it can be cut and added to at any row. Parquet can be read only once its end is written; convert the complete
file afterwards. The names in it are untrusted: let a spreadsheet import them as text, or it runs them as formulas.

`list_all` reads beyond the cap of 10,000 iTwins (X-Max-Return), in ranges of the time of creation, which never changes.
An iTwin that is deleted while its range is read can hide another one.
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
from pathlib import Path

from itwin_platform import ITwin, PlatformClient, PlatformError
from itwin_platform_sandbox import Sandbox

COLUMNS = ("id", "number", "displayName", "class", "subClass", "type", "status", "parentId", "createdDateTime")


@dataclass
class Progress:
    """Bytes of rows that are safe, the string that continues the listing, and whether all of it was read."""

    size: int = 0
    resume: str | None = None
    complete: bool = False


async def export(platform: PlatformClient, target: Path, *, page_size: int = 1000) -> None:
    """Write the iTwins to `target`, which appears, or is replaced, when all of them are there."""
    rows, noted = target.with_suffix(".rows"), target.with_suffix(".progress")
    progress = Progress(**json.loads(noted.read_text())) if noted.exists() else Progress()
    if progress.size:
        print(f"continuing after {progress.size} bytes")
    if not progress.complete:
        pager = platform.itwins.list_all(
            include_inactive=True, representation="full", page_size=page_size, resume=progress.resume
        )
        async for page in pager.pages():
            size = _append(rows, progress.size, page.items)
            progress = Progress(size=size, resume=page.resume, complete=page.resume is None)
            _replace(noted, json.dumps(asdict(progress)))
    noted.unlink()
    _force(target.parent)  # a note of rows that have gone to their place would be one of rows that are lost
    rows.replace(target)
    _force(target.parent)


def _append(rows: Path, size: int, itwins: Iterable[ITwin]) -> int:
    """Write rows after the first `size` bytes, whatever is there now, and return how many are safe on disk then."""
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
    """Return when a file, or the names in a folder, are on disk."""
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
    """Export, and print how many iTwins there are."""
    async with platform_or_sandbox() as platform:
        await export(platform, target)
    with target.open(newline="", encoding="utf-8") as file:
        print(f"{sum(1 for _ in csv.DictReader(file))} iTwins in {target}")


if __name__ == "__main__":
    try:
        asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "itwins.csv")))
    except PlatformError as error:
        sys.exit(f"{error}\nStart it again to continue from here.")
