"""All mistakes in the tables of the tests, and whether the error of each names argument, rule and remedy."""

import re
from collections.abc import Awaitable, Iterator
from typing import Any

from itwin_platform import PlatformClient, UsageError

from tests.client.conftest import SETTINGS, answering
from tests.client.test_settings import ARGUMENTS
from tests.client.test_with_options import UNUSABLE
from tests.operations.conftest import called
from tests.operations.test_documented_rules import CASES, is_rejected, keywords_of
from tests.operations.test_rejected_requests import NEVER_SENT, OWN_RULES, SAID

#: What to do: what the value must be, or what to pass, to send or to omit instead.
_REMEDY = re.compile(r"\b(must|pass|send|use|omit|is required|at most)\b")


async def _made(**arguments: Any) -> None:
    await PlatformClient(**SETTINGS | arguments).aclose()


async def _viewed(platform: PlatformClient, **options: Any) -> None:
    await platform.with_options(**options).aclose()


def mistakes(platform: PlatformClient) -> Iterator[tuple[str, Awaitable[object]]]:
    """Return the mistakes of all tables, each with what is passed."""
    for name, _, values in ARGUMENTS:
        yield from ((f"client {name}={value!r}", _made(**{name: value})) for value in values)
    yield from ((f"with_options {options}", _viewed(platform, **options)) for options, _ in UNUSABLE)
    rows = [row[:2] for row in OWN_RULES] + [row[:2] for row in SAID + NEVER_SENT]
    rows += [(case.operation, keywords_of(case)) for case in CASES if is_rejected(case)]
    yield from ((f"{name} {keywords}", called(platform, name, keywords)) for name, keywords in rows)


def what_is_missing(error: UsageError) -> list[str]:
    """Return what an error does not name of argument, rule and remedy."""
    # Where no single argument is wrong, the rule names those that can be passed.
    argument = error.argument is None or error.argument in error.rule
    named = {"argument": argument, "rule": bool(error.rule), "remedy": _REMEDY.search(error.rule)}
    return [part for part, found in named.items() if not found]


async def errors() -> list[tuple[str, UsageError]]:
    """Make all mistakes, each of which must be rejected before anything is sent."""
    found = []
    platform, _ = answering()
    async with platform:
        for name, call in mistakes(platform):
            try:
                await call
            except UsageError as error:
                found.append((name, error))
            else:
                raise AssertionError(f"{name} is accepted")
    return found
