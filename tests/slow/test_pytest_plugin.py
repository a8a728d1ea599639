"""The fixtures that the package brings for its users' tests, and the test files that the pages show."""

from importlib.metadata import entry_points

import pytest

from tests.project.test_code_blocks import TEST_FILES, name_of
from tests.support.code_blocks import Block

pytest_plugins = ["pytester"]

IS_INSTALLED = any(point.value == "itwin_platform_sandbox.pytest_plugin" for point in entry_points(group="pytest11"))
#: The first test of a process.
UNUSED_TEST = """
import sys

def test_unused():
    assert not {"starlette", "uvicorn", "lark", "itwin_platform"} & sys.modules.keys()
"""
SYNC_TEST = """
import pytest, httpx

@pytest.mark.itwin_sandbox(itwins=3, objects=0)
def test_sync(itwin_sandbox):
    headers = {"Authorization": "Bearer " + itwin_sandbox.token}
    response = httpx.get(itwin_sandbox.base_url + "/itwins/", headers=headers)
    assert len(response.json()["iTwins"]) == 3
    assert itwin_sandbox.requests[0].status == 200
    itwin_sandbox.fault("refuse", seconds=60)
    with pytest.raises(httpx.ConnectError):
        httpx.get(itwin_sandbox.base_url + "/itwins/")
"""
ASYNC_TEST = """
import pytest

{mark}
async def test_async(itwin_sandbox, itwin_platform_client):
    account = await itwin_platform_client.itwins.get_primary_account()
    assert account.id == itwin_sandbox.account_id
    assert len(await itwin_platform_client.itwins.list().collect()) == 250
    assert itwin_sandbox.requests[0].headers["accept"] == "application/vnd.sandbox.itwin-platform.v1+json"
"""
WITHOUT_ASYNCIO_TEST = """
import asyncio

def test_runs_a_loop_of_its_own(itwin_sandbox, itwin_platform_client):
    async def account():
        async with itwin_platform_client as platform:
            return await platform.itwins.get_primary_account()

    assert asyncio.run(account()).id == itwin_sandbox.account_id
"""
FAULT_TESTS = """
import httpx
import pytest

def get(sandbox, path):
    return httpx.get(sandbox.base_url + path, headers={"Authorization": "Bearer a"}).status_code

def test_never_fires(itwin_sandbox):
    itwin_sandbox.fault("next_null", operation="list_itwins", skip=1)
    assert get(itwin_sandbox, "/itwins/myprimaryaccount") == 200

def test_withdraws(itwin_sandbox):
    itwin_sandbox.fault("respond")
    itwin_sandbox.clear_faults()

def test_fails_for_its_own_reason(itwin_sandbox):
    itwin_sandbox.fault("respond")
    assert get(itwin_sandbox, "/nowhere") == 200

@pytest.mark.itwin_sandbox(10)
def test_positional(itwin_sandbox):
    pass
"""


REPORT_TESTS = """
import httpx
import pytest
from itwin_platform_sandbox import Sandbox

@pytest.fixture(scope="session")
def shared():
    with Sandbox(itwins=1, objects=0) as sandbox:
        yield sandbox

def get(sandbox, path):
    return httpx.get(sandbox.base_url + path, headers={"Authorization": "Bearer planted"}).status_code

def test_fails(itwin_sandbox, shared):
    for number in range(25):
        get(itwin_sandbox, f"/itwins/?$skip={number}")
    assert get(shared, "/itwins/?$top=0") == 200

def test_passes(shared):
    assert get(shared, "/itwins/") == 200
"""


def run(pytester: pytest.Pytester, *options: str, **tests: str) -> pytest.RunResult:
    """Run tests in a process of its own, with the plugin given where it is not installed."""
    pytester.makepyfile(**tests)
    if "no:asyncio" not in options:
        pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    plugin = () if IS_INSTALLED else ("-p", "itwin_platform_sandbox.pytest_plugin")
    strict = ("--strict-markers", "-W", "error", "-p", "no:cacheprovider")
    return pytester.runpytest_subprocess(*plugin, *strict, *options)


@pytest.mark.parametrize(("mode", "mark"), [("auto", ""), ("strict", "@pytest.mark.asyncio")])
def test_tests_have_a_sandbox_and_a_client(pytester: pytest.Pytester, mode: str, mark: str) -> None:
    """In each mode of pytest-asyncio, the fixtures give a sync test a sandbox and an async test a client.

    A test without the fixtures imports neither the sandbox nor the client.
    """
    tests = {"test_async": UNUSED_TEST + ASYNC_TEST.format(mark=mark)}
    result = run(pytester, "-o", f"asyncio_mode={mode}", **tests, test_sync=SYNC_TEST)
    result.assert_outcomes(passed=3)


def test_without_pytest_asyncio_the_test_enters_the_client(pytester: pytest.Pytester) -> None:
    """The fixtures work without pytest-asyncio, and are imported as late."""
    run(pytester, "-p", "no:asyncio", test_one=UNUSED_TEST + WITHOUT_ASYNCIO_TEST).assert_outcomes(passed=2)


@pytest.mark.skipif(not IS_INSTALLED, reason="without its entry point, pytest does not load the plugin")
def test_the_plugin_can_be_turned_off(pytester: pytest.Pytester) -> None:
    """`-p no:itwin_platform_sandbox`, as the guide says, leaves no fixture, marker or hook of the plugin."""
    found = [run(pytester, "--markers", *off, test_none="") for off in ((), ("-p", "no:itwin_platform_sandbox"))]
    assert ["@pytest.mark.itwin_sandbox" in result.stdout.str() for result in found] == [True, False]


def test_a_mistake_with_the_sandbox_fails_its_test(pytester: pytest.Pytester) -> None:
    """A fault that never fired, and a positional argument of the marker, fail a test."""
    result = run(pytester, "-p", "no:asyncio", test_faults=FAULT_TESTS)
    result.assert_outcomes(passed=1, failed=2, errors=1)
    result.stdout.fnmatch_lines(["*these faults never fired: next_null (list_itwins, skip 1); clear_faults()*"])
    result.stdout.no_fnmatch_line("*these faults never fired: respond*")
    assert "takes keyword arguments only, such as itwins=10" in result.stdout.str()


def test_the_report_of_a_failed_test_shows_the_latest_requests(pytester: pytest.Pytester) -> None:
    """The report shows the last twenty requests of each sandbox, with reasons of failures and without secrets."""
    result = run(pytester, "-p", "no:asyncio", test_report=REPORT_TESTS)
    result.assert_outcomes(passed=1, failed=1)
    output = result.stdout.str()
    result.stdout.fnmatch_lines(["*Latest requests to itwin_sandbox*", "200 GET /itwins/?$skip=5"])
    result.stdout.fnmatch_lines(["*Latest requests to shared*", "422 GET /itwins/?$top=0; InvalidiTwinsRequest: *"])
    assert (output.count("GET /itwins/?$skip"), "planted" in output.partition("Latest requests")[2]) == (20, False)


@pytest.mark.parametrize("block", TEST_FILES, ids=lambda block: f"{name_of(block.page)}:{block.line}")
def test_pasted_test_file_passes(block: Block, pytester: pytest.Pytester) -> None:
    """A test file of a page passes with the plugin of the package and the plugins that it names."""
    pytester.makepyfile(block.text)
    others = ("asyncio",) if "httpx_mock" in block.text else ("asyncio", "pytest_httpx")
    result = pytester.runpytest_subprocess("-W", "error", *(f"-pno:{plugin}" for plugin in others))
    result.assert_outcomes(passed=block.text.count("def test_"))
