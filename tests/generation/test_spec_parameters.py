"""The words about parameters that exclude each other, and the Accept version of each operation."""

from typing import Any

from tools.generation.accept import accepted
from tools.generation.document import operations as operations_of


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


def test_list_itwins_says_what_makes_it_ignore_prefer(operations: dict[str, Any]) -> None:
    """The description of list iTwins says that $select overrides Prefer, and what may accompany $filter."""
    words = _words(operations["list_itwins"])
    assert "only `subClass` may accompany it." in words
    assert "When `$select` is given, the Prefer header is ignored." in words


def test_max_return_is_reported_from_page_size(operations: dict[str, Any]) -> None:
    """X-Max-Return is described as the cap of the listing, which is not a page size."""
    words = _words(operations["list_itwins"]["parameters"]["header", "X-Max-Return"])
    expected = ["across all pages", "Pages beyond the limit are empty", "Not the same as `$top` (page size)"]
    assert [phrase for phrase in expected if phrase not in words] == []


def _words(node: dict[str, Any]) -> str:
    return " ".join(node["description"].split())
