"""The eight operations: path, request, response, Technical Preview and permissions."""

from typing import Any

import pytest

PERMISSIONS = {
    "update_repository": ["`itwin-platform`", "`itwins_modify`", "Organization Administrators have it"],
    "create_repository_resource": [
        *("`itwin-platform`", "`itwins_modify`", "Organization Administrators have it"),
    ],
    "list_itwins": [
        *("`itwin-platform`", "Any authenticated user"),
        "`X-iTwin-Query-Scope: OrganizationAdmin` is for organization administrators",
    ],
    "get_primary_account": ["`itwin-platform`", "Any authenticated user"],
    "create_scene": ["`itwin-platform`", "Permission required for scene operations: not documented"],
    "list_scene_objects": [
        *("`itwin-platform`", "Permission required for scene operations: not documented"),
    ],
    "create_detector": [
        *("`itwin-platform`", "Permission required for detector creation: not documented"),
    ],
    "update_webhook": [
        *("`itwin-platform`", "`webhooks:modify`", "the permission `webhooks_maintainer` on the iTwin"),
        *("only by Service Applications", "Organization Administrator of the owning organization"),
    ],
}


def test_exactly_the_eight_operations_exist(operations: dict[str, Any]) -> None:
    """The document holds the eight operations of the service description and no other."""
    assert operations.keys() == PERMISSIONS.keys()


def test_a_body_is_required_and_has_a_schema_with_a_name(operations: dict[str, Any]) -> None:
    """Generators name a class by the component, and pass a body that is not required as an option."""
    bodies = [operation["requestBody"] for operation in operations.values() if "requestBody" in operation]
    assert bodies
    for body in bodies:
        assert body["required"] is True
        ((kind, media),) = body["content"].items()
        assert (kind, list(media["schema"])) == ("application/json", ["$ref"])


@pytest.mark.parametrize("operation_id", PERMISSIONS)
def test_preview_is_marked_the_same_way_everywhere(operations: dict[str, Any], operation_id: str) -> None:
    """The mark and the sentence go together, and the sentence is always the same."""
    operation = operations[operation_id]
    first_line = operation["description"].partition("\n")[0]
    sentence = "Technical Preview: for testing only, not for production use; may change."
    preview = operation.get("x-technical-preview") is True
    assert (first_line == sentence) is preview
    assert operation["description"].count("Technical Preview") == int(preview)


@pytest.mark.parametrize("operation_id", PERMISSIONS)
def test_operation_says_who_may_call_it(operations: dict[str, Any], operation_id: str) -> None:
    """An operation names the token scopes and permissions of section 5, or says that they are not shown."""
    words = " ".join(operations[operation_id]["description"].split())
    assert [phrase for phrase in PERMISSIONS[operation_id] if phrase not in words] == []


def test_tags_are_declared_and_named_as_folders(document: dict[str, Any], operations: dict[str, Any]) -> None:
    """Each operation has one tag, which is declared, in lower case: it names a generated folder."""
    declared = {tag["name"] for tag in document["tags"]}
    assert [operation["tags"] for operation in operations.values() if len(operation["tags"]) != 1] == []
    assert {tag.lower() for operation in operations.values() for tag in operation["tags"]} == declared


def test_security_scheme_says_what_an_organization_administrator_is(document: dict[str, Any]) -> None:
    """The bearer scheme defines Organization Administrator and tells what section 5 leaves open."""
    words = " ".join(document["components"]["securitySchemes"]["bearer"]["description"].split())
    expected = [
        "Header `Authorization` (required on every operation) with a valid Bearer access token; scope `itwin-platform`",
        "Account Administrator, Co-Administrator, or a services administrator role",
        "manage every iTwin that their organization owns",
        "The access token request format and issuance: not documented",
        "is separate from authenticating to the service",
    ]
    assert [phrase for phrase in expected if phrase not in words] == []
