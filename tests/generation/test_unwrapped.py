"""An operation may be committed before it has a wrapper: it is named, and the checks of the wrapper leave it out."""

from tests.support.regenerated import Document
from tools.generation.drill import UNWRAPPED as NAME_OF_CHANGE, selected
from tools.generation.drill_changes import made
from tools.generation.unwrapped import UNWRAPPED, wrapped_part


def test_an_unwrapped_operation_is_omitted_with_what_only_it_uses(specification: Document) -> None:
    """What remains is the document without it, so that every other check stays as it was."""
    ((_, [change]),) = selected(NAME_OF_CHANGE)
    document = made(change)
    document["components"]["schemas"]["SceneTags"] = {"type": "object", "properties": {"a": {"type": "string"}}}
    media = {"application/json": {"schema": {"$ref": "#/components/schemas/SceneTags"}}}
    document["paths"]["/scenes/{sceneId}"]["get"]["responses"]["200"]["content"] = media
    named = {"get_scene": "later", "delete_scene": "later"}
    assert wrapped_part(document, {**UNWRAPPED, **named}) == wrapped_part(specification)


def test_what_is_named_is_there_and_has_a_reason(specification: Document) -> None:
    """A name in the list is that of an operation in the document, or of a part of one, with a reason."""
    names = {operation.get("operationId") for item in specification["paths"].values() for operation in item.values()}
    assert {name.partition(":")[0] for name in UNWRAPPED} <= names
    assert all(UNWRAPPED.values())
