"""`make coverage-of-spec`: where the wrapper has each part of the specification."""

import copy

import pytest

from tests.support.regenerated import Document
from tools.generation.unwrapped import UNWRAPPED
from tools.generation.wrapper_coverage import Row, rows
from tools.spec.reading import read


@pytest.fixture(scope="module")
def held(specification: Document) -> dict[tuple[str, str], Row]:
    """The rows of the committed specification by operation and part."""
    return {(row.operation, row.part): row for row in rows(read(specification))}


def test_the_wrapper_has_all_of_the_specification(held: dict[tuple[str, str], Row]) -> None:
    """Only the operations that are unwrapped on purpose are generated and not wrapped."""
    missing = [row for row in held.values() if not row.wrapped and row.operation not in UNWRAPPED]
    assert [f"{row.operation} {row.part}: {' '.join(row.lines)}" for row in missing] == []


@pytest.mark.parametrize(
    ("operation", "part", "where"),
    [
        ("list_itwins", "", "platform.itwins.list()"),
        ("list_itwins", "query $top", "page_size="),
        ("list_itwins", "header X-Max-Return", "max_return="),
        ("list_itwins", "header Prefer", "representation="),
        ("list_itwins", "header Accept", "sent by the generated function"),
        ("update_repository", "path iTwinId", "itwin_id="),
        ("update_repository", "RepositoryUpdate.options", "options="),
        ("update_repository", "StoredBasicAuthentication.password", "BasicAuthentication(password=)"),
        ("update_repository", "StoredBasicAuthentication.type", "BasicAuthentication()"),
        ("create_scene", "SceneDataCreate.objects", "objects="),
        ("create_scene", "SceneObjectCreate.kind", "SceneObjectCreate(kind=)"),
        ("create_scene", "error 413 RequestTooLarge", "RequestTooLargeError, ErrorCode.REQUEST_TOO_LARGE"),
        ("create_scene", "detail InvalidRequestBody", "ErrorDetailCode.INVALID_REQUEST_BODY"),
    ],
)
def test_place_is_found_by_looking(held: dict[tuple[str, str], Row], operation: str, part: str, where: str) -> None:
    """Each kind of part is found at the keyword, class or exception that a caller uses."""
    assert held[operation, part].wrapped == where


def test_an_error_code_without_a_member_is_not_wrapped(specification: Document) -> None:
    """A code that no enum lists is reported with the comparison that works for it."""
    document = copy.deepcopy(specification)
    examples = document["components"]["responses"]["SceneExists"]["content"]["application/json"]["examples"]
    examples["SceneExists"]["value"]["error"]["code"] = "SceneTaken"
    row = next(row for row in rows(read(document)) if row.part == "error 409 SceneTaken")
    assert row.wrapped == ""
    assert row.lines == ('except ConflictError as error: ... error.code == "SceneTaken"  # Conflict',)


def test_a_specification_that_was_not_generated_is_rejected(specification: Document) -> None:
    """What is in the specification and not in the generated package is named, with what to do."""
    document = copy.deepcopy(specification)
    document["components"]["schemas"]["WebhookUpdate"]["properties"]["note"] = {"type": "string"}
    with pytest.raises(SystemExit, match=r"WebhookUpdate\.note .* run `make generate` first"):
        rows(read(document))
