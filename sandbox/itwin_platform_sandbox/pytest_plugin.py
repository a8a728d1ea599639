"""Fixtures for tests against the sandbox, loaded by pytest from the entry point `pytest11`.

`itwin_sandbox` is a running sandbox, a new one for each test. It runs in a thread, so it serves sync and async tests.
The marker `@pytest.mark.itwin_sandbox(itwins=10, rate="5/1")` passes keyword arguments to `Sandbox`. A test fails if a
fault that it added never fired; `clear_faults()` removes faults. The report of a failed test shows the latest requests
of its sandboxes, also of those from fixtures of your own. `itwin_platform_client` is a client of the sandbox:
closed after the test with pytest-asyncio, else entered by the test with `async with`.

Nothing is imported and nothing runs until a test uses a fixture.
"""

import sys
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from . import Sandbox


MARKER = "itwin_sandbox(**arguments): the arguments of itwin_platform_sandbox.Sandbox for the fixture itwin_sandbox"


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and the client fixture that fits this test run."""
    config.addinivalue_line("markers", MARKER)
    if config.pluginmanager.hasplugin("asyncio"):
        from . import _pytest_async_client as client_fixture
    else:
        from . import _pytest_client as client_fixture  # type: ignore[no-redef] # one of two modules of one shape
    config.pluginmanager.register(client_fixture, "itwin_platform_client")


@pytest.fixture
def itwin_sandbox(request: pytest.FixtureRequest) -> "Iterator[Sandbox]":
    """A running sandbox, stopped after the test."""
    from . import Sandbox

    marker = request.node.get_closest_marker("itwin_sandbox")
    if marker is not None and marker.args:
        pytest.fail("@pytest.mark.itwin_sandbox takes keyword arguments only, such as itwins=10", pytrace=False)
    with Sandbox(**(marker.kwargs if marker else {})) as sandbox:
        yield sandbox


SHOWN_REQUESTS = 20


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the latest requests to the report of a failed test that has a sandbox."""
    report = yield
    module = sys.modules.get(f"{__package__}._sandbox")  # it is not loaded unless a test has a sandbox
    for name, value in getattr(item, "funcargs", {}).items():
        if report.failed and module is not None and isinstance(value, module.Sandbox):
            lines = map(str, value.requests[-SHOWN_REQUESTS:])
            report.sections.append((f"Latest requests to {name}", "\n".join(lines) or "none"))
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that passed although a fault that it added has never fired."""
    result = yield
    sandbox = getattr(item, "funcargs", {}).get("itwin_sandbox")
    unused = getattr(sandbox, "unused_faults", ())
    if unused:
        names = ", ".join(
            f"{fault.name} ({fault.operation or 'any operation'}{f', skip {fault.skip}' if fault.skip else ''})"
            for fault in unused
        )
        pytest.fail(f"these faults never fired: {names}; clear_faults() removes faults", pytrace=False)
    return result
