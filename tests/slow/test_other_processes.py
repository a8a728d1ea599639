"""The imports and the output of a new process, and a listing that it resumes."""

import pytest
from itwin_platform import ITwinSubClass, PlatformClient

from tests.support.processes import ended

SANDBOX = """
import sys, itwin_platform_sandbox
heavy = {"starlette", "uvicorn", "lark", "anyio", "h11"}
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
    assert "pip install starlette uvicorn lark" in str(error), error
else:
    raise SystemExit("imported")
"""
LATE_NAMES = """
import itwin_platform
from itwin_platform import *
from itwin_platform_api.models import *
platform = itwin_platform.PlatformClient("https://s.example", vendor="v", token="t")
print([getattr(platform, group) for group in ("itwins", "repositories", "scenes", "detectors", "webhooks")])
import asyncio
asyncio.run(platform.aclose(), debug=False)
"""
TRACED = """
import asyncio, httpx
httpx.AsyncClient.send = lambda *arguments, **options: asyncio.sleep(0, httpx.Response(299))
from itwin_platform_transport import EngineTransport
response = EngineTransport().handle_async_request(httpx.Request("GET", "http://127.0.0.1:9"))
assert asyncio.run(response, debug=False).status_code == 299
"""
SILENT = """
import asyncio, sys, httpx
from itwin_platform import BackoffPolicy, PlatformClient
answers = iter([429, 503, 429])

def service(request):
    return httpx.Response(next(answers, 200), json={"iTwin": {"id": "a"}})

async def main():
    settings = {"transport": httpx.MockTransport(service), "backoff": BackoffPolicy(base_delay=0.0, max_delay=0.0)}
    async with PlatformClient("https://s.example", vendor="v", token="t", **settings) as platform:
        await platform.with_options(on_response=lambda info: 1 / 0).itwins.get_primary_account()

asyncio.run(main(), debug=False)
assert not [name for name in sys.modules if name.partition(".")[0] in ("opentelemetry", "redis", "httpx2")]
"""


def test_a_listing_resumes_in_another_process() -> None:
    """A listing resumes in another process, also with keywords that are sets."""
    code = (
        "from itwin_platform import PlatformClient\n"
        "platform = PlatformClient('https://other.example', vendor='v', token='t')\n"
        "print(platform.itwins.list(sub_class={'Project', 'Asset', 'Road'}, select={'id', 'type', 'number'}).resume)"
    )
    # The order of a set depends on the seed.
    resume = ended("python", "-c", code, variables={"PYTHONHASHSEED": "1"}).stdout.strip()
    platform = PlatformClient("https://host.example", vendor="vendor", token="t")
    sub_classes: set[ITwinSubClass | str] = {ITwinSubClass.PROJECT, "Road", "Asset"}
    platform.itwins.list(sub_class=sub_classes, select={"type", "number", "id"}, resume=resume)


PROGRAMS = {
    "the sandbox loads no web framework before one is made": SANDBOX,
    "a missing extra is named": WITHOUT_EXTRA,
    "every late name is imported without a warning": LATE_NAMES,
    "a tool that replaces a function of httpx first sees each request": TRACED,
    "nothing reaches stderr and nothing is imported where nothing is configured": SILENT,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_new_process_is_silent(program: str) -> None:
    """A program in Python's development mode, where each warning is an error, writes nothing to stderr."""
    process = ended("python", "-X", "dev", "-X", "warn_default_encoding", "-W", "error", "-c", program)
    assert process.stderr == ""
