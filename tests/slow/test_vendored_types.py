"""A vendored copy keeps its types: it and what uses it pass the two type checkers of the field, strictly."""

from pathlib import Path

import pytest

from tests.support.processes import PROJECT, ended
from tests.support.vendored import environment

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


MYPY = ["mypy", "--strict", "--cache-dir", str(PROJECT / ".mypy_cache" / "vendored"), "--python-executable"]


@pytest.mark.parametrize(
    ("command", "path", "said"),
    [
        (MYPY, "src", "Success: no issues found"),
        (["basedpyright", "--level", "error", "--pythonpath"], "", "0 errors"),
    ],
    ids=["mypy", "pyright"],
)
def test_a_type_checker_finds_nothing(service: Path, python: str, command: list[str], path: str, said: str) -> None:
    """Nothing in the copy, the service, and a use of each kind."""
    (service / "src" / "my_service" / "use.py").write_text(USE)
    process = ended(*command, python, *path.split(), folder=service, status=None)
    assert process.stdout.startswith(said), process.stdout + process.stderr
