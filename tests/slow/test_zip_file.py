"""The packages in a zip file, as in a zipapp, where no file of theirs is on disk."""

import zipfile
from pathlib import Path

from tests.support.processes import PROJECT, ended

ROOTS = ("wrapper", "transport", "generated", "sandbox")
PROGRAM = """
import asyncio, importlib, pkgutil, sys
import itwin_platform, itwin_platform_api, itwin_platform_sandbox, itwin_platform_transport
from itwin_platform import PlatformClient
from itwin_platform_sandbox import Sandbox

# It reads the script that runs in Redis.
itwin_platform.RedisGate("redis://127.0.0.1:1", name="limits")
count = 0
for package in (itwin_platform, itwin_platform_transport, itwin_platform_api, itwin_platform_sandbox):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__"):
            assert importlib.import_module(module.name).__file__.startswith(sys.argv[1]), module.name
            count += 1

async def main():
    async with Sandbox(itwins=3, objects=0) as sandbox:
        async with PlatformClient(sandbox.base_url, vendor="v", token=sandbox.token) as platform:
            itwins = await platform.itwins.list(filter="displayName ne 'a'").collect()
    print(count > 100, len(itwins))

asyncio.run(main())
"""


def test_all_modules_work_in_a_zip_file(tmp_path: Path) -> None:
    """Every module of the four packages is imported from a zip file, and a sandbox from there serves a listing."""
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for root in ROOTS:
            for path in sorted((PROJECT / root).rglob("*")):
                if path.is_file() and path.suffix != ".pyc":
                    file.write(path, path.relative_to(PROJECT / root))
    variables = {"PYTHONPATH": str(archive)}
    process = ended("python", "-W", "error", "-c", PROGRAM, str(archive), folder=tmp_path, variables=variables)
    assert process.stdout.split() == ["True", "3"]
