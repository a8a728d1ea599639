"""The header Accept as a parameter of each operation.

OpenAPI ignores a parameter of that name, so a document declares the media types of its responses instead.
"""

import re
from collections.abc import Mapping
from typing import Any

from tools.spec.document import METHODS

Document = Mapping[str, Any]

#: In a document, the second `vendor` stands for the vendor's name. In an Accept header, `{vendor}` does.
MEDIA_TYPE = re.compile(r"application/vnd\.vendor\.(itwin-platform\.v\d+\+json)")
#: The media type of an operation whose responses declare none, such as one without a body.
UNDECLARED = "itwin-platform.v1+json"
DESCRIPTION = (
    "The media type that the operation returns. `{vendor}` stands for the vendor's name and is replaced before sending."
    "\n\nSource: section 9"
)


def with_accept(document: Document) -> dict[str, Any]:
    """Return a document in which each operation has Accept as a parameter, with the media type of its success."""
    paths = {
        path: {method: _with_accept(document, node) if method in METHODS else node for method, node in item.items()}
        for path, item in document.get("paths", {}).items()
    }
    return {**document, "paths": paths}


def _with_accept(document: Document, operation: Document) -> Document:
    parameters = list(operation.get("parameters", ()))
    if any(parameter.get("name") == "Accept" for parameter in parameters):
        return operation
    found = [match[1] for name in _media_types(document, operation) if (match := MEDIA_TYPE.fullmatch(name))]
    default = f"application/vnd.{{vendor}}.{found[0] if found else UNDECLARED}"
    schema = {"type": "string", "description": DESCRIPTION, "default": default}
    accept = {"name": "Accept", "in": "header", "required": True, "description": DESCRIPTION, "schema": schema}
    return {**operation, "parameters": [*parameters, accept]}


def _media_types(document: Document, operation: Document) -> list[str]:
    """Return the media types of the responses, those of successes first."""
    shared = document.get("components", {}).get("responses", {})
    found: list[str] = []
    for status, response in sorted(operation.get("responses", {}).items(), key=lambda item: str(item[0])):
        name = str(response.get("$ref", "")).rpartition("/")[2]
        types = [*shared.get(name, response).get("content", {})]
        found = [*types, *found] if str(status).startswith("2") else [*found, *types]
    return found
