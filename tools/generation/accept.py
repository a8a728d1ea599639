"""The header Accept as a parameter of each operation.

OpenAPI ignores a parameter with the name Accept, so a document declares the media types of responses instead. An
operation without a body in its success declares the media type in `x-accept`.
"""

import re
from collections.abc import Iterator
from typing import Any

from tools.generation.document import METHODS, Node, resolve

#: A media type in a document, with any vendor name, which `{vendor}` replaces in the header Accept.
MEDIA_TYPE = re.compile(r"application/vnd\.[\w-]+\.(itwin-platform\.v\d+\+json)")
DESCRIPTION = (
    "The media type that the operation returns. `{vendor}` stands for the vendor's name and is replaced before sending."
    "\n\nSource: section 9"
)


def with_accept(document: Node) -> dict[str, Any]:
    """Return a document in which each operation with a versioned media type has Accept as a parameter."""
    paths = {
        path: {method: _with_accept(document, node) if method in METHODS else node for method, node in item.items()}
        for path, item in document.get("paths", {}).items()
    }
    return {**document, "paths": paths}


def accepted(document: Node, operation: Node) -> str | None:
    """Return the media type that an operation returns, with `{vendor}`; None if the document does not declare it."""
    match = next(filter(None, map(MEDIA_TYPE.fullmatch, _media_types(document, operation))), None)
    return None if match is None else f"application/vnd.{{vendor}}.{match[1]}"


def _with_accept(document: Node, operation: Node) -> Node:
    default = accepted(document, operation)
    if default is None:
        return operation
    schema = {"type": "string", "description": DESCRIPTION, "default": default}
    accept = {"name": "Accept", "in": "header", "required": True, "description": DESCRIPTION, "schema": schema}
    return {**operation, "parameters": [*operation.get("parameters", ()), accept]}


def _media_types(document: Node, operation: Node) -> Iterator[str]:
    yield str(operation.get("x-accept", ""))
    for status, response in operation.get("responses", {}).items():
        if str(status).startswith("2"):
            yield from resolve(document, response).get("content", {})
