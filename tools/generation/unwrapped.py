"""What is generated and has no wrapper yet, on purpose.

Name an operation here to commit it before it has a method, a sandbox and tests: `make check` stays green. Name an
argument or a property, such as `create_detector: account_id`, to commit it before it has a keyword.
"""

from collections.abc import Mapping
from typing import Any

from tools.generation.document import METHODS, reached

#: The reasons, by operationId, or by what `make generate` lists.
UNWRAPPED: Mapping[str, str] = {}


def wrapped_part(document: Mapping[str, Any], unwrapped: Mapping[str, str] = UNWRAPPED) -> dict[str, Any]:
    """Return a document without the unwrapped operations, and without the schemas that only they use."""
    kept = dict[str, Any]()
    for path, item in document["paths"].items():
        rest = {
            key: node for key, node in item.items() if key not in METHODS or node.get("operationId") not in unwrapped
        }
        if not rest.keys().isdisjoint(METHODS):
            kept[path] = rest
    dropped = reached(document, document["paths"]) - reached(document, kept)
    components = dict(document.get("components", {}))
    schemas = components.get("schemas", {})
    components["schemas"] = {
        name: each for name, each in schemas.items() if f"#/components/schemas/{name}" not in dropped
    }
    return {**document, "paths": kept, "components": components}
