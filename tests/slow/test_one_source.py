"""An edit of `openapi.yaml` and `make generate` change what the client and the sandbox accept."""

import json
import os
import shutil
from pathlib import Path

from tests.support.processes import PROJECT, ended
from tests.support.regenerated import Document

PARTS = ("wrapper", "generated", "sandbox", "templates", "tools")
PROGRAM = """
import asyncio

from itwin_platform import PlatformClient, PlatformError
from itwin_platform_api.api.detectors import create_detector
from itwin_platform_api.api.repositories import update_repository
from itwin_platform_api.models import DetectorCreate, DetectorType, RepositoryUpdate
from itwin_platform_sandbox import Sandbox


def client(function, *ids, body):
    try:
        function.build_request(*ids, body=body, reject=lambda broken: ValueError(broken.rule))
    except ValueError:
        return "rejected"
    return "accepted"


async def main():
    async with Sandbox(itwins=1) as sandbox, PlatformClient(sandbox.base_url, vendor="v", token="t") as platform:
        async def both(function, *ids, body):
            try:
                await function.asyncio(*ids, client=platform.generated, body=body)
                served = "accepted"
            except PlatformError:
                served = "rejected"
            print(client(function, *ids, body=body), served)

        for size in (30, 31):
            body = RepositoryUpdate(uri="https://a.example/".ljust(size, "a"))
            await both(update_repository, sandbox.itwin_id, sandbox.repository_id, body=body)
        for kind in (DetectorType.MESH_DETECTOR, DetectorType("Unknown")):
            await both(create_detector, body=DetectorCreate(name="@a/b", type_=kind))
        for rank in (3, 4):
            await both(create_detector, body=DetectorCreate(name="@a/c", type_=DetectorType.MESH_DETECTOR, rank=rank))


asyncio.run(main())
"""
#: What the client and what the sandbox do. The client knows no closed enum: the service may know more values.
SAID = """accepted accepted
rejected rejected
accepted accepted
accepted rejected
accepted accepted
rejected rejected
"""


def test_a_limit_a_value_and_a_property_hold_on_both_sides(specification: Document, tmp_path: Path) -> None:
    """A changed maximum, a new enum value and a new optional property hold in the client and in the sandbox."""
    for part in PARTS:
        shutil.copytree(PROJECT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PROJECT / "generator-config.yaml", tmp_path)
    document = json.loads(json.dumps(specification))
    schemas = document["components"]["schemas"]
    schemas["RepositoryUpdate"]["properties"]["uri"]["maxLength"] = 30
    schemas["DetectorType"]["enum"].append("MeshDetector")
    schemas["DetectorType"]["x-enum-varnames"].append("MESH_DETECTOR")
    schemas["DetectorCreate"]["properties"]["rank"] = {"type": "integer", "maximum": 3}
    (tmp_path / "openapi.yaml").write_text(json.dumps(document), encoding="utf-8")

    def run(*arguments: str) -> str:
        path = os.pathsep.join(str(tmp_path / name) for name in ("wrapper", "generated", "sandbox"))
        variables = {"PYTHONPATH": path, "COVERAGE_PROCESS_START": ""}
        return ended("python", *arguments, folder=tmp_path, variables=variables).stdout

    assert "The wrapper fits." in run("-m", "tools.generation.generate")
    assert "1 to 30 characters" in (tmp_path / "wrapper/itwin_platform/_operations/repositories.py").read_text("utf-8")
    assert run("-W", "error", "-c", PROGRAM) == SAID
