"""What the package imports, and what the pages about the sandbox promise; tests/slow runs their JavaScript and Java."""

import json
import re
import shutil
from pathlib import Path

import httpx
import itwin_platform_sandbox
import pytest
from itwin_platform_sandbox import FAULTS, Sandbox
from itwin_platform_sandbox._server.control import ROUTES

from tests.support.other_languages import OTHER_LANGUAGES, block
from tests.support.processes import PROJECT, ended

ROOT = Path(itwin_platform_sandbox.__file__).parent
LAYERS = {"_service": 0, "_faults": 1, "_server": 2}
IMPORT = re.compile(r"^\s*(?:from (\.*)([\w.]*) import|import ([\w.]+))", re.MULTILINE)


def test_imports_point_downward_and_none_to_the_client() -> None:
    """The service knows neither faults nor servers, faults know no server, and only the fixture that makes a client
    imports the client.
    """
    upward, of_client = [], set()
    for file in ROOT.rglob("*.py"):
        folder = file.relative_to(ROOT).parts
        for dots, module, name in IMPORT.findall(file.read_text(encoding="utf-8")):
            target = [*folder[: len(folder) - len(dots)], *module.split(".")] if dots else [module or name]
            if dots and LAYERS.get(target[0], 3) > LAYERS.get(folder[0], 3):
                upward.append(f"{'/'.join(folder)} imports {'.'.join(target)}")
            if target[0].partition(".")[0] in ("itwin_platform", "itwin_platform_api"):
                of_client.add(file.name)
    assert (upward, of_client) == ([], {"_pytest_async_client.py", "_pytest_client.py"})


def test_another_name_is_not_there() -> None:
    """Names that are loaded late are those of `__all__`."""
    with pytest.raises(AttributeError, match="no attribute 'Sandpit'"):
        _ = itwin_platform_sandbox.Sandpit


def test_every_fault_and_control_request_is_documented() -> None:
    """The tables have each fault, with the words of the catalogue, and each path of the control interface."""
    page = (PROJECT / "docs" / "sandbox.md").read_text(encoding="utf-8")
    section = page.partition("## Make requests fail\n")[2].partition("## ")[0]
    documented = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE))
    assert documented == {name: kind.does for name, kind in FAULTS.items()}
    paths = {path.replace(":path", "") for _, path, _ in ROUTES} - {"/", "/sandbox/faults/clear"}
    assert [path for path in sorted(paths) if f"{path}`" not in OTHER_LANGUAGES] == []


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl is installed")
def test_the_commands_for_curl_work(itwin_sandbox: Sandbox, tmp_path: Path) -> None:
    """The fault of the third command fires on the fourth, and the fifth finds it in the journal."""
    script = tmp_path / "commands.sh"
    script.write_text(block("Use curl", "sh").replace("localhost:8080", itwin_sandbox.base_url), encoding="utf-8")
    output = ended("sh", "-e", str(script), folder=tmp_path).stdout
    assert "retry-after: 3" in output
    assert '"total":1' in output


def test_the_seed_file_is_accepted(tmp_path: Path) -> None:
    """The document of the page is one that the sandbox stores."""
    file = tmp_path / "seed.json"
    file.write_text(block("Seed exactly what a test needs", "json"), encoding="utf-8")
    assert Sandbox(seed=file).repository_ids.keys() == {"ArcGIS"}


async def test_an_error_looks_as_on_the_page(http: httpx.AsyncClient) -> None:
    """The error of a wrong field is the one that the page shows."""
    response = await http.post("/sandbox/faults", json={"name": "stall", "count": "many"})
    assert response.json() == json.loads(block("Control it over HTTP", "json"))
