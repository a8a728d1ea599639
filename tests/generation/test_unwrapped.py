"""An operation may be committed before it has a wrapper: it is named, and the checks of the wrapper leave it out."""

import copy

from tests.support.regenerated import Document
from tools.generation.drill_changes import get_and_delete_scene
from tools.generation.unwrapped import UNWRAPPED, wrapped_part


def test_an_unwrapped_operation_is_omitted_with_what_only_it_uses(specification: Document) -> None:
    """What remains is the document without it, so that every other check stays as it was."""
    document = copy.deepcopy(specification)
    get_and_delete_scene(document)
    document["components"]["schemas"]["SceneTags"] = {"type": "object", "properties": {"a": {"type": "string"}}}
    media = {"application/json": {"schema": {"$ref": "#/components/schemas/SceneTags"}}}
    document["paths"]["/scenes/{sceneId}"]["get"]["responses"]["200"]["content"] = media
    assert wrapped_part(document, {"get_scene": "later", "delete_scene": "later"}) == wrapped_part(specification, {})
    assert wrapped_part(specification, {}) == specification


def test_what_is_named_is_there_and_has_a_reason(specification: Document) -> None:
    """A name in the list is that of an operation in the document, with a reason."""
    names = {operation.get("operationId") for item in specification["paths"].values() for operation in item.values()}
    assert UNWRAPPED.keys() <= names
    assert all(UNWRAPPED.values())
