"""Settings of a test run: properties without a time limit, and no trusted authority."""

import gc
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from itwin_platform_transport.gates import redis as redis_module

from tests.support.real_time import LONGEST
from tests.support.redis_server import MISSING
from tests.support.specification import specification as parsed_specification
from tools.programs.run import enter_known_environment

# Before any test module is imported, because some read the environment then.
enter_known_environment()

if find_spec("sniffio") is None:
    # httpcore imports it on every request, and to look for it in vain takes a fifth of the request.
    sys.modules["sniffio"] = None  # type: ignore[assignment]  # None tells the import that there is no such module

# A busy machine would make a timed property fail, and other examples in each run a run that changed nothing.
# `--hypothesis-profile=full`, of `make check`, tries more examples; `thorough` many more, and others in each run.
for name, examples in (("quick", 20), ("full", 100), ("thorough", 5_000)):
    settings.register_profile(
        name,
        max_examples=examples,
        deadline=None,
        derandomize=name != "thorough",
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("quick")


@pytest.fixture(scope="session")
def specification() -> dict[str, Any]:
    """The committed OpenAPI document; to be copied, not changed."""
    return parsed_specification()


@pytest.fixture(scope="session", autouse=True)
def no_trusted_authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Trust no authority: a client takes 50 ms to load those of certifi, longer than most tests take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_DIR", str(tmp_path_factory.mktemp("certificates")))
        yield


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line how the tests that need a server can run, if they were skipped."""
    skipped = terminalreporter.getreports("skipped")
    if count := sum(MISSING in str(report.longrepr) for report in skipped):
        terminalreporter.write_line(f"{count} of the skipped tests {MISSING}.")


def pytest_collection_finish() -> None:
    """Spare the garbage collector the collected tests, which live to the end: that takes a tenth off the run."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def patient_gates(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a server that is there may take longer than a shared gate waits for it."""
    monkeypatch.setattr(redis_module, "SERVER_TIMEOUT", LONGEST)


@pytest.fixture
def quick_reconnect(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gate that has lost its server tries it again after a moment."""
    for name in ("FIRST_PAUSE", "LONGEST_PAUSE"):
        monkeypatch.setattr(redis_module, name, 0.05)


@pytest.fixture
def no_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gate that waits asks its server only after a message."""
    for name in ("POLL_INTERVAL", "LONGEST_POLL"):
        monkeypatch.setattr(redis_module, name, 1000.0)
