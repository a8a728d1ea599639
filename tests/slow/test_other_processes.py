"""Listings that continue in another process, and what a new process imports and says."""

import asyncio
import json
import sys

import pytest
from itwin_platform import ITwinSubClass, PlatformClient
from itwin_platform_sandbox import Sandbox

from tests.support.processes import ended

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
SANDBOX = """
import sys, itwin_platform_sandbox
heavy = {"starlette", "uvicorn", "lark", "jinja2", "anyio", "h11"}
assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()
itwin_platform_sandbox.Sandbox(itwins=1)
assert "starlette" in sys.modules
"""
WITHOUT_EXTRA = """
import sys
sys.modules["starlette"] = None
try:
    from itwin_platform_sandbox import Sandbox
except ImportError as error:
    assert "pip install starlette uvicorn lark jinja2" in str(error), error
else:
    raise SystemExit("imported")
"""
EVERYTHING = """
import importlib, pkgutil, sys
import itwin_platform, itwin_platform_api, itwin_platform_sandbox

for package in (itwin_platform, itwin_platform_api, itwin_platform_sandbox):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
from itwin_platform import *
from itwin_platform_api.models import *
platform = itwin_platform.PlatformClient("https://s.example", vendor="v", token="t")
print([getattr(platform, group) for group in ("itwins", "repositories", "scenes", "detectors", "webhooks")])
import asyncio
asyncio.run(platform.aclose(), debug=False)
"""
SILENT = """
import asyncio, sys
import httpx
from itwin_platform import BackoffPolicy, PlatformClient

answers = iter([429, 503, 429])

def service(request):
    return httpx.Response(next(answers, 200), json={"iTwin": {"id": "a"}})

async def main():
    settings = {"transport": httpx.MockTransport(service), "backoff": BackoffPolicy(base_delay=0.0, max_delay=0.0)}
    async with PlatformClient("https://s.example", vendor="v", token="t", **settings) as platform:
        await platform.with_options(on_response=lambda info: 1 / 0).itwins.get_primary_account()

asyncio.run(main(), debug=False)
assert not [name for name in sys.modules if name.partition(".")[0] in ("opentelemetry", "redis")]
"""


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
    # Sets are in another order with each seed.
    said = await asyncio.to_thread(ended, "python", "-c", code, variables={"PYTHONHASHSEED": "1"})
    async with PlatformClient("https://host.example", vendor="vendor", token="t") as platform:
        values = {"sub_class": {ITwinSubClass.PROJECT, "Road", "Asset"}, "select": {"type", "number", "id"}}
        platform.itwins.list(**values, resume=said.stdout.strip())  # type: ignore[arg-type]  # handed on as they are


PROGRAMS = {
    "the sandbox loads no web framework before one is made": SANDBOX,
    "a missing extra is named": WITHOUT_EXTRA,
    "every module and every late name is imported without a warning": EVERYTHING,
    "nothing reaches stderr and nothing is imported where nothing is configured": SILENT,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_new_process_is_silent(program: str) -> None:
    """In the development mode, encodings watched, each warning an error, not even a destructor writes to stderr."""
    process = ended("python", "-X", "dev", "-X", "warn_default_encoding", "-W", "error", "-c", program)
    assert process.stderr == ""
