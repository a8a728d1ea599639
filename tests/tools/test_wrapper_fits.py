"""The names in strings and docstrings of the wrapper are in the document, and operations without a method are named."""

import copy
import re

import pytest

from tests.support.processes import PROJECT
from tests.support.specification import Document
from tools.generation.docstring_limits import updated
from tools.generation.document import resolve
from tools.generation.wrapper_fit import dead_names, schemas_without_method, without_method


def test_the_strings_of_the_wrapper_are_in_the_document(specification: Document) -> None:
    """Every wire name in the wrapper and the sandbox is in the document."""
    assert dead_names(specification) == []


def test_the_parts_that_the_wrapper_reads_are_in_the_document(specification: Document) -> None:
    """An error has code, message and details, a page has the address of the next one, and a 429 has a delay."""
    schemas = specification["components"]["schemas"]
    assert [*schemas["ErrorResponse"]["properties"]] == ["error"]
    assert {"code", "message", "details"} <= schemas["ErrorBody"]["properties"].keys()
    assert {"code", "message", "target"} <= schemas["ErrorDetail"]["properties"].keys()
    for name in ("ITwinsResponse", "SceneObjectsResponse"):
        links = resolve(specification, schemas[name]["properties"]["_links"])
        assert "href" in resolve(specification, links["properties"]["next"])["properties"]
    assert "retry-after" in specification["components"]["responses"]["RateLimitExceeded"]["headers"]


def test_a_name_that_is_gone_is_reported_with_its_line(specification: Document) -> None:
    """The message begins with the file and the line of the wrapper that has the name."""
    document = copy.deepcopy(specification)
    document["components"]["schemas"]["PreferredReturn"]["enum"][0] = "return=minimum"
    [message, *_] = dead_names(document)
    place = re.match(r"(\S+):(\d+): openapi\.yaml has no (return=\w+)\. Similar names: .*return=minimum", message)
    assert place is not None
    assert place[3] in (PROJECT / place[1]).read_text(encoding="utf-8").splitlines()[int(place[2]) - 1]


def test_an_operation_without_a_method_is_named_with_its_schemas(specification: Document) -> None:
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
    """Generation replaces a limit in a docstring by that of the rules."""
    assert updated(SOURCE.format(line=stated)) == SOURCE.format(line=documented)


def test_a_limit_that_no_rule_has_is_rejected() -> None:
    """A docstring cannot state a limit that the document does not have."""
    with pytest.raises(SystemExit, match=r"states a limit that openapi\.yaml does not have: .options: at most 3'"):
        updated(SOURCE.format(line="options: at most 3 of them."))
