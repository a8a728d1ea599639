"""Errors: each operation's own set of statuses, with the documented codes, details and targets as examples."""

from typing import Any

import pytest

DETAILS_OF_REPOSITORY_UPDATE = {
    ("InvalidValue", "uri"),
    ("InvalidValue", "displayName"),
    ("InvalidValue", "options"),
    ("InvalidValue", "key"),
    ("InvalidValue", "value"),
    ("InvalidValue", "username"),
    ("InvalidValue", "password"),
    ("InvalidValue", "minimumlevel"),
    ("InvalidValue", "maximumlevel"),
}
DETAILS_OF_RESOURCE_CREATE = {
    ("MissingRequiredProperty", "id"),
    ("MissingRequiredProperty", "type"),
    ("MissingRequiredProperty", "displayName"),
    ("InvalidValue", "id"),
    ("InvalidValue", "type"),
    ("InvalidValue", "displayName"),
}
DETAILS_OF_ITWINS_QUERY = {
    ("InvalidValue", "$top"),
    ("InvalidValue", "$skip"),
    ("InvalidParameter", "$search"),
    ("InvalidValue", "subClass"),
    ("InvalidValue", "status"),
    ("InvalidParameter", "includeInactive"),
    ("InvalidValue", "$select"),
    ("InvalidParameter", "$filter"),
    ("InvalidValue", "$filter"),
    ("InvalidValue", "$orderby"),
    ("InvalidHeaderValue", "X-Max-Return"),
    ("InvalidHeaderValue", "X-iTwin-Create-Scope"),
}
OPERATION_NOT_FOUND: set[tuple[str, str | None]] = {("OperationNotFound", None)}

Errors = dict[str, tuple[str, set[tuple[str, str | None]]]]
EVERYWHERE: Errors = {"401": ("HeaderNotFound", set()), "429": ("RateLimitExceeded", set())}

# operationId: {status: (code, {(detail code, target)})}
ERRORS: dict[str, Errors] = {
    "update_repository": EVERYWHERE
    | {
        "403": ("InsufficientPermissions", set()),
        "404": ("iTwinRepositoryNotFound", set()),
        "409": ("iTwinRepositoryExists", set()),
        "422": ("InvalidiTwinsRequest", {*DETAILS_OF_REPOSITORY_UPDATE}),
    },
    "create_repository_resource": EVERYWHERE
    | {
        "403": ("InsufficientPermissions", set()),
        "404": ("iTwinRepositoryNotFound", set()),
        "409": ("iTwinRepositoryResourceExists", set()),
        "422": ("InvalidiTwinsRequest", {*DETAILS_OF_RESOURCE_CREATE}),
    },
    "list_itwins": EVERYWHERE
    | {
        "404": ("ResourceNotFound", {*OPERATION_NOT_FOUND}),
        "422": ("InvalidiTwinsRequest", {*DETAILS_OF_ITWINS_QUERY}),
    },
    "get_primary_account": EVERYWHERE | {"404": ("ResourceNotFound", {*OPERATION_NOT_FOUND})},
    "create_scene": EVERYWHERE
    | {
        "400": ("InvalidScenesRequest", {("InvalidRequestBody", "parentId")}),
        "403": ("InsufficientPermissions", set()),
        "404": ("SceneNotFound", set()),
        "409": ("SceneExists", set()),
        "413": ("RequestTooLarge", set()),
    },
    "list_scene_objects": EVERYWHERE | {"404": ("SceneObjectNotFound", set())},
    "create_detector": EVERYWHERE
    | {
        "400": ("InvalidRealityAnalysisRequest", {("InvalidValue", "detector.type")}),
        "404": ("ResourceNotFound", {*OPERATION_NOT_FOUND}),
    },
    "update_webhook": EVERYWHERE
    | {
        "404": ("WebhookNotFound", set()),
        "422": ("InvalidUpdateWebhookRequest", {("InvalidRequestBody", None)}),
    },
}
CASES = [(operation_id, status) for operation_id, errors in ERRORS.items() for status in errors]


