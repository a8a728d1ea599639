"""What holds for a whole test run: no property is timed, and a wrapper that does not fit is told of last."""

from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from tools.generation.wrapper_fit import misfits

# A busy machine would make a timed property fail.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None]:
    """Says last, where it is read first, what is behind many failures at once: names that are no longer generated."""
    yield
    if {"failed", "error"} & set(terminalreporter.stats) and (found := misfits()):
        terminalreporter.write_sep("=", "the wrapper does not fit the generated package", red=True)
        terminalreporter.write_line("\n\n".join(found))
