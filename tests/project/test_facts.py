"""The numbers and names that the pages tell are those of the code."""

import dataclasses
import inspect
import math
import re
from datetime import timedelta
from itertools import chain

import itwin_platform
import pytest
from itwin_platform import BackoffPolicy, EventType

from tests.support.code_blocks import PROJECT
from tests.support.faces import (
    EARLY_SHARE,
    EARLY_WINDOW,
    EXPIRY_MARGIN,
    EXPIRY_SHARE,
    FAILURE_SHARED,
    ITWINS_PER_PAGE,
    JITTER_SECONDS,
    JITTER_SHARE,
    MAX_RESPONSE_BYTES,
    MOST_RETURNED,
    OBJECTS_PER_PAGE,
    RETRY_AFTER_JITTER_SHARE,
    RULES,
    CompleteObject,
    Outcome,
)
from tests.support.public_face import EXPORTED

#: A default that is the most there is.
AT_MOST = "{0}, at most {0}"


def page(name: str) -> str:
    """The text of a page."""
    return (PROJECT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def rows(name: str, head: str) -> list[list[str]]:
    """The cells of the table with this head, without the marks of code."""
    table = page(name).partition(f"| {head} |")[2].partition("\n\n")[0]
    lines = [line for line in table.splitlines()[2:] if line.startswith("|")]
    return [[cell.strip().replace("`", "") for cell in line[1:-1].split("|")] for line in lines]


def errors() -> list[str]:
    """The names of all exceptions and warnings that are exported."""
    return [name for name, value in EXPORTED.items() if isinstance(value, type) and issubclass(value, BaseException)]


def test_every_error_has_its_place() -> None:
    """The page for when something goes wrong has each exported exception, with what it means and what to do."""
    sections = page("troubleshooting").split("\n## ")[1:]
    assert sorted(section.partition("\n")[0] for section in sections) == sorted(errors())
    assert [text for text in sections[1:] if "\n**Means:**" not in text or "\n**Do:**" not in text] == []


def test_tree_of_errors_is_the_tree() -> None:
    """The tree on the page of errors names each class below the one that it inherits from."""
    block = page("errors").partition("```text\nPlatformError")[2].partition("```")[0]
    above = ["PlatformError"]
    for line in block.strip().splitlines():
        marks, name = re.match(r"([ │├└─]*)(\w+)", line).groups()  # type: ignore[union-attr]  # every line has a name
        above = [*above[: len(marks) // 4], name]
        assert getattr(itwin_platform, name).__mro__[1] is getattr(itwin_platform, above[-2])
    named = {*re.findall(r"\w+Error", block)} - {"ValueError"}
    assert {*named, "PlatformError"} == {
        name for name in errors() if issubclass(getattr(itwin_platform, name), itwin_platform.PlatformError)
    }


def test_limits_of_backoff_are_its_defaults() -> None:
    """The table names each field of BackoffPolicy, in its order, and its default."""
    documented = [(name, default) for name, default, _ in rows("retries", "`BackoffPolicy(...)` | Default | Means")]
    assert documented == [(field.name, str(field.default)) for field in dataclasses.fields(BackoffPolicy)]


def test_what_is_retried_is_the_table_of_the_code() -> None:
    """Attempts and costs in the table are those of the rules, and jitter is what the page says."""
    table = rows("retries", "What happened | GET, PATCH | POST | attempts at most")
    documented = {row[0]: row[3] for row in table if row[3]}
    names = (
        *("429", "502, 503, 504", "certainly not sent (no connection)"),
        *(
            "nothing listens on loopback, or the host is unknown, and no response ever came",
            "no response, possibly sent",
        ),
    )
    counts = ["max_attempts" if rule.most_attempts == math.inf else str(rule.most_attempts) for rule in RULES.values()]
    assert documented == dict(zip(names, ["any", *counts[1:]], strict=True))
    assert not RULES[Outcome.RATE_LIMITED].uses_attempt
    shares = f"{JITTER_SHARE:.0%}", f"{JITTER_SECONDS} s", f"{RETRY_AFTER_JITTER_SHARE:.0%}"
    assert all(share.replace("%", " %") in page("retries") for share in shares)


def test_limits_of_listings_are_those_of_the_code() -> None:
    """The table of keywords has the page sizes and the cap that the client asks for."""
    head = "Keyword | Means | Default for iTwins | Default for scene objects"
    documented = {row[0]: row[2:] for row in rows("pagination", head)}
    assert documented["page_size"][0] == AT_MOST.format(ITWINS_PER_PAGE)
    assert documented["page_size"][1] == AT_MOST.format(OBJECTS_PER_PAGE)
    assert documented["max_return"][0] == AT_MOST.format(MOST_RETURNED)


def test_times_of_tokens_are_those_of_the_code() -> None:
    """The two windows, and how long a failure is shared, are as the page of tokens says."""
    documented = [row[0] for row in rows("authentication", "Time until expiry | What happens")]
    minutes, seconds = EARLY_WINDOW // timedelta(minutes=1), EXPIRY_MARGIN.seconds
    assert documented == [
        f"less than {minutes} minutes, or {EARLY_SHARE * 100:g} % of its lifetime",
        f"less than {seconds} seconds, or {EXPIRY_SHARE * 100:g} % of its lifetime",
    ]
    assert f"for {FAILURE_SHARED:g} second," in page("authentication")


def test_limits_that_protect_are_those_of_the_code() -> None:
    """The page of performance has the defaults of the client."""
    documented = {argument: default for _, default, argument in rows("performance", "Limit | Default | Argument")}
    assert documented["max_response_bytes="] == f"{MAX_RESPONSE_BYTES // 2**20} MiB"
    assert documented["BackoffPolicy(deadline=...)"] == f"{BackoffPolicy().deadline:g} s"
    timeout = inspect.signature(itwin_platform.PlatformClient).parameters["timeout"].default
    assert documented["timeout="] == f"{timeout:g} s"
    assert f"`timeout=` of the client is for one attempt, {timeout:g} s" in page("retries")


def test_events_are_those_of_the_enum() -> None:
    """The page of webhooks names every event type, once."""
    documented = chain.from_iterable(cell.split(", ") for _, cell in rows("webhooks", "Area | `event_types`"))
    assert sorted(documented) == sorted(EventType)


@pytest.mark.parametrize("row", rows("repositories", "Type | Fields"), ids=lambda row: row[0])
def test_fields_of_complete_objects_are_those_of_the_code(row: list[str]) -> None:
    """The page of replacement names the fields that each type asks for."""
    kind = getattr(itwin_platform, row[0])
    fields = [field.name for field in dataclasses.fields(kind) if field.name not in CompleteObject.__dataclass_fields__]
    assert row[1].partition(";")[0].split(", ") == fields
