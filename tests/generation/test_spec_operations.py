"""The operations: tag, request, response, Technical Preview, and parameters that exclude each other."""

from typing import Any

import pytest

from tests.generation.test_spec_errors import ERRORS
from tools.generation.accept import accepted
from tools.generation.document import operations as operations_of


def test_a_body_is_required_and_has_a_schema_with_a_name(operations: dict[str, Any]) -> None:
    """Generators name a class by the component, and pass a body that is not required as an option."""
    bodies = [operation["requestBody"] for operation in operations.values() if "requestBody" in operation]
    assert bodies
    for body in bodies:
        assert body["required"] is True
        ((kind, media),) = body["content"].items()
        assert (kind, list(media["schema"])) == ("application/json", ["$ref"])


@pytest.mark.parametrize("operation_id", ERRORS)
def test_preview_is_marked_the_same_way_everywhere(operations: dict[str, Any], operation_id: str) -> None:
    """The mark and the sentence go together, and the sentence is always the same."""
    operation = operations[operation_id]
    first_line = operation["description"].partition("\n")[0]
    sentence = "Technical Preview: for testing only, not for production use; may change."
    preview = operation.get("x-technical-preview") is True
    assert (first_line == sentence) is preview
    assert operation["description"].count("Technical Preview") == int(preview)


def test_tags_are_declared_and_named_as_folders(document: dict[str, Any], operations: dict[str, Any]) -> None:
    """Each operation has one tag, which is declared, in lower case: it names a generated folder."""
    declared = {tag["name"] for tag in document["tags"]}
    assert [operation["tags"] for operation in operations.values() if len(operation["tags"]) != 1] == []
    assert {tag.lower() for operation in operations.values() for tag in operation["tags"]} == declared


def test_success_declares_the_vendor_media_type(document: dict[str, Any], operations: dict[str, Any]) -> None:
    """A success declares the media type that is sent as Accept, and plain JSON with the same content."""
    asked = {node["operationId"]: accepted(document, node) for _, _, node, _ in operations_of(document)}
    for operation_id, operation in operations.items():
        (success,) = (node for status, node in operation["responses"].items() if status.startswith("2"))
        vendor, plain = success["content"].items()
        assert vendor[0].replace(".vendor.", ".{vendor}.", 1) == asked[operation_id]
        assert plain == ("application/json", vendor[1])


def test_exclusive_parameters_say_so(operations: dict[str, Any]) -> None:
    """Of two parameters that exclude each other both say so, and their operation gathers all."""
    excluding = 0
    for operation in operations.values():
        words = {name: _words(each) for (_, name), each in operation["parameters"].items()}
        for (_, name), parameter in operation["parameters"].items():
            for other in parameter.get("x-excludes", ()):
                excluding += 1
                assert f"`{other}`" in words[name].partition("Cannot be combined with ")[2]
                assert f"`{name}`" in words[other].partition("Cannot be combined with ")[2]
                assert f"`{other}`" in _words(operation).partition(f"`{name}` cannot be combined with ")[2]
    assert excluding


def _words(node: dict[str, Any]) -> str:
    return " ".join(node["description"].split())
