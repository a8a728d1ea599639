"""The OpenAPI document as the tests of this folder read it."""

from typing import Any

import pytest

from tools.generation.unwrapped import wrapped_part


@pytest.fixture(scope="session")
def document(specification: dict[str, Any]) -> dict[str, Any]:
    """The document as the service description has it: without operations that are unwrapped on purpose."""
    return wrapped_part(specification)


@pytest.fixture(scope="session")
def schemas(document: dict[str, Any]) -> dict[str, Any]:
    """The component schemas by name."""
    found: dict[str, Any] = document["components"]["schemas"]
    return found


@pytest.fixture(scope="session")
def operations(document: dict[str, Any]) -> dict[str, Any]:
    """The operations by operationId, each with its method and path, references to parameters and responses followed."""
    found = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            found[operation["operationId"]] = operation | {
                "method": method.upper(),
                "path": path,
                "parameters": {
                    (parameter["in"], parameter["name"]): parameter
                    for parameter in (_followed(document, listed) for listed in operation.get("parameters", ()))
                },
                "responses": {status: _followed(document, listed) for status, listed in operation["responses"].items()},
            }
    return found


def _followed(document: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in node:
        return node
    target: dict[str, Any] = document
    for step in node["$ref"].removeprefix("#/").split("/"):
        target = target[step]
    return target
