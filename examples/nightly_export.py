"""Export all iTwins to a CSV file. Started again after a crash, it continues without a lost or a duplicate row.

Run it with `python examples/nightly_export.py itwins.csv`, one process at a time. It exports from the platform that
ITWIN_PLATFORM_BASE_URL, ITWIN_PLATFORM_VENDOR and ITWIN_PLATFORM_TOKEN name, otherwise from a sandbox that it starts.

How it works: the program appends the rows of a page and forces them to disk. Then it replaces the progress file in one
step: that file has the length of the rows and the string that continues the listing. After a crash, rows beyond that
length belong to a page that was not recorded: the program cuts them off and reads the page again.

Why CSV: a CSV file can be cut and extended at any row. A Parquet file needs its last bytes, so convert the complete CSV
file afterwards. The names in it are untrusted: import them as text, or a spreadsheet runs them as formulas.

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
    """The bytes of rows on disk, the string that continues the listing, and whether the listing is complete."""

    size: int = 0
    resume: str | None = None
    complete: bool = False


async def export(platform: PlatformClient, target: Path, *, page_size: int = 1000) -> None:
    """Write the iTwins to `target`, which is created or replaced when all rows are complete."""
    rows, progress_file = target.with_suffix(".rows"), target.with_suffix(".progress")
    progress = Progress(**json.loads(progress_file.read_text())) if progress_file.exists() else Progress()
    if progress.size:
        print(f"continuing after {progress.size} bytes")
    if not progress.complete:
        pager = platform.itwins.list_all(
            include_inactive=True, representation="full", page_size=page_size, resume=progress.resume
        )
        async for page in pager.pages():
            size = _append(rows, progress.size, page.items)
            progress = Progress(size=size, resume=page.resume, complete=page.resume is None)
            _replace(progress_file, json.dumps(asdict(progress)))
    progress_file.unlink()
    _force(target.parent)  # the next run must not find the progress file without the rows
    rows.replace(target)
    _force(target.parent)


def _append(rows: Path, size: int, itwins: Iterable[ITwin]) -> int:
    """Write rows after the first `size` bytes, truncate the file after the rows, and return its new size on disk."""
    text = io.StringIO()
    table: csv.DictWriter[str] = csv.DictWriter(text, COLUMNS, restval="", extrasaction="ignore")
    if not size:
        table.writeheader()
    table.writerows(itwin.to_dict() for itwin in itwins)
    added = text.getvalue().encode(errors="replace")  # a name may have a lone surrogate
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
    """Wait until a file, or the names in a folder, are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@asynccontextmanager
async def platform_or_sandbox() -> AsyncIterator[PlatformClient]:
    """Open a client of the platform that the environment names, otherwise of a sandbox with more than 10,000 iTwins."""
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
