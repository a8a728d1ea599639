"""What the wrapper names in strings, where no type checker looks, is in the document."""

import copy
import re
from collections.abc import Callable

import pytest

from tests.support.processes import PROJECT
from tests.support.regenerated import Document
from tools.generation import complete_objects, not_wrapped
from tools.generation.shared_parts import missing_parts
from tools.generation.unwrapped import UNWRAPPED
from tools.generation.wire_names import dead_names


def misfits_of(document: Document) -> list[str]:
    """Return what is said about a document."""
    return [*dead_names(document), *missing_parts(document)]


def test_the_strings_of_the_wrapper_are_in_the_document(specification: Document) -> None:
    """Every name on the wire, every property of a complete object, and what all responses share is there."""
    found = [*misfits_of(specification), *complete_objects.misfits()]
    assert not found, "\n" + "\n".join(found)


def test_the_wrapper_has_all_that_is_generated() -> None:
    """Only operations that are unwrapped on purpose have no method; every argument and property has a keyword."""
    assert not_wrapped.not_wrapped().keys() == UNWRAPPED.keys()


def schema(document: Document, name: str) -> Document:
    """Return a schema."""
    found: Document = document["components"]["schemas"][name]
    return found


def renamed(name: str, old: str) -> Callable[[Document], object]:
    """Give a property another name."""
    return lambda document: schema(document, name)["properties"].update(
        new=schema(document, name)["properties"].pop(old)
    )


@pytest.mark.parametrize(
    ("change", "said", "line"),
    [
        (
            lambda d: schema(d, "PreferredReturn").update(enum=["return=short", "return=representation"]),
            "has no return=minimal",
            "return=minimal",
        ),
        (renamed("PagingLinks", "next"), "no string _links.next.href", "def next_query("),
        (renamed("ITwinsResponse", "_links"), "no string _links.next.href", "def next_query("),
        (renamed("PagingLink", "href"), "no string _links.next.href", "def next_query("),
        (renamed("ErrorBody", "code"), "no string error.code", '"error"'),
        (renamed("ErrorDetail", "target"), "no string error.details[].target", '"error"'),
        (renamed("ErrorResponse", "error"), "no string error.message", '"error"'),
        (
            lambda d: d["components"]["responses"]["RateLimitExceeded"]["headers"].clear(),
            "no header retry-after",
            '"retry-after"',
        ),
    ],
)
def test_a_name_that_is_gone_is_reported_with_its_line(
    specification: Document, change: Callable[[Document], object], said: str, line: str
) -> None:
    """Each message begins with the file and the line of the wrapper that has the name."""
    document = copy.deepcopy(specification)
    change(document)
    [message, *_] = [text for text in misfits_of(document) if said in text]
    place = re.match(r"(\S+):(\d+): ", message)
    assert place is not None
    assert line in (PROJECT / place[1]).read_text(encoding="utf-8").splitlines()[int(place[2]) - 1]
