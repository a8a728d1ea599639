"""The eight operations: path, request, response, Technical Preview and permissions."""

from typing import Any

import pytest

# operationId: tag, method, path, body schema, success status, success schema, Technical Preview
OPERATIONS: dict[str, tuple[str, str, str, str | None, str, str, bool]] = {
    "update_repository": (
        *("repositories", "PATCH", "/itwins/{iTwinId}/repositories/{repositoryId}"),
        *("RepositoryUpdate", "200", "RepositoryResponse", True),
    ),
    "create_repository_resource": (
        *("repositories", "POST", "/itwins/{iTwinId}/repositories/{repositoryId}/resources"),
        *("ResourceCreate", "201", "ResourceResponse", True),
    ),
    "list_itwins": ("itwins", "GET", "/itwins/", None, "200", "ITwinsResponse", False),
    "get_primary_account": ("itwins", "GET", "/itwins/myprimaryaccount", None, "200", "PrimaryAccountResponse", False),
    "create_scene": ("scenes", "POST", "/scenes/", "SceneCreate", "201", "SceneResponse", True),
    "list_scene_objects": ("scenes", "GET", "/scenes/{sceneId}/objects", None, "200", "SceneObjectsResponse", True),
    "create_detector": (
        *("detectors", "POST", "/reality-analysis/detectors"),
        *("DetectorCreate", "201", "DetectorResponse", True),
    ),
    "update_webhook": ("webhooks", "PATCH", "/webhooks/{webhookId}", "WebhookUpdate", "200", "Webhook", False),
}

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
    assert set(operations) == set(OPERATIONS)


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_operation_stands_where_it_is_described(operations: dict[str, Any], operation_id: str) -> None:
    """An operation has its documented method and path, and the one tag that names its generated folder."""
    operation = operations[operation_id]
    tag, method, path, *_ = OPERATIONS[operation_id]
    assert (operation["tags"], operation["method"], operation["path"]) == ([tag], method, path)


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_operation_takes_its_body(operations: dict[str, Any], operation_id: str) -> None:
    """An operation takes its documented JSON body, which is required, and one without a body takes none."""
    body = operations[operation_id].get("requestBody")
    schema = OPERATIONS[operation_id][3]
    if schema is None:
        assert body is None
    else:
        assert body is not None
        assert body["required"] is True
        assert {kind: media["schema"] for kind, media in body["content"].items()} == {
            "application/json": {"$ref": f"#/components/schemas/{schema}"}
        }


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_an_operation_has_its_documented_response(operations: dict[str, Any], operation_id: str) -> None:
    """An operation has one success status, with the documented response as JSON."""
    *_, status, schema, _ = OPERATIONS[operation_id]
    responses = operations[operation_id]["responses"]
    assert [known for known in responses if known < "400"] == [status]
    schemas = [media["schema"] for media in responses[status]["content"].values()]
    assert schemas == [{"$ref": f"#/components/schemas/{schema}"}] * 2


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_preview_is_marked_the_same_way_everywhere(operations: dict[str, Any], operation_id: str) -> None:
    """Exactly the Technical Preview operations carry the mark and the sentence, both always the same."""
    operation = operations[operation_id]
    first_line = operation["description"].partition("\n")[0]
    sentence = "Technical Preview: for testing only, not for production use; may change."
    preview = OPERATIONS[operation_id][-1]
    assert operation.get("x-technical-preview") is (True if preview else None)
    assert (first_line == sentence) is preview
    assert operation["description"].count("Technical Preview") == int(preview)


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_operation_says_who_may_call_it(operations: dict[str, Any], operation_id: str) -> None:
    """An operation names the token scopes and permissions of section 5, or says that they are not shown."""
    words = " ".join(operations[operation_id]["description"].split())
    assert [phrase for phrase in PERMISSIONS[operation_id] if phrase not in words] == []


def test_tags_are_declared_and_named_as_folders(document: dict[str, Any]) -> None:
    """The tags that operations carry are declared, in lower case, since each names a generated folder."""
    assert {tag["name"] for tag in document["tags"]} == {tag for tag, *_ in OPERATIONS.values()}


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
