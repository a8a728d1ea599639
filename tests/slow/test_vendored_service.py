"""The example service, vendored into and started as it would be, and called over HTTP."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

ADDRESS = re.compile(r"Uvicorn running on (http://127\.0\.0\.1:\d+)")


@pytest.fixture
def running(service: Path, itwin_sandbox: Sandbox) -> Iterator[httpx.Client]:
    """A client of the service, which runs in a process of its own and talks to the sandbox."""
    environment = os.environ | {
        "ITWIN_PLATFORM_BASE_URL": itwin_sandbox.base_url,
        "ITWIN_PLATFORM_VENDOR": "sandbox",
        "ITWIN_PLATFORM_TOKEN": itwin_sandbox.token,
    }
    command = [sys.executable, "-m", "uvicorn", "--app-dir", "src", "--port", "0", "my_service.app:app"]
    with subprocess.Popen(  # noqa: S603 - our own example
        command, cwd=service, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            said = process.stderr or pytest.fail("uvicorn says nothing")
            lines: list[str] = []
            for line in said:
                lines.append(line)
                if found := ADDRESS.search(line):
                    with httpx.Client(base_url=found[1], trust_env=False) as client:
                        yield client
                    break
            else:
                pytest.fail("".join(lines))
        finally:
            process.terminate()


def test_the_service_brings_its_own_client(running: httpx.Client) -> None:
    """What runs is the vendored copy, although a client is installed beside it."""
    assert running.get("/client").json()["package"] == "my_service._vendor.itwin"


@pytest.mark.itwin_sandbox(itwins=20, objects=3)
def test_the_service_responds_from_the_platform(running: httpx.Client, itwin_sandbox: Sandbox) -> None:
    """It lists projects and scene objects through the copy."""
    projects = running.get("/projects", params={"limit": 2}).json()
    objects = running.get(f"/itwins/{itwin_sandbox.itwin_id}/scenes/{itwin_sandbox.scene_id}/objects").json()
    assert [sorted(project) for project in projects] == [["id", "name", "status"]] * 2
    assert [sorted(item) for item in objects] == [["data", "id", "kind"]] * 3


def test_the_service_says_what_went_wrong_in_its_own_terms(running: httpx.Client, itwin_sandbox: Sandbox) -> None:
    """A caller's mistake, a missing scene and an outage are different responses."""
    nobody = "6a2d2381-6c57-4332-b87a-5b7c00000009"
    itwin_sandbox.fault("text_500", count=None)
    assert running.get("/itwins/a/scenes/no-uuid/objects").status_code == 422
    assert running.get("/projects").status_code == 502
    itwin_sandbox.clear_faults()
    assert running.get(f"/itwins/{itwin_sandbox.itwin_id}/scenes/{nobody}/objects").status_code == 404
