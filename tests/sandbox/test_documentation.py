"""The pages about the sandbox keep what they promise; tests/slow runs their JavaScript and Java."""

import json
import re
import shutil
from pathlib import Path

import httpx
import pytest
from itwin_platform_sandbox import FAULTS, Sandbox
from itwin_platform_sandbox._server.control import ROUTES

from tests.support.other_languages import OTHER_LANGUAGES, block
from tests.support.processes import ended

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_every_fault_is_documented() -> None:
    """The table has each fault, with the words of the catalogue."""
    section = (
        (DOCS / "sandbox.md").read_text(encoding="utf-8").partition("## Make requests fail\n")[2].partition("## ")[0]
    )
    documented = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE))
    assert documented == {name: kind.does for name, kind in FAULTS.items()}


def test_every_control_request_is_documented() -> None:
    """The table names each path of the control interface."""
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
