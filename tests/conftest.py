"""Settings of a test run: examples of properties, an empty set of trusted certificates, and fixtures for Redis."""

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

# Before pytest imports the test modules: some of them read the environment at import.
enter_known_environment()

if find_spec("sniffio") is None:
    # httpcore imports it in every request, and a failed import takes a fifth of the time of the request.
    sys.modules["sniffio"] = None  # type: ignore[assignment]  # None tells the import that there is no such module

# No deadline, because a property would fail on a busy machine. Each run has the same examples, except in `thorough`.
# `make check` runs `--hypothesis-profile=full`, which tries more examples.
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
    """The committed OpenAPI document. A test that changes it copies it first."""
    return parsed_specification()


@pytest.fixture(scope="session", autouse=True)
def no_trusted_authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Trust no certificate authority: loading those of certifi takes 50 ms, longer than most tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_DIR", str(tmp_path_factory.mktemp("certificates")))
        yield


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print in one line how to run the skipped tests that need a Redis server."""
    skipped = terminalreporter.getreports("skipped")
    if count := sum(MISSING in str(report.longrepr) for report in skipped):
        terminalreporter.write_line(f"{count} of the skipped tests {MISSING}.")


def pytest_collection_finish() -> None:
    """Exclude the collected tests from garbage collection: they live to the end. The run is a tenth faster."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def patient_gates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the timeout of a shared gate for its server: on a busy machine, a reply may take longer."""
    monkeypatch.setattr(redis_module, "SERVER_TIMEOUT", LONGEST)


@pytest.fixture
def quick_reconnect(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses after which a gate tries a lost server again."""
    for name in ("FIRST_PAUSE", "LONGEST_PAUSE"):
        monkeypatch.setattr(redis_module, name, 0.05)


@pytest.fixture
def no_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Switch the polls of a gate off, so that it asks its server only after a wake-up."""
    for name in ("POLL_INTERVAL", "LONGEST_POLL"):
        monkeypatch.setattr(redis_module, name, 1000.0)
