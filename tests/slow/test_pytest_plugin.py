"""The fixtures that the package brings for its users' tests."""

from importlib.metadata import entry_points

import pytest

pytest_plugins = ["pytester"]

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
UNUSED_TEST = """
import sys

def test_unused():
    assert "starlette" not in sys.modules
    assert "uvicorn" not in sys.modules
    assert "lark" not in sys.modules
    assert "itwin_platform" not in sys.modules
"""
WITHOUT_ASYNCIO_TEST = """
import asyncio

def test_runs_a_loop_of_its_own(itwin_sandbox, itwin_platform_client):
    async def account():
        async with itwin_platform_client as platform:
            return await platform.itwins.get_primary_account()

    assert asyncio.run(account()).id == itwin_sandbox.account_id
"""
OWN_FIXTURE_TEST = """
import pytest

@pytest.fixture
def itwin_sandbox():
    return "mine"

def test_own(itwin_sandbox):
    assert itwin_sandbox == "mine"
"""


UNUSED_FAULT_TESTS = """
import httpx
import pytest

def get(sandbox, path):
    return httpx.get(sandbox.base_url + path, headers={"Authorization": "Bearer a"}).status_code

def test_fires(itwin_sandbox):
    itwin_sandbox.fault("html_502", count=2)
    assert get(itwin_sandbox, "/itwins/") == 502

def test_never_fires(itwin_sandbox):
    itwin_sandbox.fault("next_null", operation="list_itwins", skip=1)
    assert get(itwin_sandbox, "/itwins/myprimaryaccount") == 200

def test_withdraws(itwin_sandbox):
    itwin_sandbox.fault("html_502")
    itwin_sandbox.clear_faults()

def test_fails_for_its_own_reason(itwin_sandbox):
    itwin_sandbox.fault("html_502")
    assert get(itwin_sandbox, "/nowhere") == 200

@pytest.mark.itwin_sandbox(as_seen=True)
def test_as_seen_expects_nothing(itwin_sandbox):
    assert get(itwin_sandbox, "/itwins/") == 200
"""
POSITIONAL_MARKER_TEST = """
import pytest

@pytest.mark.itwin_sandbox(10)
def test_positional(itwin_sandbox):
    pass
"""


def outcomes(pytester: pytest.Pytester, tests: dict[str, str], *options: str) -> dict[str, int]:
    """Run tests in a process of its own, with the plugin given where it is not installed."""
    pytester.makepyfile(**tests)
    if "no:asyncio" not in options:
        pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    plugin = [] if _is_installed() else ["-p", "itwin_platform_sandbox.pytest_plugin"]
    result = pytester.runpytest_subprocess(
        *plugin, "--strict-markers", "-W", "error", "-p", "no:cacheprovider", *options
    )
    return result.parseoutcomes()


def _is_installed() -> bool:
    return any(point.value == "itwin_platform_sandbox.pytest_plugin" for point in entry_points(group="pytest11"))


@pytest.mark.parametrize(("mode", "mark"), [("auto", ""), ("strict", "@pytest.mark.asyncio")])
def test_tests_have_a_sandbox_and_a_client(pytester: pytest.Pytester, mode: str, mark: str) -> None:
    """In both modes of pytest-asyncio a sync test has a sandbox, whose marker hands it arguments and whose faults work
    from another thread, an async test has a client that is closed without a warning, and own fixtures win.
    """
    tests = {"test_sync": SYNC_TEST, "test_async": ASYNC_TEST.format(mark=mark), "test_own": OWN_FIXTURE_TEST}
    assert outcomes(pytester, tests, "-o", f"asyncio_mode={mode}") == {"passed": 3}


def test_without_pytest_asyncio_the_test_enters_the_client(pytester: pytest.Pytester) -> None:
    """Where pytest-asyncio is not active the fixtures are there too."""
    assert outcomes(pytester, {"test_plain": WITHOUT_ASYNCIO_TEST}, "-p", "no:asyncio") == {"passed": 1}


def test_a_run_that_uses_nothing_loads_nothing(pytester: pytest.Pytester) -> None:
    """No web framework, grammar or client is imported for tests that ask for no fixture."""
    assert outcomes(pytester, {"test_unused": UNUSED_TEST}) == {"passed": 1}


@pytest.mark.skipif(not _is_installed(), reason="without its entry point, pytest does not load the plugin")
def test_the_plugin_can_be_turned_off(pytester: pytest.Pytester) -> None:
    """`-p no:itwin_platform_sandbox`, as the guide says, leaves no fixture, marker or hook of the plugin."""
    found = [
        pytester.runpytest_subprocess("--markers", "-p", "no:cacheprovider", *options).stdout.str()
        for options in ((), ("-p", "no:itwin_platform_sandbox"))
    ]
    assert ["@pytest.mark.itwin_sandbox" in text for text in found] == [True, False]


def test_a_fault_that_never_fires_fails_its_test(pytester: pytest.Pytester) -> None:
    """A test that passes without meeting its fault has not tested what it says; clear_faults() withdraws one."""
    pytester.makepyfile(test_faults=UNUSED_FAULT_TESTS)
    plugin = [] if _is_installed() else ["-p", "itwin_platform_sandbox.pytest_plugin"]
    result = pytester.runpytest_subprocess(*plugin, "-p", "no:asyncio", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(["*these faults never fired: next_null (list_itwins, skip 1); clear_faults()*"])
    result.stdout.no_fnmatch_line("*these faults never fired: html_502*")


def test_a_positional_marker_argument_is_rejected(pytester: pytest.Pytester) -> None:
    """It is not ignored: the message says how to write it."""
    pytester.makepyfile(test_marker=POSITIONAL_MARKER_TEST)
    plugin = [] if _is_installed() else ["-p", "itwin_platform_sandbox.pytest_plugin"]
    result = pytester.runpytest_subprocess(*plugin, "-p", "no:asyncio", "-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*takes keyword arguments only, such as itwins=10*"])
