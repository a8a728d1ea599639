"""The nightly export is the same file whether it was interrupted or not, wherever it was interrupted."""

import contextlib
import csv
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from itwin_platform import PlatformClient
from itwin_platform_sandbox import Sandbox

from examples.nightly_export import export

PAGE_SIZE = 12
pytestmark = pytest.mark.itwin_sandbox(itwins=30)


class CrashError(BaseException):
    """Ends the program as a power cut does: nothing catches it."""


class Disk:
    """Counts what is done to the disk, and crashes before step number `at`; a string that is written gets half-way."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps = 0
        self.at: int | None = None
        self.names: list[str] = []
        for owner, name in ((os, "fsync"), (Path, "replace"), (Path, "unlink"), (Path, "write_text"), (Path, "open")):
            monkeypatch.setattr(owner, name, self._counted(name, getattr(owner, name)))

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **keywords: Any) -> Any:
            # Path.write_text opens its file by Path.open: what is counted is what the export does.
            if name == "open" and arguments[1:2] != ("ab",):
                return real(*arguments, **keywords)
            self.steps += 1
            self.names.append(name)
            if self.steps == self.at:
                if name == "write_text":
                    real(arguments[0], arguments[1][: len(arguments[1]) // 2])
                if name == "open":
                    with real(*arguments) as file:
                        file.write(b"half a row,")
                raise CrashError
            return real(*arguments, **keywords)

        return counted

    @contextlib.contextmanager
    def crash(self, at: int) -> Any:
        """Crashes before step `at` from now on, and is gone afterwards."""
        self.steps, self.at = 0, at
        try:
            yield
        finally:
            self.at = None


def content(target: Path) -> bytes:
    """The bytes of an export; nothing else is left in its folder."""
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    return target.read_bytes()


async def exported(platform: PlatformClient, target: Path) -> bytes:
    """Run a complete export in small steps, in its own folder."""
    target.parent.mkdir(exist_ok=True)
    await export(platform, target, page_size=PAGE_SIZE)
    return content(target)


async def test_each_itwin_is_exported_once(itwin_platform_client: PlatformClient, tmp_path: Path) -> None:
    """What is exported in several ranges and pages is what one listing holds, inactive iTwins included."""
    text = (await exported(itwin_platform_client, tmp_path / "itwins.csv")).decode()
    everything = await itwin_platform_client.itwins.list(include_inactive=True).collect()
    assert len(everything) > 2 * PAGE_SIZE
    assert sorted(row["id"] for row in csv.DictReader(io.StringIO(text))) == sorted(itwin.id for itwin in everything)


async def test_a_crash_at_any_step_neither_loses_nor_doubles(
    itwin_platform_client: PlatformClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it crashes, yesterday's file stays until today's is complete, and the next run gives the same bytes."""
    disk = Disk(monkeypatch)
    complete = await exported(itwin_platform_client, tmp_path / "whole" / "itwins.csv")
    steps = disk.steps
    assert steps > 6 * len(complete.splitlines()) / PAGE_SIZE
    for at in range(1, steps + 1):
        target = tmp_path / str(at) / "itwins.csv"
        target.parent.mkdir()
        target.write_bytes(b"yesterday")
        with disk.crash(at), pytest.raises(CrashError):
            await exported(itwin_platform_client, target)
        assert target.read_bytes() == (complete if at == steps else b"yesterday")
        assert await exported(itwin_platform_client, target) == complete, f"crash before step {at}"


async def test_what_is_noted_is_on_disk(
    itwin_platform_client: PlatformClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut finds no note of rows that are not forced to disk, and no half-written note in its place."""
    disk = Disk(monkeypatch)
    await exported(itwin_platform_client, tmp_path / "itwins.csv")
    page = ["open", "fsync", "write_text", "fsync", "replace", "fsync"]
    assert disk.names == [*(page * disk.names.count("open")), "unlink", "fsync", "replace", "fsync"]


async def test_an_export_resumes(
    itwin_sandbox: Sandbox, itwin_platform_client: PlatformClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Crashing again and again after each page, it still gets to the end, and reads no page from the beginning."""
    disk, target, crashes = Disk(monkeypatch), tmp_path / "new" / "itwins.csv", 0
    complete = await exported(itwin_platform_client, tmp_path / "whole" / "itwins.csv")
    pages = sum("$orderby" in request.query for request in itwin_sandbox.requests)
    itwin_sandbox.requests.clear()
    while not target.exists():
        crashes += 1
        with disk.crash(at=7), contextlib.suppress(CrashError):
            await exported(itwin_platform_client, target)
    assert target.read_bytes() == complete
    assert crashes >= pages
    assert sum("$orderby" in request.query for request in itwin_sandbox.requests) <= 2 * pages
