"""The wrapper covers every operation, error and enum of the specification."""

from pathlib import Path
from typing import Any

import itwin_platform
import pytest
from itwin_platform import ErrorCode, ErrorDetailCode, PlatformClient

from tests.support.faces import status_error_class
from tests.support.specification import specification
from tools.generation.unwrapped import wrapped_part

PROJECT = Path(__file__).resolve().parents[2]
SPECIFICATION: dict[str, Any] = wrapped_part(specification())
SCHEMAS = SPECIFICATION["components"]["schemas"]
#: Where each operation is found.
METHODS = {
    "update_repository": "repositories.update",
    "create_repository_resource": "repositories.create_resource",
    "list_itwins": "itwins.list",
    "get_primary_account": "itwins.get_primary_account",
    "create_scene": "scenes.create",
    "list_scene_objects": "scenes.list_objects",
    "create_detector": "detectors.create",
    "update_webhook": "webhooks.update",
}
#: The errors that every call can raise.
RAISED_BY_EVERY_CALL = (
    *("TokenError", "NotSentError", "OutcomeUnknownError", "DeadlineExceededError"),
    *("ResponseDecodeError", "ServerError"),
)

OPERATIONS: dict[str, dict[str, Any]] = {
    operation["operationId"]: operation | {"method": method, "path": path}
    for path, methods in SPECIFICATION["paths"].items()
    for method, operation in methods.items()
}


def method_of(name: str) -> Any:
    """The wrapper method of an operation."""
    found: Any = PlatformClient("https://s.example", vendor="v", token="t")
    for step in METHODS[name].split("."):
        found = getattr(found, step)
    return found


def test_the_eight_operations_have_methods() -> None:
    """Each operationId has a wrapper method, in the group of its tag."""
    assert METHODS.keys() == OPERATIONS.keys()
    assert len(OPERATIONS) == 8
    for name, operation in OPERATIONS.items():
        assert METHODS[name].partition(".")[0] == operation["tags"][0]
        assert callable(method_of(name))


@pytest.mark.parametrize("name", OPERATIONS)
def test_previews_are_marked(name: str) -> None:
    """The marker stands in the docstring of exactly the operations that are previews."""
    marked = "Technical Preview: for testing only, not for production use; may change." in str(method_of(name).__doc__)
    assert marked == OPERATIONS[name].get("x-technical-preview", False)


@pytest.mark.parametrize("name", OPERATIONS)
def test_documented_errors_are_reported(name: str) -> None:
    """The docstring names the class of every documented rejection, and what every call can raise besides."""
    text = str(method_of(name).__doc__)
    assert [error for error in RAISED_BY_EVERY_CALL if error not in text] == []
    statuses = [int(status) for status in OPERATIONS[name]["responses"] if int(status) >= 400]
    assert [status for status in statuses if status_error_class(status).__name__ not in text] == []


def test_error_codes_have_members() -> None:
    """ErrorCode and ErrorDetailCode hold exactly the documented codes, and each of them is in an example."""
    assert {str(code) for code in ErrorCode} == set(SCHEMAS["ErrorCode"]["enum"])
    assert {str(code) for code in ErrorDetailCode} == set(SCHEMAS["ErrorDetailCode"]["enum"])
    bodies = [
        example["value"]["error"]
        for response in SPECIFICATION["components"]["responses"].values()
        for example in response["content"]["application/json"]["examples"].values()
    ]
    assert {body["code"] for body in bodies} == {str(code) for code in ErrorCode}
    details = {detail["code"] for body in bodies for detail in body.get("details", [])}
    assert details == {str(code) for code in ErrorDetailCode}


@pytest.mark.parametrize("name", [name for name, schema in SCHEMAS.items() if "enum" in schema])
def test_enums_are_exported(name: str) -> None:
    """Users need no import from the generated package; kinds are an open set, and Prefer has words of its own."""
    assert hasattr(itwin_platform, name) == (name not in ("SceneObjectKind", "PreferredReturn"))
