"""What the wrapper says in strings and docstrings is in the document, and operations without a method are named."""

import copy
import re
from collections.abc import Callable
from functools import partial

import pytest

from tests.support.processes import PROJECT
from tests.support.specification import Document
from tools.generation.docstring_limits import updated
from tools.generation.wire_names import dead_names, missing_parts
from tools.generation.wrapper_fit import schemas_without_method, without_method


def misfits_of(document: Document) -> list[str]:
    """Return what is said about a document."""
    return [*dead_names(document), *missing_parts(document)]


def test_the_strings_of_the_wrapper_are_in_the_document(specification: Document) -> None:
    """Every name on the wire, and what all responses share is there."""
    found = misfits_of(specification)
    assert not found, "\n" + "\n".join(found)


def renamed(name: str, old: str, document: Document) -> None:
    """Give a property of a schema another name."""
    properties = document["components"]["schemas"][name]["properties"]
    properties["new"] = properties.pop(old)


def another_preference(document: Document) -> None:
    """Replace a value of the header Prefer."""
    document["components"]["schemas"]["PreferredReturn"].update(enum=["return=short", "return=representation"])


def no_header(document: Document) -> None:
    """Take the header of a rate limit away."""
    document["components"]["responses"]["RateLimitExceeded"]["headers"].clear()


@pytest.mark.parametrize(
    ("change", "said", "line"),
    [
        (another_preference, "has no return=minimal", "return=minimal"),
        (no_header, "no header retry-after", '"retry-after"'),
        (partial(renamed, "PagingLinks", "next"), "no string _links.next.href", "def next_request("),
        (partial(renamed, "ITwinsResponse", "_links"), "no string _links.next.href", "def next_request("),
        (partial(renamed, "PagingLink", "href"), "no string _links.next.href", "def next_request("),
        (partial(renamed, "ErrorBody", "code"), "no string error.code", '"error"'),
        (partial(renamed, "ErrorDetail", "target"), "no string error.details[].target", '"error"'),
        (partial(renamed, "ErrorResponse", "error"), "no string error.message", '"error"'),
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


def test_an_operation_without_a_method_is_named_with_what_only_it_uses(specification: Document) -> None:
    """Generation names it, and `itwin_platform` does not export the schemas that no other operation uses."""
    document = copy.deepcopy(specification)
    document["components"]["schemas"]["SceneTags"] = {"type": "object", "properties": {"a": {"type": "string"}}}
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/SceneTags"}}}
    responses = {"200": {"description": "The scene.", "content": content}}
    document["paths"]["/scenes/{sceneId}"] = {"get": {"operationId": "get_scene", "responses": responses}}
    assert {*without_method(document)} - {*without_method(specification)} == {"get_scene"}
    assert schemas_without_method(document) - schemas_without_method(specification) == {"SceneTags"}


SOURCE = '''
async def update():
    """Update.

    Args:
        {line}
    """
    update_repository.build_request()
'''


@pytest.mark.parametrize(
    ("stated", "documented"),
    [
        ("uri: the address, 3 to 4 characters.", "uri: the address, 1 to 2000 characters."),
        ("minimum_level: a level, at most 9.", "minimum_level: a level, 0 to 24."),
        ("uri: 5 to 6 characters, as text.", "uri: 1 to 2000 characters, as text."),
        ("uri: the address.", "uri: the address."),
    ],
)
def test_a_limit_in_a_docstring_is_written_as_the_document_has_it(stated: str, documented: str) -> None:
    """Where a docstring states a limit of an argument, generation writes the limit that the rules have."""
    assert updated(SOURCE.format(line=stated)) == SOURCE.format(line=documented)


def test_a_limit_that_no_rule_has_is_rejected() -> None:
    """A docstring cannot state a limit that the document does not have."""
    with pytest.raises(SystemExit, match=r"states a limit that openapi\.yaml does not have: .options: at most 3'"):
        updated(SOURCE.format(line="options: at most 3 of them."))
