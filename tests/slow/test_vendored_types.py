"""A vendored copy keeps its types: it and what uses it pass the two type checkers of the field, strictly."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.vendored import PROJECT, environment

INSTALLED = ("httpx", "httptools", "attrs", "msgspec", "python-dateutil", "types-python-dateutil", "fastapi", "uvicorn")

USE = '''"""Says which types an editor shows."""

from typing import assert_type

from my_service._vendor.itwin import ITwin, Pager, PlatformClient, Repository
from my_service._vendor.itwin.generated.api.itwins import list_itwins
from my_service._vendor.itwin.generated.models import ITwinsResponse


async def use(platform: PlatformClient) -> None:
    """Names the type of each value."""
    assert_type(platform.itwins.list(), Pager[ITwin])
    assert_type((await platform.itwins.list().collect())[0].display_name, str)
    assert_type(await platform.repositories.update("", "", uri=""), Repository)
    assert_type(await list_itwins.asyncio(client=platform.generated), ITwinsResponse)
    assert_type((await platform.itwins.get_primary_account()).type_, str | None)
'''


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The Python of an environment with what the service needs and the types of dateutil, and nothing else."""
    return str(environment(tmp_path_factory.mktemp("types") / "environment", INSTALLED))


def check(service: Path, *command: str) -> str:
    """Run a type checker in the service and return what it says."""
    (service / "src" / "my_service" / "use.py").write_text(USE)
    run = [str(Path(sys.executable).with_name(command[0])), *command[1:]]
    ended = subprocess.run(run, cwd=service, capture_output=True, text=True, check=False)  # noqa: S603 - our own tools
    return ended.stdout + ended.stderr


def test_mypy_strict_passes(service: Path, python: str) -> None:
    """mypy --strict finds nothing in the copy, the service, and a use of each kind."""
    cache = str(PROJECT / ".mypy_cache" / "vendored")
    said = check(service, "mypy", "--strict", "--cache-dir", cache, "--python-executable", python, "src")
    assert said.startswith("Success: no issues found"), said


def test_pyright_passes(service: Path, python: str) -> None:
    """pyright finds nothing either."""
    said = check(service, "basedpyright", "--level", "error", "--pythonpath", python)
    assert said.startswith("0 errors"), said
