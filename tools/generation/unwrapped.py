"""What is generated and has no wrapper yet, on purpose.

Name an operation here to commit it before it has a method, a sandbox and tests: `make check` stays green. Name an
argument or a property, such as `create_detector: account_id`, to commit it before it has a keyword.
"""

from collections.abc import Mapping
from typing import Any

from tools.generation.document import METHODS, nodes

#: The reasons, by operationId, or by what `make generate` lists.
UNWRAPPED: Mapping[str, str] = {}


def wrapped_part(document: Mapping[str, Any], unwrapped: Mapping[str, str] = UNWRAPPED) -> dict[str, Any]:
    """Return a document without the unwrapped operations, and without the schemas that only they use."""
    paths = {
        path: {
            key: node for key, node in item.items() if key not in METHODS or node.get("operationId") not in unwrapped
        }
        for path, item in document["paths"].items()
    }
    kept = {path: item for path, item in paths.items() if any(key in METHODS for key in item)}
    before, after = _used(document, document["paths"]), _used(document, kept)
    schemas = document["components"]["schemas"]
    components = {
        **document["components"],
        "schemas": {name: node for name, node in schemas.items() if name in after or name not in before},
    }
    return {**document, "paths": kept, "components": components}


def _used(document: Mapping[str, Any], paths: Mapping[str, Any]) -> set[str]:
    """Return the names of the schemas that paths refer to."""
    found: set[str] = set()
    waiting: list[Any] = [paths]
    while waiting:
        for _, node in nodes(waiting.pop()):
            _, _, reference = str(node.get("$ref", "")).partition("#/components/")
            kind, _, name = reference.partition("/")
            if reference and reference not in found:
                found.add(reference)
                waiting.append(document["components"][kind][name])
    return {reference.removeprefix("schemas/") for reference in found if reference.startswith("schemas/")}
