"""Listings that continue in another process, and what a new process imports."""

import asyncio
import json
import os
import subprocess
import sys

from itwin_platform import ITwinSubClass, PlatformClient
from itwin_platform_sandbox import Sandbox

from tests.support.real_time import LONGEST

OTHER_PROCESS = """
import asyncio, json, sys
from itwin_platform import PlatformClient

async def main():
    base_url, resumes = json.load(sys.stdin)
    async with PlatformClient(base_url, vendor="another", token="another") as platform:
        for resume in resumes:
            pager = platform.itwins.list(sub_class="Project", page_size=7, resume=resume)
            print(json.dumps([itwin.id async for itwin in pager]))

asyncio.run(main())
"""
#: Sets are in another order with each seed.
SEEDED = os.environ | {"PYTHONHASHSEED": "1"}


async def test_a_listing_continues_in_another_process() -> None:
    """Another process, with another token, continues at the item after the last."""
    async with Sandbox(itwins=60) as sandbox:
        resumes: list[str] = []
        async with PlatformClient(sandbox.base_url, vendor="vendor", token=sandbox.token) as platform:
            pager = platform.itwins.list(sub_class="Project", page_size=7)
            ids = []
            async for itwin in pager:
                ids.append(itwin.id)
                resumes.append(pager.resume)
        assert len(ids) > 14
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", OTHER_PROCESS), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate(json.dumps([sandbox.base_url, resumes]).encode())
    assert [json.loads(line) for line in output.splitlines()] == [ids[place:] for place in range(1, len(ids) + 1)]


async def test_another_process_knows_the_listing() -> None:
    """A listing has the same name in every process, given by sets too: nothing in it depends on the run of Python."""
    code = (
        "from itwin_platform import PlatformClient\n"
        "platform = PlatformClient('https://other.example', vendor='v', token='t')\n"
        "print(platform.itwins.list(sub_class={'Project', 'Asset', 'Road'}, select={'id', 'type', 'number'}).resume)"
    )
    command = [sys.executable, "-c", code]
    ended = await asyncio.to_thread(
        subprocess.run, command, env=SEEDED, capture_output=True, text=True, check=True, timeout=LONGEST
    )
    async with PlatformClient("https://host.example", vendor="vendor", token="t") as platform:
        values = {"sub_class": {ITwinSubClass.PROJECT, "Road", "Asset"}, "select": {"type", "number", "id"}}
        platform.itwins.list(**values, resume=ended.stdout.strip())  # type: ignore[arg-type]  # handed on as they are


def test_importing_the_sandbox_loads_no_web_framework() -> None:
    """Starlette, uvicorn, lark and Jinja are loaded when a sandbox is made, not before."""
    code = (
        "import sys, itwin_platform_sandbox\n"
        "heavy = {'starlette', 'uvicorn', 'lark', 'jinja2', 'anyio', 'h11'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()\n"
        "itwin_platform_sandbox.Sandbox(itwins=1)\n"
        "assert 'starlette' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603


def test_a_missing_extra_is_named() -> None:
    """Without the packages of the extra the error says how to install them."""
    code = (
        "import sys\n"
        "sys.modules['starlette'] = None\n"
        "try:\n"
        "    from itwin_platform_sandbox import Sandbox\n"
        "except ImportError as error:\n"
        "    assert 'pip install starlette uvicorn lark jinja2' in str(error), error\n"
        "else:\n"
        "    raise SystemExit('imported')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603
