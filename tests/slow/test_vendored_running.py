"""A vendored copy at work: with nothing but what it needs, beside an installed client, beside another copy."""

import importlib.metadata
import json
from pathlib import Path

import pytest
from itwin_platform_sandbox import Sandbox

from tests.support.vendored import environment, run_python, vendored

NEEDED = ("httpx", "httptools", "attrs", "msgspec", "python-dateutil")

ALONE = """
import sys
sys.path[:0] = {folders!r}
import asyncio, importlib.util, json
from my_client import ConflictError, DetectorType, PlatformClient, UNSET, __version__
from my_client.generated.api.itwins import get_primary_account

async def main():
    async with PlatformClient({url!r}, vendor="sandbox", token={token!r}) as platform:
        account = await get_primary_account.asyncio(client=platform.generated)
        scene_id = "6a2d2381-6c57-4332-b87a-5b7c00000001"
        await platform.scenes.create({itwin!r}, display_name="S", id=scene_id)
        try:
            await platform.scenes.create({itwin!r}, display_name="S", id=scene_id)
        except ConflictError as error:
            conflict = error.code
        listed = await platform.itwins.list(page_size=2).collect()
        detector = await platform.detectors.create(name="D", type=DetectorType.PHOTO_OBJECT_DETECTOR)
    others = [name for name in ("itwin_platform", "itwin_platform_api", "pytest") if importlib.util.find_spec(name)]
    outside = sorted({{name.partition(".")[0] for name in sys.modules if name.startswith("itwin_platform")}})
    print(json.dumps([account.itwin.display_name, conflict, len(listed), detector.name, others, outside]))

asyncio.run(main())
"""

TOGETHER = """
import sys
sys.path[:0] = {folders!r}
import asyncio, json, logging, pickle
import itwin_platform, new_client, old_client

async def account(client, error):
    async with client.PlatformClient({url!r}, vendor="sandbox", token={token!r}) as platform:
        try:
            await platform.webhooks.activate("nobody")
        except client.NotFoundError as found:
            error = found
        return (await platform.itwins.get_primary_account()).id, error

class Names(logging.Handler):
    def emit(self, record):
        logged.append(record.name)

logged = []
logging.getLogger().addHandler(Names(logging.WARNING))

async def main():
    clients = (itwin_platform, new_client, old_client)
    answers = await asyncio.gather(*(account(client, None) for client in clients))
    kept = [pickle.loads(pickle.dumps((error, client.UNSET))) for client, (_, error) in zip(clients, answers)]
    print(json.dumps({{
        "versions": [client.__version__ for client in clients],
        "accounts": len({{answer for answer, _ in answers}}),
        "classes": len({{type(error) for _, error in answers}}),
        "pickled": [[type(e) is client.NotFoundError, u is client.UNSET] for client, (e, u) in zip(clients, kept)],
        "old types": [hasattr(client.DetectorType, "OLD_DETECTOR") for client in clients],
        "unset": len({{id(client.UNSET) for client in clients}}),
        "logged": sorted(logged),
    }}))

asyncio.run(main())
"""


@pytest.mark.itwin_sandbox(itwins=5)
def test_a_copy_runs_with_only_what_it_needs(tmp_path: Path, itwin_sandbox: Sandbox) -> None:
    """Nothing but what `NEEDED` names and what those need is there, and the copy does its work."""
    vendored(tmp_path / "copy", "my_client")
    python = environment(tmp_path / "environment", NEEDED)
    program = filled(ALONE, itwin_sandbox, [tmp_path / "copy"])
    account, *seen = json.loads(run_python("-I", "-c", program, cwd=tmp_path, python=python))
    assert account
    assert seen == ["SceneExists", 5, "D", [], []]


@pytest.mark.itwin_sandbox(itwins=5)
def test_two_copies_and_an_installed_client_work_in_one_process(
    tmp_path: Path, older_checkout: Path, itwin_sandbox: Sandbox
) -> None:
    """Copies of different versions and an installed client share a process, but no class, value or logger."""
    vendored(tmp_path / "copies", "new_client")
    vendored(tmp_path / "copies", "old_client", project=older_checkout)
    program = filled(TOGETHER, itwin_sandbox, [tmp_path / "copies"])
    itwin_sandbox.fault("rate_limited", operation="update_webhook", count=3, seconds=0.001)
    version = importlib.metadata.version("itwin-platform")
    assert json.loads(run_python("-c", program, cwd=tmp_path)) == {
        "versions": [version, version, "0.0.1"],
        "accounts": 1,
        "classes": 3,
        "pickled": [[True, True]] * 3,
        "old types": [False, False, True],
        "unset": 3,
        "logged": ["itwin_platform", "new_client", "old_client"],
    }


def filled(program: str, sandbox: Sandbox, folders: list[Path]) -> str:
    """A program with the sandbox's address and the folders to import from."""
    return program.format(
        folders=[str(folder) for folder in folders],
        url=sandbox.base_url,
        token=sandbox.token,
        itwin=sandbox.itwin_id,
    )
