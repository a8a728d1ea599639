"""Errors: each operation's own statuses, codes and details, and what a request gets that breaks a rule. Section 7."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools.generation.document import nodes

Details = set[tuple[str, str | None]]
Errors = dict[str, tuple[str, Details]]


def details(code: str, *targets: str | None) -> Details:
    """A code with each of these targets."""
    return {(code, target) for target in targets}


EVERYWHERE: Errors = {"401": ("HeaderNotFound", set()), "429": ("RateLimitExceeded", set())}
NO_OPERATION: Errors = EVERYWHERE | {"404": ("ResourceNotFound", details("OperationNotFound", None))}
REPOSITORY: Errors = EVERYWHERE | {
    "403": ("InsufficientPermissions", set()),
    "404": ("iTwinRepositoryNotFound", set()),
}
# operationId: {status: (code, {(detail code, target)})}
ERRORS: dict[str, Errors] = {
    "update_repository": REPOSITORY
    | {
        "409": ("iTwinRepositoryExists", set()),
        "422": (
            "InvalidiTwinsRequest",
            details("InvalidValue", "uri", "displayName", "options", "key", "value", "username", "password")
            | details("InvalidValue", "minimumlevel", "maximumlevel"),
        ),
    },
    "create_repository_resource": REPOSITORY
    | {
        "409": ("iTwinRepositoryResourceExists", set()),
        "422": (
            "InvalidiTwinsRequest",
            details("MissingRequiredProperty", "id", "type", "displayName")
            | details("InvalidValue", "id", "type", "displayName"),
        ),
    },
    "list_itwins": NO_OPERATION
    | {
        "422": (
            "InvalidiTwinsRequest",
            details("InvalidValue", "$top", "$skip", "subClass", "status", "$select", "$filter", "$orderby")
            | details("InvalidParameter", "$search", "includeInactive", "$filter")
            | details("InvalidHeaderValue", "X-Max-Return", "X-iTwin-Create-Scope"),
        ),
    },
    "get_primary_account": NO_OPERATION,
    "create_scene": EVERYWHERE
    | {
        "400": ("InvalidScenesRequest", details("InvalidRequestBody", "parentId")),
        "403": ("InsufficientPermissions", set()),
        "404": ("SceneNotFound", set()),
        "409": ("SceneExists", set()),
        "413": ("RequestTooLarge", set()),
    },
    "list_scene_objects": EVERYWHERE | {"404": ("SceneObjectNotFound", set())},
    "create_detector": NO_OPERATION
    | {"400": ("InvalidRealityAnalysisRequest", details("InvalidValue", "detector.type"))},
    "update_webhook": EVERYWHERE
    | {
        "404": ("WebhookNotFound", set()),
        "422": ("InvalidUpdateWebhookRequest", details("InvalidRequestBody", None)),
    },
}
#: Fields beyond OpenAPI, as the comment at the top of the document lists them.
TEXT = (Path(__file__).resolve().parents[2] / "openapi.yaml").read_text(encoding="utf-8")
BEYOND = set(re.findall(r"^# (x-[a-z-]+)  ", TEXT, re.MULTILINE))


@pytest.mark.parametrize("operation_id", ERRORS)
def test_operation_has_exactly_its_errors(
    operations: dict[str, Any], schemas: dict[str, Any], operation_id: str
) -> None:
    """Each status shows its code, in words and examples, and each detail once, in exactly the body of section 2.11."""
    responses = {status: each for status, each in operations[operation_id]["responses"].items() if status >= "400"}
    assert responses.keys() == ERRORS[operation_id].keys()
    for status, response in responses.items():
        code, expected = ERRORS[operation_id][status]
        examples = _examples(response)
        shown = [(detail["code"], detail["target"]) for error in examples for detail in error.get("details", [])]
        assert f"`{code}`" in response["description"]
        assert {error["code"] for error in examples} == {code}
        assert (len(shown), set(shown)) == (len(expected), expected)
        content = {kind: media["schema"] for kind, media in response["content"].items()}
        assert content == {"application/json": {"$ref": "#/components/schemas/ErrorResponse"}}
        for error in examples:
            assert set(error) - {"details"} == set(schemas["ErrorBody"]["required"])
            assert all(set(detail) == set(schemas["ErrorDetail"]["required"]) for detail in error.get("details", []))
            assert error["message"]


def test_headers_of_responses_are_the_documented_ones(document: dict[str, Any], operations: dict[str, Any]) -> None:
    """Every 429 carries the header retry-after, list iTwins echoes X-Max-Return, and no other response has any."""
    found = {
        (operation_id, status): response["headers"]
        for operation_id, operation in operations.items()
        for status, response in operation["responses"].items()
        if "headers" in response
    }
    wait = {"retry-after": {"$ref": "#/components/headers/RetryAfter"}}
    echo = {"X-Max-Return": {"$ref": "#/components/headers/MaxReturn"}}
    assert found == {(operation_id, "429"): wait for operation_id in operations} | {("list_itwins", "200"): echo}
    headers = document["components"]["headers"]
    assert headers["RetryAfter"]["schema"] == {"type": "integer"}
    assert headers["MaxReturn"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 10000}


def test_codes_are_those_of_the_examples(operations: dict[str, Any], schemas: dict[str, Any]) -> None:
    """ErrorCode and ErrorDetailCode list exactly the codes that some operation documents."""
    responses = [each for operation in operations.values() for each in operation["responses"].items()]
    errors = [error for status, response in responses if status >= "400" for error in _examples(response)]
    assert set(schemas["ErrorCode"]["enum"]) == {error["code"] for error in errors}
    shown = {detail["code"] for error in errors for detail in error.get("details", [])}
    assert set(schemas["ErrorDetailCode"]["enum"]) == shown


def test_every_field_beyond_openapi_is_explained(document: dict[str, Any]) -> None:
    """The comment at the top explains exactly the fields that the document has."""
    headers = {"x-max-return", "x-correlation-id"}
    assert {key for _, node in nodes(document) for key in node if str(key).startswith("x-")} - headers == BEYOND


@pytest.mark.parametrize("operation_id", ERRORS)
def test_an_invalid_request_gets_a_documented_error(
    document: dict[str, Any], operations: dict[str, Any], operation_id: str
) -> None:
    """The error of an operation is one of its responses, and its rules give the details of section 7 and no other."""
    operation = operations[operation_id]
    error = operation.get("x-error")
    if operation_id == "get_primary_account":
        assert error is None
        return
    code, expected = ERRORS[operation_id][str(error["status"])]
    assert error["code"] == code
    assert error.get("inferred") is (True if operation_id == "list_scene_objects" else None)
    assert error.get("prefix", "") == ("detector." if operation_id == "create_detector" else "")
    assert error["detail"] in ({detail for detail, _ in expected} or {"InvalidValue"})
    given = Details()
    for place, own in _rules(document, operation):
        target = (own or {}).get("target")
        given |= {(detail, target) for key, detail in (own or {}).items() if key != "target"}
        if target is not None:
            name = place.rpartition(" ")[2].rpartition(".")[2].lower()
            assert target.rpartition(".")[2].lower() in (name, "x-itwin-create-scope")
    assert given == expected - {("InvalidValue", "$filter")}, "the property of a filter is no rule of the document"


def test_a_body_that_is_too_large_has_its_own_error(operations: dict[str, Any]) -> None:
    """The limit in bytes is the one rule with another status."""
    body = operations["create_scene"]["requestBody"]
    assert body["x-error"] == {"status": 413, "code": ERRORS["create_scene"]["413"][0]}


def test_read_only_properties_are_named_where_they_must_not_be_sent(schemas: dict[str, Any]) -> None:
    """They are properties of the response, and no property of the body."""
    found = {name: schema["x-read-only"] for name, schema in schemas.items() if "x-read-only" in schema}
    assert found
    for body, names in found.items():
        response = schemas[body.removesuffix("Update")]["properties"]
        assert set(names) == response.keys() - schemas[body]["properties"].keys()


def _examples(response: dict[str, Any]) -> list[dict[str, Any]]:
    return [example["value"]["error"] for example in response["content"]["application/json"]["examples"].values()]


def _rules(document: dict[str, Any], operation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any] | None]]:
    for (place, name), parameter in operation["parameters"].items():
        yield f"{place} {name}", parameter.get("x-error")
    for media in operation.get("requestBody", {}).get("content", {}).values():
        yield from _properties(document, media["schema"], "")


def _properties(document: dict[str, Any], schema: dict[str, Any], place: str) -> Iterator[tuple[str, Any]]:
    yield place, schema.get("x-error")
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        if "x-error" in schema:
            yield place, schema["x-error"]
    for inner in schema.get("oneOf", ()):
        yield from _properties(document, inner, place)
    for name, inner in schema.get("properties", {}).items():
        yield from _properties(document, inner, f"{place}.{name}" if place else name)
    if "items" in schema:
        yield from _properties(document, schema["items"], f"{place}[]")