@pytest.mark.parametrize("operation_id", ERRORS)
def test_operation_has_exactly_its_error_statuses(operations: dict[str, Any], operation_id: str) -> None:
    """An operation responds with its own documented error statuses and no other."""
    found = {status for status in operations[operation_id]["responses"] if not status.startswith("2")}
    assert found == set(ERRORS[operation_id])


@pytest.mark.parametrize(("operation_id", "status"), CASES)
def test_error_shows_its_code(operations: dict[str, Any], operation_id: str, status: str) -> None:
    """An error response shows its documented code, in its words and in every example."""
    response = operations[operation_id]["responses"][status]
    code = ERRORS[operation_id][status][0]
    assert f"`{code}`" in response["description"]
    assert {error["code"] for error in _examples(response)} == {code}


@pytest.mark.parametrize(("operation_id", "status"), CASES)
def test_error_shows_exactly_its_details(operations: dict[str, Any], operation_id: str, status: str) -> None:
    """The examples of an error response hold each documented pair of detail code and target once, and no other."""
    response = operations[operation_id]["responses"][status]
    found = [(detail["code"], detail["target"]) for error in _examples(response) for detail in error.get("details", [])]
    assert len(found) == len(set(found))
    assert set(found) == ERRORS[operation_id][status][1]


@pytest.mark.parametrize(("operation_id", "status"), CASES)
def test_error_has_the_documented_body(
    operations: dict[str, Any], schemas: dict[str, Any], operation_id: str, status: str
) -> None:
    """An error response has the body of section 2.11, and its examples have exactly the properties of that body."""
    response = operations[operation_id]["responses"][status]
    assert list(response["content"]) == ["application/json"]
    assert response["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/ErrorResponse"}
    for error in _examples(response):
        assert set(error) - {"details"} == set(schemas["ErrorBody"]["required"])
        assert all(set(detail) == set(schemas["ErrorDetail"]["required"]) for detail in error.get("details", []))
        assert error["message"]


def test_rate_limit_says_how_long_to_wait(document: dict[str, Any], operations: dict[str, Any]) -> None:
    """Every 429 carries the header retry-after, in seconds."""
    for operation in operations.values():
        assert operation["responses"]["429"]["headers"] == {"retry-after": {"$ref": "#/components/headers/RetryAfter"}}
    header = document["components"]["headers"]["RetryAfter"]
    assert header["schema"] == {"type": "integer"}
    assert "Seconds to wait" in header["description"]


def test_list_itwins_echoes_max_return(document: dict[str, Any], operations: dict[str, Any]) -> None:
    """The response of list iTwins, and no other, carries the value used for X-Max-Return."""
    echoing = {
        (operation_id, status): list(response["headers"])
        for operation_id, operation in operations.items()
        for status, response in operation["responses"].items()
        if "headers" in response and status != "429"
    }
    assert echoing == {("list_itwins", "200"): ["X-Max-Return"]}
    assert operations["list_itwins"]["responses"]["200"]["headers"]["X-Max-Return"] == {
        "$ref": "#/components/headers/MaxReturn"
    }
    assert document["components"]["headers"]["MaxReturn"]["schema"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 10000,
    }


def test_codes_are_those_of_the_examples(operations: dict[str, Any], schemas: dict[str, Any]) -> None:
    """ErrorCode and ErrorDetailCode list exactly the codes that some operation documents."""
    errors = [
        error
        for operation in operations.values()
        for status, response in operation["responses"].items()
        if not status.startswith("2")
        for error in _examples(response)
    ]
    assert set(schemas["ErrorCode"]["enum"]) == {error["code"] for error in errors}
    details = [detail for error in errors for detail in error.get("details", [])]
    assert set(schemas["ErrorDetailCode"]["enum"]) == {detail["code"] for detail in details}


def _examples(response: dict[str, Any]) -> list[dict[str, Any]]:
    return [example["value"]["error"] for example in response["content"]["application/json"]["examples"].values()]
